"""Files are dropped on the page, read and written by programs, kept, and downloaded."""

from __future__ import annotations

from pathlib import Path

from browsers import CHROMIUM_FLAGS, Profiles, launch_chromium, new_context
from page_driver import PageDriver, expect
from playwright.sync_api import Page, Playwright
from program_steps import link_code
from test_page_access import violations

DROP = """([...files]) => {
  const data = new DataTransfer();
  for (const [name, text] of files) data.items.add(new File([text], name));
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
    page.evaluate(DROP, [["data.csv", "é,1\n"]])
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
    page.evaluate(DROP, [["wave.py", "print('from file')"]])
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
    delete_files = (
        "import pathlib\n"
        "for path in pathlib.Path().iterdir():\n"
        "    if path.is_file(): path.unlink()"
    )
    assert shared.run(delete_files) == "ready"
    expect(page.locator(".file")).to_have_count(0)
    assert violations(page) == []


NEW = "tensorwebPage.library.create"
FILES = "tensorwebPage.view.ownFiles.map(({ name }) => name)"
SETTLED = "!tensorwebPage.view.held && tensorwebPage.files.isOpen"
KEPT = "tensorwebPage.view.ownFiles.every(({ isKept }) => isKept)"


def own_program(driver: PageDriver, title: str, source: str) -> None:
    """Begin a program of the reader's own, with no files."""
    driver.page.evaluate(f"([title, source]) => {NEW}(title, source)", [title, source])
    driver.wait(f"tensorwebPage.view.document.title === {title!r}")
    driver.wait(SETTLED)


def test_dropped_files_offer_the_lines_that_load_them(shared: PageDriver) -> None:
    page = shared.page
    own_program(shared, "lines", '"""Some words."""\n\nimport math\n\nprint(1)\n')
    page.evaluate(DROP, [["a.csv", "x,y\n1,2.5\n3,4\n"], ["notes.txt", "words"]])
    page.get_by_role("button", name="Insert the 2 lines").click()
    assert page.evaluate("tensorwebPage.editor.source()") == (
        '"""Some words."""\n\nimport math\nimport tensorweb as tw\n'
        'table = tw.load("a.csv")\ntext = open("notes.txt").read()\n\nprint(1)\n'
    )
    page.get_by_role("tab", name="Files").click()
    page.get_by_role("button", name="Insert table").click()
    program = page.evaluate("tensorwebPage.editor.source()")
    assert program.count('table = tw.load("a.csv")') == 2
    assert shared.run(f"{program}\nprint(table.tolist(), text)") == "ready"
    assert "[[1.0, 2.5], [3.0, 4.0]] words" in shared.output


def test_files_of_one_kind_are_loaded_under_names_of_their_own(
    shared: PageDriver,
) -> None:
    page = shared.page
    own_program(shared, "alike", "print(text, text_2, text_3)\n")
    page.evaluate(DROP, [["a.txt", "first"], ["b.txt", "second"]])
    page.get_by_role("button", name="Insert the 2 lines").click()
    page.evaluate(DROP, [["c.txt", "third"]])
    page.locator("#notice").get_by_role("button", name="Insert text").click()
    assert shared.run() == "ready", shared.wrong()
    assert "first second third" in shared.output
    page.evaluate(DROP, [["a.wav", ""], ["b.wav", ""]])
    page.get_by_role("button", name="Insert the 2 lines").click()
    program = page.evaluate("tensorwebPage.editor.source()")
    assert 'sound_2, rate_2 = tw.load("b.wav")' in program


