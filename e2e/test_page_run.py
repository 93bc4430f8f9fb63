"""The page runs programs: shortcuts, queue, stop, errors; usable after each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from page_driver import PageDriver, expect
from playwright.sync_api import Browser, Page, Route

from conftest import SITE, Serve


@pytest.fixture(scope="module")
def shared(chromium: Browser, site_url: str) -> Iterator[PageDriver]:
    """One page for tests that leave it usable, which is what they test."""
    context = chromium.new_context()
    driver = PageDriver(context.new_page(), patient=True).open(site_url)
    yield driver
    driver.clean()
    context.close()


def test_run_prints_and_displays(shared: PageDriver) -> None:
    assert shared.run("print('first')\n6 * 7") == "ready"
    assert "first" in shared.output
    expect(shared.page.locator("#output .display .text")).to_have_text("42")
    assert "Finished in" in shared.output


@pytest.mark.parametrize("keys", ["Control+Enter", "Shift+Enter"])
def test_keys_run_from_the_editor(shared: PageDriver, keys: str) -> None:
    shared.write(f"print('by {keys}')")
    shared.page.click("#editor .cm-content")
    shared.page.keyboard.press(keys)
    expect(shared.page.locator("#output")).to_contain_text(f"by {keys}")
    assert shared.idle() == "ready"
    assert (
        shared.page.evaluate("tensorwebPage.editor.source()") == f"print('by {keys}')"
    )


def test_each_run_has_fresh_names(shared: PageDriver) -> None:
    assert shared.run("left_over = 1") == "ready"
    assert shared.run("left_over") == "error"
    assert "NameError" in shared.output


def test_printed_markup_stays_text(shared: PageDriver) -> None:
    assert shared.run("print('<img src=x onerror=alert(1)>')\n'<b>bold</b>'") == "ready"
    assert "<img src=x onerror=alert(1)>" in shared.output
    assert shared.page.locator("#output img, #output b").count() == 0


def test_failure_marks_the_sub_expression(shared: PageDriver) -> None:
    assert shared.run("a = [1, 2]\nb = 3 + a[7] * 2\n") == "error"
    expect(shared.page.locator(".failure-title")).to_have_text(
        "IndexError: list index out of range"
    )
    expect(shared.page.locator(".cm-lintRange-error")).to_have_text("a[7]")
    expect(shared.page.locator(".frames mark")).to_have_text("a[7]")
    assert "playground" not in shared.output
    shared.page.click(".line-link")
    expect(shared.page.locator(".cm-activeLine")).to_contain_text("b = 3")


def test_syntax_error_marks_its_place(shared: PageDriver) -> None:
    assert shared.run("x = 1\ny = 2 +* 3\n") == "error"
    expect(shared.page.locator(".failure-title")).to_contain_text("SyntaxError")
    expect(shared.page.locator(".cm-lintRange-error")).to_have_text("*")


def test_traceback_has_the_calls_that_led_there(shared: PageDriver) -> None:
    assert shared.run("def f(x):\n    return 1 // x\n\nf(0)\n") == "error"
    links = shared.page.locator(".line-link").all_inner_texts()
    assert links == ["line 4", "line 2 in f"]
    assert shared.run("print('usable')") == "ready"
    assert shared.page.locator(".cm-lintRange-error").count() == 0


def test_endless_recursion_is_an_error(shared: PageDriver) -> None:
    assert shared.run("def f():\n    return f()\nf()") == "error"
    assert "RecursionError" in shared.output
    assert len(shared.output) < 5000
    assert shared.run("1 + 1") == "ready"


def test_input_is_refused_in_words(shared: PageDriver) -> None:
    assert shared.run("input('name? ')") == "error"
    assert "input() cannot wait for typing here" in shared.output


@pytest.mark.parametrize(
    "source",
    [
        "while True: pass",
        "while True: print('again')",
        "import time\ntime.sleep(600)",
        "import asyncio\nawait asyncio.sleep(600)",
        "import tensorweb as tw\nx = tw.ones((8,))\nwhile True: x.sum().item()",
    ],
)
def test_stop_ends_it_and_the_next_run_works(shared: PageDriver, source: str) -> None:
    shared.begin(source)
    shared.page.click("#stop")
    assert shared.idle() == "ready"
    expect(shared.page.locator("#output")).to_contain_text("Stopped after")
    assert "restarted" not in shared.output
    assert shared.run("print('next')") == "ready"
    assert "next" in shared.output


def test_no_stop_is_lost(shared: PageDriver) -> None:
    """Pyodide's own watch loses about one in fifty."""
    for _ in range(25):
        shared.begin("while True: pass")
        shared.page.click("#stop")
        assert shared.idle() == "ready"


@pytest.mark.parametrize(
    "source", ["while True: pass", "import micropip\nwhile True: pass"]
)
def test_stop_before_the_program_has_begun(shared: PageDriver, source: str) -> None:
    shared.write(source)
    shared.page.evaluate(
        "for (const id of ['run', 'stop']) document.getElementById(id).click()"
    )
    assert shared.idle() == "ready"
    expect(shared.page.locator("#output")).to_contain_text("Stopped after")
    assert shared.run("print('next')") == "ready"
    assert "next" in shared.output


