"""The tensor view (list, heat map, keys, sliders, table, histogram) and kernels."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from page_driver import PageDriver, expect
from tensor_steps import expect_status, pixel, scale

from conftest import site_has

SMALL = """
import tensorweb as tw
x = tw.asarray([[1.5, float("nan")], [-2.0, float("inf")]])
t = tw.reshape(tw.arange(24), (2, 3, 4))
v = t[1, :, ::2]
empty = tw.zeros((0, 3))
big = tw.reshape(tw.linspace(-1.0, 1.0, 300 * 700), (300, 700))
tw.show(x)
"""


@pytest.fixture(params=["webgpu", "cpu"])
def small(request: pytest.FixtureRequest, shared: PageDriver) -> Iterator[PageDriver]:
    """The page after a run with some tensors, on each device."""
    shared.choose_device(request.param)
    assert shared.run(SMALL) == "ready"
    shared.pictured()
    yield shared
    shared.choose_device("webgpu")


@pytest.fixture
def here(shared: PageDriver) -> PageDriver:
    """The same on one device, for what the page does by itself."""
    assert shared.run(SMALL) == "ready"
    shared.pictured()
    return shared


KERNELS = {
    "webgpu": ("workgroups", "@compute", "struct"),
    "cpu": ("unit", '(export "run")', "module"),
}
"""What is said of a kernel's work, what is in its source, its first keyword."""


def test_list_has_every_tensor_with_statistics(small: PageDriver) -> None:
    tensors = small.tensors()
    assert list(tensors) == ["x", "t", "v", "empty", "big"]
    assert (tensors["x"]["nan"], tensors["x"]["inf"]) == (1, 1)
    assert (tensors["x"]["min"], tensors["x"]["max"]) == (-2, 1.5)
    assert (tensors["t"]["min"], tensors["t"]["max"]) == (0, 23)
    assert tensors["t"]["mean"] == 11.5
    assert (tensors["v"]["strides"], tensors["v"]["viewOf"]) == ([4, 2], "t")
    first = small.page.locator("#tensors .tensor").first
    expect(first).to_contain_text("NaN")
    expect(first).to_contain_text("(2, 2)")
    small.look_into("x")
    said = f"float32 (2, 2) on {tensors['x']['device']}"
    expect(small.page.locator(".viewer-facts")).to_have_text(said)
    expect(small.page.locator(".facts")).to_contain_text("NaN1")


def test_what_was_shown_last_is_looked_into(small: PageDriver) -> None:
    expect(small.page.locator(".viewer-title")).to_have_text("x")
    assert scale(small) == ("-2", "2")
    expect(small.page.locator(".picture-note")).to_contain_text("NaN in 1 cell")


def test_colours_tell_sign_and_nan(small: PageDriver) -> None:
    small.look_into("x")
    positive, negative = pixel(small, 0.02, 0.02), pixel(small, 0.02, 0.98)
    assert positive[2] > positive[0]
    assert negative[0] > negative[2]
    assert pixel(small, 0.98, 0.02)[:3] == [0, 0, 0]
    # The cross of NaN is drawn in its middle.
    assert pixel(small, 0.75, 0.25)[:3] == [255, 92, 240]


def test_pointer_and_keys_tell_values(small: PageDriver) -> None:
    small.look_into("t")
    canvas = small.page.locator(".heatmap")
    box = canvas.bounding_box()
    assert box is not None
    small.page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 3)
    expect_status(small, "t[0, 0, 3] = 3")
    canvas.focus()
    canvas.press("Home")
    expect_status(small, "t[0, 0, 0] = 0")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        canvas.press(key)
    expect_status(small, "t[0, 2, 1] = 9")
    expect(small.page.locator(".ring")).to_be_visible()


def test_slider_moves_along_a_further_axis(small: PageDriver) -> None:
    small.look_into("t")
    small.page.get_by_label("Index on axis 0, as a number").fill("1")
    small.page.keyboard.press("Tab")
    small.pictured()
    canvas = small.page.locator(".heatmap")
    canvas.focus()
    canvas.press("Home")
    expect_status(small, "t[1, 0, 0] = 12")


def test_rows_and_columns_can_be_chosen(here: PageDriver) -> None:
    here.look_into("t")
    here.page.get_by_label("Row axis").select_option("0")
    here.pictured()
    expect(here.page.locator(".heatmap")).to_have_attribute(
        "aria-label", "Heat map of t, 2 by 4 cells; arrow keys move"
    )


