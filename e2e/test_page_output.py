"""Printed text as terminals show it: colours, lines written over, a copy of it all."""

from __future__ import annotations

from page_driver import PageDriver, expect
from test_page_access import violations

TEXT = "#output pre.text"

COLOURS = r"""
print('\x1b[1;31mred\x1b[0m \x1b[38;5;46mgreen\x1b[39m', end=' ')
print('\x1b[38;2;250;250;210mpale\x1b[m')
print('\x1b[44;93mgrounded\x1b[0m \x1b[7minverse\x1b[27m \x1b[2mfaint\x1b[0m')
print('\x1b]8;;https://example.org\x07link\x1b]8;;\x07 \x1b[2J\x1b[3Astays', end='')
print('\x1b[32', end='', flush=True)
print('msplit\x1b[0m')
"""


def test_colours_of_terminals_are_colours(shared: PageDriver) -> None:
    page = shared.page
    assert shared.run(COLOURS) == "ready"
    expect(page.locator(TEXT)).to_have_text(
        "red green pale\ngrounded inverse faint\nlink stayssplit\n"
    )
    assert page.locator(f"{TEXT} .ansi").all_inner_texts() == [
        *("red", "green", "pale", "grounded", "inverse", "faint", "split")
    ]
    seen = "nodes => nodes.map((node) => getComputedStyle(node).color)"
    colours = page.locator(f"{TEXT} .ansi").evaluate_all(seen)
    assert len(set(colours[:3])) == 3
    assert all(float(colour.split("(")[1].split()[0]) < 0.49 for colour in colours[:3])
    for theme in ("light", "dark"):
        page.evaluate("name => tensorwebPage.setTheme(name)", theme)
        shared.drawn()
        assert violations(page) == []


def test_a_progress_bar_is_one_line(shared: PageDriver) -> None:
    source = r"""
import sys
for step in range(20_000):
    print(f'\r{step:6} of 20000 {"█" * (step // 400):<50}|', end='', file=sys.stderr)
print('\rdone  ', file=sys.stderr)
print('a long line\rshort\x1b[K')
print('after')
"""
    assert shared.run(source) == "ready"
    texts = shared.page.locator(TEXT).all_text_contents()
    lines = "".join(texts).split("\n")
    assert lines[0].startswith("done   of 20000 █")
    assert lines[1:] == ["short", "after", ""]
    assert shared.page.locator("#output .cut").count() == 0


def test_copy_takes_what_was_printed_and_shown(shared: PageDriver) -> None:
    page = shared.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    assert shared.run(r"print('\x1b[31mone\x1b[0m\ntwo')" + "\n6 * 7") == "ready"
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("one\ntwo\n")
    assert "42" in copied
    assert violations(page) == []
