"""The large pane: what the program showed last, curves, single numbers, the strip."""

from __future__ import annotations

import pytest
from page_driver import PageDriver, expect
from test_page_access import violations

PLOTS = """
import tensorweb as tw
x = tw.linspace(0.0, 9.0, 10)
tw.show(x)
for step in range(2, 6):
    losses = [8.0 / (k + 1) for k in range(step)]
    tw.plot({"train": losses, "test": [2 * y for y in losses]}, title="training")
tw.show(tw.sum(x), "total")
"""

HTML = """
import tensorweb as tw
x = tw.ones((4, 4))
class Sheet:
    def _repr_html_(self):
        return "<table><tr><td>cell</td></tr></table>"
class Drawing:
    def _repr_svg_(self):
        return '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 30"></svg>'
tw.show({first}, "first")
tw.show({second}, "second")
"""


def names(driver: PageDriver) -> list[str]:
    """Return the names in the strip, in order."""
    return driver.page.locator("#tensors .tensor-name").all_inner_texts()


def test_the_newest_plot_is_large_and_read_by_pointer_and_keys(
    shared: PageDriver,
) -> None:
    page = shared.page
    assert shared.run(PLOTS) == "ready"
    stage = page.locator("#tensors .stage")
    expect(stage.locator(".stage-title")).to_have_text("training")
    expect(stage.locator(".plot-legend")).to_have_text("traintest")
    box = stage.locator("svg.plot").bounding_box()
    pane = page.locator("#tensors").bounding_box()
    assert box
    assert pane
    assert box["height"] > pane["height"] / 2
    assert box["width"] > pane["width"] * 0.9
    reading = stage.locator(".chart-reading")
    page.mouse.move(box["x"] + box["width"] - 14, box["y"] + 60)
    expect(reading).to_have_text("4: train 1.6 · test 3.2")
    page.mouse.move(0, 0)
    expect(reading).to_be_empty()
    stage.locator(".chart").focus()
    page.keyboard.press("ArrowRight")
    expect(reading).to_have_text("0: train 8 · test 16")
    page.keyboard.press("ArrowRight")
    expect(reading).to_have_text("1: train 4 · test 8")
    page.keyboard.press("End")
    expect(reading).to_have_text("4: train 1.6 · test 3.2")
    assert violations(page) == []


def test_a_plot_in_the_output_is_read_too(shared: PageDriver) -> None:
    page = shared.page
    assert shared.run(PLOTS) == "ready"
    card = page.locator("#output .plot-card")
    card.locator(".chart").focus()
    page.keyboard.press("ArrowRight")
    expect(card.locator(".chart-reading")).to_have_text("0: train 8 · test 16")


def test_the_strip_begins_with_what_is_large(shared: PageDriver) -> None:
    page = shared.page
    many = "\nfor i in range(30): globals()[f'x{i}'] = tw.ones((2, 2))\ntw.show(x29)"
    assert shared.run(f"import tensorweb as tw{many}") == "ready"
    shared.pictured()
    assert names(shared)[:3] == ["x29", "x0", "x1"]
    assert page.evaluate("document.querySelector('.tensor-list').scrollLeft") == 0
    expect(page.locator("#tensors .tensor").first).to_have_attribute(
        "aria-current", "true"
    )


@pytest.mark.parametrize(
    ("first", "second", "part"),
    [("Drawing()", "Sheet()", "iframe"), ("Sheet()", "Drawing()", "img")],
)
def test_html_and_pictures_are_large_and_tensors_can_be_chosen(
    shared: PageDriver, first: str, second: str, part: str
) -> None:
    page = shared.page
    source = HTML.replace("{first}", first).replace("{second}", second)
    assert shared.run(source) == "ready"
    stage = page.locator("#tensors .stage")
    expect(stage.locator(".stage-title")).to_have_text("second")
    box = stage.locator(part).bounding_box()
    assert box
    assert box["height"] > 300
    assert names(shared) == ["second", "first", "x"]
    shared.look_into("x")
    expect(stage).to_be_hidden()
    expect(page.locator("#tensors .heatmap")).to_be_visible()
    page.locator("#output").get_by_role("button", name="first").click()
    expect(stage.locator(".stage-title")).to_have_text("first")
    assert violations(page) == []


def test_what_moves_first_stays_in_front(shared: PageDriver) -> None:
    source = """
import asyncio
import tensorweb as tw
losses = []
for step in range(4):
    await asyncio.sleep(0.1)
    field = tw.full((8, 8), float(step))
    tw.show(field)
    losses.append(step)
    tw.plot(losses, title="losses")
"""
    assert shared.run(source) == "ready"
    shared.pictured()
    assert names(shared)[:2] == ["field", "losses"]
    expect(shared.page.locator("#tensors .viewer .viewer-title")).to_have_text("field")
    after = f"{source}tw.plot([3, 1, 2], title='after')\n"
    assert shared.run(after) == "ready"
    expect(shared.page.locator("#tensors .stage .stage-title")).to_have_text("after")


