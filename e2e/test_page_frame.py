"""The frame of the page: slots that never move, the status bar, the sizes of type."""

from __future__ import annotations

from typing import Any

import pytest
from page_driver import PageDriver, expect
from playwright.sync_api import Browser, Page
from program_steps import opened

SHIFTS = """
// What panels draw while a program runs is theirs; around them nothing moves.
globalThis.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries()) {
    const moved = sources.map(({ node }) => node).filter((node) => node?.isConnected);
    const parts = moved.filter((node) => !node.parentElement?.closest(".panel"));
    const names = parts.map((node) => node.id || node.className);
    if (names.length) shifts.push([value, ...names]);
  }
}).observe({ type: "layout-shift", buffered: true });
"""

SLOTS = """() => Object.fromEntries(["#run", "#stop", "#device select", "#theme",
  "#document button", "#editor", "#tensors", "footer"].map((slot) => {
    const { x, y, width } = document.querySelector(slot).getBoundingClientRect();
    return [slot, [x, y, width]];
  }))"""
"""Where the parts of the frame stand, whatever is in them."""

SIZES = """() => [...new Set([...document.querySelectorAll("body *")]
  .filter((node) => [...node.childNodes].some(
    (child) => child.nodeType === 3 && child.data.trim() && node.checkVisibility()))
  .map((node) => getComputedStyle(node).fontSize))].sort()"""

PROGRAM = """
import tensorweb as tw
x = tw.reshape(tw.linspace(-0.5, 0.5, 600), (30, 20))
tw.show(x)
"""


def test_nothing_moves_from_the_first_paint_on(page: Page, site_url: str) -> None:
    page.add_init_script(SHIFTS)
    driver = PageDriver(page)
    page.goto(f"{site_url}#ex=03-reductions")
    page.wait_for_function("globalThis.tensorwebPage?.view.document.id")
    before = page.evaluate(SLOTS)
    assert driver.idle() == "ready"
    assert page.evaluate(SLOTS) == before
    page.evaluate("tensorwebPage.workspace.openExample('02-broadcasting')")
    assert driver.run(f"{PROGRAM}# {'long' * 40}") == "ready"
    assert page.evaluate(SLOTS) == before
    page.get_by_role("button", name="Share").click()
    expect(page.locator("dialog.share")).to_be_visible()
    page.evaluate("tensorwebPage.warn('A sentence over the page')")
    expect(page.locator("#notice")).to_be_visible()
    assert page.evaluate(SLOTS) == before
    page.keyboard.press("Escape")
    page.evaluate("tensorwebPage.library.rename('own-1', 'A long name '.repeat(9))")
    assert driver.run("1 / 0") == "error"
    driver.drawn()
    assert page.evaluate(SLOTS) == before
    assert page.evaluate("shifts") == []
    driver.clean()


def test_the_status_bar_tells_what_one_would_ask(shared: PageDriver) -> None:
    page = shared.page
    page.evaluate("tensorwebPage.workspace.openExample('02-broadcasting')")
    saved = page.locator("#saved")
    expect(saved).to_have_text("Unchanged")
    page.click("#editor .cm-content")
    page.keyboard.press("Control+Home")
    page.keyboard.type("# a\nbcd")
    expect(page.locator("#cursor")).to_contain_text("Ln 2, Col")
    assert page.inner_text("#cursor") == "Ln 2, Col 4"
    expect(saved).to_have_text("Saved")
    about = page.inner_text("#about")
    assert about.startswith("tensorweb ")
    assert "Python 3." in about
    assert about.endswith(" · isolated")
    assert shared.run("print(1)") == "ready"
    expect(page.locator("#state")).to_contain_text("Done in")
    refuse = "() => { throw new DOMException('full', 'QuotaExceededError') }"
    page.evaluate(
        f"Storage.prototype.kept = Storage.prototype.setItem;"
        f"Storage.prototype.setItem = {refuse}; null"
    )
    page.click("#editor .cm-content")
    page.keyboard.type("#")
    expect(saved).to_have_text("Not saved")
    page.evaluate("Storage.prototype.setItem = Storage.prototype.kept; null")
    page.keyboard.type("#")
    expect(saved).to_have_text("Saved")
    expect(page.locator("#notice")).to_be_hidden()


def test_hidden_words_at_the_end_of_a_panel_scroll_nothing(shared: PageDriver) -> None:
    longer = shared.page.evaluate(
        """() => {
      const { scrollHeight } = document.documentElement;
      const added = [...document.querySelectorAll(".panel")].map((panel) => {
        const part = document.createElement("div");
        part.style.paddingTop = "4000px";
        part.innerHTML = `<p class="visually-hidden">a</p>`;
        panel.append(part);
        return part;
      });
      const now = document.documentElement.scrollHeight;
      added.forEach((part) => part.remove());
      return now - scrollHeight;
    }"""
    )
    assert longer == 0


