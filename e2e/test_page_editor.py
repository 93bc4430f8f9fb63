"""The editor knows the program: names, signatures, documentation, mistakes."""

from __future__ import annotations

import pytest
from browsers import hold_back, release
from page_driver import PageDriver, expect
from playwright.sync_api import Page
from test_page_access import violations

from conftest import Profiles

OPTIONS = ".cm-tooltip-autocomplete [role=option]"
PROGRAM = "import tensorweb as tw\nwaves = tw.zeros((3, 5))\ncount = 4\n"


def type_at_end(page: Page, text: str) -> None:
    """Type as a reader does, behind everything that is there."""
    page.click("#editor .cm-content")
    page.mouse.move(0, 0)  # what is pointed at is explained
    page.keyboard.press("Control+End")
    page.keyboard.type(text)


def test_names_of_the_last_run_are_offered_with_what_they_are(
    shared: PageDriver,
) -> None:
    page = shared.page
    assert shared.run(PROGRAM) == "ready"
    type_at_end(page, "wav")
    expect(page.locator(OPTIONS).first).to_have_text("wavesfloat32 (3, 5) on webgpu")
    assert page.locator(OPTIONS).count() == 1
    page.locator(OPTIONS).first.click()
    expect(page.locator("#editor .cm-line").last).to_have_text("waves")
    type_at_end(page, ".res")
    expect(page.locator(OPTIONS).first).to_contain_text("reshape")
    expect(page.locator(".cm-completionInfo .explanation-signature")).to_contain_text(
        "reshape("
    )
    assert violations(page) == []
    page.evaluate("tensorwebPage.setTheme('dark')")
    shared.drawn()
    assert violations(page) == []
    page.evaluate("tensorwebPage.setTheme('light')")
    page.keyboard.press("Escape")


@pytest.mark.parametrize(
    ("source", "typed", "offered"),
    [
        ("import tensorweb.numpy as np", "np.linalg.matrix_p", "matrix_power"),
        ("from tensorweb import fft as f, linalg", "linalg.slog", "slogdet"),
        ("from tensorweb import (\n    fft as f,\n)", "f.fftsh", "fftshift"),
        ("import math as m", "m.hypo", "hypot"),
        ("import tensorweb as t\na = t.ones(3)", "(2 * a[0]).T.unsq", "unsqueeze"),
        ("import tensorweb as t\na, b = t.linalg.qr(t.eye(2))", "b.unsq", "unsqueeze"),
        ("import tensorweb as t\nlayer = t.nn.Linear(2, 3)", "layer.forw", "forward"),
    ],
)
def test_what_the_text_binds_is_known_before_it_ran(
    shared: PageDriver, source: str, typed: str, offered: str
) -> None:
    shared.write(f"{source}\n")
    type_at_end(shared.page, typed)
    expect(shared.page.locator(OPTIONS).first).to_contain_text(offered)
    shared.page.keyboard.press("Escape")


def test_nothing_is_offered_in_text_and_comments(shared: PageDriver) -> None:
    page = shared.page
    shared.write(PROGRAM)
    type_at_end(page, "'tw.ze' # tw.ze")
    page.keyboard.press("Control+Space")
    shared.drawn(20)
    assert page.locator(OPTIONS).count() == 0


def test_the_signature_stands_above_a_call(shared: PageDriver) -> None:
    page = shared.page
    shared.write(PROGRAM)
    type_at_end(page, "tw.linspace(1, ")
    shown = page.locator(".cm-tooltip .explanation-signature")
    expect(shown).to_contain_text("linspace(start, stop, /, num")
    page.keyboard.press("End")
    page.keyboard.type(";")
    expect(shown).to_have_count(0)


def test_pointing_at_a_name_explains_it(shared: PageDriver) -> None:
    page = shared.page
    assert shared.run(PROGRAM) == "ready"
    page.hover("#editor .cm-line:nth-child(2) span:text-is('zeros')")
    card = page.locator(".cm-tooltip-hover .explanation")
    expect(card).to_contain_text("zeros(shape, *more, dtype=None, device=None)")
    expect(card.locator(".explanation-text")).to_contain_text(
        "Return a tensor of zeros"
    )
    assert violations(page) == []
    page.mouse.move(0, 0)
    expect(card).to_have_count(0)


def test_a_mistake_is_marked_before_any_run(shared: PageDriver) -> None:
    page = shared.page
    shared.write(PROGRAM)
    marks = page.locator(".cm-lintRange-error")
    type_at_end(page, "y = 2 +* 3")
    expect(marks).to_have_text("*")
    assert page.evaluate("document.body.dataset.state") == "ready"
    for _ in "* 3":
        page.keyboard.press("Backspace")
    type_at_end(page, " 3")
    expect(marks).to_have_count(0)


def test_a_mark_of_a_run_stays_while_typing(shared: PageDriver) -> None:
    page = shared.page
    assert shared.run("a = [1]\na[3]\n") == "error"
    marks = page.locator(".cm-lintRange-error")
    type_at_end(page, "y = = 3")
    expect(marks).to_have_count(2)
    assert marks.first.inner_text() == "a[3]"
    assert shared.run("1") == "ready"


def test_documentation_is_never_html(shared: PageDriver) -> None:
    source = '''
def wave(x="<img src=x onerror=alert(1)>"):
    """<b>bold</b><script>alert(2)</script>"""
'''
    page = shared.page
    assert shared.run(source) == "ready"
    type_at_end(page, "wave(")
    shown = page.locator(".cm-tooltip .explanation-signature")
    expect(shown).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("#editor img, #editor b, #editor script").count() == 0
    page.keyboard.press("Escape")
    expect(shown).to_have_count(0)


@pytest.mark.parametrize("held", ["**/pyodide.asm.wasm.packed"])
def test_our_names_are_offered_before_python_is_there(
    profiles: Profiles, site_url: str, held: str
) -> None:
    with profiles.page() as page:
        waiting = hold_back(page, held)
        PageDriver(page).open(site_url, wait=False)
        expect(page.locator("#editor .cm-line").nth(3)).to_be_attached()
        page.evaluate("tensorwebPage.editor.open('import tensorweb as t\\n')")
        type_at_end(page, "t.cumul")
        expect(page.locator(OPTIONS)).to_contain_text(
            ["cumulative_prod", "cumulative_sum"]
        )
        source = "import tensorweb.numpy as np\nx = np.ones(3)\n"
        page.evaluate("text => tensorwebPage.editor.open(text)", source)
        type_at_end(page, "np.linalg.norm(x.sum(0)[1].unsq")
        expect(page.locator(OPTIONS)).to_contain_text(["unsqueeze"])
        page.keyboard.press("Escape")
        page.keyboard.type("ueeze(0), ")
        shown = page.locator(".cm-tooltip .explanation-signature")
        expect(shown).to_contain_text("norm(x, ord=None")
        assert page.evaluate("document.body.dataset.state") == "loading"
        release(page, held, waiting)