def test_one_axis_is_a_curve_with_a_reading(shared: PageDriver) -> None:
    page = shared.page
    source = "import tensorweb as tw\nx = tw.linspace(0.0, 4.0, 5)\ntw.show(x)"
    assert shared.run(source) == "ready"
    shared.pictured()
    viewer = page.locator("#tensors .viewer")
    reading = viewer.locator(".chart-reading")
    viewer.locator(".chart").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    expect(reading).to_have_text("x[1] = 1")
    page.get_by_role("button", name="Go to the largest value").click()
    expect(reading).to_have_text("x[4] = 4")
    expect(viewer.locator(".legend")).to_be_hidden()
    assert violations(page) == []
    page.get_by_role("button", name="Bar", exact=True).click()
    expect(viewer.locator(".heatmap")).to_be_visible()
    expect(viewer.locator(".chart")).to_be_hidden()
    page.get_by_role("button", name="Curve", exact=True).click()
    expect(viewer.locator(".chart")).to_be_visible()


def test_one_element_is_a_number(shared: PageDriver) -> None:
    page = shared.page
    source = "import tensorweb as tw\nx = tw.asarray(0.0132600)\ntw.show(x)"
    assert shared.run(source) == "ready"
    shared.pictured()
    expect(page.locator(".viewer-number")).to_have_text("0.01326")
    expect(page.locator("#tensors .heatmap")).to_be_hidden()
    expect(page.locator("#tensors .legend")).to_be_hidden()


SQUARE = "import tensorweb as tw\nx = tw.ones((96, 96))\ntw.show(x)"


def test_a_picture_fills_its_frame(shared: PageDriver) -> None:
    """Cells of whole pixels would leave up to half of it empty."""
    page = shared.page
    assert shared.run(SQUARE) == "ready"
    shared.pictured()
    for height in (640, 700, 760, 820, 900):
        page.set_viewport_size({"width": 1280, "height": height})
        shared.drawn(4)
        frame = page.locator("#tensors .heatmap-frame").bounding_box()
        box = page.locator("#tensors .heatmap").bounding_box()
        assert frame
        assert box
        assert box["height"] > 0.9 * min(frame["width"], frame["height"]), height
        assert box["height"] == pytest.approx(box["width"], abs=1)
    page.set_viewport_size({"width": 1280, "height": 720})


def test_comments_are_wrapped_and_code_is_not(shared: PageDriver) -> None:
    page = shared.page
    shared.write(f"# {'word ' * 60}\nx = [{'1, ' * 100}]\n")
    heights = "[...document.querySelectorAll('.cm-line')].map(l => l.clientHeight)"
    shared.wait(f"{heights}[0] > 2 * {heights}[2]")
    comment, code, empty = page.evaluate(heights)
    assert comment > 2 * empty
    assert code == empty
    assert page.evaluate("document.querySelector('.cm-content').clientWidth") < 640


def test_the_page_says_what_it_is_until_told_not_to(shared: PageDriver) -> None:
    page = shared.page
    intro = page.locator("#intro")
    expect(intro).to_contain_text("Tensors on your own GPU from plain Python.")
    address = intro.get_by_role("link", name="Documentation").get_attribute("href")
    with page.context.expect_page() as opened:
        intro.get_by_role("link", name="Documentation").click()
    document = opened.value
    expect(document.locator("h1")).to_contain_text("tensorweb")
    document.close()
    assert address == "docs/index.html"
    intro.get_by_role("button", name="Close").click()
    expect(intro).to_be_hidden()
    page.get_by_role("button", name="Help").click()
    expect(
        page.locator("dialog.help").get_by_role("link", name="Source")
    ).to_be_visible()
    page.keyboard.press("Escape")
    page.reload()
    assert shared.idle() == "ready"
    expect(intro).to_be_hidden()
    page.evaluate("localStorage.removeItem('tensorweb:intro')")
    page.reload()
    assert shared.idle() == "ready"
    expect(intro).to_be_visible()


def test_an_example_asks_before_it_is_run(shared: PageDriver) -> None:
    page = shared.page
    page.evaluate("tensorwebPage.workspace.openExample('17-slope')")
    asked = page.locator("#output .question:not(.looks)")
    expect(asked).to_have_text(
        "Before you run: does a difference get better and better as its step gets "
        "smaller?"
    )
    # The reader's own program is about something else.
    assert shared.run("print(1)") == "ready"
    expect(asked).to_be_hidden()


def test_a_puzzle_shows_expected_and_got_until_it_is_solved(shared: PageDriver) -> None:
    page = shared.page
    page.evaluate("tensorwebPage.workspace.openExample('41-flip')")
    shared.wait("tensorwebPage.view.document.id === '41-flip'")
    assert shared.run() == "ready"
    verdict = page.locator("#tensors .verdict")
    expect(verdict.locator(".verdict-head")).to_contain_text("Not yet")
    expected = verdict.locator(".verdict-expected td")
    assert expected.all_inner_texts() == ["4", "3", "2", "1"]
    expect(verdict.locator(".verdict-got .wrong")).to_have_count(4)
    boxes = [
        verdict.locator(f".verdict-{side}").bounding_box()
        for side in ("expected", "got")
    ]
    assert boxes[0]
    assert boxes[1]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert violations(page) == []
    source = page.evaluate("tensorwebPage.editor.source()")
    solution = "x[x.shape[0] - 1 - tw.arange(x.shape[0])]"
    solved = source.replace("x[tw.arange(x.shape[0])]", solution)
    assert shared.run(solved) == "ready"
    expect(verdict.locator(".verdict-head")).to_contain_text("Solved")
    assert shared.run(solved.replace(solution, "x.nothing")) == "ready"
    expect(verdict.locator(".verdict-head")).to_contain_text("AttributeError")