def test_type_has_four_sizes(shared: PageDriver) -> None:
    assert shared.run(PROGRAM) == "ready"
    shared.pictured()
    shared.page.get_by_role("button", name="Examples", exact=True).click()
    sizes = shared.page.evaluate(SIZES)
    shared.page.keyboard.press("Escape")
    assert set(sizes) <= {"12px", "13px", "15px", "20px"}


def test_the_status_bar_is_whole_on_narrow_pages(shared: PageDriver) -> None:
    page = shared.page
    shared.choose_device("cpu")
    assert shared.run("print(1)") == "ready"
    expect(page.locator("#state")).to_contain_text("Done in")
    for width in (320, 390, 768):
        page.set_viewport_size({"width": width, "height": 700})
        shared.drawn()
        assert page.evaluate(CUT) == [], width
    assert "WebAssembly · " in page.inner_text("#about")
    assert "isolated" in page.inner_text("#about")


CUT = """() => ["#saved", "#cursor", "#state", "#about", "#network label"]
  .filter((slot) => {
    const node = document.querySelector(slot);
    const { right } = node.getBoundingClientRect();
    return node.scrollWidth > node.clientWidth + 1
      || right > node.parentElement.getBoundingClientRect().right + 1;
  })"""
"""Parts of the status bar that are not whole."""

BESIDE = """() => {
  const shown = [...document.querySelectorAll("#toolbar :is(button, select, h1)")]
    .filter((node) => node.checkVisibility());
  const out = shown.filter((node) => {
    const { left, right, width } = node.getBoundingClientRect();
    return width > 1 && (left < 0 || right > innerWidth);
  });
  const boxes = [...document.querySelector("#toolbar").children]
    .map((node) => node.getBoundingClientRect()).filter(({ width }) => width > 1);
  const over = boxes.flatMap((one, i) => boxes.slice(i + 1).filter((other) =>
    one.left < other.right - 1 && other.left < one.right - 1
    && one.top < other.bottom - 1 && other.top < one.bottom - 1));
  const { scrollWidth } = document.documentElement;
  return [
    ...out.map((node) => node.outerHTML.slice(0, 80)),
    ...(over.length ? ["slots lie over each other"] : []),
    ...(scrollWidth > innerWidth ? [`the page is ${scrollWidth} wide`] : []),
  ];
}"""
"""What of the toolbar is not whole inside the window."""

ADAPTERS = ["Apple M3", "google swiftshader", "NVIDIA GeForce RTX 4090 Laptop GPU"]
REACHED = """() => [...document.querySelectorAll("#tools > button, #tools .menu-item")]
  .filter((node) => node.checkVisibility())
  .map((node) => node.ariaLabel ?? node.querySelector("span").textContent)"""


@pytest.mark.parametrize("scale", [1, 2])
def test_every_width_has_the_whole_toolbar(
    chromium: Browser, site_url: str, scale: int
) -> None:
    """A page at 200 % is one of half the width whose pixels are twice as fine."""
    size: Any = {"width": 2560 // scale, "height": 800 // scale}
    with chromium.new_context(viewport=size, device_scale_factor=scale) as context:
        driver = opened(context.new_page(), site_url)
        page = driver.page
        page.evaluate("tensorwebPage.library.rename('own-1', 'A long name '.repeat(9))")
        wrong = []
        for index, width in enumerate(range(2560 // scale, 319, -32)):
            adapter = ADAPTERS[index % len(ADAPTERS)]
            started = {"adapter": adapter, "version": "0.1.0", "python": "3.14.2"}
            page.evaluate("started => tensorwebPage.change({ started })", started)
            page.set_viewport_size({**size, "width": width})
            driver.drawn()
            wrong += [(width, *page.evaluate(BESIDE))]
        assert [entry for entry in wrong if len(entry) > 1] == []


def test_what_the_toolbar_has_no_room_for_is_in_the_menu(
    page: Page, site_url: str
) -> None:
    driver = opened(page, site_url)
    more = page.get_by_role("button", name="More", exact=True)
    for width in (1024, 720, 320):
        page.set_viewport_size({"width": width, "height": 700})
        driver.drawn()
        more.click()
        names = {name.split(":")[0] for name in page.evaluate(REACHED)}
        assert names >= {"Share", "Reset", "Colours", "Help", "Format the code"}, width
        page.keyboard.press("Escape")
    more.click()
    page.get_by_role("menuitem", name="Colours").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    more.click()
    page.get_by_role("menuitem", name="Next example").click()
    second = "tensorwebPage.view.examples[1].file"
    driver.wait(f"tensorwebPage.view.document.id + '.py' === {second}")
    driver.clean()
