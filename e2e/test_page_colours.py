"""Colours of tensors (pictures, masks, scales), two side by side, and their files."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from page_driver import PageDriver, expect
from playwright.sync_api import Locator
from tensor_steps import expect_status, pixel, scale
from test_page_access import violations

IMAGES = """
import tensorweb as tw
down, across = tw.linspace(0.0, 1.0, 11)[:, None], tw.linspace(0.0, 1.0, 16)
rgb = tw.stack([down + 0 * across, across + 0 * down, 0.5 + 0 * down * across], axis=2)
rgba = tw.concat([rgb, rgb[:, :, 1:2]], axis=2)
batch = tw.stack([255 * rgb, 255 - 255 * rgb]).astype(tw.int32)
odd = 4 * rgb - 1
mask = rgb[:, :, 0] > 0.5
tw.show(rgb)
"""


@pytest.fixture(scope="module")
def images(shared: PageDriver) -> PageDriver:
    """The page after a run with pictures in colour."""
    assert shared.run(IMAGES) == "ready"
    shared.pictured()
    return shared


def test_picture_in_colour_is_seen_in_colour_or_as_numbers(images: PageDriver) -> None:
    images.look_into("rgb")
    page = images.page
    group = page.get_by_role("group", name="View", exact=True)
    expect(group.get_by_role("button", pressed=True)).to_have_text("Colours")
    assert pixel(images, 0.02, 0.98) == [255, 0, 128, 255]
    canvas = page.locator(".heatmap")
    canvas.focus()
    canvas.press("End")
    expect_status(images, "rgb[0, 15, :] = (0, 1, 0.5)")
    note = page.locator(".picture-note")
    expect(note).to_contain_text("red, green and blue from 0 to 1")
    expect(page.locator(".axes .slider")).to_have_count(0)
    group.get_by_role("button", name="Numbers").click()
    images.pictured()
    expect(page.get_by_label("Index on axis 2", exact=True)).to_be_visible()
    canvas.focus()
    expect_status(images, "rgb[0, 15, 0] = 0")
    red: list[int] = page.locator(".tensor:has-text('rgb(') .thumb").evaluate(
        "canvas => [...canvas.getContext('2d')"
        ".getImageData(0, canvas.height - 1, 1, 1).data]"
    )
    assert red == [255, 0, 128, 255]
    group.get_by_role("button", name="Colours").click()
    images.pictured()


def test_alpha_shows_the_ground_and_other_ranges_are_scaled(images: PageDriver) -> None:
    images.look_into("rgba")
    page = images.page
    assert pixel(images, 0.02, 0.5)[3] == 0
    expect(page.locator(".heatmap")).to_have_class(re.compile("see-through"))
    images.look_into("odd")
    note = page.locator(".picture-note")
    expect(note).to_contain_text("scaled: -1 is dark, 3 bright")
    assert pixel(images, 0.02, 0.98) == [255, 0, 128, 255]
    expect(page.locator(".heatmap")).not_to_have_class(re.compile("see-through"))
    images.look_into("batch")
    page.get_by_label("Index on axis 0, as a number").fill("1")
    page.keyboard.press("Tab")
    images.pictured()
    assert pixel(images, 0.02, 0.98) == [0, 255, 127, 255]


def test_masks_have_two_colours_and_two_words(images: PageDriver) -> None:
    images.look_into("mask")
    page = images.page
    assert scale(images) == ("False", "True")
    expect(page.locator(".bars span")).to_have_count(2)
    assert pixel(images, 0.02, 0.98)[2] > pixel(images, 0.02, 0.98)[0]
    page.locator(".heatmap").focus()
    expect_status(images, "mask[0, 0] = False")
    page.get_by_role("button", name="Table").click()
    expect(page.locator(".values tbody td").first).to_have_text("False")
    page.get_by_role("button", name="Picture", exact=True).click()
    images.pictured()


LOOK = "tensorwebPage.view.viewSettings"

PEAKED = """
import tensorweb as tw
x = tw.reshape(tw.arange(400.0), (20, 20)) / 400
x[0, 0], x[19, 19] = 90.0, -40.0
y = x * 2
tw.show(x)
"""


@pytest.fixture
def peaked(shared: PageDriver) -> PageDriver:
    """The page after a run with two values far from all others."""
    assert shared.run(PEAKED) == "ready"
    shared.look_into("x")
    return shared


def test_clip_leaves_outliers_out_and_marks_them(peaked: PageDriver) -> None:
    page = peaked.page
    assert scale(peaked) == ("-90", "90")
    page.get_by_role("button", name="Clip").click()
    assert scale(peaked) == ("0.01", "0.9875")
    note = page.locator(".picture-note")
    expect(note).to_contain_text("▲ above the scale in 4 ")
    expect(note).to_contain_text("▼ below it in")
    assert pixel(peaked, 0.5, 0.02) != pixel(peaked, 0.5, 0.98)
    page.get_by_role("button", name="Reset scale").click()
    assert scale(peaked) == ("-90", "90")
    expect(page.get_by_role("button", name="Reset scale")).to_be_hidden()


def test_colours_are_centred_on_a_cell_or_a_place_of_the_scale(
    peaked: PageDriver,
) -> None:
    page = peaked.page
    canvas = page.locator(".heatmap")
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.52, box["y"] + box["height"] * 0.52)
    expect_status(peaked, "x[10, 10] = 0.52500004")
    peaked.wait(f"{LOOK}.scale !== null")
    assert page.evaluate(f"({LOOK}.scale.low + {LOOK}.scale.high) / 2") == (
        pytest.approx(0.525)
    )
    assert page.evaluate(f"{LOOK}.scale.high") < 1.1
    canvas.focus()
    canvas.press("Escape")
    assert scale(peaked) == ("-90", "90")
    for key in ("Home", "ArrowDown", "c"):
        canvas.press(key)
    middle = page.evaluate(f"({LOOK}.scale.low + {LOOK}.scale.high) / 2")
    bar = page.locator(".legend-body")
    bar.hover(position={"x": 5, "y": 20})
    page.mouse.down()
    bar.hover(position={"x": 5, "y": 60})
    page.mouse.up()
    chosen = page.evaluate(f"{LOOK}.scale")
    assert chosen["low"] < chosen["high"]
    assert chosen["low"] > middle
    assert not chosen["diverging"]
    upper = page.get_by_label("Upper end of the scale")
    upper.fill("3")
    upper.press("Enter")
    assert page.evaluate(f"{LOOK}.scale.high") == 3
    assert violations(page) == []


def test_held_scale_serves_every_tensor_until_it_is_released(
    peaked: PageDriver,
) -> None:
    page = peaked.page
    page.get_by_role("button", name="Hold").click()
    peaked.look_into("y")
    assert scale(peaked) == ("-90", "90")
    expect(page.locator(".picture-note")).to_contain_text("above the scale in 1 cell")
    page.get_by_role("button", name="Hold").click()
    assert scale(peaked) == ("-180", "180")


def more(driver: PageDriver) -> Locator:
    """Open what else can be done with a tensor."""
    driver.page.get_by_role("button", name="More of this tensor").click()
    return driver.page.locator(".more-list")


def taken(driver: PageDriver, label: str) -> tuple[str, bytes]:
    """Return the name and the bytes of a file of the chosen tensor."""
    with driver.page.expect_download() as download:
        more(driver).get_by_role("button", name=label).click()
    return download.value.suggested_filename, download.value.path().read_bytes()


FILES = """
import tensorweb as tw
a = tw.reshape(tw.arange(24.0), (4, 6)) / 8
a[2, 3] = float("nan")
b = tw.reshape(tw.arange(24.0), (4, 6)) / 8
b[1, 5] = -4.0
row = tw.arange(6.0)
many = {"x/y": a * 2}
huge = tw.zeros((30_000_000,))
"""


@pytest.fixture(scope="module")
def files(shared: PageDriver) -> PageDriver:
    """The page after a run with tensors to compare and to download."""
    assert shared.run(FILES) == "ready"
    shared.pictured()
    return shared


def test_tensors_are_downloaded_as_picture_npy_and_csv(files: PageDriver) -> None:
    page = files.page
    files.look_into("a")
    name, data = taken(files, "All values")
    assert name == "a.npy"
    expected = np.arange(24, dtype=np.float32).reshape(4, 6) / 8
    expected[2, 3] = np.nan
    file = io.BytesIO()
    np.save(file, expected)
    assert data == file.getvalue()
    name, data = taken(files, "This slice")
    assert (name, data.split(b"\n")[0]) == ("a.csv", b"0,0.125,0.25,0.375,0.5,0.625")
    assert data.count(b"nan") == 1
    name, data = taken(files, "Picture")
    assert (name, data[1:4], data[19], data[23]) == ("a.png", b"PNG", 6, 4)
    page.locator(".tensor", has_text="many['x/y']").click()
    files.pictured()
    assert taken(files, "Picture")[0] == "many_x_y.png"
    files.look_into("huge")
    more(files).get_by_role("button", name="All values").click()
    notice = page.locator("#notice")
    expect(notice).to_contain_text("huge.npy will have 120.0 MB")
    expect(notice.get_by_role("button", name="Download 120.0 MB")).to_be_visible()
    notice.get_by_role("button", name="Close").click()


def test_two_tensors_are_seen_side_by_side_with_their_difference(
    files: PageDriver,
) -> None:
    page = files.page
    files.look_into("a")
    page.get_by_role("button", name="More of this tensor").click()
    options = page.get_by_label("Compare with").locator("option")
    expect(options).to_have_text(["nothing", "b", "row", "many['x/y']"])
    page.get_by_label("Compare with").select_option(label="b")
    files.pictured()
    expect(page.locator(".viewer-title")).to_have_text("a and b")
    facts = page.locator(".pair-side .facts")
    expect(facts).to_contain_text("differ2of all8.333 %")
    facts.get_by_role("button", name="go to the largest difference").click()
    said = ["a[1, 5] = 1.375", "b[1, 5] = -4", "(a - b)[1, 5] = 5.375"]
    status = page.locator(".viewer-pair .cell-status")
    expect(status).to_have_text(said)
    canvas = page.locator(".viewer-pair .heatmap").first
    canvas.focus()
    for key in ("Home", "+"):
        canvas.press(key)
    expect(status).to_have_text(
        ["a[1, 0] = 0.75", "b[1, 0] = 0.75", "(a - b)[1, 0] = 0"]
    )
    files.drawn()
    positions = page.eval_on_selector_all(
        ".viewer-pair .heatmap",
        "all => all.map(({style, width}) => `${style.transform} ${width}`)",
    )
    assert len(set(positions)) == 1
    assert page.locator(".viewer-pair .heatmap-frame.zoomed").count() == 3
    assert violations(page) == []
    page.get_by_role("button", name="Stop comparing").click()
    files.pictured()
    expect(page.locator(".viewer-title")).to_have_text("a")
    expect(page.locator(".viewer-body")).to_be_visible()


SHIFTS = """() => { globalThis.moved = [];
  globalThis.shifts = new PerformanceObserver((list) => moved.push(...list.getEntries()
    .flatMap(({sources}) => sources.map(({node}) => node?.className))));
  shifts.observe({type: "layout-shift"}); }"""


def test_nothing_moves_when_another_tensor_is_chosen(files: PageDriver) -> None:
    page = files.page
    size = page.viewport_size
    page.set_viewport_size({"width": 1280, "height": 720})
    files.drawn(5)
    page.evaluate(SHIFTS)
    for name in ("b", "row", "huge", "a"):
        files.look_into(name)
        files.drawn(5)
    moved = page.evaluate("shifts.disconnect() ?? moved")
    inside = "viewer-(body|head|views)|legend|^facts|choices|picture|heatmap|ticks|zoom"
    assert [name for name in moved if re.search(inside, str(name))] == []
    assert size is not None
    page.set_viewport_size(size)


COMPLEX = """
import tensorweb as tw
z = tw.asarray([[3 + 4j, -1.5], [0.1j, 2.0]])
other = 1.5 + tw.eye(2)
"""


def test_sizes_of_complex_numbers_are_drawn_and_told(shared: PageDriver) -> None:
    assert shared.run(COMPLEX) == "ready"
    shared.look_into("z")
    page = shared.page
    expect(page.locator(".picture-note")).to_contain_text("drawn is abs(x)")
    facts = dict(
        zip(
            page.locator(".facts dt").all_inner_texts(),
            page.locator(".facts dd").all_inner_texts(),
            strict=True,
        )
    )
    assert (facts["largest size"], facts["smallest size"]) == ("5 →", "0.1 →")
    page.get_by_role("button", name="0.1 →").click()
    expect_status(shared, "abs(z[1, 0]) = 0.1")
    page.get_by_role("button", name="Table", exact=True).click()
    shared.pictured()
    expect(page.get_by_role("cell", name="3+4j", exact=True)).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Picture", exact=True).click()
    shared.pictured()


def test_what_cannot_be_had_leaves_no_other_tensors_picture(shared: PageDriver) -> None:
    assert shared.run(COMPLEX) == "ready"
    page = shared.page
    shared.look_into("z")
    expect(page.locator(".picture-note")).to_contain_text("abs(x)")
    page.evaluate(
        """() => { const { session } = tensorwebPage;
        const ask = session.request.bind(session);
        session.request = (name, details) => name === "heatmap"
          ? Promise.reject(new Error("no memory for a picture"))
          : ask(name, details); }"""
    )
    page.click("#tensors .tensor:has(.tensor-name:text-is('other'))")
    expect(page.locator(".viewer-problem")).to_have_text("no memory for a picture")
    assert page.locator(".picture-note").inner_text() == ""
    expect(page.locator(".heatmap")).to_be_hidden()
    page.evaluate("delete tensorwebPage.session.request")
    shared.look_into("z")
    expect(page.locator(".viewer-problem")).to_have_text("")
    expect(page.locator(".picture-note")).to_contain_text("abs(x)")
