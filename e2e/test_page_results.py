"""Nothing shown lies: output's end, stale results, cut lists, long texts, scrolling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from browsers import Profiles
from page_driver import PageDriver, expect
from playwright.sync_api import Page
from test_page_access import violations

SLEEP = "import asyncio\nawait asyncio.sleep({})\n"
FAR = "document.querySelector('#output')"
LEFT = f"{FAR}.scrollHeight - {FAR}.scrollTop - {FAR}.clientHeight"
SOURCE = "tensorwebPage.editor.source()"
PHONE: Any = {"width": 390, "height": 760}


@pytest.fixture(scope="module")
def small_screen(profiles: Profiles, site_url: str) -> Iterator[PageDriver]:
    with profiles.page(viewport=PHONE) as page:
        driver = PageDriver(page).open(site_url)
        yield driver
        driver.clean()


@pytest.fixture
def phone(small_screen: PageDriver) -> PageDriver:
    """The page on a phone, for tests that choose its width."""
    small_screen.page.set_viewport_size(PHONE)
    return small_screen


def open_example(page: Page, name: str) -> None:
    page.get_by_role("button", name="Examples", exact=True).click()
    page.locator(f"[data-id='{name}']").click()


# Output


@pytest.mark.parametrize(
    "source",
    [
        "for i in range(3000): print('line', i)",
        "import asyncio\nfor i in range(100):\n    print('line', i)\n"
        "    await asyncio.sleep(0.01)",
        "import tensorweb as tw\nfor i in range(30): tw.show(tw.ones((20, 20)))",
    ],
    ids=["burst", "slow", "pictures"],
)
def test_output_follows_its_end(patient: PageDriver, source: str) -> None:
    assert patient.run(source) == "ready"
    patient.page.wait_for_function(f"{LEFT} < 2")
    expect(patient.page.locator(".new-output")).to_be_hidden()


def test_output_stays_where_the_reader_scrolled(patient: PageDriver) -> None:
    page = patient.page
    lines = "for i in range({}): print('line', i)\n"
    patient.begin(lines.format(200) + SLEEP.format(600))
    expect(page.locator("#output")).to_contain_text("line 199")
    page.wait_for_function(f"{LEFT} < 2")
    page.hover("#output")
    page.mouse.wheel(0, -400)
    page.wait_for_function(f"{LEFT} > 100")
    position = page.evaluate(f"{FAR}.scrollTop")
    page.click("#stop")
    assert patient.idle() == "ready"
    expect(page.locator("#output .footer")).to_be_attached()
    assert page.evaluate(f"{FAR}.scrollTop") == position
    page.get_by_role("button", name="New output").click()
    page.wait_for_function(f"{LEFT} < 2")
    expect(page.locator(".new-output")).to_be_hidden()
    expect(page.locator("#output")).to_be_focused()


# What results belong to


TENSOR = "import tensorweb as tw\nx = tw.ones((5, 5))\ntw.show(x)\n"


def test_results_say_to_which_program_they_belong(patient: PageDriver) -> None:
    page = patient.page
    open_example(page, "01-tour")
    assert patient.run(TENSOR) == "ready"
    patient.pictured()
    expect(page.locator("#origin-note")).to_be_hidden()
    expect(page.locator("#output .origin-note")).to_be_hidden()
    title = page.inner_text(".document-title")
    open_example(page, "03-reductions")
    expect(page.locator("#origin-note")).to_have_text(f"From “{title}”")
    expect(page.locator("#output .origin-note")).to_have_text(f"From “{title}”")
    expect(page.locator("#state")).to_be_empty()
    assert page.locator("[data-stale]").count() >= 2
    assert violations(page) == []
    page.go_back()
    expect(page.locator("#origin-note")).to_be_hidden()
    assert page.locator("[data-stale]").count() == 0


def test_results_say_on_which_device_they_were_computed(patient: PageDriver) -> None:
    page = patient.page
    assert patient.run(TENSOR) == "ready"
    patient.choose_device("cpu")
    expect(page.locator("#origin-note")).to_have_text("Computed on WebGPU")
    patient.choose_device("webgpu")
    expect(page.locator("#origin-note")).to_be_hidden()


def test_results_of_the_run_before_are_marked_during_a_run(patient: PageDriver) -> None:
    page = patient.page
    assert patient.run(TENSOR) == "ready"
    patient.begin(SLEEP.format(600))
    expect(page.locator("#origin-note")).to_have_text("From the run before")
    page.click("#tensors .tensor")
    expect(page.locator(".viewer-problem")).to_contain_text("from the run before")
    expect(page.locator(".heatmap")).to_be_hidden()
    page.click("#stop")
    assert patient.idle() == "ready"
    expect(page.locator("#origin-note")).to_be_hidden()


def test_the_end_is_not_claimed_before_it(patient: PageDriver) -> None:
    page = patient.page
    page.evaluate(
        """() => {
          const session = tensorwebPage.session;
          const ask = session.request.bind(session);
          const held = new Promise(resolve => { globalThis.release = resolve; });
          session.request = async (name, details) => {
            if (name === "describe") await held;
            return ask(name, details);
          };
        }"""
    )
    patient.write(TENSOR)
    page.click("#run")
    footer = page.locator("#output .footer")
    expect(footer).to_contain_text("tensors are being read")
    expect(page.locator("#state")).not_to_contain_text("Done")
    assert "Finished" not in patient.output
    page.evaluate("release(); delete tensorwebPage.session.request")
    assert patient.idle() == "ready"
    expect(footer).to_contain_text("Finished in")
    page.click("#editor .cm-content")
    page.keyboard.type("# more")
    expect(footer).to_contain_text("edited since")


def test_a_failure_is_marked_in_the_program_that_failed(patient: PageDriver) -> None:
    page = patient.page
    open_example(page, "01-tour")
    caught = "try:\n    sleep(600)\nexcept KeyboardInterrupt:\n    pass\n"
    patient.begin(f"from time import sleep\n{caught}1 / 0")
    open_example(page, "03-reductions")
    page.wait_for_function("tensorwebPage.view.document.id === '03-reductions'")
    page.click("#stop")
    assert patient.idle() == "error"
    expect(page.locator(".failure")).to_be_visible()
    assert page.locator(".cm-lintRange-error").count() == 0
    page.click(".line-link")
    page.wait_for_function("tensorwebPage.view.document.kind === 'own'")
    expect(page.locator(".cm-lintRange-error")).to_have_text("1 / 0")
    expect(page.locator(".cm-activeLine")).to_contain_text("1 / 0")


def test_tensors_of_a_python_that_was_restarted_say_so(patient: PageDriver) -> None:
    page = patient.page
    assert patient.run(TENSOR) == "ready"
    page.evaluate("tensorwebPage.session.restart()")
    expect(page.locator("#origin-note")).to_contain_text("Python was restarted")
    patient.idle()
    page.click("#tensors .tensor")
    expect(page.locator(".viewer-problem")).to_contain_text("Python was restarted")
    assert patient.run(TENSOR) == "ready"
    patient.pictured()


# Lists


def test_a_clicked_row_stays_under_the_pointer(patient: PageDriver) -> None:
    page = patient.page
    source = (
        "import tensorweb as tw\nfor i in range(30): globals()[f'x{i}'] = tw.ones(2)"
    )
    assert patient.run(source) == "ready"
    row = page.locator("#tensors .tensor").nth(2)
    before = row.bounding_box()
    row.click()
    patient.pictured()
    assert row.bounding_box() == before


def test_cut_lists_say_how_many_there_are(patient: PageDriver) -> None:
    source = (
        "import tensorweb as tw\nhistory = [tw.ones(2) for _ in range(91)]\nlast = 1"
    )
    assert patient.run(source) == "ready"
    expect(patient.page.locator(".list-cut")).to_have_text("… history: 50 of 91 shown")


COLUMNS = """() => [...document.querySelectorAll(".kernel-row")].map((row) =>
  [".kernel-line", ".kernel strong", ".kernel-bar", ".kernel-count"].map((part) => {
    const box = row.querySelector(part).getBoundingClientRect();
    const { left, right, top, bottom } = box;
    return { left, right, middle: (top + bottom) / 2 };
  }))"""
"""Where the four parts of each row of kernels are."""

KERNELS = """import tensorweb as tw
x = tw.realize(tw.reshape(tw.arange(4096.0), (64, 64)))
for _ in range(3):
    tw.realize(tw.exp(x * 0.001) + tw.sqrt(x + 1.0) * tw.sin(x) - tw.cos(x) / 3.0)
