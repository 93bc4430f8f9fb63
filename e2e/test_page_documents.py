"""Programs on the page: examples, links, what the browser keeps, reset."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import Profiles
from page_driver import PageDriver, expect
from playwright.sync_api import Page
from program_steps import go, opened

from tools.examples import GROUPS, source

EXAMPLES = sorted((Path(__file__).parent.parent / "web/examples").glob("*.py"))
COURSES = {path.stem for path in EXAMPLES if path.stem[:2] in GROUPS["Courses"]}

SAID = {
    "17-slope": ["tw.grad(cube)(3.0) is 27.0"],
    "18-backward-by-hand": [
        "24.7041   dg/dg =    1.0000",
        "dg/db =  645.5773",
        "dg/da =  138.8338",
        "tensors: dg/da = 138.83, dg/db = 645.58",
    ],
    "19-line-and-border": [
        "w and b within 0.05: True",
        "at least 97 of 100 points on their side: True",
    ],
    "20-moons": ["200 of 200 points are on their side", "loss below 0.02: True"],
    "21-spiral": ["at least 0.97: True"],
    "22-four-optimisers": ["order of arrival: momentum, Adam, RMSprop, SGD"],
    "23-bigrams-trained": ["losses within 0.01: True"],
    "24-names": ["below the pairs by 0.2: True"],
    "25-backward-ninja": [
        f"{name} agrees to 1e-6: True"
        for name in (
            "gain   (16,)    ",
            "shift  (16,)    ",
            "w      (16, 10) ",
            "b      (10,)    ",
            "x      (32, 16) ",
        )
    ],
    "26-digits": ["at least 0.97: True", "at least 0.99: True"],
    "27-attention": ["nn.attention gives the same: True", "rightly: 100.0%"],
    "28-gpt": ["below 1.9 nats: True"],
    "29-newton": ["Newton: 5 steps", "at most ten steps against thousands: True"],
    "30-vmap": ["equal to the loop: True", "is the gradient of the mean: True"],
    "31-through-a-simulation": [
        "by less than a millimetre: True",
        "found to a thousandth: True",
    ],
    "32-cells": [f"below 0.02 when it {name}: True" for name in ("grows", "heals")],
    "33-few-numbers": [
        "what is missing is what the other sizes say: True",
        "a quarter of the numbers, less than 5 % missing: True",
    ],
    "34-stripes": ["a hundred times cleaner: True"],
    "35-numpys-habits": ["in one piece: 3 of 24", "at [105. 180. 255.] degrees"],
    "50-pole": ["at least 195: True"],
    "51-plane-of-digits": ["better by 50 nats: True", "a tighter bound: True"],
    "52-diffusion": ["at least 95 % are the digit asked for: True"],
    "53-dates": ["at least 90: True"],
    "54-gaussian-process": [
        "the mean is k K⁻¹ y: True",
        "the curve meets its points: True",
    ],
    "55-word-vectors": ["four of four: True"],
    "56-neural-ode": ["within 0.2: True", "of fourth order: True"],
    "57-hamiltonian": ["all within 0.1: True"],
    "58-picture-in-a-network": ["better by 10 dB: True"],
    "59-graph": ["at least 55: True", "for people in another order: True"],
    "60-lora": [
        "below 2.9: True",
        "the same, bit by bit: True",
        "one matrix does the same: True",
    ],
    "61-style": ["a tenth, or less: True"],
    "48-your-own-kernel": [
        "its gradient by a: 500.0",
        "64 sums, 1 sum: 8386560.0 = 8386560.0",
        "living cells: [2802, 1907, 1526, 1290, 1155, 973, 958]",
    ],
}
"""What examples find out, whatever computes."""

CPU_ONLY = {
    "16-learning",
    "19-line-and-border",
    "20-moons",
    "21-spiral",
    "23-bigrams-trained",
    "24-names",
    "25-backward-ninja",
    "26-digits",
    "27-attention",
    "28-gpt",
    "29-newton",
    "30-vmap",
    "31-through-a-simulation",
    "32-cells",
    "33-few-numbers",
    "34-stripes",
    "35-numpys-habits",
    *COURSES,
    *(path.stem for path in EXAMPLES if path.stem[:2] in GROUPS["Puzzles"][1:-1]),
}
"""Those whose kernels take a software adapter long to compile, and puzzles but for the
first and the last, because `cpu` checks them on every device.
"""


@pytest.fixture(scope="module")
def on_cpu(profiles_on_cpu: Profiles, site_url: str) -> Iterator[PageDriver]:
    """A page of a browser without WebGPU."""
    with profiles_on_cpu.page() as lent:
        driver = PageDriver(lent).open(site_url)
        yield driver
        driver.clean()


def open_example(driver: PageDriver, path: Path) -> None:
    driver.page.get_by_role("button", name="Examples", exact=True).click()
    driver.page.locator(f"[data-id='{path.stem}']").click()
    driver.wait(f"tensorwebPage.view.document.id === '{path.stem}'")


PANELS = (
    *("tensors", "why", "film", "model", "kernels", "timeline", "memory"),
    *("files", "compare"),
)

SHOWN = """async panels => {
  const texts = {};
  for (const id of panels) {
    tensorwebPage.show(id);
    for (let left = 600; left > 0 && !texts[id]; left--) {
      await new Promise(requestAnimationFrame);
      const panel = document.getElementById(id), text = panel.innerText.trim();
      const isWaiting = panel.dataset.view === 'loading' || text.includes('Looking…');
      if (!isWaiting) texts[id] = text;
    }
  }
  return texts;
}"""
"""Shows panels one after another, and returns the text that each has in the end."""

MISTAKE = re.compile(r"\b[A-Z]\w*Error: .{0,99}|internal:.*|\bundefined\b|\[object ")

LONG = {"20-moons", "24-names", "26-digits", "27-attention", "29-newton", "32-cells"}
LONG |= {"13-benchmark", "21-spiral", "28-gpt", "31-through-a-simulation"}
LONG |= COURSES - {"54-gaussian-process"}
"""Examples that compute for seconds, and longer with everything retained."""


def shown(driver: PageDriver, *panels: str) -> str:
    """Check that panels show something, or why they show nothing."""
    texts = driver.page.evaluate(SHOWN, panels)
    assert [*texts] == [*panels], f"{driver.wrong()}: {texts}"
    assert all(texts.values()), texts
    text = "\n".join(texts.values())
    assert MISTAKE.findall(text) == []
    return text


def look_everywhere(driver: PageDriver, is_long: bool) -> None:
    """Open every panel, after a run that retained everything, and what is offered."""
    page = driver.page
    if not is_long:
        page.evaluate("void tensorwebPage.run(null, { inside: true, memory: true })")
        assert driver.idle() == "ready", driver.output
    shown(driver, *PANELS)
    found = page.evaluate("tensorwebPage.view.tensors.filter(({ size }) => size > 0)")
    for tensor in found[: not is_long]:
        cell = {"name": tensor["name"], "index": [0] * len(tensor["shape"])}
        page.evaluate("cell => tensorwebPage.why(cell)", cell)
        assert " = " in shown(driver, "why")
    looks = page.locator("#output .question .line-link").all()
    for look in looks:
        expect(look).to_be_in_viewport()
        look.click()
        panel = str(page.evaluate("tensorwebPage.view.result"))
        kind, _, name = look.inner_text().partition(" ")
        assert panel == ("tensors" if kind == "Layout" else kind.strip("?").lower())
        assert name in shown(driver, panel)
        assert kind != "Layout" or page.locator(".layout-cells").is_visible()


@pytest.mark.parametrize(
    "path",
    [path for path in EXAMPLES if path.stem not in CPU_ONLY],
    ids=lambda path: path.stem,
)
def test_example_runs_on_the_gpu(shared: PageDriver, path: Path) -> None:
    open_example(shared, path)
    assert shared.page.evaluate("tensorwebPage.editor.source()") == source(path)
    assert shared.run() == "ready", shared.output
    assert shared.page.locator("#output .text, #output .display").count() > 0
    assert [line for line in SAID.get(path.stem, []) if line not in shared.output] == []
    splits = shared.page.evaluate("tensorwebPage.request('splits', {})")
    assert all(split["why"] for split in splits)


# Examples that compute much come last: the plans that Python caches make each later
# run longer, since a run begins with a garbage collection that visits all of them.
BY_WORK = sorted(EXAMPLES, key=lambda path: path.stem in CPU_ONLY)


@pytest.mark.parametrize("path", BY_WORK, ids=lambda path: path.stem)
def test_example_runs_on_the_cpu_alone(on_cpu: PageDriver, path: Path) -> None:
    open_example(on_cpu, path)
    assert on_cpu.page.evaluate("tensorwebPage.editor.source()") == source(path)
    assert on_cpu.run() == "ready", on_cpu.output
    assert [line for line in SAID.get(path.stem, []) if line not in on_cpu.output] == []
    expect(on_cpu.page.locator("#device")).to_contain_text("WebAssembly")
    assert not [url for url in on_cpu.requests if url.endswith(".whl")]
    look_everywhere(on_cpu, path.stem in LONG)


def test_both_devices_are_timed_in_one_program(shared: PageDriver) -> None:
    [path] = [path for path in EXAMPLES if path.stem.endswith("gpu-against-cpu")]
    open_example(shared, path)
    assert shared.run() == "ready", shared.output
    head, *rows = shared.output.split("\n\n")[0].splitlines()
    assert head.split() == ["webgpu", "cpu"]
    assert len(rows) == 4
    assert all(row.count(" ms") == 2 for row in rows), rows


def test_there_are_enough_examples() -> None:
    assert len(EXAMPLES) >= 13


def test_missing_examples_are_told_and_tried_again(page: Page, site_url: str) -> None:
    menu = "**/examples.json"
    page.route(menu, lambda route: route.fulfill(status=404))
    driver = PageDriver(page).open(site_url)
    said = "The examples could not be loaded"
    expect(page.locator("#notice")).to_contain_text(said)
    assert driver.run("print('my own')") == "ready"
    page.locator("#notice").get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Examples", exact=True).click()
    dialog = page.locator("dialog.examples")
    expect(dialog.get_by_text(said)).to_be_visible()
    page.unroute(menu)
    dialog.get_by_role("button", name="Try again").click()
    expect(dialog.locator(f"[data-id='{EXAMPLES[0].stem}']")).to_be_visible()
    expect(dialog.get_by_text(said)).to_be_hidden()
    expect(page.locator("#notice")).to_be_hidden()
    assert page.evaluate("tensorwebPage.editor.source()") == "print('my own')"


def test_link_opens_a_program_and_never_runs_it(page: Page, site_url: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sender = PageDriver(page).open(site_url)
    source = "print('é' * 3)  # <script>alert(1)</script>\n" + "x = 1\n" * 300
    sender.write(source)
    sender.page.get_by_role("button", name="Share").click()
    expect(sender.page.locator(".share-link")).to_have_value(re.compile("#code="))
    sender.page.get_by_role("button", name="Copy link").click()
    expect(sender.page.locator(".share-said")).to_contain_text("link is copied")
    address = sender.page.evaluate("navigator.clipboard.readText()")
    assert address.startswith(f"{site_url}#code=")
    assert len(address) < 300

    reader = PageDriver(page.context.new_page()).open(address)
    assert reader.page.evaluate("tensorwebPage.editor.source()") == source
    expect(reader.page.locator("#notice")).to_contain_text("came with a link")
    assert reader.page.evaluate("tensorwebPage.view.run") is None
    assert "ééé" not in reader.output
    assert reader.run() == "ready"
    assert "ééé" in reader.output
    sender.clean()
    reader.clean()


def test_damaged_links_leave_the_page_usable(page: Page, site_url: str) -> None:
    driver = PageDriver(page).open(f"{site_url}#code=%%%")
    notice = page.locator("#notice")
    for code in ("AAAA", "", "é"):
        expect(notice).to_contain_text("link")
        notice.get_by_role("button", name="Close").click()
        go(page, f"code={code}")
    expect(notice).to_contain_text("link")
    assert driver.run("print('fine')") == "ready"
    driver.clean()


def test_unknown_example_falls_back(page: Page, site_url: str) -> None:
    driver = opened(page, f"{site_url}#ex=99-nothing")
    expect(page.locator("#notice")).to_contain_text("no example named")
    assert page.evaluate("tensorwebPage.view.document.id") == EXAMPLES[0].stem
    driver.clean()


def test_address_opens_an_example(page: Page, site_url: str) -> None:
    driver = opened(page, f"{site_url}#ex={EXAMPLES[4].stem}")
    assert page.evaluate("tensorwebPage.editor.source()") == EXAMPLES[4].read_text()
    assert page.evaluate("tensorwebPage.view.run") is None
    driver.clean()
