"""A program of several files: tabs, imports, marks, links, names that are refused."""

from __future__ import annotations

import base64
import json
import zipfile
import zlib

import pytest
from page_driver import PageDriver, expect
from playwright.sync_api import Locator
from test_page_access import violations

MAIN = "import helpers\nprint(helpers.area(3), open('side.csv').read())\n"
FILES = [
    ["main.py", MAIN],
    ["helpers.py", "def area(side):\n    return side * side\n"],
    ["side.csv", "3,4"],
]
MARK = "#!tensorweb files\n"


def packed(files: object) -> str:
    return MARK + json.dumps(files)


def link_of(source: str) -> str:
    deflate = zlib.compressobj(wbits=-15)
    data = deflate.compress(source.encode()) + deflate.flush()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def tabs(driver: PageDriver) -> Locator:
    return driver.page.locator(".file-tabs [role=tab]")


def see(driver: PageDriver, name: str) -> None:
    driver.page.locator(f".file-tabs [data-file='{name}']").click()


def type_instead(driver: PageDriver, text: str) -> None:
    """Replace the text of the file that is shown."""
    driver.page.click("#editor .cm-content")
    driver.page.keyboard.press("Control+a")
    driver.page.keyboard.insert_text(text)


def test_a_program_of_one_file_has_no_tabs(shared: PageDriver) -> None:
    shared.write("print(1)")
    expect(shared.page.locator(".file-bar")).to_be_hidden()


def test_files_are_added_renamed_and_deleted(shared: PageDriver) -> None:
    page = shared.page
    shared.write("import tools_of_mine\nprint(tools_of_mine.seven)\n")
    page.get_by_role("button", name="More", exact=True).click()
    page.keyboard.press("ArrowDown")
    page.get_by_role("menuitem", name="Add a file").press("Enter")
    field = page.get_by_role("textbox", name="Name of the new file")
    expect(field).to_be_focused()
    for name in ("../up.py", "main.py", "two words.py", "a.exe"):
        field.fill(name)
        field.press("Enter")
        expect(field).to_have_attribute("aria-invalid", "true")
    field.fill("tools.py")
    field.press("Enter")
    expect(page.locator("#editor .cm-content")).to_be_focused()
    page.keyboard.insert_text("seven = 7")
    expect(tabs(shared)).to_have_text(["main.py", "tools.py"])
    page.locator(".file-tabs [data-file='tools.py']").press("F2")
    page.get_by_role("textbox", name="New name of tools.py").fill("tools_of_mine.py")
    assert violations(page) == []
    page.keyboard.press("Enter")
    expect(tabs(shared)).to_have_text(["main.py", "tools_of_mine.py"])
    assert shared.run() == "ready"
    assert shared.output.startswith("7")
    page.locator(".file-tabs [data-file='tools_of_mine.py']").press("Delete")
    expect(page.locator(".file-bar")).to_be_hidden()
    page.locator("#notice").get_by_role("button", name="Undo").click()
    expect(tabs(shared)).to_have_text(["main.py", "tools_of_mine.py"])
    assert "seven = 7" in page.evaluate("tensorwebPage.editor.source()")


def test_an_edited_module_is_imported_anew(shared: PageDriver) -> None:
    assert shared.run(packed(FILES)) == "ready"
    assert shared.output.startswith("9 3,4")
    see(shared, "helpers.py")
    type_instead(shared, "def area(side):\n    return -side")
    assert shared.run() == "ready"
    assert shared.output.startswith("-3 3,4")
    shared.page.keyboard.press("Control+z")
    assert shared.run() == "ready"
    assert shared.output.startswith("9")


def test_an_error_in_a_module_names_its_file_and_line(shared: PageDriver) -> None:
    page = shared.page
    files = [FILES[0], ["helpers.py", "def area(side):\n    return side / 0\n"]]
    shared.write(packed(files))
    see(shared, "main.py")
    assert shared.run() == "error"
    expect(page.locator(".frames .line-link")).to_have_text(
        ["line 2", "helpers.py, line 2 in area"]
    )
    expect(page.locator("#editor .cm-lint-marker-info")).to_have_count(1)
    expect(page.locator("#editor .cm-lint-marker-error")).to_have_count(0)
    expect(page.locator(".file-tabs [data-failed]")).to_have_text("helpers.py")
    page.locator(".frames .line-link").nth(1).click()
    expect(page.locator(".file-tabs [aria-selected=true]")).to_have_text("helpers.py")
    expect(page.locator("#editor .cm-lint-marker-error")).to_have_count(1)
    expect(page.locator("#cursor")).to_contain_text("2")
    type_instead(shared, "def area(side:\n    pass")
    assert shared.run() == "error"
    last = page.locator(".frames .line-link").last
    expect(last).to_have_text("helpers.py, line 1")
    shared.write("print(1)")
    last.click()
    expect(page.locator("#notice")).to_contain_text("helpers.py is not in the program")


