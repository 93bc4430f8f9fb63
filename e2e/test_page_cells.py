"""Cells run alone by Shift+Enter; keys stop a program, find and replace its text."""

from __future__ import annotations

import pytest
from page_driver import PageDriver, expect
from test_page_access import violations

CELLS = "# %% one\na = 1\nprint('one')\n# %% two\nprint('two', a)\na += 1\n"


def test_cells_run_alone_and_keep_their_names(patient: PageDriver) -> None:
    page = patient.page
    patient.write(CELLS)
    page.click("#editor .cm-line:nth-child(1)")
    expect(page.locator(".cm-cell-current")).to_have_count(3)
    page.keyboard.press("Shift+Enter")
    expect(page.locator("#output pre")).to_have_text("one\n")
    assert patient.idle() == "ready"
    # The cursor has moved to the second cell.
    expect(page.locator(".cm-cell-current").first).to_have_text("# %% two")
    for number in (1, 2):
        page.keyboard.press("Shift+Enter")
        expect(page.locator("#output pre")).to_have_text(f"two {number}\n")
        assert patient.idle() == "ready"
    expect(page.locator("#output .origin-note")).to_be_hidden()
    assert violations(page) == []
    page.keyboard.press("Control+Enter")
    expect(page.locator("#output pre")).to_have_text("one\ntwo 1\n")
    assert patient.idle() == "ready"


@pytest.mark.parametrize("keys", [["Escape", "Escape"], ["Control+."]])
def test_keys_stop_a_program(patient: PageDriver, keys: list[str]) -> None:
    page = patient.page
    patient.begin("while True: pass")
    page.click("#editor .cm-content")
    for key in keys:
        page.keyboard.press(key)
    assert patient.idle() == "ready"
    assert "Stopped after" in patient.output


def test_find_and_replace(patient: PageDriver) -> None:
    page = patient.page
    patient.write("wave = 1\nprint(wave)\n")
    page.click("#editor .cm-content")
    page.keyboard.press("Control+f")
    page.keyboard.type("wave")
    expect(page.locator(".cm-searchMatch")).to_have_count(2)
    page.get_by_role("textbox", name="Replace").fill("tide")
    page.get_by_role("button", name="replace all").click()
    source = page.evaluate("tensorwebPage.editor.source()")
    assert source == "tide = 1\nprint(tide)\n"
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.locator(".cm-search")).to_have_count(0)
