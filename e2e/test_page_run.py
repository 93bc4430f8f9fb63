"""The page runs programs: shortcuts, queue, stop, errors; usable after each."""

from __future__ import annotations

import pytest
from browsers import Snapshot, hold_back, release
from page_driver import PageDriver, expect, settled
from playwright.sync_api import Page, Route
from test_page_access import violations

from conftest import SITE, Serve


def test_run_prints_and_displays(patient: PageDriver) -> None:
    assert patient.run("print('first')\n6 * 7") == "ready"
    assert "first" in patient.output
    expect(patient.page.locator("#output .display .text")).to_have_text("42")
    assert "Finished in" in patient.output


@pytest.mark.parametrize("keys", ["Control+Enter", "Shift+Enter"])
def test_keys_run_from_the_editor(patient: PageDriver, keys: str) -> None:
    patient.write(f"print('by {keys}')")
    patient.page.click("#editor .cm-content")
    patient.page.keyboard.press(keys)
    expect(patient.page.locator("#output")).to_contain_text(f"by {keys}")
    assert patient.idle() == "ready"
    assert (
        patient.page.evaluate("tensorwebPage.editor.source()") == f"print('by {keys}')"
    )


def test_each_run_has_fresh_names(patient: PageDriver) -> None:
    assert patient.run("left_over = 1") == "ready"
    assert patient.run("left_over") == "error"
    assert "NameError" in patient.output


def test_printed_markup_stays_text(patient: PageDriver) -> None:
    assert (
        patient.run("print('<img src=x onerror=alert(1)>')\n'<b>bold</b>'") == "ready"
    )
    assert "<img src=x onerror=alert(1)>" in patient.output
    assert patient.page.locator("#output img, #output b").count() == 0


def test_failure_marks_the_sub_expression(patient: PageDriver) -> None:
    assert patient.run("a = [1, 2]\nb = 3 + a[7] * 2\n") == "error"
    expect(patient.page.locator(".failure-title")).to_have_text(
        "IndexError: list index out of range"
    )
    expect(patient.page.locator(".cm-lintRange-error")).to_have_text("a[7]")
    expect(patient.page.locator(".frames mark")).to_have_text("a[7]")
    assert "playground" not in patient.output
    patient.page.click(".line-link")
    expect(patient.page.locator(".cm-activeLine")).to_contain_text("b = 3")


def test_syntax_error_marks_its_place(patient: PageDriver) -> None:
    assert patient.run("x = 1\ny = 2 +* 3\n") == "error"
    expect(patient.page.locator(".failure-title")).to_contain_text("SyntaxError")
    expect(patient.page.locator(".cm-lintRange-error")).to_have_text("*")


def test_traceback_has_the_calls_that_led_there(patient: PageDriver) -> None:
    assert patient.run("def f(x):\n    return 1 // x\n\nf(0)\n") == "error"
    links = patient.page.locator(".line-link").all_inner_texts()
    assert links == ["line 4", "line 2 in f"]
    assert patient.run("print('usable')") == "ready"
    assert patient.page.locator(".cm-lintRange-error").count() == 0


def test_endless_recursion_is_an_error(patient: PageDriver) -> None:
    assert patient.run("def f():\n    return f()\nf()") == "error"
    assert "RecursionError" in patient.output
    assert len(patient.output) < 5000
    assert patient.run("1 + 1") == "ready"


@pytest.mark.parametrize(
    "source",
    [
        "while True: pass",
        "while True: print('again')",
        "import time\ntime.sleep(600)",
        "import asyncio\nawait asyncio.sleep(600)",
        "import tensorweb as tw\nx = tw.ones((8,))\nwhile True: x.sum().item()",
        "import tensorweb as tw\nx = tw.ones((8,), device='cpu')\n"
        "while True: x.sum().item()",
    ],
)
def test_stop_ends_it_and_the_next_run_works(patient: PageDriver, source: str) -> None:
    patient.begin(source)
    patient.page.click("#stop")
    assert patient.idle() == "ready"
    expect(patient.page.locator("#output")).to_contain_text("Stopped after")
    assert "restarted" not in patient.output
    assert patient.run("print('next')") == "ready"
    assert "next" in patient.output


PRODUCTS = """
import tensorweb as tw
x = tw.realize(tw.eye({}, device="cpu"))
print("begins")
y = x @ x @ x
tw.realize(y)
print("ends")
"""
"""One call of the device that takes as long as it is asked to."""


def test_stop_ends_a_long_computation_on_the_cpu(patient: PageDriver) -> None:
    patient.begin(PRODUCTS.format(6000))
    expect(patient.page.locator("#output")).to_contain_text("begins")
    patient.page.click("#stop")
    assert patient.idle() == "ready"
    expect(patient.page.locator("#output")).to_contain_text("Stopped after")
    assert "restarted" not in patient.output
    assert "ends" not in patient.output
    assert patient.run(PRODUCTS.format(60)) == "ready"
    assert "ends" in patient.output


