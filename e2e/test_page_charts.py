"""Bar charts on the page: a table of numbers with bars of their lengths."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from page_driver import PageDriver
from playwright.sync_api import Page
from test_page_access import violations
from test_page_documents import EXAMPLES

PROGRAM = """
import tensorweb as tw
bars = {"here": 5, "<b>there</b>": 20}
tw.show(tw.bar_chart(bars, title="Launch", unit="µs", mark=["here"]))
"""

BENCHMARK = next(path for path in EXAMPLES if "benchmark" in path.stem)


@pytest.fixture
def sized(shared: PageDriver) -> Iterator[PageDriver]:
    """The page, for a test that chooses its width."""
    size = shared.page.viewport_size
    yield shared
    assert size is not None
    shared.page.set_viewport_size(size)


def width(page: Page, row: int) -> float:
    box = page.locator("#output .bar-chart .bar").nth(row).bounding_box()
    assert box
    return box["width"]


@pytest.mark.parametrize("size", [1280, 320])
def test_chart_is_a_table_with_bars(sized: PageDriver, size: int) -> None:
    page = sized.page
    page.set_viewport_size({"width": size, "height": 700})
    assert sized.run(PROGRAM) == "ready"
    if size < 1000:
        page.get_by_role("tab", name="Output").click()
    table = page.locator("#output").get_by_role("table", name="Launch, µs")
    assert table.get_by_role("row").count() == 2
    assert table.get_by_role("rowheader").all_inner_texts() == ["here", "<b>there</b>"]
    cells = table.get_by_role("cell").all_text_contents()
    assert cells == ["5 µs", "20 µs"]
    assert width(page, 1) == pytest.approx(4 * width(page, 0), rel=0.02)
    assert width(page, 1) > size / 6
    ticks = page.locator("#output .bar-axis").all_inner_texts()
    assert re.findall(r"\d+", " ".join(ticks)) == ["0", "5", "10", "15", "20"]
    assert page.locator("#output .bar-chart .marked").count() == 1
    assert violations(page) == []


NARROWEST_GAP = """() => {
  const gaps = [];
  for (const axis of document.querySelectorAll("#output .bar-axis")) {
    const boxes = [...axis.children].map((tick) => tick.getBoundingClientRect());
    boxes.slice(1).forEach((box, i) => gaps.push(box.left - boxes[i].right));
  }
  return Math.min(...gaps);
}"""


@pytest.mark.parametrize("size", [1280, 390, 320])
def test_charts_fit(sized: PageDriver, size: int) -> None:
    page = sized.page
    page.set_viewport_size({"width": size, "height": 700})
    values = "{'small': 0.02, 'large': 70_000}"
    chart = f"tw.show(tw.bar_chart({values}, unit='GFLOP/s', log=True))"
    assert sized.run(f"import tensorweb as tw\nfor _ in range(12): {chart}") == "ready"
    if size < 1000:
        page.get_by_role("tab", name="Output").click()
    assert page.evaluate(NARROWEST_GAP) > 0
    root = "document.documentElement"
    assert page.evaluate(f"{root}.scrollHeight") == 700
    assert page.evaluate(f"{root}.scrollWidth") == size


def test_benchmark_shows_four_charts(shared: PageDriver) -> None:
    page = shared.page
    assert shared.run(BENCHMARK.read_text("utf-8")) == "ready", shared.output
    captions = page.locator("#output .bar-chart caption").all_inner_texts()
    units = ["µs", "µs", "GB/s", "GFLOP/s"]
    assert [re.sub(r".*, | \(.*", "", text) for text in captions] == units
    for name in ("this device", "NVIDIA H200", "two CPU cores"):
        assert page.locator("#output").get_by_role("rowheader", name=name).count() == 4
    for text in page.locator("#output .marked .bar-text").all_text_contents():
        assert float(text.split()[0].replace(",", "")) > 0