SIZES = """() => { const c = document.querySelector('.heatmap');
  const frame = document.querySelector('.heatmap-frame').getBoundingClientRect();
  const box = c.getBoundingClientRect();
  return {width: c.width, height: c.height, ratio: devicePixelRatio,
          wide: box.width / frame.width, high: box.height / frame.height,
          cell: c.width / box.width, left: box.left, top: box.top} }"""


def test_picture_has_a_pixel_for_each_element_and_fills_its_frame(
    small: PageDriver,
) -> None:
    small.look_into("big")
    note = small.page.locator(".picture-note")
    expect(note).to_contain_text("each cell is one element")
    sizes = small.page.evaluate(SIZES)
    assert (sizes["width"], sizes["height"]) == (700, 300)
    assert max(sizes["wide"], sizes["high"]) > 0.95
    assert pixel(small, 0.01, 0.01)[0] > pixel(small, 0.99, 0.99)[0]


def test_picture_zooms_and_pans_by_keys_and_mouse(here: PageDriver) -> None:
    page = here.page
    here.look_into("big")
    canvas = page.locator(".heatmap")
    canvas.focus()
    for key in ("End", "PageDown", "1"):
        canvas.press(key)
    here.drawn()
    assert page.evaluate(SIZES)["cell"] == page.evaluate("devicePixelRatio")
    for _ in range(3):
        canvas.press("+")
    here.drawn()
    # The cursor stays in sight: the last column.
    expect(page.locator(".ring")).to_be_in_viewport()
    expect_status(here, "big[10, 699] = -0.92667586")
    ring = page.locator(".ring").bounding_box()
    assert ring is not None
    assert ring["width"] == 4
    page.mouse.move(ring["x"] - 200, ring["y"] + 20)
    page.mouse.down()
    page.mouse.move(ring["x"] - 100, ring["y"] + 20)
    page.mouse.up()
    here.drawn()
    moved = page.locator(".ring").bounding_box()
    canvas.press("0")
    here.drawn()
    sizes = page.evaluate(SIZES)
    assert (sizes["width"], sizes["height"]) == (700, 300)
    assert moved is not None
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.wheel(0, -200)
    page.wait_for_function("document.querySelector('.heatmap-frame.zoomed')")
    page.get_by_role("button", name="Fit").click()
    page.wait_for_function("!document.querySelector('.heatmap-frame.zoomed')")


def test_larger_tensor_is_pooled_and_says_how(here: PageDriver) -> None:
    source = "import tensorweb as tw\nx = tw.expand_dims(tw.arange(1536.0), 1)"
    assert here.run(f"{source} * tw.ones(1024)") == "ready"
    here.pictured()
    page = here.page
    note = page.locator(".picture-note")
    expect(note).to_contain_text("each cell is the mean of 2 \N{MULTIPLICATION SIGN} 1")
    expect(page.locator(".legend .legend-note")).to_contain_text("1 in 24 counted")
    page.get_by_label("Show the").select_option("corner")
    expect(note).to_contain_text("the first 100")
    page.get_by_label("Show the").select_option("mean")
    expect(note).to_contain_text("the mean of")


def test_table_has_exact_values_by_pages(here: PageDriver) -> None:
    here.look_into("big")
    page = here.page
    page.get_by_role("button", name="Table").click()
    cell = page.locator(".values td").nth(1)
    expect(cell).to_have_text("-1")
    scroller = page.locator(".table-scroll")
    scroller.evaluate("node => { node.scrollTop = 300; node.scrollLeft = 200 }")
    expect(page.locator(".values thead th").nth(5)).to_be_in_viewport()
    # Heads stay above and left of the numbers.
    expect(page.locator(".values tbody th").nth(16)).to_be_in_viewport()
    field = page.get_by_label("Go to index")
    field.fill("120, 333")
    field.press("Enter")
    found = page.locator(".values td.found")
    expect(found).to_have_text("-0.19682474")
    expect(found).to_be_in_viewport()
    expect(page.locator(".values tbody th").first).to_have_text("100")
    field.fill("0, 0")
    field.press("Enter")
    expect(page.locator(".values tbody th").first).to_have_text("0")
    page.get_by_role("button", name="Later rows").click()
    expect(page.locator(".values tbody th").first).to_have_text("50")
    page.get_by_role("button", name="Picture", exact=True).click()
    expect(page.locator(".heatmap")).to_be_visible()


