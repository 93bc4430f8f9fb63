"""The panel Memory: buffers over kernels, the peak, its lines, by keys as well."""

from __future__ import annotations

import re

from page_driver import PageDriver, expect
from test_page_access import in_every_scheme

PROGRAM = """import tensorweb as tw

x = tw.realize(tw.ones((128, 128)) * 2)

def inner():
    y = tw.realize(x + 1)
    return tw.sum(y @ y @ y).item()

inner()
w = tw.realize(x * 5)
rows = w[3:]
"""

WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 390, "height": 844}


def opened(shared: PageDriver) -> PageDriver:
    """Return the page with the memory of the program in front."""
    page = shared.page
    page.set_viewport_size(WIDE)
    page.get_by_role("tab", name="Memory").click()
    assert shared.run(PROGRAM) == "ready"
    expect(page.locator(".memory-picture")).to_be_visible()
    return shared


def test_it_names_the_peak_and_its_lines(shared: PageDriver) -> None:
    page = opened(shared).page
    expect(page.locator(".memory-summary")).to_contain_text(
        re.compile(r"Peak 26\d\.\d kB on WebGPU, at kernel \d+ of \d+: line 7 holds 13")
    )
    first = page.locator(".memory-line").first
    expect(first).to_contain_text("131.1 kB in 3 buffers")
    first.get_by_role("button", name="line 7").click()
    expect(page.locator("#cursor")).to_contain_text("Ln 7, Col")
    assert in_every_scheme(page) == []


def test_keys_move_through_kernels_and_buffers(shared: PageDriver) -> None:
    page = opened(shared).page
    reading = page.locator(".memory-reading")
    page.locator(".memory-picture").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    expect(reading).to_contain_text("line 3 · x · multiply float32 (128, 128)")
    expect(reading).to_contain_text("alive at the end")
    page.keyboard.press("p")
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    expect(reading).to_contain_text("line 3 · x")
    page.keyboard.press("ArrowUp")
    expect(reading).to_contain_text("line 6 · add float32 (128, 128) · 65.5 kB")
    expect(reading).to_contain_text("freed when line 9 dropped the last reference")
    page.keyboard.press("ArrowUp")
    expect(reading).to_contain_text("freed at the end of its flush")
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    expect(reading).to_contain_text("w, rows")
    page.keyboard.press("Enter")
    expect(page.locator("#cursor")).to_contain_text("Ln 10, Col")


def test_a_pointer_reads_a_buffer_and_goes_to_its_line(shared: PageDriver) -> None:
    page = opened(shared).page
    box = page.locator(".memory-picture").bounding_box()
    assert box is not None
    x, ground = box["x"] + box["width"] / 2, box["y"] + box["height"] - 25
    page.mouse.move(x, ground)
    expect(page.locator(".memory-reading")).to_contain_text("line 3 · x")
    page.mouse.click(x, ground)
    expect(page.locator("#cursor")).to_contain_text("Ln 3, Col")
    page.mouse.move(0, 0)


def test_it_fits_a_phone(shared: PageDriver) -> None:
    page = opened(shared).page
    page.set_viewport_size(NARROW)
    page.get_by_role("tab", name="Memory").locator("visible=true").click()
    expect(page.locator(".memory-line").first).to_be_visible()
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide == NARROW["width"]
    assert page.locator(".memory-picture").evaluate("node => node.clientWidth") > 300
    assert in_every_scheme(page) == []
    page.set_viewport_size(WIDE)


def test_a_program_without_tensors_says_so(shared: PageDriver) -> None:
    page = opened(shared).page
    assert shared.run("print(1)") == "ready"
    expect(page.locator("#memory .empty >> visible=true")).to_have_text(
        "This run used no device memory."
    )


def test_on_the_cpu_it_says_how_large_the_memory_is(shared: PageDriver) -> None:
    page = shared.page
    shared.choose_device("cpu")
    opened(shared)
    expect(page.locator(".memory-summary")).to_contain_text("on the CPU")
    note = page.locator(".memory-note")
    expect(note).to_contain_text(re.compile(r"WebAssembly.s memory has \d+\.\d MB"))
    shared.choose_device("webgpu")
