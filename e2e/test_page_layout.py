"""The layout of a tensor: its storage, the order of visit, tensors that share it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from page_driver import PageDriver, expect
from test_page_access import in_every_scheme

PROGRAM = """
import tensorweb as tw
x = tw.asarray([[1, 2, 3], [4, 5, 6]], dtype=tw.float32)
y = x.T
back = x[:, ::-2]
wide = tw.broadcast_to(x[1], (4, 3))
flat = x.T.reshape(-1)
cube = tw.arange(24).reshape(2, 3, 4)
big = tw.arange(100000.0)[10:20]
"""


@pytest.fixture(scope="module")
def ran(shared: PageDriver) -> PageDriver:
    shared.choose_device("cpu")
    assert shared.run(PROGRAM) == "ready"
    shared.look_into("x")
    shared.page.locator(".viewer-views").get_by_role("button", name="Layout").click()
    shared.pictured()
    return shared


@pytest.fixture
def layout(ran: PageDriver) -> Iterator[PageDriver]:
    yield ran
    ran.page.set_viewport_size({"width": 1280, "height": 800})


def test_the_origin_of_each_storage_is_said(layout: PageDriver) -> None:
    said = {
        "x": "Contiguous, with its own storage.",
        "y": "This is a view of x: nothing was copied.",
        "flat": "Copied in line 7, because no strides express the new shape in the "
        "old storage.",
    }
    for name, sentence in said.items():
        layout.look_into(name)
        expect(layout.page.locator(".layout-origin")).to_have_text(sentence)


def test_zero_and_negative_strides_are_said(layout: PageDriver) -> None:
    words = layout.page.locator(".layout-words")
    layout.look_into("back")
    expect(words).to_contain_text("goes back 2 elements: it is read in reverse")
    layout.look_into("wide")
    expect(words).to_contain_text("stride 0: all 4 indices read the same elements")


def test_keys_follow_the_order_of_visit_in_both(layout: PageDriver) -> None:
    page = layout.page
    layout.look_into("y")
    at = page.locator(".layout-at")
    expect(at).to_have_text("y[0, 0] is storage[0 + 0·1 + 0·3] = storage[0]: 1")
    page.locator(".layout-cells").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(at).to_have_text("y[1, 1] is storage[0 + 1·1 + 1·3] = storage[4]: 5")
    expect(page.get_by_label("Order of visit, row by row", exact=True)).to_have_value(
        "3"
    )
    expect(page.locator(".ring")).to_be_visible()
    page.locator(".heatmap").focus()
    page.keyboard.press("ArrowDown")
    expect(at).to_have_text("y[2, 1] is storage[0 + 2·1 + 1·3] = storage[5]: 6")


def test_a_visit_shows_the_slice_of_its_element(layout: PageDriver) -> None:
    page = layout.page
    layout.look_into("cube")
    page.locator(".layout-cells").focus()
    page.keyboard.press("End")
    layout.pictured()
    expect(page.get_by_label("Index on axis 0", exact=True)).to_have_value("1")
    expect(page.locator(".layout-at")).to_contain_text("= storage[23]: 23")


def test_tensors_that_share_the_storage_are_listed(layout: PageDriver) -> None:
    layout.look_into("back")
    sharers = layout.page.locator(".layout-sharers li:not(.layout-title)")
    expect(sharers).to_have_count(4)
    expect(sharers.first).to_have_text(
        "back4 of 6 elements · offset 2 · strides (3, -2)"
    )
    layout.look_into("flat")
    expect(sharers).to_have_count(0)


def test_a_storage_cell_leads_to_its_reader(layout: PageDriver) -> None:
    page = layout.page
    layout.look_into("wide")
    page.locator(".layout-cells").hover(position={"x": 45, "y": 8})
    expect(page.locator(".layout-at")).to_have_text("storage[0] is not read by wide")


def test_a_large_storage_is_drawn_in_blocks(layout: PageDriver) -> None:
    layout.look_into("big")
    note = layout.page.locator(".layout .legend-note")
    expect(note).to_contain_text("mean of 25 elements of the storage")
    expect(layout.page.locator(".layout-origin")).to_contain_text("no name reads")


def test_it_is_accessible_and_fits_a_phone(layout: PageDriver) -> None:
    page = layout.page
    layout.look_into("back")
    assert in_every_scheme(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("tab", name="Tensors").click()
    layout.drawn()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert in_every_scheme(page) == []
