"""A cell is traced to the cells that it was computed from, with clicks and keys."""

from __future__ import annotations

from page_driver import PageDriver, expect
from test_page_access import in_every_scheme

PROGRAM = """import tensorweb as tw
x = tw.asarray([[1.0, 2.0], [3.0, -4.0]])
w = tw.asarray([[0.5, 1.0], [0.25, 2.0]])
y = tw.relu(x @ w + 1)
total = y.sum()
odd = tw.log(x)
late = odd.sum() / 2
tw.show(y)
"""


def asked(driver: PageDriver, name: str) -> None:
    """Ask for the first cell of a tensor."""
    driver.show("Tensors")
    driver.look_into(name)
    driver.page.click("#tensors .viewer-head button:has-text('Why?')")
    expect(driver.page.locator("#why .why-title")).to_be_visible()


def test_three_clicks_lead_from_a_sum_to_the_data(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    assert on_cpu.run(PROGRAM) == "ready", on_cpu.wrong()
    asked(on_cpu, "total")
    title = page.locator("#why .why-title")
    expect(title).to_have_text("total = 9.5")
    expect(page.locator("#why .why-where")).to_contain_text("Made by line 5")
    page.click("#why .why-cell:has-text('y[1, 0]')")
    expect(title).to_have_text("y[1, 0] = 1.5")
    expect(page.locator("#why .why-rows li code")).to_have_text(
        ["relu(1.5) = 1.5", "0.5 + 1 = 1.5", "3·0.5 + (-4)·0.25 = 0.5"]
    )
    expect(page.locator("#why .why-source h4")).to_have_text(
        ["x (2, 2): 2 cells of 4 line 2", "w (2, 2): 2 cells of 4 line 3"]
    )
    page.click("#why .why-cell:has-text('x[1, 1]')")
    expect(title).to_have_text("x[1, 1] = -4")
    expect(page.locator("#why .why-where")).to_contain_text("Data of line 2")
    page.click("#why .why-trail button:has-text('total')")
    expect(title).to_have_text("total = 9.5")
    assert page.evaluate("tensorwebPage.view.focus.why.length") == 1
    # Another run has other cells.
    assert on_cpu.run() == "ready"
    expect(title).to_have_count(0)
    assert not page.evaluate("tensorwebPage.view.focus?.why.length")


def test_a_cell_shows_what_it_reaches(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    assert on_cpu.run(PROGRAM) == "ready", on_cpu.wrong()
    asked(on_cpu, "w")
    page.click("#why button:has-text('What does it reach?')")
    expect(page.locator("#why .why-source h4 code")).to_have_text(["y", "total"])
    expect(page.locator("#why .why-source h4").first).to_contain_text("2 cells of 4")


def test_gradients_stand_beside_values(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    assert on_cpu.run(PROGRAM) == "ready", on_cpu.wrong()
    asked(on_cpu, "total")
    page.set_viewport_size({"width": 1280, "height": 360})
    ask = page.locator("#why button:has-text('Its gradients')")
    ask.scroll_into_view_if_needed()
    before = page.evaluate("document.querySelector('#why').scrollTop")
    ask.click()
    expect(page.locator("#why h3:has-text('Its gradient by')")).to_be_in_viewport()
    # The answer is longer than the room below the button.
    assert page.evaluate("document.querySelector('#why').scrollTop") > before
    names = page.locator("#why .why-further .why-source h4 code")
    expect(names).to_have_text(["x", "w", "y", "total"])
    captions = page.locator("#why .why-further .why-source").first.locator("figcaption")
    expect(captions).to_have_text(["value", "gradient"])
    # Each picture has colours of its own.
    pair = page.locator("#why .why-further .lit-pair").first
    expect(pair.locator(".lit-colours")).to_have_count(2)
    # They stand above what the cell was computed from.
    top = page.locator("#why .why-further").bounding_box()
    below = page.locator("#why h3:has-text('It was computed from')").bounding_box()
    assert top is not None
    assert below is not None
    assert top["y"] < below["y"]
    page.locator("#why button:has-text('Check by differences')").nth(1).click()
    expect(page.locator("#why .why-further")).to_contain_text("by differences with the")


def test_slices_of_larger_inputs_are_chosen(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    source = "x = tw.arange(24.0).reshape(2, 3, 4)\ny = x.sum(2)\n"
    assert on_cpu.run(f"import tensorweb as tw\n{source}") == "ready", on_cpu.wrong()
    page.evaluate("tensorwebPage.why({name: 'y', index: [1, 2]})")
    note = page.locator("#why .lit-note")
    expect(note).to_have_text("Fixed: axis 0 at 1; rows are axis 1, columns axis 2.")
    page.get_by_role("slider", name="Index on axis 0 of x").press("ArrowLeft")
    expect(note).to_contain_text("axis 0 at 0; rows are axis 1")
    expect(note).to_contain_text("No lit cell is in this slice.")
    assert in_every_scheme(page) == []
    # A click asks for a cell of the slice that is drawn.
    page.locator("#why .lit-picture").click(position={"x": 3, "y": 3})
    expect(page.locator("#why .why-title")).to_have_text("x[0, 0, 0] = 0")


def test_a_cell_of_a_picture_is_asked_by_a_click(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    assert on_cpu.run(PROGRAM) == "ready", on_cpu.wrong()
    asked(on_cpu, "y")
    picture = page.locator("#why .why-source canvas").first
    expect(picture).to_be_visible()
    box = picture.bounding_box()
    assert box is not None
    picture.click(position={"x": box["width"] * 0.75, "y": box["height"] * 0.25})
    expect(page.locator("#why .why-title")).to_have_text("x[0, 1] = 2")


def test_a_key_asks_for_the_cell_of_the_cursor(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    assert on_cpu.run(PROGRAM) == "ready", on_cpu.wrong()
    on_cpu.show("Tensors")
    on_cpu.look_into("y")
    page.focus("#tensors canvas.heatmap")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("w")
    expect(page.locator("#why .why-title")).to_have_text("y[1, 0] = 1.5")


def test_the_first_nan_is_one_click_away(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    assert on_cpu.run(PROGRAM) == "ready", on_cpu.wrong()
    asked(on_cpu, "late")
    page.click("#why button:has-text('Where is it first made?')")
    expect(page.locator("#why .why-title")).to_have_text("odd[1, 1] = nan")
    expect(page.locator("#why .why-rows li code")).to_have_text(["log(-4) = nan"])