def test_a_file_has_room_for_its_name_at_every_width(shared: PageDriver) -> None:
    page = shared.page
    size = page.viewport_size
    own_program(shared, "narrow", "print(1)")
    page.evaluate(DROP, [["data.csv", "1,2\n"]])
    page.get_by_role("tab", name="Files").click()
    expect(page.locator(".file-name")).to_have_text(["data.csv"])
    cut = {}
    for width in (720, 768, 1024, 1280):
        page.set_viewport_size({"width": width, "height": width * 5 // 8})
        shared.drawn()
        cut[width] = page.evaluate(
            """() => { const panel = document.querySelector("#files");
            const name = document.querySelector(".file-name");
            const line = document.querySelector(".file-size").offsetHeight;
            return [panel.scrollWidth > panel.clientWidth,
                    name.offsetHeight > 1.5 * line]; }"""
        )
    assert not any(map(any, cut.values())), cut
    assert size is not None
    page.set_viewport_size(size)


def test_files_are_renamed_and_deleted_with_undo(shared: PageDriver) -> None:
    page = shared.page
    own_program(shared, "names", "print(open('b.txt').read())")
    page.evaluate(DROP, [["a.txt", "first"], ["c.txt", "third"]])
    expect(page.locator(".file-name")).to_have_text(["a.txt", "c.txt"])
    page.get_by_role("button", name="Rename a.txt").click()
    page.get_by_label("New name of a.txt").fill("c.txt")
    page.keyboard.press("Enter")
    expect(page.locator("#notice")).to_contain_text("There is a file c.txt already")
    page.get_by_role("button", name="Rename a.txt").click()
    page.get_by_label("New name of a.txt").fill("b.txt")
    page.keyboard.press("Enter")
    expect(page.locator(".file-name")).to_have_text(["b.txt", "c.txt"])
    page.get_by_role("button", name="Delete b.txt").click()
    expect(page.locator(".file-name")).to_have_text(["c.txt"])
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".file-name")).to_have_text(["b.txt", "c.txt"])
    assert shared.run() == "ready"
    assert "first" in shared.output


def test_each_program_has_its_own_files(shared: PageDriver) -> None:
    page = shared.page
    look = "import os\nprint(sorted(os.listdir()))"
    own_program(shared, "one", look)
    page.evaluate(DROP, [["mine.txt", "secret"]])
    assert shared.run() == "ready"
    assert "mine.txt" in shared.output
    own_program(shared, "two", look)
    assert shared.run() == "ready"
    assert "mine.txt" not in shared.output
    page.go_back()
    shared.wait("tensorwebPage.view.document.title === 'one'")
    shared.wait(f"{FILES}.includes('mine.txt') && !tensorwebPage.view.held")
    assert shared.run() == "ready"
    assert "mine.txt" in shared.output


def test_a_linked_program_sees_no_file_of_the_reader(
    shared: PageDriver, site_url: str
) -> None:
    page = shared.page
    own_program(shared, "holder", "print(1)")
    holder = page.evaluate("tensorwebPage.view.document.id")
    page.evaluate(DROP, [["mine.txt", "secret"]])
    assert shared.run() == "ready"
    look = "import os\nprint(sorted(os.listdir()))\nopen('theirs.txt', 'w').close()"
    page.evaluate("hash => { location.hash = hash }", f"code={link_code(page, look)}")
    shared.wait("tensorwebPage.view.document.kind === 'link'")
    shared.wait(SETTLED)
    assert shared.run() == "ready"
    assert "mine.txt" not in shared.output
    shared.wait(f"{FILES}.join() === 'theirs.txt'")
    assert shared.run(DISK) == "ready"
    assert "no disk" in shared.output
    shared.page.evaluate("id => tensorwebPage.workspace.openStored(id)", holder)
    shared.wait(f"{FILES}.join() === 'mine.txt'")


DISK = """
from pyodide.code import run_js
print(run_js("navigator.storage.getDirectory ? 'a disk' : 'no disk'"))
"""


WRITES = "open('w.txt', 'w').write('and written')"
READS = "print(open('mine.csv').read() + open('w.txt').read())"


def stays(driver: PageDriver) -> None:
    """Check that files are there after a reload, the reader's and written ones."""
    driver.console.clear()
    own_program(driver, "kept", WRITES)
    driver.page.evaluate(DROP, [["mine.csv", "from yesterday "]])
    assert driver.run() == "ready"
    driver.wait(f"{FILES}.length === 2 && {KEPT}")
    driver.page.reload()
    assert driver.idle() == "ready"
    driver.wait(f"{FILES}.length === 2")
    assert driver.run(READS) == "ready"
    assert "from yesterday and written" in driver.output
    driver.clean()


def test_a_reload_finds_the_files(page: Page, site_url: str) -> None:
    stays(PageDriver(page).open(site_url))


def test_a_reload_finds_the_files_in_firefox(on_firefox: PageDriver) -> None:
    stays(on_firefox)


FORBIDDEN = "delete StorageManager.prototype.getDirectory;"


