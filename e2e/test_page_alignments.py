"""Operands that are broadcast or multiplied are stepped through cell by cell."""

from __future__ import annotations

from page_driver import PageDriver, expect
from test_page_access import in_every_scheme

PROGRAM = """import tensorweb as tw
x = tw.asarray([[1.0, 2.0], [3.0, -4.0]])
b = tw.asarray([10.0, 20.0])
y = x @ x + b
long = tw.ones((3, 40)) @ tw.reshape(tw.arange(40.0), (40, 1))
none = tw.ones((0, 2)) + b
print(float(y.sum() + long.sum()))
"""


def stepped(driver: PageDriver, name: str, row: int = 0) -> None:
    """Step through an operation of a tensor's line, from its first cell on."""
    driver.show("Tensors")
    driver.look_into(name)
    driver.page.click("#tensors .viewer-head button:has-text('Why?')")
    driver.page.locator("#why .why-rows li").nth(row).get_by_role("button").click()
    expect(driver.page.locator("#why .aligned h3")).to_be_focused()


def test_a_vector_is_repeated_along_the_rows(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    assert on_cpu.run(PROGRAM) == "ready", on_cpu.wrong()
    stepped(on_cpu, "y")
    expect(page.locator("#why .aligned h3")).to_have_text("(2, 2) + (2,) → (2, 2)")
    grids = page.locator("#why .aligned-grid")
    expect(grids.nth(1).locator("h4")).to_have_text(
        "b (2,), repeated along axis 0: strides (0, 1)"
    )
    expect(grids.nth(1).locator("td.is-repeat")).to_have_text(["10", "20"])
    text = page.locator("#why .aligned-sum")
    expect(text).to_have_text("(x @ x)[0, 0] + b[0] = 7 + 10 = 17")
    # Arrow keys and the slider move the cell.
    grids.nth(2).locator("[role=application]").focus()
    page.keyboard.press("ArrowDown")
    expect(text).to_have_text("(x @ x)[1, 0] + b[0] = -9 + 10 = 1")
    page.get_by_label("Cell of the result", exact=True).press("ArrowRight")
    expect(text).to_have_text("(x @ x)[1, 1] + b[1] = 22 + 20 = 42")
    grids.nth(2).locator("td[data-index]").first.click()
    expect(text).to_have_text("(x @ x)[0, 0] + b[0] = 7 + 10 = 17")


def test_the_terms_of_a_product_add_up(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    assert on_cpu.run(PROGRAM) == "ready", on_cpu.wrong()
    stepped(on_cpu, "y", row=1)
    page.get_by_label("Term of the sum", exact=True).press("ArrowRight")
    rows = page.locator("#why .aligned-terms tr")
    expect(rows.nth(2)).to_have_text("x[0, 1] · x[1, 0]2 · 367")
    expect(page.locator("#why .aligned-sum")).to_have_text(
        "The sum of 2 of 2 terms; the run computed 7."
    )
    assert in_every_scheme(page) == []


def test_long_sums_are_shown_in_parts(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    page.set_viewport_size({"width": 390, "height": 844})
    assert on_cpu.run(PROGRAM) == "ready", on_cpu.wrong()
    stepped(on_cpu, "long")
    page.get_by_label("Term of the sum", exact=True).press("End")
    expect(page.locator("#why .aligned-sum")).to_have_text(
        "The sum of 40 of 40 terms; the run computed 780."
    )
    rows = page.locator("#why .aligned-terms tr")
    expect(rows.nth(1)).to_have_text("terms 0 to 35630")
    expect(rows.last.locator("td").last).to_have_text("780")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert on_cpu.console == []


def test_a_result_without_cells_shows_its_shapes(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    assert on_cpu.run(PROGRAM) == "ready", on_cpu.wrong()
    stepped(on_cpu, "none")
    expect(page.locator("#why .why-title")).to_have_text("none has no cells")
    expect(page.locator("#why .aligned")).to_contain_text("The result has no cells.")
