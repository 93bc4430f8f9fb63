"""A program that calls input() waits for a field of the output; the page goes on."""

from __future__ import annotations

from browsers import Profiles, Snapshot, new_context, page_of
from page_driver import PageDriver, expect
from playwright.sync_api import Browser
from test_page_access import violations

FIELD = "#output .prompt input"


def test_the_line_that_is_typed_goes_to_the_program(shared: PageDriver) -> None:
    page = shared.page
    shared.begin(
        "for number in range(2):\n    print(repr(input(f'line {number}: ')))\n"
    )
    field = page.get_by_role("textbox", name="line 0:")
    expect(field).to_be_focused()
    assert violations(page) == []
    field.type("<b>é 1</b>")
    page.keyboard.press("Enter")
    second = page.get_by_role("textbox", name="line 1:")
    expect(second).to_be_focused()
    page.get_by_role("button", name="Enter", exact=True).click()
    assert shared.idle() == "ready"
    printed = "".join(page.locator("#output pre").all_text_contents())
    assert printed == "line 0: <b>é 1</b>\n'<b>é 1</b>'\nline 1: \n''\n"
    assert page.locator(FIELD).count() == 0


def test_stop_ends_a_program_that_waits_for_a_line(shared: PageDriver) -> None:
    page = shared.page
    shared.begin("try:\n    input()\nfinally:\n    print('cleaned up')\n")
    expect(page.locator(FIELD)).to_be_focused()
    page.click("#stop")
    assert shared.idle() == "ready"
    assert "cleaned up" in shared.output
    assert "restarted" not in shared.output
    assert page.locator(FIELD).count() == 0


def test_lines_of_standard_input_are_typed(shared: PageDriver) -> None:
    shared.begin("import sys\nfor line in sys.stdin:\n    print(line.upper())\n")
    for word in ("one", "two"):
        expect(shared.page.locator(FIELD)).to_be_focused()
        shared.page.keyboard.type(f"{word}\n")
        expect(shared.page.locator("#output")).to_contain_text(word.upper())
    shared.page.click("#stop")
    assert shared.idle() == "ready"


LEFT = """
import asyncio
async def tick():
    while True:
        await asyncio.sleep(0.01)
        print("tick")
asyncio.ensure_future(tick())
"""


def test_a_task_that_is_left_is_silent_in_the_next_program(shared: PageDriver) -> None:
    assert shared.run(LEFT) == "ready"
    assert shared.run("import time\ntime.sleep(0.2)\nprint('next')") == "ready"
    assert shared.output.split("\n")[0] == "next"
    assert "tick" not in shared.output


def test_who_edits_the_program_keeps_the_cursor(shared: PageDriver) -> None:
    page = shared.page
    shared.begin("import time\nwhile True:\n    time.sleep(0.2)\n    input('now? ')\n")
    expect(page.locator(FIELD)).to_be_focused()
    page.click("#editor .cm-content")
    page.keyboard.type("#")
    page.wait_for_function("tensorwebPage.view.editedSince")
    page.evaluate("document.querySelector('#output .prompt').requestSubmit()")
    expect(page.locator("#output pre").first).to_contain_text("now?")
    expect(page.locator(FIELD)).to_be_visible()
    shared.drawn()
    expect(page.locator("#editor .cm-content")).to_be_focused()
    page.click("#stop")
    assert shared.idle() == "ready"


CALLBACK = """
import asyncio, js
from pyodide.ffi import create_once_callable
def ask():
    try:
        input("unread? ")
    except RuntimeError as error:
        print(error)
js.setTimeout(create_once_callable(ask), 0)
await asyncio.sleep(0.1)
"""


def test_input_is_refused_in_words_where_nothing_can_wait(shared: PageDriver) -> None:
    assert shared.run(CALLBACK) == "ready"
    assert "input() cannot wait for typing here" in shared.output
    assert shared.page.locator(FIELD).count() == 0


def test_without_stack_switching_the_thread_waits(
    profiles_never_waiting: Profiles, never_waits: str
) -> None:
    with profiles_never_waiting.page() as page:
        _lines_are_typed_and_stopped(PageDriver(page, device=None).open(never_waits))


def test_firefox_waits_without_stack_switching(
    firefox: Browser, never_waits: str, snapshot: Snapshot
) -> None:
    with page_of(new_context(firefox)) as page:
        snapshot.give(page, never_waits)
        _lines_are_typed_and_stopped(PageDriver(page, device=None).open(never_waits))


def _lines_are_typed_and_stopped(driver: PageDriver) -> None:
    page = driver.page
    driver.begin("for n in range(2):\n    print(repr(input(f'line {n}: ')))\n")
    page.get_by_role("textbox", name="line 0:").fill("é 𝄞")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="line 1:")).to_be_focused()
    page.keyboard.press("Enter")
    # Where the program goes on waiting, this tells who lost the line: page or worker.
    expect(page.locator(FIELD)).to_have_count(0)
    assert driver.idle() == "ready"
    driver.drawn()
    printed = "".join(page.locator("#output pre").all_text_contents())
    assert printed == "line 0: é 𝄞\n'é 𝄞'\nline 1: \n''\n"
    driver.begin("try:\n    input()\nfinally:\n    print('cleaned up')\n")
    expect(page.locator(FIELD)).to_be_focused()
    page.click("#stop")
    state = driver.idle()
    driver.drawn()
    assert state == "ready", driver.output[-3000:]
    assert "cleaned up" in driver.output
    assert "restarted" not in driver.output