def test_a_browser_that_keeps_no_files_says_so(page: Page, site_url: str) -> None:
    page.add_init_script(FORBIDDEN)
    driver = PageDriver(page).open(site_url)
    own_program(driver, "forbidden", READS)
    page.evaluate(DROP, [["mine.csv", "here "], ["w.txt", "now"]])
    expect(page.locator("#notice")).to_contain_text("keeps no files for the page")
    assert driver.run() == "ready"
    assert "here now" in driver.output
    page.reload()
    assert driver.idle() == "ready"
    assert driver.run() == "error"
    expect(page.locator(".failure-title")).to_contain_text(
        "'mine.csv' any more: it went when the page was loaded anew"
    )


def test_a_full_disk_is_said(page: Page, site_url: str) -> None:
    driver = PageDriver(page).open(site_url)
    own_program(driver, "full", "print(len(open('big.bin', 'rb').read()))")
    origin = page.evaluate("location.origin")
    client = page.context.new_cdp_session(page)
    used = page.evaluate("navigator.storage.estimate().then(({ usage }) => usage)")
    quota = {"origin": origin, "quotaSize": used + 1_000_000}
    client.send("Storage.overrideQuotaForOrigin", quota)
    page.evaluate(DROP, [["big.bin", "x" * 3_000_000]])
    expect(page.locator("#notice")).to_contain_text("storage for this site is full")
    expect(page.locator(".file")).to_contain_text("not kept")
    assert driver.run() == "ready"
    assert "3000000" in driver.output
    client.send("Storage.overrideQuotaForOrigin", {"origin": origin})


MEGABYTES = 200
BIG = """async (megabytes) => {
  const piece = new Float32Array(1 << 20);
  piece[0] = 7;
  const size = megabytes * (1 << 20);
  const header = JSON.stringify({
    small: { dtype: "F32", shape: [2], data_offsets: [size, size + 8] },
    big: { dtype: "F32", shape: [megabytes / 4, 1 << 20], data_offsets: [0, size] },
  });
  const head = new TextEncoder().encode(header);
  const length = new BigUint64Array([BigInt(head.length)]);
  const pieces = Array(megabytes / 4).fill(new Blob([piece]));
  const parts = [length, head, ...pieces, new Float32Array([3, 4])];
  await tensorwebPage.files.add([new File(parts, "big.safetensors")]);
}"""
LOADS = f"""
import gc
import pyodide_js
import tensorweb as tw

before = len(pyodide_js._module.HEAPU8)
found = tw.load("big.safetensors", device="cpu")
print(found["small"].tolist(), found["big"].shape, found["big"][9, :2].tolist())
with open("big.safetensors", "rb") as file:
    print(file.seek(0, 2) > {MEGABYTES} << 20, file.seek(0), len(file.read(1000)))
print("grown", (len(pyodide_js._module.HEAPU8) - before) >> 20)
"""


def test_a_large_file_is_read_in_ranges(page: Page, site_url: str) -> None:
    driver = PageDriver(page).open(site_url)
    own_program(driver, "large", LOADS)
    page.evaluate(BIG, MEGABYTES)
    driver.wait(KEPT)
    assert driver.run() == "ready", driver.wrong()
    assert f"[3.0, 4.0] ({MEGABYTES // 4}, 1048576) [7.0, 0.0]" in driver.output
    assert "True 0 1000" in driver.output
    assert int(driver.output.split("grown ")[1].split()[0]) < MEGABYTES // 8


PICTURES = """async () => {
  const canvas = new OffscreenCanvas(5, 3);
  const context = canvas.getContext("2d");
  context.fillStyle = "rgb(200, 100, 50)";
  context.fillRect(0, 0, 5, 3);
  const files = [];
  for (const kind of ["png", "jpeg", "webp"]) {
    const blob = await canvas.convertToBlob({ type: `image/${kind}`, quality: 1 });
    files.push(new File([blob], `a.${kind}`));
  }
  await tensorwebPage.files.add(files);
}"""


ROUGHLY = """
import tensorweb as tw
for kind in ("png", "jpeg", "webp"):
    picture = await tw.load_async(f"a.{kind}", device="cpu")
    expected = tw.asarray([200, 100, 50], device="cpu")
    off = abs(picture[..., :3].astype(tw.int32) - expected)
    print(kind, picture.shape, picture.dtype, bool(tw.all(off < 6)))
"""


