"""The panel Timeline: lanes, the costliest fault, ranges, shares of the adapter."""

from __future__ import annotations

import re

from page_driver import PageDriver, expect
from test_page_access import in_every_scheme

PROGRAM = """import tensorweb as tw

x = tw.realize(tw.ones((64, 64)) * 2)
for step in range(40):
    y = (x @ x * 1e-3).sum()
    y.item()
"""

WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 390, "height": 844}


def opened(shared: PageDriver, program: str = PROGRAM) -> PageDriver:
    """Return the page with the time of a program in front."""
    page = shared.page
    page.set_viewport_size(WIDE)
    assert shared.run(program) == "ready"
    page.get_by_role("tab", name="Timeline").click()
    expect(page.locator("#timeline[data-view=ready] .timeline-picture")).to_be_visible()
    return shared


def test_it_names_the_costliest_fault_and_its_line(shared: PageDriver) -> None:
    page = opened(shared).page
    finding = page.locator(".timeline-finding")
    expect(finding).to_contain_text(re.compile(r"40 times, .*s together"))
    link = finding.get_by_role("button")
    line = link.inner_text().removeprefix("line ")
    link.click()
    expect(page.locator("#cursor")).to_contain_text(f"Ln {line}, Col")
    expect(page.locator(".timeline-sums")).to_contain_text(re.compile(r"Reads\d"))
    assert in_every_scheme(page) == []


def test_a_range_is_selected_and_left_by_keys(shared: PageDriver) -> None:
    page = opened(shared).page
    about = page.locator(".timeline-head span").first
    expect(about).to_contain_text("in all")
    page.locator(".timeline-picture").focus()
    page.keyboard.press("ArrowRight")
    reading = page.locator(".timeline-reading")
    expect(reading).to_contain_text("Python")
    page.keyboard.press("ArrowDown")
    expect(reading).to_contain_text("Planning")
    page.keyboard.press("End")
    expect(reading).to_contain_text("line 5")
    page.keyboard.press("Enter")
    expect(page.locator("#cursor")).to_contain_text("Ln 5, Col")
    page.locator(".timeline-picture").focus()
    page.keyboard.press("Shift+ArrowLeft")
    expect(about).to_contain_text(re.compile(r".+ of .+"))
    page.keyboard.press("z")
    page.keyboard.press("Escape")
    expect(about).to_contain_text("in all")


def test_a_pointer_selects_a_range(shared: PageDriver) -> None:
    page = opened(shared).page
    box = page.locator(".timeline-picture").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 150, box["y"] + 15)
    page.mouse.down()
    page.mouse.move(box["x"] + 250, box["y"] + 15, steps=3)
    expect(page.locator(".timeline-head span").first).to_contain_text(" of ")
    # Links carry it when the drag ends.
    assert not page.evaluate("tensorwebPage.view.focus?.range")
    page.mouse.up()
    page.wait_for_function("tensorwebPage.view.focus?.range")
    expect(page.get_by_role("button", name="Zoom to range")).to_be_enabled()
    page.get_by_role("button", name="Zoom to range").click()
    page.get_by_role("button", name="Show all").click()
    page.mouse.move(0, 0)


TAP = """y => {
  const canvas = document.querySelector(".timeline-picture");
  const { left, top, width } = canvas.getBoundingClientRect();
  const at = { clientX: left + width / 2, clientY: top + y, pointerType: "touch" };
  for (const name of ["pointerdown", "pointermove", "click"]) {
    canvas.dispatchEvent(new PointerEvent(name, at));
  }
}"""


def test_a_second_tap_goes_to_the_line(shared: PageDriver) -> None:
    page = opened(shared).page
    page.locator(".timeline-picture").focus()
    for key in ("ArrowDown", "ArrowDown", "End", "Z"):
        page.keyboard.press(key)
    page.evaluate(TAP, 15)
    page.evaluate("tensorwebPage.editor.goTo(1, 0, 'main.py')")
    page.evaluate(TAP, 45)
    expect(page.locator(".timeline-reading")).to_contain_text("Planning")
    expect(page.get_by_role("button", name="Zoom to range")).to_be_enabled()
    expect(page.locator("#cursor")).to_contain_text("Ln 1, Col")
    page.evaluate(TAP, 45)
    expect(page.locator("#cursor")).to_contain_text("Ln 5, Col")


def test_kernels_are_shares_of_the_measured_adapter(shared: PageDriver) -> None:
    page = shared.page
    shared.choose_device("cpu")
    opened(shared)
    page.evaluate("localStorage.removeItem('tensorweb:rates')")
    measure = page.get_by_role("button", name="Measure times")
    measure.locator("visible=true").click()
    shared.idle()
    first = page.locator(".timeline-kernel").first
    share = re.compile(r"\d \u00d7 · [\d.]+ % of bandwidth, [\d.]+ % of FLOP/s")
    expect(first).to_contain_text(share)
    note = page.locator("#timeline")
    expect(note).to_contain_text(
        re.compile(r"WebAssembly.* moves .* GFLOP in a second")
    )
    hue = first.get_attribute("class") or ""
    number = first.get_by_role("button").first
    index = int(number.inner_text().removeprefix("k"))
    assert f"hue-{(index - 1) % 8 + 1}" in hue
    number.click()
    expect(page.locator(".kernel-row.is-lit").first).to_be_visible()
    shared.choose_device("webgpu")


def test_it_fits_a_phone(shared: PageDriver) -> None:
    page = opened(shared).page
    page.set_viewport_size(NARROW)
    page.get_by_role("tab", name="Timeline").locator("visible=true").click()
    expect(page.locator(".timeline-sums")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    assert in_every_scheme(page) == []
    page.set_viewport_size(WIDE)


def test_a_program_without_tensors_has_python_only(shared: PageDriver) -> None:
    page = opened(shared, "print(1)").page
    expect(page.locator(".timeline-sums")).to_contain_text("(100 %)")
    expect(page.locator(".timeline-finding")).to_contain_text("Nothing costly")
