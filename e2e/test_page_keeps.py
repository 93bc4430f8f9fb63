"""Nothing typed is lost: early words, races, reset, full storage, links."""

from __future__ import annotations

import pytest
from browsers import hold_back, release
from page_driver import PageDriver, expect
from playwright.sync_api import Page
from program_steps import (
    ID,
    REDUCTIONS,
    SOURCE,
    TOUR,
    go,
    hold_python,
    link_code,
    notice,
    open_own,
    opened,
    programs,
    type_at_start,
)

EXAMPLES_FILE = "**/examples.json"
NOTHING_RAN = (
    "tensorwebPage.view.run === null || tensorwebPage.view.origins.run.recorded"
)
"""What is shown of a run came with the page."""


@pytest.mark.parametrize("fragment", ["", "#ex=03-reductions"])
def test_words_typed_before_the_example_came_stay(
    page: Page, site_url: str, fragment: str
) -> None:
    hold_python(page)
    waiting = hold_back(page, EXAMPLES_FILE)
    driver = PageDriver(page).open(site_url + fragment, wait=False)
    type_at_start(page, "# my own words")
    page.wait_for_function(f"{ID} === 'own-1'")
    while not waiting:
        page.wait_for_timeout(20)
    waiting.pop(0).continue_()
    expect(page.locator("#notice")).to_contain_text("what you were typing stayed")
    assert page.evaluate(SOURCE) == "# my own words"
    page.reload()
    page.wait_for_function(f"{SOURCE} === '# my own words'")
    release(page, EXAMPLES_FILE, waiting)
    page.get_by_role("button", name="Examples", exact=True).click()
    page.locator("[data-id='01-tour']").click()
    assert page.evaluate(SOURCE) == TOUR
    open_own(page, "own-1")
    page.wait_for_function(f"{SOURCE} === '# my own words'")
    driver.clean()


def test_the_example_that_came_late_can_be_opened(page: Page, site_url: str) -> None:
    hold_python(page)
    waiting = hold_back(page, EXAMPLES_FILE)
    PageDriver(page).open(f"{site_url}#ex=03-reductions", wait=False)
    type_at_start(page, "# mine")
    while not waiting:
        page.wait_for_timeout(20)
    release(page, EXAMPLES_FILE, waiting)
    notice(page, "Open it")
    assert page.evaluate(ID) == "03-reductions"
    assert page.evaluate("location.hash") == "#ex=03-reductions"
    page.go_back()
    page.wait_for_function(f"{SOURCE} === '# mine'")


NEVER_SAVED = """
// What is typed is kept after a pause of 0.3 s; here the pause does not end.
const plain = globalThis.setTimeout;
globalThis.setTimeout = (action, wait, ...rest) =>
  wait === 300 ? plain(() => {}, 0) : plain(action, wait, ...rest);
"""


def test_an_edit_is_filed_where_it_was_typed(page: Page, site_url: str) -> None:
    page.add_init_script(NEVER_SAVED)
    opened(page, f"{site_url}#ex=01-tour")
    type_at_start(page, "# RACE\n")
    page.evaluate("location.hash = 'ex=03-reductions'")
    page.wait_for_function(f"{ID} === '03-reductions'")
    assert page.evaluate(SOURCE) == REDUCTIONS.read_text("utf-8")
    page.reload()
    page.wait_for_function(f"{ID} === '03-reductions'")
    assert page.evaluate(SOURCE) == REDUCTIONS.read_text("utf-8")
    go(page, "own=1")
    page.wait_for_function(f"{SOURCE}.startsWith('# RACE')")


def test_words_typed_while_a_link_is_unpacked_stay(page: Page, site_url: str) -> None:
    opened(page, f"{site_url}#ex=01-tour")
    page.evaluate(
        """() => {
          const until = new Promise(resolve => { globalThis.release = resolve; });
          const Real = DecompressionStream;
          const wait = async (chunk, out) => { await until; out.enqueue(chunk); };
          globalThis.DecompressionStream = function(format) {
            const { readable, writable } = new Real(format);
            const held = new TransformStream({ transform: wait });
            return { readable: readable.pipeThrough(held), writable };
          };
        }"""
    )
    code = link_code(page, "print('shared')")
    go(page, f"code={code}")
    type_at_start(page, "# still here\n")
    page.evaluate("release()")
    expect(page.locator("#notice")).to_contain_text("Shared program")
    assert page.evaluate(SOURCE).startswith("# still here")
    assert page.evaluate("location.hash") == "#own=1"
    notice(page, "Open it")
    assert page.evaluate(SOURCE) == "print('shared')"