print(tw.sum(x).item())
"""


def test_kernels_are_one_aligned_row_each(patient: PageDriver) -> None:
    page = patient.page
    assert patient.run(KERNELS) == "ready"
    page.get_by_role("tab", name="Kernels").click()
    page.wait_for_selector(".kernel")
    rows = page.evaluate(COLUMNS)
    assert len(rows) >= 2
    for line, name, bar, count in rows:
        middles = [part["middle"] for part in (line, name, bar, count)]
        assert max(middles) - min(middles) < 3
        lefts = [line["left"], name["left"], bar["left"], count["right"]]
        first = rows[0]
        assert lefts == [*(part["left"] for part in first[:3]), first[3]["right"]]
        assert line["right"] <= name["left"] < name["right"] <= bar["left"]
    looped = page.locator(".kernel-row", has_text="3 \u00d7")
    expect(looped.locator(".kernel-line")).to_have_text("line 4")
    for name, kind in page.evaluate(
        "tensorwebPage.view.run.kernels.map(({name, kind}) => [name, kind])"
    ):
        assert name.startswith(f"{kind} ")
    for text in page.locator(".kernel strong").all_inner_texts():
        assert not text.startswith(("elementwise", "reduce"))
    link = looped.locator("button.kernel-line")
    link.hover()
    expect(page.locator(".cm-lit").last).to_contain_text("tw.exp(x * 0.001)")
    link.click()
    expect(page.locator(".cm-activeLine")).to_contain_text("tw.exp(x * 0.001)")
    page.mouse.move(0, 0)
    expect(page.locator(".cm-lit")).to_have_count(0)


def test_kernels_are_sorted_and_follow_their_lines(patient: PageDriver) -> None:
    page = patient.page
    source = "import tensorweb as tw\n"
    source += "x = tw.realize(tw.reshape(tw.arange(64.0), (8, 8)))\n"
    source += "y = tw.realize(tw.sum(x * x))\n"
    source += "z = tw.realize(tw.reshape(x.T, (-1,)) + 1)\n"
    assert patient.run(source) == "ready"
    page.get_by_role("tab", name="Kernels").click()
    names = page.locator(".kernel strong")
    expect(names.nth(1)).to_have_text("sum(x\u00b2) [1, 64]")
    expect(names.nth(2)).to_have_text("x + c, with a copy [64]")
    before = names.all_inner_texts()
    page.get_by_role("button", name="Largest first").click()
    expect(names.first).to_have_text(before[2])
    page.get_by_role("button", name="Program order").click()
    assert names.all_inner_texts() == before
    first, *others = source.splitlines()
    edited = "\n".join([first, "", others[0], others[2]])
    page.evaluate("text => tensorwebPage.editor.open(text)", edited)
    lines = page.locator(".kernel-line")
    expect(lines.nth(1)).to_have_text("was 3")
    expect(lines.nth(1)).to_have_class(re.compile("is-gone"))
    assert lines.all_inner_texts()[::2] == ["line 3", "line 4"]


def test_times_of_kernels_are_measured_when_asked_for(patient: PageDriver) -> None:
    page = patient.page
    patient.choose_device("cpu")
    assert patient.run(KERNELS) == "ready"
    page.get_by_role("tab", name="Kernels").click()
    said = page.locator(".kernel-summary")
    expect(said).to_contain_text("bytes that they read and write")
    page.get_by_role("button", name="Measure times").click()
    expect(said).to_contain_text("Bars are time on the device")
    seconds = page.evaluate("tensorwebPage.view.run.kernels.map(k => k.seconds)")
    # Whatever is shorter than a tick of the browser's clock takes no time.
    assert min(seconds) >= 0
    assert seconds[1] > 0
    counts = page.locator(".kernel-count").all_inner_texts()
    assert "3 \u00d7" in counts
    patient.idle()
    patient.choose_device("webgpu")
    page.get_by_role("tab", name="Tensors").click()


# Long texts


@pytest.mark.parametrize(
    "source",
    [
        "raise ValueError('x' * 50_000_000)",
        "raise ValueError('line\\n' * 1_000_000)",
        "import tensorweb as tw\ntw.show(tw.ones(2), 'n' * 10_000_000)",
        "import tensorweb as tw\nt = 't' * 10_000_000\n"
        "tw.show(tw.bar_chart({t: 1}, title=t))",
        "import tensorweb as tw\nx = tw.ones(2)\n"
        "for i in range(30_000): globals()[f'n{i}'] = x",
        "import tensorweb as tw\nx = tw.ones((1,) * 300)",
    ],
    ids=["message", "lines", "name", "chart", "names", "axes"],
)
def test_long_texts_are_cut(patient: PageDriver, source: str) -> None:
    patient.run(source)
    assert len(patient.page.inner_text("body")) < 100_000
    assert patient.page.evaluate("document.querySelectorAll('*').length") < 5_000


def test_forged_texts_are_cut(patient: PageDriver) -> None:
    """A program can send what Python's side would never send."""
    forge = (
        "import js\nfrom pyodide.code import run_js\n"
        'run_js("for (let i = 0; i < 20; i++)'
        " postMessage({note: 'output', stream: 'stdout', text: 'x'.repeat(5e6)});"
        "postMessage({note: 'display', display: 0, name: 'n'.repeat(5e6),"
        " text: 't'.repeat(5e6), tensor: false, chart: null})\")"
    )
    assert patient.run(forge) == "ready"
    assert len(patient.page.inner_text("body")) < 1_000_000
    assert patient.run("print('usable')") == "ready"


