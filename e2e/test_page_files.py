"""Files are dropped on the page, read and written by programs, opened, downloaded."""

from __future__ import annotations

from pathlib import Path

from page_driver import PageDriver, expect
from playwright.sync_api import Page
from test_page_access import violations

DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  const target = document.querySelector("#editor .cm-content");
  for (const kind of ["dragover", "drop"]) {
    const options = { dataTransfer: data, bubbles: true, cancelable: true };
    target.dispatchEvent(new DragEvent(kind, options));
  }
}"""
HOSTILE = "<img src=x onerror=alert(1)>.txt"


def names(page: Page) -> list[str]:
    return page.locator(".file-name").all_inner_texts()


def test_a_dropped_file_is_found_by_its_name(shared: PageDriver) -> None:
    page = shared.page
    program = "print(open('data.csv').read())\nopen('out.npy', 'wb').write(bytes(7))"
    shared.write(program)
    page.evaluate(DROP, ["data.csv", "é,1\n"])
    expect(page.locator(".file-name")).to_have_text(["data.csv"])
    assert page.evaluate("tensorwebPage.editor.source()") == program
    assert shared.run() == "ready"
    assert "é,1" in shared.output
    expect(page.locator(".file-name")).to_have_text(["data.csv", "out.npy"])
    assert violations(page) == []
    with page.expect_download() as download:
        page.get_by_role("button", name="Download out.npy").click()
    assert download.value.suggested_filename == "out.npy"
    assert Path(download.value.path()).read_bytes() == bytes(7)


def test_saved_weights_leave_the_page_and_come_back(shared: PageDriver) -> None:
    page = shared.page
    program = (
        "import os\nimport tensorweb as tw\n"
        "w = tw.arange(6, dtype=tw.float32).reshape((2, 3))\n"
        "if not os.path.exists('back.safetensors'):\n"
        "    tw.save('weights.safetensors', {'layer': [w]})\n"
        "else:\n"
        "    found = tw.load('back.safetensors', like={'layer': [w * 0]})\n"
        "    print('same', bool(tw.all(found['layer'][0] == w)))"
    )
    assert shared.run(program) == "ready"
    page.get_by_role("tab", name="Files").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download weights.safetensors").click()
    data = Path(download.value.path()).read_bytes()
    assert b'"layer.0"' in data
    page.locator("#files-chosen").set_input_files(
        [
            {
                "name": "back.safetensors",
                "mimeType": "application/octet-stream",
                "buffer": data,
            }
        ]
    )
    expect(page.locator(".file-name", has_text="back.safetensors")).to_be_visible()
    assert shared.run(program) == "ready"
    assert "same True" in shared.output


def test_a_program_opens_as_one_of_the_readers_own(shared: PageDriver) -> None:
    page = shared.page
    source = "tensorwebPage.editor.source()"
    shared.write("print('typed before')")
    page.evaluate(DROP, ["wave.py", "print('from file')"])
    page.wait_for_function(f"{source} === \"print('from file')\"")
    expect(page.locator(".document-title")).to_have_text("wave.py")
    assert "from file" not in shared.output
    page.go_back()
    page.wait_for_function(f"{source} === \"print('typed before')\"")
    forged = f"#!tensorweb files\n{[['main.py', 'x'], ['a.py', '']]}".replace("'", '"')
    page.locator("#files-chosen").set_input_files(
        [{"name": "b.py", "mimeType": "text/plain", "buffer": forged.encode()}]
    )
    page.wait_for_function("tensorwebPage.view.document.title === 'b.py'")
    assert page.evaluate("tensorwebPage.editor.files().length") == 1


def test_a_hostile_name_stays_text(shared: PageDriver) -> None:
    page = shared.page
    source = f"open({HOSTILE!r}, 'w').close()\nopen('\\u202etxt.exe', 'w').close()"
    assert shared.run(source) == "ready"
    page.get_by_role("tab", name="Files").click()
    expect(page.locator(".file-name", has_text="onerror")).to_have_text(HOSTILE)
    assert page.locator("#files img").count() == 0
    page.emulate_media(color_scheme="dark")
    assert violations(page) == []


def test_an_empty_list_of_files_is_well_in_the_dark(shared: PageDriver) -> None:
    page = shared.page
    page.emulate_media(color_scheme="dark")
    page.get_by_role("tab", name="Files").click()
    gone = (
        "import pathlib\n"
        "for path in pathlib.Path().iterdir():\n"
        "    if path.is_file(): path.unlink()"
    )
    assert shared.run(gone) == "ready"
    expect(page.locator(".file")).to_have_count(0)
    assert violations(page) == []
