"""The reader's own programs: begun by an edit, listed, and open in two tabs."""

from __future__ import annotations

import pytest
from page_driver import expect
from playwright.sync_api import BrowserContext, Page
from program_steps import (
    ID,
    REDUCTIONS,
    SOURCE,
    TOUR,
    notice,
    open_own,
    opened,
    programs,
    type_at_start,
)
from test_page_access import violations


@pytest.fixture
def context(page: Page) -> BrowserContext:
    return page.context


def test_an_edited_example_is_a_program_of_ones_own(page: Page, site_url: str) -> None:
    driver = opened(page, f"{site_url}#ex=01-tour")
    for number in (1, 2):
        type_at_start(page, f"# number {number}\n")
        expect(page.locator("#document")).to_contain_text(f"My program {number}")
        assert page.evaluate("location.hash") == f"#own={number}"
        page.go_back()
        page.wait_for_function(f"{ID} === '01-tour'")
        assert page.evaluate(SOURCE) == TOUR
    page.go_forward()
    page.wait_for_function(f"{SOURCE}.startsWith('# number 2')")
    compare(page)
    dialog = page.get_by_role("dialog", name="What is changed in")
    expect(dialog).to_contain_text("main.py differs in one part")
    expect(dialog.locator(".cm-changedLine")).to_have_text(["# number 2"])
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.click("#editor .cm-content")
    for _ in range(4):
        page.keyboard.press("Control+z")
    assert page.evaluate(SOURCE) == TOUR
    compare(page)
    expect(page.locator("#notice")).to_contain_text("nothing is changed")
    driver.clean()


def compare(page: Page) -> None:
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="What I changed").click()


def test_own_programs_are_listed_renamed_copied_and_deleted(
    page: Page, site_url: str
) -> None:
    driver = opened(page, f"{site_url}#ex=01-tour")
    expect(programs(page)).to_contain_text("Nothing yet")
    page.keyboard.press("Escape")
    type_at_start(page, "# mine\n")
    listed = programs(page).locator("li")
    expect(listed).to_have_count(1)
    expect(listed).to_contain_text("My program 1")
    expect(listed).to_contain_text("just now")
    expect(listed).to_contain_text("# mine")
    listed.get_by_role("button", name="Rename").click()
    page.keyboard.type("not this")
    page.keyboard.press("Escape")
    listed.get_by_role("button", name="Rename").click()
    page.keyboard.type("Waves <b>")
    page.keyboard.press("Enter")
    expect(listed).to_contain_text("Waves <b>")
    expect(page.locator(".document-title")).to_have_text("Waves <b>")
    listed.get_by_role("button", name="Duplicate").click()
    expect(listed).to_have_count(2)
    assert page.evaluate(ID) == "own-2"
    listed.filter(has_text="(copy)").get_by_role("button", name="Delete").click()
    expect(listed).to_have_count(1)
    page.wait_for_function(f"{ID} === '01-tour'")
    dialog = page.locator("dialog.programs")
    expect(dialog).to_contain_text("is deleted")
    dialog.get_by_role("button", name="Undo").click()
    page.wait_for_function(f"{ID} === 'own-2'")
    assert page.evaluate(SOURCE).startswith("# mine")
    expect(listed).to_have_count(2)
    listed.filter(has_text="(copy)").get_by_role("button", name="Delete").click()
    expect(listed).to_have_count(1)
    dialog.get_by_role("button", name="New program").click()
    page.keyboard.type("a number is never used again")
    page.wait_for_function("tensorwebPage.view.document.id === 'own-3'")
    page.reload()
    page.wait_for_function(f"{SOURCE}.startsWith('a number')")
    expect(programs(page).locator("li")).to_have_count(2)
    driver.clean()