def test_histogram_lies_along_the_scale(here: PageDriver) -> None:
    here.look_into("big")
    assert scale(here) == ("-1", "1")
    bars, bar = (
        here.page.locator(part).bounding_box() for part in (".bars", ".legend-bar")
    )
    assert bars is not None
    assert bar is not None
    assert (bars["y"], bars["height"]) == (bar["y"], bar["height"])
    widths = here.page.eval_on_selector_all(
        ".bars span", "bars => bars.map((bar) => bar.style.width)"
    )
    assert len(widths) == 40
    assert min(float(width.rstrip("%")) for width in widths) > 98


LOOK = "tensorwebPage.view.viewSettings"


def test_view_can_be_taken_and_given(small: PageDriver) -> None:
    page = small.page
    small.look_into("t")
    look = {
        "axes": {"rows": 0, "columns": 1},
        "index": [0, 0, 2],
        "scale": {"low": 5, "high": 6, "diverging": False},
        "mode": "cells",
    }
    page.evaluate("look => tensorwebPage.change({ viewSettings: look })", look)
    assert small.run(SMALL) == "ready"
    small.pictured()
    expect(page.locator(".viewer-title")).to_have_text("t")
    assert scale(small) == ("5", "6")
    assert page.evaluate(LOOK) == look
    page.locator(".heatmap").focus()
    expect_status(small, "t[0, 0, 2] = 2")
    small.look_into("big")
    assert page.evaluate(f"{LOOK}.scale") is None


def test_chosen_tensor_stays_under_the_mouse(shared: PageDriver) -> None:
    page = shared.page
    source = "\n".join(f"x{i} = tw.arange({i + 2.0}) * {i}" for i in range(14))
    assert shared.run(f"import tensorweb as tw\n{source}") == "ready"
    shared.pictured()
    shown = page.locator(".tensor", has_text="x8")
    shown.scroll_into_view_if_needed()
    before = page.locator(".tensor-list").evaluate("list => list.scrollLeft")
    shown.click()
    shared.pictured()
    expect(shown).to_have_attribute("aria-current", "true")
    after = page.locator(".tensor-list").evaluate("list => list.scrollLeft")
    assert (after, before > 0) == (before, True)


def test_everything_of_a_tensor_is_in_sight(here: PageDriver) -> None:
    size = here.page.viewport_size
    here.page.set_viewport_size({"width": 1280, "height": 720})
    here.look_into("big")
    parts = (".thumb", ".heatmap", ".legend-bar", ".bars", ".facts", ".cell-status")
    for part in parts:
        expect(here.page.locator(part).first).to_be_in_viewport(ratio=0.99)
    assert here.page.evaluate(
        "(panel => panel.scrollHeight <= panel.clientHeight)"
        "(document.querySelector('#tensors'))"
    )
    assert size is not None
    here.page.set_viewport_size(size)


CUT = """(pixel) => [
  ...[...document.querySelectorAll(".facts dt, .facts dd")]
    .filter((part) => part.scrollWidth > part.clientWidth),
  ...[...document.querySelectorAll(".ticks span")].filter((label) => {
    const [inner, outer] = [label, label.parentElement].map(
      (part) => part.getBoundingClientRect());
    return Math.min(inner.left - outer.left, inner.top - outer.top,
      outer.right - inner.right, outer.bottom - inner.bottom) < -pixel; }),
].map((part) => part.textContent)"""


