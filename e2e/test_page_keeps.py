"""Nothing typed is lost: early words, races, reset, two tabs, full storage, links."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import hold_back, release
from page_driver import PageDriver, expect
from playwright.sync_api import BrowserContext, Page

EXAMPLES = Path(__file__).parent.parent / "web/examples"
TOUR = (EXAMPLES / "01-tour.py").read_text("utf-8")
REDUCTIONS = next(EXAMPLES.glob("03-*.py"))
EXAMPLES_FILE = "**/examples.json"
SOURCE = "tensorwebPage.editor.source()"
ID = "tensorwebPage.view.document.id"


def opened(page: Page, url: str) -> PageDriver:
    """Open the page and wait for its program; Python is not needed here."""
    driver = PageDriver(page).open(url, wait=False)
    page.wait_for_function(f"tensorwebPage?.view.document.id && {SOURCE} !== ''")
    return driver


def type_at_start(page: Page, text: str) -> None:
    page.click("#editor .cm-content")
    page.keyboard.press("Control+Home")
    page.keyboard.type(text)


def go(page: Page, fragment: str) -> None:
    page.evaluate("fragment => { location.hash = fragment }", fragment)


def notice(page: Page, name: str) -> None:
    page.locator("#notice").get_by_role("button", name=name).click()


@pytest.fixture
def context(page: Page) -> Iterator[BrowserContext]:
    return page.context  # type: ignore[return-value]


@pytest.mark.parametrize("fragment", ["", "#ex=03-reductions"])
def test_words_typed_before_the_example_came_stay(
    page: Page, site_url: str, fragment: str
) -> None:
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
    page.get_by_role("button", name="Examples").click()
    page.locator("[data-id='01-tour']").click()
    assert page.evaluate(SOURCE) == TOUR
    page.get_by_role("button", name="Examples").click()
    page.locator("[data-id='own-1']").click()
    page.wait_for_function(f"{SOURCE} === '# my own words'")
    driver.clean()


def test_the_example_that_came_late_can_be_opened(page: Page, site_url: str) -> None:
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


def test_an_edit_is_filed_where_it_was_typed(page: Page, site_url: str) -> None:
    opened(page, f"{site_url}#ex=01-tour")
    type_at_start(page, "# RACE\n")
    page.evaluate("location.hash = 'ex=03-reductions'")
    page.wait_for_function(f"{ID} === '03-reductions'")
    assert page.evaluate(SOURCE) == REDUCTIONS.read_text("utf-8")
    page.reload()
    page.wait_for_function(f"{ID} === '03-reductions'")
    assert page.evaluate(SOURCE) == REDUCTIONS.read_text("utf-8")
    expect(page.locator(".edited")).to_be_hidden()
    go(page, "ex=01-tour")
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
    assert page.evaluate("location.hash") == "#ex=01-tour"
    notice(page, "Open it")
    assert page.evaluate(SOURCE) == "print('shared')"


def link_code(page: Page, source: str) -> str:
    """Pack a program for a link as the page does."""
    code: str = page.evaluate(
        "async source => { const packed = new Blob([source]).stream()"
        ".pipeThrough(new CompressionStream('deflate-raw'));"
        "const bytes = new Uint8Array(await new Response(packed).arrayBuffer());"
        "return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-')"
        ".replaceAll('/', '_').replace(/=+$/, '') }",
        source,
    )
    return code


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
    page.wait_for_function(f"{ID} === '01-tour'")
    page.click("#editor .cm-content")
    page.keyboard.press("Control+z")
    assert page.evaluate(SOURCE).startswith("# precious")
    driver.clean()


def test_back_and_forward_walk_through_the_programs(page: Page, site_url: str) -> None:
    opened(page, site_url)
    for name in ("03-reductions", "01-tour"):
        page.get_by_role("button", name="Examples").click()
        page.locator(f"[data-id='{name}']").click()
    page.go_back()
    page.wait_for_function(f"{ID} === '03-reductions'")
    page.go_back()
    page.wait_for_function(f"{ID} === '01-tour'")
    page.go_forward()
    page.wait_for_function(f"{ID} === '03-reductions'")
    assert page.evaluate(SOURCE) == REDUCTIONS.read_text("utf-8")


def two_tabs(context: BrowserContext, url: str) -> tuple[Page, Page]:
    first, second = context.new_page(), context.new_page()
    for page in (first, second):
        opened(page, f"{url}#ex=01-tour")
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
    opened(third, f"{site_url}#ex=01-tour")
    assert third.evaluate(SOURCE).startswith("# first"), "the first to save holds"
    page = context.new_page()
    opened(page, f"{site_url}#ex=01-tour")
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
    second.get_by_role("button", name="Examples").click()
    second.locator("[data-id='own-1']").click()
    second.wait_for_function(f"{SOURCE}.startsWith('# more\\n# second')")


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
    go(page, "ex=01-tour")
    page.wait_for_function(f"{SOURCE}.startsWith('# only here')")
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
    page.get_by_role("button", name="Examples").click()
    page.locator("dialog [data-id^='link-']").click()
    page.wait_for_function(f"{SOURCE}.includes('sum')")
    assert page.evaluate(SOURCE).startswith("# mine\n")


def test_edits_of_earlier_versions_are_taken_over(page: Page, site_url: str) -> None:
    page.goto(f"{site_url}/favicon.svg")
    page.evaluate(
        "localStorage['tensorweb:code:01-tour'] = '# old edit';"
        "localStorage['tensorweb:code:link-40-AAAA'] = '# old shared';"
    )
    opened(page, f"{site_url}#ex=01-tour")
    assert page.evaluate(SOURCE) == "# old edit"
    keys = page.evaluate("Object.keys(localStorage)")
    assert [key for key in keys if key.startswith("tensorweb:code:")] == []
    page.get_by_role("button", name="Examples").click()
    page.locator("[data-id='own-1']").click()
    page.wait_for_function(f"{SOURCE} === '# old shared'")


def test_run_rests_when_the_address_changes_the_program(
    page: Page, site_url: str
) -> None:
    driver = opened(page, site_url)
    driver.idle()
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
    assert page.evaluate("tensorwebPage.view.run") is None
    assert page.evaluate("tensorwebPage.view.state") == "ready"
    page.click("#run")
    expect(page.locator("#output")).to_contain_text("what nobody read")


def test_a_queued_run_ends_with_its_program(page: Page, site_url: str) -> None:
    waiting = hold_back(page, "**/build.json")
    driver = opened(page, f"{site_url}#ex=01-tour")
    page.click("#run")
    expect(page.locator("#run")).to_contain_text("Queued")
    go(page, f"code={link_code(page, 'print(1)')}")
    page.wait_for_function("tensorwebPage.view.document.kind === 'link'")
    release(page, "**/build.json", waiting)
    driver.idle()
    assert page.evaluate("tensorwebPage.view.run") is None


def test_what_cannot_be_seen_is_marked(page: Page, site_url: str) -> None:
    opened(page, site_url)
    hidden = (
        "\u202e \u202a \u202b \u2066 \u2068 \u2069 \u200b \u200d \u2060 \u3164 \ufe0f"
    )
    hidden += " \N{NO-BREAK SPACE} \U000e0041"
    code = link_code(page, f"# {hidden}\nprint(1)")
    go(page, f"code={code}")
    marks = page.locator("#editor .cm-specialChar")
    expect(marks).to_have_count(len(hidden.split(" ")))


def test_long_lines_of_shared_programs_are_wrapped(page: Page, site_url: str) -> None:
    opened(page, site_url)
    go(page, f"code={link_code(page, 'x = 1' + ' ' * 600 + '; import os')}")
    page.wait_for_function("tensorwebPage.view.document.kind === 'link'")
    inside = page.evaluate(
        "() => { const box = document.querySelector('.cm-scroller');"
        "return box.scrollWidth <= box.clientWidth }"
    )
    assert inside
    expect(page.locator("#editor .cm-line").first).to_contain_text("import os")