FORCED = """() => {
  globalThis.force = null;
  const [set, clear] = [setTimeout, clearTimeout];
  globalThis.setTimeout = (action, wait, ...rest) => {
    const id = set(action, wait, ...rest);
    if (wait > 2500) globalThis.force = id;
    return id;
  };
  globalThis.clearTimeout = (id) => {
    if (id === globalThis.force) globalThis.force = null;
    clear(id);
  };
  globalThis.reading = [];
  const update = ({ phase }) => phase === "reading" && reading.push(force === null);
  tensorwebPage.add({ update });
}"""
"""Notes whether a restart is still threatened while tensors are read."""


def test_reading_tensors_after_stop_threatens_no_restart(patient: PageDriver) -> None:
    page = patient.page
    patient.begin("while True: pass")
    page.evaluate(FORCED)
    page.click("#stop")
    assert patient.idle() == "ready"
    threatened = page.evaluate("reading")
    assert threatened
    assert all(threatened)


def test_no_stop_is_lost(patient: PageDriver) -> None:
    """Pyodide's own watch loses about one in fifty."""
    for _ in range(25):
        patient.begin("while True: pass")
        patient.page.click("#stop")
        assert patient.idle() == "ready"


@pytest.mark.parametrize(
    "source", ["while True: pass", "import micropip\nwhile True: pass"]
)
def test_stop_before_the_program_has_begun(patient: PageDriver, source: str) -> None:
    patient.write(source)
    patient.page.evaluate(
        "for (const id of ['run', 'stop']) document.getElementById(id).click()"
    )
    assert patient.idle() == "ready"
    expect(patient.page.locator("#output")).to_contain_text("Stopped after")
    assert patient.run("print('next')") == "ready"
    assert "next" in patient.output


def test_a_million_lines_stay_bounded(patient: PageDriver) -> None:
    # It ends when the page, which answers while Python prints, has given it a line.
    patient.begin("for i in range(1_000_000): print(i)\nprint('the end', input())")
    assert patient.page.evaluate("1 + 1") == 2
    patient.page.locator("#output .prompt input").press("Enter")
    assert patient.idle() == "ready"
    expect(patient.page.locator("#output")).to_contain_text("the end")
    assert "output truncated" in patient.output
    assert patient.output.startswith("0\n1\n2\n")
    assert len(patient.output) < 200_000
    assert patient.page.locator("#output *").count() < 100


def test_huge_string_stays_bounded(patient: PageDriver) -> None:
    assert patient.run("text = 'x' * 50_000_000\nprint(text)\ntext") == "ready"
    assert "output truncated" in patient.output
    assert "characters left out" in patient.output
    assert len(patient.output) < 250_000
    assert patient.run("print('after')") == "ready"


NEVER_READS = """
import tensorweb as tw
x = tw.ones((256, 256))
n = 0
while True:
    x = tw.sin(x @ x)
    tw.realize(x)
    n += 1
    if n % 10 == 0:
        print("step", n)
"""


def test_stop_ends_a_program_that_never_reads(patient: PageDriver) -> None:
    """The queue is short when Stop comes, so that Python need not be restarted."""
    patient.begin(NEVER_READS)
    expect(patient.page.locator("#output")).to_contain_text("step 30")
    patient.page.click("#stop")
    assert patient.idle() == "ready"
    assert "restarted" not in patient.output
    assert patient.run("import tensorweb as tw\ntw.ones(3).sum().item()") == "ready"


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


def test_loading_shows_bytes_and_a_run_queues(fresh_page: Page, site_url: str) -> None:
    fresh_page.add_init_script(
        "globalThis.seen = [];"
        "new MutationObserver(() => seen.push("
        "document.querySelector('.progress-text')?.textContent))"
        ".observe(document, {subtree: true, childList: true, characterData: true});"
    )
    held = hold_back(fresh_page, "**/python_stdlib.zip.packed")
    driver = PageDriver(fresh_page).open(site_url, wait=False)
    expect(fresh_page.locator(".progress-text")).to_contain_text("Python 3.5/5.0 MB")
    fresh_page.click("#editor .cm-content")
    fresh_page.keyboard.press("Control+A")
    fresh_page.keyboard.insert_text("print('typed early')")
    fresh_page.keyboard.press("Control+Enter")
    expect(fresh_page.locator("#run")).to_contain_text("Queued")
    release(fresh_page, "**/python_stdlib.zip.packed", held)
    expect(fresh_page.locator("#output")).to_contain_text("typed early")
    assert driver.idle() == "ready"
    driver.clean()
    seen = fresh_page.evaluate("seen.filter(Boolean)")
    assert any(text.startswith("Python ") and text.endswith(" MB") for text in seen)
    assert "Starting Python" in seen
    assert fresh_page.locator("#progress").is_hidden()


def test_a_snapshot_asks_its_own_site_for_modules_that_arrive_last(
    fresh_page: Page, snapshot: Snapshot, serve: Serve, site_url: str
) -> None:
    other = serve(SITE)
    assert other != site_url, "the snapshot is made at the other address"
    snapshot.give(fresh_page, other)
    imports_wait(fresh_page, other)