# Places


def test_editor_is_framed_on_every_side(patient: PageDriver) -> None:
    page = patient.page
    page.click("#editor .cm-content")
    outline = page.evaluate(
        "getComputedStyle(document.querySelector('#editor')).outline"
    )
    assert "solid 2px" in outline
    assert "solid" not in page.evaluate(
        "getComputedStyle(document.querySelector('.cm-editor')).outline"
    )


def test_stop_has_a_key(patient: PageDriver) -> None:
    page = patient.page
    patient.begin("while True: pass")
    page.click("#editor .cm-content")
    page.keyboard.press("Control+.")
    assert patient.idle() == "ready"
    expect(page.locator("#output")).to_contain_text("Stopped after")
    assert page.get_attribute("#stop", "title").startswith("Stop the program (Ctrl+.")
    page.get_by_role("button", name="Help").click()
    expect(page.locator("dialog.help")).to_contain_text("stop the program")
    page.keyboard.press("Escape")


def test_line_link_shows_the_code_on_a_phone(phone: PageDriver) -> None:
    page = phone.page
    assert phone.run("x = 1\n1 / 0") == "error"
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 700})
        page.get_by_role("tab", name="Output").click()
        expect(page.locator("#editor")).to_be_hidden()
        page.click(".line-link")
        expect(page.locator("#editor")).to_be_visible()
        expect(page.locator(".cm-activeLine")).to_contain_text("1 / 0")