def test_reset_can_be_undone(page: Page, site_url: str) -> None:
    driver = opened(page, f"{site_url}#ex=01-tour")
    type_at_start(page, "# precious")
    reset = page.get_by_role("button", name="Reset")
    reset.click()
    assert page.evaluate(SOURCE) == TOUR
    page.click("#editor .cm-content")
    page.keyboard.press("Control+z")
    assert page.evaluate(SOURCE).startswith("# precious")
    reset.click()
    notice(page, "Undo")
    assert page.evaluate(SOURCE).startswith("# precious")
    reset.click()
    expect(page.locator("#notice")).to_contain_text("original program")
    type_at_start(page, "#")
    expect(page.locator("#notice")).to_be_hidden()
    page.keyboard.press("Control+z")
    assert page.evaluate(SOURCE) == TOUR
    go(page, "ex=03-reductions")
    page.wait_for_function(f"{ID} === '03-reductions'")
    page.reload()
    page.wait_for_function(f"{ID} === '03-reductions'")
    page.go_back()
    page.wait_for_function(f"{ID} === 'own-1'")
    page.click("#editor .cm-content")
    page.keyboard.press("Control+z")
    assert page.evaluate(SOURCE).startswith("# precious")
    driver.clean()


BROKEN_STORAGE = {
    "full": "throw new DOMException('full', 'QuotaExceededError')",
    "blocked": "throw new DOMException('no', 'SecurityError')",
}


@pytest.mark.parametrize("trouble", BROKEN_STORAGE)
def test_storage_that_refuses_is_told(page: Page, site_url: str, trouble: str) -> None:
    body = BROKEN_STORAGE[trouble]
    names = (
        ["setItem", "getItem", "removeItem"] if trouble == "blocked" else ["setItem"]
    )
    for name in names:
        page.add_init_script(f"Storage.prototype.{name} = function() {{ {body} }};")
    opened(page, f"{site_url}#ex=01-tour")
    type_at_start(page, "# only here\n")
    expect(page.locator("#notice")).to_contain_text("on this page only")
    go(page, "ex=03-reductions")
    page.wait_for_function(f"{ID} === '03-reductions'")
    open_own(page, "own-1")
    assert page.evaluate(SOURCE).startswith("# only here")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.close(run_before_unload=True)
    page.wait_for_event("close")
    assert asked == ["beforeunload"]


def test_links_that_begin_alike_are_kept_apart(page: Page, site_url: str) -> None:
    opened(page, site_url)
    source = "import tensorweb as tw\nx = tw.ones((3,))\nprint(x.{}())\n"
    codes = [link_code(page, source.format(name)) for name in ("sum", "max")]
    assert codes[0][:24] == codes[1][:24]
    assert len(codes[0]) == len(codes[1])
    go(page, f"code={codes[0]}")
    page.wait_for_function(f"{SOURCE}.includes('sum')")
    type_at_start(page, "# mine\n")
    go(page, f"code={codes[1]}")
    page.wait_for_function(f"{SOURCE}.includes('max')")
    assert page.evaluate(SOURCE) == source.format("max")
    page.goto("about:blank")
    opened(page, site_url)
    programs(page).locator("[data-id^='link-']").click()
    page.wait_for_function(f"{SOURCE}.includes('sum')")
    assert page.evaluate(SOURCE).startswith("# mine\n")


def test_run_rests_when_the_address_changes_the_program(
    page: Page, site_url: str
) -> None:
    driver = PageDriver(page).open(site_url)
    code = link_code(page, "print('what nobody read')")
    disabled = page.evaluate(
        """code => new Promise(done => {
          const watch = new MutationObserver(() => {
            if (tensorwebPage.view.document.kind !== 'link') return;
            watch.disconnect();
            const run = document.querySelector('#run');
            run.click();
            done(run.ariaDisabled);
          });
          const all = {subtree: true, childList: true, characterData: true};
          watch.observe(document.body, all);
          location.hash = 'code=' + code;
        })""",
        code,
    )
    assert disabled == "true"
    assert page.evaluate(NOTHING_RAN)
    assert page.evaluate("tensorwebPage.view.state") == "ready"
    page.click("#run")
    expect(page.locator("#output")).to_contain_text("what nobody read")
    driver.clean()


def test_a_queued_run_ends_with_its_program(page: Page, site_url: str) -> None:
    waiting = hold_back(page, "**/build.json")
    driver = opened(page, f"{site_url}#ex=01-tour", python=True)
    page.click("#run")
    expect(page.locator("#run")).to_contain_text("Queued")
    go(page, f"code={link_code(page, 'print(1)')}")
    page.wait_for_function("tensorwebPage.view.document.kind === 'link'")
    release(page, "**/build.json", waiting)
    driver.idle()
    assert page.evaluate(NOTHING_RAN)