def decodes(driver: PageDriver) -> None:
    own_program(driver, "pictures", ROUGHLY)
    driver.page.evaluate(PICTURES)
    assert driver.run() == "ready", driver.wrong()
    for line in ("png (3, 5, 4)", "jpeg (3, 5, 3)", "webp (3, 5, "):
        assert line in driver.output
    assert driver.output.count("uint8 True") == 3


def test_the_browser_decodes_pictures(shared: PageDriver) -> None:
    decodes(shared)
    program = ROUGHLY.replace("await tw.load_async", "tw.load")
    assert shared.run(program) == "ready"
    assert shared.output.count("uint8 True") == 3


def test_the_offer_of_lines_fits_a_phone(shared: PageDriver) -> None:
    page = shared.page
    size = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 844})
    label = "Insert the 5 lines that load them"
    page.evaluate(
        "label => tensorwebPage.notify({ kind: 'info', text: 'The program has 5 more "
        "files.', actions: [{ label, run() {} }] })",
        label,
    )
    notice = page.locator("#notice")
    outer = notice.bounding_box()
    text = notice.locator("> span").first.bounding_box()
    close = notice.get_by_role("button", name="Close").bounding_box()
    assert outer
    assert text
    assert close
    assert text["height"] < 24  # one line
    assert close["x"] + close["width"] <= outer["x"] + outer["width"] - 8
    assert size is not None
    page.set_viewport_size(size)


def test_the_invitation_of_a_picture_is_not_cut(shared: PageDriver) -> None:
    size = shared.page.viewport_size
    assert size
    assert size["width"] == 1280
    assert shared.run("import tensorweb as tw\nx = tw.ones((12, 24))") == "ready"
    shared.page.get_by_role("tab", name="Tensors").locator("visible=true").click()
    shared.look_into("x")
    status = shared.page.locator(".cell-status").first
    expect(status).to_contain_text("arrow keys")
    assert status.evaluate("e => e.scrollWidth <= e.clientWidth")


CUT = """
import tensorweb as tw
with open("a.jpeg", "rb") as file:
    head = file.read(60)
with open("cut.jpeg", "wb") as file:
    file.write(head)
try:
    tw.load("cut.jpeg")
except tw.DataError as error:
    print(error)
"""


def test_a_cut_picture_is_told_in_the_browsers_words(shared: PageDriver) -> None:
    decodes(shared)
    assert shared.run(CUT) == "ready", shared.output
    said, rest = shared.output.split("\n", 1)
    assert "the browser cannot decode it (InvalidStateError: The source image" in said
    assert "Exception" not in rest  # nothing printed by Pyodide before or after


def test_a_browser_that_never_waits_decodes_as_well(
    profiles_never_waiting: Profiles, never_waits: str
) -> None:
    with profiles_never_waiting.page() as lent:
        driver = PageDriver(lent).open(never_waits)
        decodes(driver)
        assert driver.run("import tensorweb as tw\ntw.load('a.jpeg')") == "error"
        expect(lent.locator(".failure-title")).to_contain_text("tw.load_async")


FAKES = [
    *("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"),
    *CHROMIUM_FLAGS,
]
SENSES = """
from pyodide.code import run_js
import tensorweb as tw
picture = tw.load("camera.png", device="cpu")
sound, rate = tw.load("recording.wav", device="cpu")
print(picture.shape[2], picture.shape[0] > 100, sound.shape[0] > 100, rate > 8000)
print(run_js("'mediaDevices' in navigator"))
"""


def test_camera_and_microphone_are_files(playwright: Playwright, site_url: str) -> None:
    browser = launch_chromium(playwright, FAKES)
    page = new_context(browser).new_page()
    driver = PageDriver(page).open(site_url)
    own_program(driver, "senses", SENSES)
    page.get_by_role("tab", name="Files").click()
    page.get_by_role("button", name="Camera…").click()
    page.get_by_role("button", name="Take the picture").click()
    expect(page.locator(".file-name")).to_have_text(["camera.png"])
    page.get_by_role("button", name="Microphone…").click()
    expect(page.locator(".files-recorder")).to_contain_text("Recording…")
    driver.drawn(60)
    page.get_by_role("button", name="End the recording").click()
    expect(page.locator(".file-name")).to_have_text(["camera.png", "recording.wav"])
    assert violations(page) == []
    assert driver.run() == "ready", driver.wrong()
    assert "4 True True True\nFalse" in driver.output
    driver.clean()
    browser.close()
