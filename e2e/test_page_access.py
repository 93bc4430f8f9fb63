"""The page for everybody: axe, keyboard, narrow windows, browsers without WebGPU."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from browsers import Profiles
from page_driver import PageDriver, expect
from playwright.sync_api import Frame, Page
from program_steps import opened

AXE = Path(__file__).parent.parent / "node_modules/axe-core/axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OF_COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 320, "height": 640}

PROGRAM = """
import tensorweb as tw
x = tw.reshape(tw.linspace(-0.5, 0.5, 600), (2, 15, 20)) * 2
print("text")
tw.show(x)
"""


def violations(page: Page | Frame, only: object = RULES) -> list[str]:
    """Return what axe finds, as `rule: element`."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8"))
    run = "only => axe.run({runOnly: only, resultTypes: ['violations']})"
    found: dict[str, Any] = page.evaluate(run, only)
    return [
        f"{rule['id']}: {node['html'][:120]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


def in_every_scheme(page: Page) -> list[str]:
    """Return what axe finds in light and in dark colours.

    Most rules are about structure and names, which the colours leave as they are.
    """
    page.emulate_media(color_scheme="light")
    found = violations(page)
    page.emulate_media(color_scheme="dark")
    return found + violations(page, OF_COLOURS)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_axe_finds_nothing(profiles: Profiles, site_url: str, size: Any) -> None:
    with profiles.page(viewport=size) as page:
        look_everywhere(PageDriver(page).open(site_url, wait=False), size)


def look_everywhere(driver: PageDriver, size: Any) -> None:
    page = driver.page
    assert in_every_scheme(page) == []
    assert driver.idle() == "ready"
    assert in_every_scheme(page) == []
    assert driver.run("def f():\n    return 1 / 0\nf()") == "error"
    if size is NARROW:
        assert in_every_scheme(page) == []
        page.get_by_role("tab", name="Code").click()
    assert in_every_scheme(page) == []
    assert driver.run(PROGRAM) == "ready"
    if size is NARROW:
        page.get_by_role("tab", name="Tensors").first.click()
    driver.pictured()
    page.get_by_role("button", name="Table").click()
    expect(page.locator(".values td").nth(1)).to_be_visible()
    assert in_every_scheme(page) == []
    page.get_by_role("tab", name="Kernels").locator("visible=true").click()
    page.locator(".kernel summary").first.click()
    assert in_every_scheme(page) == []
    page.get_by_role("button", name="Help").click()
    assert in_every_scheme(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Examples", exact=True).click()
    assert in_every_scheme(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="your programs").click()
    assert in_every_scheme(page) == []
    driver.clean()


SMALL = """() => [...document.querySelectorAll(
    "button, select, label, summary, a, textarea, input:not([type=checkbox])")]
  .filter((node) => node.checkVisibility() && !node.closest(HIDDEN))
  .filter((node) => {
    const { width, height } = node.getBoundingClientRect();
    return Math.min(width, height) < 44;
  }).map((node) => node.outerHTML.slice(0, 100))""".replace(
    "HIDDEN", "'.cm-editor, .skip, .visually-hidden'"
)
"""What a finger would miss."""

TABS = (
    "Code",
    "Output",
    "Tensors",
    "Why?",
    "Film",
    "Model",
    "Kernels",
    "Timeline",
    "Memory",
    "Files",
    "Compare",
)
DIALOGS = ("Help", "Share", "Examples", "your programs")
TOUCHED: list[Any] = [WIDE, {"width": 390, "height": 760}, NARROW]


def test_fingers_hit_everything(profiles: Profiles, site_url: str) -> None:
    with profiles.page(viewport=WIDE) as page:
        touch = page.context.new_cdp_session(page)
        touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
        driver = PageDriver(page).open(site_url)
        assert page.evaluate("matchMedia('(pointer: coarse)').matches")
        assert driver.run(PROGRAM) == "ready"
        for size in TOUCHED:
            page.set_viewport_size(size)
            width = size["width"]
            # What is spoken of a run is there at every width.
            said = page.get_by_role("status").filter(has_text="Done in")
            expect(said).to_have_count(1)
            for name in TABS[2:] if size is WIDE else TABS:
                page.get_by_role("tab", name=name).locator("visible=true").click()
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, (width, name)
                assert page.evaluate(SMALL) == [], (width, name)
            for name in DIALOGS:
                exact = name == "Examples"
                page.get_by_role("button", name=name, exact=exact).click()
                assert page.evaluate(SMALL) == [], (width, name)
                page.keyboard.press("Escape")
        driver.clean()


def test_keyboard_leaves_the_editor_and_moves_splitters(
    page: Page, site_url: str
) -> None:
    opened(page, site_url)
    page.click("#editor .cm-content")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.locator("#split-rows")).to_be_focused()
    before = page.locator("#editor").bounding_box()
    page.keyboard.press("ArrowUp")
    after = page.locator("#editor").bounding_box()
    assert before is not None
    assert after is not None
    assert after["height"] < before["height"]
    page.locator("#split-columns").focus()
    page.keyboard.press("ArrowLeft")
    narrower = page.locator("#editor").bounding_box()
    assert narrower is not None
    assert narrower["width"] < after["width"]


def test_theme_turns_and_is_remembered(page: Page, site_url: str) -> None:
    opened(page, site_url)
    theme = page.locator("#theme")
    expect(theme).to_have_attribute("aria-label", "Colours: as the system")
    theme.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    theme.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


MIDDLES = """() => [...document.querySelectorAll(".heatmap, .thumbnail")].map(
  (canvas) => {
    const one = new OffscreenCanvas(1, 1).getContext("2d");
    one.drawImage(canvas, -canvas.width * 0.43, -canvas.height * 0.43);
    return one.getImageData(0, 0, 1, 1).data[0];
  },
)"""
"""How red the middle cell of each picture is, next to its digits: zero is near white or
near black."""


def test_pictures_have_the_colours_of_the_theme(
    profiles: Profiles, site_url: str
) -> None:
    with profiles.page(color_scheme="light") as page:
        driver = PageDriver(page).open(site_url)
        values = "tw.reshape(tw.linspace(-1.0, 1.0, 25), (5, 5))"
        assert driver.run(f"import tensorweb as tw\ntw.show({values})") == "ready"
        driver.pictured()
        expect(page.locator(".thumbnail")).to_be_visible()
        assert min(page.evaluate(MIDDLES)) > 200
        page.emulate_media(color_scheme="dark")
        driver.drawn()
        assert max(page.evaluate(MIDDLES)) < 100
        page.click("#theme")
        driver.drawn()
        assert min(page.evaluate(MIDDLES)) > 200
        driver.clean()


def test_without_webgpu_the_cpu_computes_and_the_page_says_so(
    profiles_on_cpu: Profiles, site_url: str
) -> None:
    with profiles_on_cpu.page() as page:
        _the_cpu_computes(PageDriver(page).open(site_url))


def _the_cpu_computes(driver: PageDriver) -> None:
    page = driver.page
    expect(page.locator("#device")).to_contain_text("WebAssembly")
    expect(page.locator("#notice")).to_contain_text("The CPU computes instead")
    assert page.locator("#device option[value=webgpu]").is_disabled()
    assert violations(page) == []
    assert driver.run(PROGRAM) == "ready"
    driver.pictured()
    assert driver.tensors()["x"]["device"] == "cpu"
    expect(page.locator("#notice")).to_be_hidden()
    page.get_by_role("tab", name="Kernels").click()
    page.locator(".kernel summary").first.click()
    expect(page.locator(".kernel-source").first).to_contain_text("(module")
    assert violations(page) == []
    packages = [url for url in driver.requests if url.endswith(".whl")]
    assert packages == []
    driver.clean()


def test_a_software_adapter_is_there_but_not_chosen(
    profiles: Profiles, site_url: str
) -> None:
    with profiles.page() as page:
        driver = PageDriver(page, device=None).open(site_url)
        said = re.compile("swiftshader here, which computes on the CPU", re.I)
        expect(page.locator("#notice")).to_contain_text(said)
        expect(page.locator("#device")).to_contain_text("WebAssembly")
        assert driver.run(PROGRAM) == "ready"
        assert driver.tensors()["x"]["device"] == "cpu"
        driver.choose_device("webgpu")
        assert driver.run(PROGRAM) == "ready"
        assert driver.tensors()["x"]["device"] == "webgpu"
        page.reload()
        assert driver.idle() == "ready"
        expect(page.locator("#device select")).to_have_value("webgpu")
        expect(page.locator("#notice")).to_be_hidden()
        driver.clean()


def test_where_python_cannot_wait_the_cpu_computes(
    profiles_never_waiting: Profiles, never_waits: str
) -> None:
    with profiles_never_waiting.page() as page:
        _the_cpu_computes_instead(PageDriver(page, device=None).open(never_waits))


def _the_cpu_computes_instead(driver: PageDriver) -> None:
    page = driver.page
    said = "cannot wait for the GPU inside Python, so the CPU computes"
    expect(page.locator("#notice")).to_contain_text(said)
    assert driver.run(f"{PROGRAM}\nprint(x.max().item())") == "ready"
    assert "1.0" in driver.output
    driver.pictured()
    assert driver.tensors()["x"]["device"] == "cpu"
    driver.choose_device("webgpu")
    assert driver.run(f"{PROGRAM}\nprint(x.max().item())") == "error"
    assert "BlockingError" in driver.output
    awaiting = f"{PROGRAM}\nprint(await x.max().tolist_async())"
    assert driver.run(awaiting) == "ready"
    assert "1.0" in driver.output
    page.reload()
    driver.idle()
    expect(page.locator("#device select")).to_have_value("webgpu")
