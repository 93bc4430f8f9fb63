"""Shapes that do not fit are drawn, and one click repairs the program."""

from __future__ import annotations

from page_driver import PageDriver, expect
from test_page_access import in_every_scheme

HEAD = """import tensorweb as tw
x = tw.ones((4, 3))
w = tw.ones((2, 4))
"""
MEAN = HEAD + "z = x - x.mean(axis=1)\nprint(z.shape)"
KEPT = "z = x - x.mean(axis=1, keepdims=True)"
SOURCE = "tensorwebPage.editor.source()"


def test_a_click_repairs_a_broadcast_and_undo_restores_it(shared: PageDriver) -> None:
    page = shared.page
    shared.choose_device("cpu")
    assert shared.run(MEAN) == "error"
    picture = page.locator(".clash-picture")
    expect(picture).to_have_attribute(
        "aria-label",
        "x (4, 3), x.mean(axis=1) (4,); lengths that do not fit: 3 and 4",
    )
    expect(picture.locator(".clash-box.clash-wrong")).to_have_text(["3", "4"])
    expect(picture.locator("td.clash-wrong")).to_have_text("≠")
    repairs = page.locator(".clash-repairs button")
    expect(repairs.first).to_have_text("x.mean(axis=1, keepdims=True) → (4, 3)")
    repairs.first.focus()
    page.keyboard.press("Enter")
    assert KEPT in page.evaluate(SOURCE)
    page.keyboard.press("Control+z")
    assert page.evaluate(SOURCE) == MEAN
    repairs.first.click()
    assert shared.run() == "ready"
    assert shared.output.startswith("(4, 3)")


def test_an_edited_program_is_left_alone(shared: PageDriver) -> None:
    page = shared.page
    assert shared.run(MEAN) == "error"
    page.click("#editor .cm-content")
    page.keyboard.press("Control+Home")
    page.keyboard.type("# one more line\n")
    before = page.evaluate(SOURCE)
    page.locator(".clash-repairs button").first.click()
    expect(page.locator("#notice")).to_contain_text("The program was edited there")
    assert page.evaluate(SOURCE) == before


def test_a_product_aligns_its_inner_axes(shared: PageDriver) -> None:
    assert shared.run(HEAD + "x @ w") == "error"
    rows = shared.page.locator(".clash-picture tr")
    expect(rows.nth(0).locator("td")).to_have_text(["4", "3", ""])
    expect(rows.nth(1).locator("td")).to_have_text(["", "2", "4"])
    repairs = shared.page.locator(".clash-repairs button")
    expect(repairs).to_have_text(["w @ x → (2, 3)"])


def test_it_is_accessible_and_fits_a_phone(shared: PageDriver) -> None:
    page = shared.page
    assert shared.run(HEAD + "x.reshape(5, 2)") == "error"
    expect(page.locator(".clash-size")).to_have_text(["12 elements", "10 elements"])
    assert in_every_scheme(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("tab", name="Output").click()
    shared.drawn()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert in_every_scheme(page) == []
    page.set_viewport_size({"width": 1280, "height": 800})


def test_the_input_of_a_layer_is_beside_what_it_takes(shared: PageDriver) -> None:
    page = shared.page
    layer = "import tensorweb.nn as nn\nlayer = nn.Conv2d(3, 4, kernel_size=3)\n"
    call = "layer(tw.ones((8, 5, 7, 3)))"
    assert shared.run(f"{HEAD}{layer}print({call}.shape)") == "error"
    rows = page.locator(".clash-picture tr")
    expect(rows.nth(0).locator("td")).to_have_text(["8", "5", "7", "3"])
    expect(rows.nth(1).locator("td")).to_have_text(["any", "3", "any", "any"])
    expect(rows.nth(2).locator("td.clash-wrong")).to_have_text("≠")
    assert in_every_scheme(page) == []
    repairs = page.locator(".clash-repairs button")
    made = "nn.Conv2d(5, 4, kernel_size=3) takes (8, 5, 7, 3)"
    expect(repairs.nth(1)).to_have_text(made)
    repairs.first.click()
    assert shared.run() == "ready"
    assert shared.output.startswith("(8, 4, 3, 5)")
