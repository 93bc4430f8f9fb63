"""Reports as files: the one that the page saves, and one of ordinary Python."""

from __future__ import annotations

from pathlib import Path

from page_driver import PageDriver, expect
from playwright.sync_api import Page
from test_page_access import violations

import tensorweb as tw

INSIDE = """import tensorweb as tw
model = tw.nn.Sequential(tw.nn.Linear(2, 3), tw.nn.Tanh())
h = tw.asarray([[1.0, 2.0], [4.0, 8.0]])
for i in range(6):
    h = tw.abs(h) * 0.5
z = model(h)
total = z.sum() + h.sum()
print(total)
"""

PROGRAM = """import tensorweb as tw
x = tw.reshape(tw.arange(12.0), (3, 4))
hostile = {"</script><img src=x onerror=alert(1)>": x + 1}
y = tw.exp(x.T / 10)
print(y.sum())
"""


def opened(driver: PageDriver, file: Path, troubles: list[str]) -> Page:
    page = driver.page.context.new_page()
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: troubles.append(dialog.message))
    page.goto(file.as_uri())
    return page


def look_around(page: Page, line: int) -> None:
    """Point at a line's result, at cells, and open the layout of `y`."""
    ghost = page.get_by_role("button", name=f"Line {line} made float32 (4, 3)")
    ghost.focus()
    expect(page.locator(".report-tip")).to_contain_text("y")
    ghost.click()
    card = page.locator(".report-tensor:has(h3:text-is('y'))")
    expect(card).to_be_focused()
    card.locator(".report-picture").focus()
    for key in ("ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    expect(card.locator(".report-at")).to_contain_text("y[1, 1] = 1.6487")
    card.locator(".report-picture").hover(position={"x": 4, "y": 4})
    expect(card.locator(".report-at")).to_have_text("y[0, 0] = 1")
    x = page.locator(".report-tensor:has(h3:text-is('x'))")
    x.locator("summary").click()
    expect(x.locator(".layout-origin")).to_have_text(
        "Contiguous, with its own storage."
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == []


def look_inside(page: Page) -> None:
    """Go from a sum to the data, through the steps of a loop, into a network."""
    card = page.locator(".report-tensor:has(h3:text-is('h'))")
    card.locator(".report-picture").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("w")
    title = page.locator("#why .why-title")
    expect(title).to_have_text("h[0, 1] = 0.03125")
    expect(title).to_be_focused()
    rows = page.locator("#why .why-rows li code")
    expect(rows.first).to_have_text("0.0625·0.5 = 0.03125")
    expect(rows).to_have_count(2)
    expect(page.locator("#why .lit-picture")).to_have_count(1)
    page.locator("#why .why-cell").first.click()
    expect(title).to_contain_text("= 0.0625")
    expect(page.locator("#why .why-further")).to_be_hidden()
    step = page.locator("#film .film-title")
    expect(step).to_contain_text("step 5 · float32 (2, 2)")
    page.get_by_label("Step of the film", exact=True).focus()
    page.keyboard.press("Home")
    expect(step).to_contain_text("step 0 · float32 (2, 2) · 0.5 … 4")
    expect(page.locator("#film .film-stage canvas")).to_be_visible()
    rows = page.locator("#model summary")
    expect(rows).to_have_count(3)
    rows.nth(1).click()
    expect(page.locator("#model .model-value canvas")).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == []


def saved_page(page: Page, file: Path) -> Path:
    """Save the program with its result."""
    page.get_by_role("button", name="More", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Save with its result").click()
    download.value.save_as(file)
    return file


def test_a_saved_run_still_hovers(on_cpu: PageDriver, tmp_path: Path) -> None:
    page = on_cpu.page
    on_cpu.show("Memory")  # which records it
    assert on_cpu.run(PROGRAM) == "ready"
    file = saved_page(page, tmp_path / "saved.html")
    troubles: list[str] = []
    saved = opened(on_cpu, file, troubles)
    look_around(saved, 4)
    kernel = saved.locator(".kernel").first
    kernel.locator("summary").click()
    expect(kernel.locator(".kernel-source")).to_contain_text("(module")
    expect(saved.locator(".report-line.is-lit")).not_to_have_count(0)
    expect(saved.locator(".memory-picture")).to_be_visible()
    saved.locator(".kernel-row .line-link").first.click()
    expect(saved.locator(".report-line:focus")).to_have_count(1)
    assert troubles == []
    saved.close()


def test_a_saved_run_can_be_looked_into(on_cpu: PageDriver, tmp_path: Path) -> None:
    page = on_cpu.page
    assert on_cpu.run(INSIDE) == "ready"
    page.evaluate("void tensorwebPage.run(null, { inside: true })")
    assert on_cpu.idle() == "ready"
    troubles: list[str] = []
    saved = opened(on_cpu, saved_page(page, tmp_path / "saved.html"), troubles)
    look_inside(saved)
    expect(saved.locator(".timeline-picture")).to_be_visible()
    saved.locator(".timeline-picture").focus()
    saved.keyboard.press("ArrowRight")
    expect(saved.locator(".timeline-reading")).to_contain_text(" from ")
    assert troubles == []
    saved.close()


def test_a_file_shows_no_lines_of_another_text(
    on_cpu: PageDriver, tmp_path: Path
) -> None:
    page = on_cpu.page
    assert on_cpu.run(PROGRAM) == "ready"
    page.get_by_role("button", name="More", exact=True).click()
    item = page.get_by_role("menuitem", name="Save with its result")
    # Sooner than the editor saves what is typed.
    change = {"from": 0, "to": 0, "insert": "# one line more\n"}
    type_and_save = (
        "(item, one) => { tensorwebPage.editor.change([one]); item.click() }"
    )
    with page.expect_download() as download:
        item.evaluate(type_and_save, change)
    text = download.value.path().read_text()
    assert "# one line more" in text
    assert "edited after this run" in text
    assert 'id="recording"' not in text
    # A site without the script of reports.
    assert on_cpu.run() == "ready"
    page.evaluate(
        "() => { const own = fetch; globalThis.fetch = async () => {"
        " globalThis.fetch = own; return new Response('no', { status: 404 }) } }"
    )
    text = saved_page(page, tmp_path / "missing.html").read_text()
    assert 'id="recording"' not in text
    expect(page.locator("#notice")).to_contain_text("answered 404 to report")


def traced(program: str, file: Path) -> tw.Report:
    lines = program.replace("\n", "\n    ").rstrip()
    file.write_text(f"import tensorweb as tw; t = tw.trace()\nwith t:\n    {lines}\n")
    names: dict[str, tw.Report] = {}
    with tw.device("cpu"):
        exec(compile(file.read_text(), str(file), "exec"), names)
    return names["t"]


def test_a_report_of_ordinary_python_looks_inside(
    shared: PageDriver, tmp_path: Path
) -> None:
    report = traced(INSIDE, tmp_path / "inside.py")
    troubles: list[str] = []
    page = opened(shared, report.report(tmp_path / "inside.html"), troubles)
    for width, scheme in ((1200, "dark"), (390, "light")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        look_inside(page)
        page.reload()
    assert troubles == []
    page.close()


def test_a_report_of_ordinary_python_has_the_same_views(
    shared: PageDriver, tmp_path: Path
) -> None:
    report = traced(PROGRAM, tmp_path / "program.py")
    troubles: list[str] = []
    page = opened(shared, report.report(tmp_path / "report.html"), troubles)
    for width, scheme in ((1200, "light"), (390, "dark")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert violations(page) == []
    look_around(page, 6)
    expect(page.locator("h3", has_text="onerror")).to_have_count(1)
    assert troubles == []
    # A notebook shows the same in a frame.
    page.goto("about:blank")
    page.set_content(report._repr_mimebundle_()["text/html"])
    names = page.frame_locator("iframe").locator(".report-tensor h3")
    expect(names.first).to_have_text("x")
    page.close()