def test_a_million_lines_stay_bounded(shared: PageDriver) -> None:
    shared.begin("for i in range(1_000_000): print(i)\nprint('the end')")
    # The page answers while Python prints.
    assert shared.page.evaluate("1 + 1") == 2
    assert shared.idle() == "ready"
    expect(shared.page.locator("#output")).to_contain_text("the end")
    assert "output truncated" in shared.output
    assert shared.output.startswith("0\n1\n2\n")
    assert len(shared.output) < 200_000


def test_huge_string_stays_bounded(shared: PageDriver) -> None:
    assert shared.run("text = 'x' * 50_000_000\nprint(text)\ntext") == "ready"
    assert "output truncated" in shared.output
    assert "characters left out" in shared.output
    assert len(shared.output) < 250_000
    assert shared.run("print('after')") == "ready"


def test_run_queues_while_python_loads(page: Page, site_url: str) -> None:
    held: list[Route] = []
    page.route("**/python_stdlib.zip", lambda route: held.append(route))
    driver = PageDriver(page).open(site_url, wait=False)
    page.click("#editor .cm-content")
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("print('typed early')")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#run")).to_contain_text("Queued")
    for route in held:
        route.continue_()
    expect(page.locator("#output")).to_contain_text("typed early")
    assert driver.idle() == "ready"
    driver.clean()


def test_loading_shows_bytes(page: Page, site_url: str) -> None:
    page.add_init_script(
        "globalThis.seen = [];"
        "new MutationObserver(() => seen.push("
        "document.querySelector('.progress-text')?.textContent))"
        ".observe(document, {subtree: true, childList: true, characterData: true});"
    )
    PageDriver(page).open(site_url)
    seen = page.evaluate("seen.filter(Boolean)")
    assert any(text.startswith("Python ") and text.endswith(" MB") for text in seen)
    assert "Starting Python" in seen
    assert page.locator("#progress").is_hidden()


def test_second_start_takes_the_snapshot(page: Page, site_url: str) -> None:
    driver = PageDriver(page).open(site_url)
    assert page.evaluate("tensorwebPage.view.started.snapshot") is False
    driver.wait(
        "caches.open('tensorweb-snapshot').then(c => c.keys()).then(k => k.length > 0)"
    )
    driver.open(site_url)
    assert page.evaluate("tensorwebPage.view.started.snapshot") is True, driver.console
    source = "import tensorweb as tw, random\nprint(tw.ones((3,)).sum().item())\n"
    assert driver.run(source + "print(random.random())") == "ready"
    assert "3.0" in driver.output
    first = driver.output
    driver.open(site_url)
    assert driver.run(source + "print(random.random())") == "ready"
    assert driver.output.split("\n")[1] != first.split("\n")[1]
    driver.clean()


@pytest.mark.parametrize("start", [1, 2])
def test_collector_leaves_out_what_was_there_before(
    page: Page, site_url: str, start: int
) -> None:
    driver = PageDriver(page)
    for _ in range(start):
        driver.open(site_url)
    assert driver.run("import gc\ngc.get_freeze_count()") == "ready"
    shown = page.locator("#output .display .text").inner_text()
    assert int(shown) > 20_000
    driver.clean()


def test_stop_without_isolation_restarts_python(
    page: Page, serve: Serve, site_url: str
) -> None:
    driver = PageDriver(page, patient=True).open(serve(SITE, isolated=False))
    assert page.evaluate("crossOriginIsolated") is False
    source = "import tensorweb as tw\nx = tw.ones((8,))\nwhile True: x.sum().item()"
    driver.begin(source)
    page.click("#stop")
    assert driver.idle() == "ready"
    assert "restarted" not in driver.output
    page.evaluate("globalThis.patience = 1")
    busy = "print('busy')\nwhile True: pass"
    driver.begin(busy)
    expect(page.locator("#output")).to_contain_text("busy")
    page.click("#stop")
    expect(page.locator(".trouble")).to_contain_text("Python was restarted")
    assert driver.idle() == "error"
    assert page.evaluate("tensorwebPage.editor.source()") == busy
    assert driver.run("print('again')") == "ready"
    driver.clean()


def test_page_asks_no_other_origin(page: Page, site_url: str) -> None:
    driver = PageDriver(page).open(site_url)
    driver.run("import tensorweb as tw\ntw.arange(3)")
    own = (site_url, f"blob:{site_url}", "data:")
    foreign = [url for url in driver.requests if not url.startswith(own)]
    assert foreign == []


def test_closing_the_tab_in_a_run_is_harmless(chromium: Browser, site_url: str) -> None:
    context = chromium.new_context()
    driver = PageDriver(context.new_page()).open(site_url)
    driver.begin("while True: pass")
    driver.page.close()
    again = PageDriver(context.new_page()).open(site_url)
    assert again.run("print('fine')") == "ready"
    again.clean()
    context.close()


def test_firefox_runs_a_program(firefox: Browser, site_url: str) -> None:
    driver = PageDriver(firefox.new_page(), patient=True).open(site_url)
    source = (
        "import tensorweb as tw\nx = tw.ones((3, 4))\nprint(x.device)\nx.sum().item()"
    )
    assert driver.run(source) == "ready"
    assert "webgpu" in driver.output
    assert "12.0" in driver.output
    driver.pictured()
    driver.begin("while True: pass")
    driver.page.click("#stop")
    assert driver.idle() == "ready"
    assert driver.run("print('next')") == "ready"