def test_no_number_and_no_fact_is_cut(here: PageDriver) -> None:
    source = "x = -tw.reshape(tw.arange(4096.0), (64, 64)) * 1.2345e-5"
    size = here.page.viewport_size
    assert here.run(f"import tensorweb as tw\n{source}") == "ready"
    here.pictured()
    cut = {}
    for width in (390, 768, 1024, 1280, 1440, 2560):
        here.page.set_viewport_size({"width": width, "height": width * 5 // 8})
        here.drawn()
        cut[width] = here.page.evaluate(CUT, 0.5)
    assert not any(cut.values()), cut
    assert size is not None
    here.page.set_viewport_size(size)


def test_empty_tensor_says_so(small: PageDriver) -> None:
    small.look_into("empty")
    expect(small.page.locator(".viewer-problem")).to_have_text(
        "This tensor has no elements."
    )


def test_kernels_are_listed_with_their_source(small: PageDriver) -> None:
    device = small.page.input_value("#device select")
    source = "import tensorweb as tw\n(tw.arange(4.0) * 2 + 1).sum().item()"
    assert small.run(source) == "ready"
    small.page.get_by_role("tab", name="Kernels").click()
    kernel = small.page.locator(".kernel").first
    work, source, keyword = KERNELS[device]
    expect(kernel.locator(".kernel-facts")).to_contain_text(work)
    kernel.locator("summary").click()
    expect(kernel.locator(".kernel-source")).to_contain_text(source)
    expect(kernel.locator(".tok-keyword").first).to_have_text(keyword)
    expect(small.page.locator("#editor .tok-keyword").first).to_have_text("import")
    small.page.get_by_role("tab", name="Tensors").click()


@pytest.mark.parametrize(
    ("name", "shown"), [("webgpu", "swiftshader"), ("cpu", "WebAssembly")]
)
def test_device_is_named_and_switches(
    shared: PageDriver, name: str, shown: str
) -> None:
    shared.choose_device(name)
    expect(shared.page.locator("#device")).to_contain_text(shown, ignore_case=True)
    source = "import tensorweb as tw\nx = tw.ones((2,))\nx.device"
    assert shared.run(source) == "ready"
    assert f"'{name}'" in shared.output
    shared.choose_device("webgpu")


@pytest.mark.numpy_or_not
def test_numpy_can_be_imported_where_the_site_has_it(shared: PageDriver) -> None:
    state = "ready" if site_has("numpy") else "error"
    assert shared.run("import numpy") == state
    assert ("ModuleNotFoundError" in shared.output) is not site_has("numpy")
    assert shared.run("import tensorweb as tw\ntw.ones(3).sum()") == "ready"


@pytest.mark.numpy_or_not
def test_numpy_loads_when_a_program_needs_it(shared: PageDriver) -> None:
    source = "import tensorweb as tw\ntw.asarray([1.5, 0.5]).numpy().sum()"
    if site_has("numpy"):
        assert shared.run(source) == "ready"
        assert "2.0" in shared.output
    else:
        assert shared.run(source) == "error"
        assert 'await micropip.install("numpy")' in shared.output


def test_next_run_works_after_the_gpu_is_lost(shared: PageDriver) -> None:
    source = "import tensorweb as tw\nx = tw.ones((4,))\nx.sum().item()"
    assert shared.run(source) == "ready"
    lose = "from tensorweb import devices\ndevices.backend('webgpu').driver.close()\n"
    assert shared.run(source + "\n" + lose + "print((x * 2).tolist())") == "error"
    assert "DeviceLostError" in shared.output
    assert shared.run(source) == "ready"


COPIED = """async () => {
  const [item] = await navigator.clipboard.read();
  const picture = await createImageBitmap(await item.getType("image/png"));
  const { width, height } = picture;
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(picture, 0, 0);
  const at = (x, y) => [...context.getImageData(x, y, 1, 1).data].slice(0, 3);
  const left = 40, top = height - 120;
  const middle = height / 2;
  const scale = [...Array(width).keys()].map((x) => at(x, middle).join());
  return { width, height, ground: at(2, 2), cell: at(left, top),
    colours: new Set(scale).size };
}"""
"""What is in the clipboard: its size, some pixels, and how many colours half-way."""


def test_the_picture_can_be_copied_with_its_scale(here: PageDriver) -> None:
    page = here.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    here.look_into("big")
    copy = page.get_by_role("button", name="Copy picture")
    copy.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    found = page.evaluate(COPIED)
    assert found["width"] > 800
    assert found["height"] > 500
    ground = page.evaluate(
        "getComputedStyle(document.querySelector('[data-pane=results]')).backgroundColor"
    )
    assert ground == f"rgb({', '.join(map(str, found['ground']))})"
    red, _, blue = found["cell"]
    assert abs(red - blue) > 60
    assert found["colours"] > 2
    refuse = "navigator.clipboard.write = () => Promise.reject(new Error('no'))"
    page.evaluate(f"() => {{ {refuse}; }}")
    with page.expect_download() as download:
        page.get_by_role("group", name="Picture").get_by_role("button").last.click()
    assert download.value.suggested_filename == "big.png"
    page.evaluate("() => { delete navigator.clipboard.write; }")
    page.get_by_role("button", name="Table").click()
    expect(page.locator(".copy-picture")).to_be_hidden()
    page.get_by_role("button", name="Picture", exact=True).click()
    page.context.clear_permissions()