def test_lines_of_another_file_have_results_and_light_kernels(
    shared: PageDriver,
) -> None:
    page = shared.page
    text = "import tensorweb as tw\n\ndef double(x):\n    return tw.exp(x) * 2\n"
    main = "import tensorweb as tw, doubling\nx = tw.arange(4.0)\n"
    main += "z = doubling.double(x)\nprint(z)\n"
    assert shared.run(packed([["main.py", main], ["doubling.py", text]])) == "ready"
    page.get_by_role("tab", name="Kernels").click()
    row = page.locator(".kernel-row", has_text="exp")
    expect(row.locator(".kernel-line")).to_have_text("doubling.py, line 4")
    see(shared, "doubling.py")
    line = page.locator(".cm-line", has_text="tw.exp")
    ghost = line.locator(".cm-ghost")
    expect(ghost).to_have_attribute("data-text", "k1 float32 (4,)")
    row.hover()
    expect(page.locator(".cm-lit-hue")).to_have_text(["    return tw.exp(x) * 2"])
    # Line 4 of `main.py` is another one.
    line.hover()
    expect(row).to_have_attribute("aria-current", "true")
    see(shared, "main.py")
    page.locator(".cm-line", has_text="print(z)").hover()
    expect(row).not_to_have_attribute("aria-current", "true")


def test_a_module_that_would_hide_another_is_refused(shared: PageDriver) -> None:
    files = [["main.py", "print(1)"], ["random.py", ""]]
    assert shared.run(packed(files)) == "error"
    assert "random.py has the name of another module" in shared.output


def test_an_unknown_import_says_what_is_possible(shared: PageDriver) -> None:
    assert shared.run("x = 1\nimport nothing_like_it") == "error"
    title = shared.page.locator(".failure-title")
    expect(title).to_contain_text("this site carries ")
    expect(title).to_contain_text("micropip.install('nothing_like_it')")
    expect(shared.page.locator(".frames .line-link")).to_have_text("line 2")
    assert shared.run("import sklearn") == "error"
    expect(title).to_contain_text("build.py site --packages scikit-learn")


def test_several_files_are_kept_and_copied(shared: PageDriver) -> None:
    page = shared.page
    shared.write(packed(FILES))
    page.reload()
    shared.idle()
    expect(tabs(shared)).to_have_text([name for name, _ in FILES])
    see(shared, "side.csv")
    expect(page.locator("#editor .cm-content")).to_have_text("3,4")
    page.locator("#document button").first.click()
    first = page.locator(".program-list li").first
    expect(first.locator("code")).to_have_text("import helpers")
    first.get_by_role("button", name="Duplicate").click()
    page.locator("dialog[open]").get_by_role("button", name="Close").click()
    expect(page.locator(".document-title")).to_contain_text("(copy)")
    assert page.evaluate("tensorwebPage.editor.files().length") == 3
    with page.expect_download() as download:
        page.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("menuitem", name="Download").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert archive.testzip() is None
        found = [[name, archive.read(name).decode()] for name in archive.namelist()]
    assert found == FILES


def test_a_link_carries_every_file(shared: PageDriver) -> None:
    page = shared.page
    page.evaluate("code => location.hash = `code=${code}`", link_of(packed(FILES)))
    expect(tabs(shared)).to_have_text([name for name, _ in FILES])
    expect(page.locator("#notice")).to_contain_text("came with a link")
    code = page.evaluate("location.hash").removeprefix("#code=")
    assert code == link_of(packed(FILES))


HOSTILE = {
    "path": [["main.py", "x"], ["../a.py", ""]],
    "folder": [["main.py", "x"], ["a/b.csv", ""]],
    "hidden": [["main.py", "x"], [".a.txt", ""]],
    "many": [["main.py", "x"], *([f"a{n}.py", ""] for n in range(99))],
    "long": [["main.py", "x"], [f"{'a' * 300}.py", ""]],
    "twice": [["main.py", "x"], ["a.py", ""], ["a.py", ""]],
    "no main": [["a.py", "x"]],
    "no text": [["main.py", {"toString": "x"}]],
    "no list": {"main.py": "x"},
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_link_with_hostile_files_is_refused(shared: PageDriver, kind: str) -> None:
    page = shared.page
    before = page.evaluate("tensorwebPage.editor.source()")
    code = link_of(packed(HOSTILE[kind]))
    page.evaluate("code => location.hash = `code=${code}`", code)
    expect(page.locator("#notice")).to_contain_text("is damaged")
    assert page.evaluate("tensorwebPage.editor.source()") == before
    page.evaluate("tensorwebPage.dismiss()")