def test_imports_wait_for_modules_that_arrive_last(
    fresh_page: Page, site_url: str
) -> None:
    imports_wait(fresh_page, site_url)


def imports_wait(fresh_page: Page, url: str) -> None:
    """Check imports where the page cannot fetch the late modules by itself."""

    def answer(route: Route) -> None:
        is_early = route.request.resource_type == "fetch"
        route.abort() if is_early else route.continue_()

    fresh_page.route("**/later.packed*", answer)
    driver = PageDriver(fresh_page).open(url)
    source = "import argparse\nfrom encodings import idna\n"
    assert driver.run(source + "print(argparse.ArgumentParser.__name__)") == "ready"
    assert "ArgumentParser" in driver.output


def test_sources_arrive_after_the_start(fresh_page: Page, site_url: str) -> None:
    driver = PageDriver(fresh_page).open(site_url)
    source = "import asyncio, inspect\nfrom tensorweb.playground import session\n"
    source += "import random\nfound = []\nfor module in (session, random):\n"
    source += "    for _ in range(100):\n        await asyncio.sleep(0.1)\n"
    source += "        try: found.append(inspect.getsource(module))\n"
    source += "        except OSError: continue\n"
    source += "        if found[-1].strip(): break\n"
    source += "print('class Session' in found[0], 'def choice' in found[-1])"
    assert driver.run(source) == "ready", driver.output
    assert "True True" in driver.output


def test_second_start_takes_the_snapshot(page: Page, site_url: str) -> None:
    driver = PageDriver(page).open(site_url)
    assert left_out(driver) > LEFT_OUT
    settled(
        page,
        "caches.open('tensorweb-snapshot').then(c => c.keys()).then(k => k.length > 0)",
    )
    driver.open(site_url)
    assert page.evaluate("tensorwebPage.view.started.snapshot") is True, driver.console
    source = "import tensorweb as tw, random\nprint(tw.ones((3,)).sum().item())\n"
    assert driver.run(source + "print(random.random())") == "ready"
    assert "3.0" in driver.output
    first = driver.output
    assert left_out(driver) > LEFT_OUT
    driver.open(site_url)
    assert driver.run(source + "print(random.random())") == "ready"
    assert driver.output.split("\n")[1] != first.split("\n")[1]
    driver.clean()


LEFT_OUT = 20_000
"""Objects of a start that the collector need not look at again."""


def left_out(driver: PageDriver) -> int:
    assert driver.run("import gc\ngc.get_freeze_count()") == "ready"
    return int(driver.page.locator("#output .display .text").inner_text())


def test_stop_without_isolation_restarts_python(
    page: Page, serve: Serve, snapshot: Snapshot
) -> None:
    url = serve(SITE, isolated=False)
    driver = PageDriver(snapshot.give(page, url), patient=True).open(url)
    assert page.evaluate("crossOriginIsolated") is False
    source = "import tensorweb as tw\nx = tw.ones((8,))\nwhile True: x.sum().item()"
    driver.begin(source)
    page.click("#stop")
    assert driver.idle() == "ready"
    assert "restarted" not in driver.output
    page.evaluate("globalThis.patience = 1")
    for busy in ("print('begins')\nwhile True: pass", PRODUCTS.format(6000)):
        driver.begin(busy)
        expect(page.locator("#output")).to_contain_text("begins")
        page.click("#stop")
        expect(page.locator(".trouble")).to_contain_text("Python was restarted")
        assert driver.idle() == "error"
        assert page.evaluate("tensorwebPage.editor.source()") == busy
        assert driver.run("print('again')") == "ready"
    driver.clean()


def test_page_asks_no_other_origin(patient: PageDriver, site_url: str) -> None:
    patient.run("import tensorweb as tw\ntw.arange(3)")
    own = (site_url, f"blob:{site_url}", "data:")
    foreign = [url for url in patient.requests if not url.startswith(own)]
    assert foreign == []


def test_closing_the_tab_in_a_run_is_harmless(page: Page, site_url: str) -> None:
    context = page.context
    driver = PageDriver(page).open(site_url)
    driver.begin("while True: pass")
    driver.page.close()
    again = PageDriver(context.new_page()).open(site_url)
    assert again.run("print('fine')") == "ready"
    again.clean()


def test_firefox_runs_a_program(on_firefox: PageDriver) -> None:
    driver = on_firefox
    source = (
        "import tensorweb as tw\nx = tw.ones((3, 4))\nprint(x.device)\nx.sum().item()"
    )
    assert driver.run(source) == "ready"
    assert "webgpu" in driver.output
    assert "12.0" in driver.output
    driver.pictured()
    driver.choose_device("cpu")
    assert driver.run(source) == "ready"
    assert "cpu" in driver.output
    assert "12.0" in driver.output
    driver.pictured()
    driver.begin("while True: pass")
    driver.page.click("#stop")
    assert driver.idle() == "ready"
    assert driver.run("print('next')") == "ready"
