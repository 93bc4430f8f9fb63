"""The gallery of examples, the tour of the page and the sheet of keys."""

from __future__ import annotations

from page_driver import PageDriver, expect
from program_steps import EXAMPLES, ID
from test_page_access import violations

STEPS = 7


def test_the_gallery_has_groups_and_a_picture_of_each(shared: PageDriver) -> None:
    page = shared.page
    page.get_by_role("button", name="Examples", exact=True).click()
    dialog = page.locator("dialog.examples")
    assert dialog.locator("h3").all_inner_texts() == [
        "Learn",
        "Puzzles",
        "Train",
        "Courses",
        "See",
        "Measure",
    ]
    entries = dialog.locator("button.example")
    expect(entries).to_have_count(len(list(EXAMPLES.glob("*.py"))))
    for entry in entries.all():
        entry.scroll_into_view_if_needed()
    shared.wait(
        "[...document.querySelectorAll('dialog.examples img')]"
        ".every(picture => picture.complete && picture.naturalWidth === 240)"
    )
    assert violations(page) == []
    dialog.locator("[data-id='15-waves']").click()
    assert page.evaluate(ID) == "15-waves"


def test_one_example_leads_to_the_next(shared: PageDriver) -> None:
    page = shared.page
    page.evaluate("tensorwebPage.workspace.openExample('01-tour')")
    before, after = (
        page.get_by_role("button", name=f"{word} example")
        for word in ("Previous", "Next")
    )
    expect(before).to_be_disabled()
    after.click()
    assert page.evaluate(ID) == "02-broadcasting"
    before.click()
    assert page.evaluate(ID) == "01-tour"
    last = page.evaluate("tensorwebPage.view.examples.at(-1).file").removesuffix(".py")
    page.evaluate("id => tensorwebPage.workspace.openExample(id)", last)
    expect(after).to_be_disabled()


def test_question_mark_shows_the_keys_and_begins_the_tour(shared: PageDriver) -> None:
    page = shared.page
    page.click("#editor .cm-content")
    page.keyboard.type("#?")
    expect(page.locator("dialog.help")).to_be_hidden()
    page.locator("#run").focus()
    page.keyboard.press("?")
    expect(page.locator("dialog.help")).to_be_visible()
    page.get_by_role("button", name="Take the tour").click()
    card = page.locator(".tour")
    titles = []
    for step in range(STEPS):
        expect(card).to_contain_text(f"{step + 1} of {STEPS}")
        titles.append(page.inner_text("#tour-title"))
        expect(page.locator("#tour-title")).to_be_focused()
        expect(page.locator(".toured")).to_have_count(1)
        assert violations(page) == []
        box = card.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["y"] >= 0
        assert box["x"] + box["width"] <= 1280
        assert box["y"] + box["height"] <= 720
        page.keyboard.press("ArrowRight")
    assert len(set(titles)) == STEPS
    expect(card).to_have_count(0)
    expect(page.locator(".toured")).to_have_count(0)
    page.keyboard.press("?")
    page.get_by_role("button", name="Take the tour").click()
    page.get_by_role("button", name="Next", exact=True).click()
    page.reload()
    expect(card).to_contain_text(f"2 of {STEPS}")
    expect(page.locator("#run.toured")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    page.reload()
    assert shared.idle() == "ready"
    expect(card).to_have_count(0)