def test_back_and_forward_walk_through_the_programs(page: Page, site_url: str) -> None:
    opened(page, site_url)
    for name in ("03-reductions", "01-tour"):
        page.get_by_role("button", name="Examples", exact=True).click()
        page.locator(f"[data-id='{name}']").click()
    page.go_back()
    page.wait_for_function(f"{ID} === '03-reductions'")
    page.go_back()
    page.wait_for_function(f"{ID} === '01-tour'")
    page.go_forward()
    page.wait_for_function(f"{ID} === '03-reductions'")
    assert page.evaluate(SOURCE) == REDUCTIONS.read_text("utf-8")


def two_tabs(context: BrowserContext, url: str) -> tuple[Page, Page]:
    first = context.new_page()
    opened(first, f"{url}#ex=01-tour")
    type_at_start(first, "#")
    first.wait_for_function(f"{ID} === 'own-1'")
    second = context.new_page()
    opened(second, f"{url}#own=1")
    return first, second


def saved(page: Page) -> None:
    page.evaluate("tensorwebPage.editor.flush()")


@pytest.mark.parametrize("answer", ["Keep mine", "Take theirs"])
def test_two_tabs_are_asked(
    context: BrowserContext, site_url: str, answer: str
) -> None:
    first, second = two_tabs(context, site_url)
    type_at_start(first, "# first\n")
    saved(first)
    type_at_start(second, "# second\n")
    saved(second)
    expect(second.locator("#notice")).to_contain_text("changed in another tab")
    assert first.evaluate(SOURCE).startswith("# first")
    second.close(run_before_unload=False)
    third = context.new_page()
    opened(third, f"{site_url}#own=1")
    assert third.evaluate(SOURCE).startswith("# first"), "the first to save holds"
    page = context.new_page()
    opened(page, f"{site_url}#own=1")
    type_at_start(third, "# third\n")
    saved(third)
    expect(page.locator("#notice")).to_contain_text("changed in another tab")
    type_at_start(page, "# fourth\n")
    notice(page, answer)
    expect(page.locator("#notice")).to_be_hidden()
    mine = answer == "Keep mine"
    assert page.evaluate(SOURCE).startswith("# fourth" if mine else "# third")
    if not mine:
        page.click("#editor .cm-content")
        page.keyboard.press("Control+z")
        assert page.evaluate(SOURCE).startswith("# fourth")
        return
    expect(third.locator("#notice")).to_contain_text("changed in another tab")
    notice(third, "Take theirs")
    assert third.evaluate(SOURCE).startswith("# fourth")


def test_an_unanswered_question_loses_nothing(
    context: BrowserContext, site_url: str
) -> None:
    first, second = two_tabs(context, site_url)
    type_at_start(first, "# first\n")
    saved(first)
    type_at_start(second, "# second\n")
    expect(second.locator("#notice")).to_contain_text("changed in another tab")
    type_at_start(second, "# more\n")
    second.reload()
    second.wait_for_function(f"{SOURCE}.startsWith('# first')")
    open_own(second, "own-2")
    second.wait_for_function(f"{SOURCE}.startsWith('# more\\n# second')")


def test_edits_of_earlier_versions_are_taken_over(page: Page, site_url: str) -> None:
    page.goto(f"{site_url}/favicon.svg")
    page.evaluate(
        "localStorage['tensorweb:code:02-broadcasting'] = '# old edit';"
        "localStorage['tensorweb:code:link-40-AAAA'] = '# old shared';"
        "localStorage['tensorweb:document:01-tour'] ="
        "  JSON.stringify({ text: '# later edit', title: 'A first tour' });"
        "localStorage['tensorweb:last'] = '01-tour'"
    )
    opened(page, site_url)
    assert page.evaluate(SOURCE) == "# later edit"
    expect(page.locator(".document-title")).to_have_text("A first tour, edited")
    keys = page.evaluate("Object.keys(localStorage)")
    assert not [key for key in keys if ":code:" in key or ":01-tour" in key]
    listed = programs(page).locator("li")
    expect(listed).to_have_count(3)
    expect(listed.filter(has_text="# old edit")).to_have_count(1)
    listed.filter(has_text="# old shared").locator("[data-id]").click()
    page.wait_for_function(f"{SOURCE} === '# old shared'")
    assert page.evaluate("tensorwebPage.view.document.isForeign")