def test_a_chosen_program_is_shown_on_a_phone(phone: PageDriver) -> None:
    assert phone.run("print(1)") == "ready"
    expect(phone.page.locator("#output")).to_be_visible()
    expect(phone.page.locator("#editor")).to_be_hidden()
    open_example(phone.page, "03-reductions")
    expect(phone.page.locator("#editor")).to_be_visible()


def test_chosen_tensor_is_in_view_on_a_phone(phone: PageDriver) -> None:
    page = phone.page
    source = (
        "import tensorweb as tw\nfor i in range(30): globals()[f'x{i}'] = tw.ones(2)\n"
    )
    assert phone.run(source + "tw.show(x25)") == "ready"
    page.get_by_role("tab", name="Tensors").first.click()
    row = page.locator(".tensor[aria-current=true]")
    expect(row).to_contain_text("x25")
    expect(row).to_be_in_viewport(ratio=0.9)
    page.get_by_role("tab", name="Output").click()
    page.click("button.display-name")
    expect(row).to_be_in_viewport(ratio=0.9)


def test_help_opens_at_its_top_on_a_phone(phone: PageDriver) -> None:
    page = phone.page
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 700})
        page.get_by_role("button", name="Help").click()
        expect(page.locator("#help-title")).to_be_in_viewport(ratio=1)
        assert page.evaluate("document.querySelector('dialog.help').scrollTop") == 0
        columns = page.evaluate(
            "[...document.querySelectorAll('dialog.help dd')].map(d => d.clientWidth)"
        )
        assert min(columns) > width - 100
        assert violations(page) == []
        page.keyboard.press("Escape")
