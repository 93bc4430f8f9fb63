"""Code is put in order in one step: the cursor stays, and a mistake changes nothing."""

from __future__ import annotations

import pytest
from page_driver import PageDriver, expect

UNTIDY = "x={ 'a':1 }\nif x :\n  print( x['a'],x )\n"
TIDY = 'x = {"a": 1}\nif x:\n    print(x["a"], x)\n'
SOURCE = "tensorwebPage.editor.source()"


def put_cursor(driver: PageDriver, text: str, position: int) -> None:
    """Write a program and put the cursor before a character, line ends counted."""
    driver.write(text)
    driver.page.click("#editor .cm-content")
    driver.page.keyboard.press("Control+Home")
    for _ in range(position):
        driver.page.keyboard.press("ArrowRight")


def fetched(driver: PageDriver) -> int:
    return sum("ruff_fmt_bg" in url for url in driver.requests)


def test_the_cursor_stays_and_undo_is_one_step(shared: PageDriver) -> None:
    page = shared.page
    put_cursor(shared, UNTIDY, UNTIDY.index(",x )"))
    assert fetched(shared) == 0
    page.keyboard.press("Shift+Alt+F")
    page.wait_for_function(f"{SOURCE} === {TIDY!r}")
    assert fetched(shared) == 1
    page.keyboard.insert_text("<here>")
    assert '["a"]<here>, x)' in page.evaluate(SOURCE)
    page.keyboard.press("Control+z")
    assert page.evaluate(SOURCE) == TIDY
    page.keyboard.press("Control+z")
    assert page.evaluate(SOURCE) == UNTIDY


@pytest.mark.parametrize(
    ("source", "said"),
    [("é = 1\nfor x in\n", "line 2"), (TIDY, "in order already")],
)
def test_nothing_changes_where_nothing_can(
    shared: PageDriver, source: str, said: str
) -> None:
    page = shared.page
    shared.write(source)
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Format the code").click()
    expect(page.locator("#notice")).to_contain_text(said)
    assert page.evaluate(SOURCE) == source
