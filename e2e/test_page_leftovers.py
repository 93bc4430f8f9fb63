"""What a program leaves running ends with the next run, Stop or another document."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsers import Snapshot, new_context, page_of
from page_driver import PageDriver, expect
from playwright.sync_api import Browser

LEAVE = """
import asyncio
from pyodide.code import run_js
self = run_js("self")
run_js('''
  const address = (words) => URL.createObjectURL(new Blob([words]));
  self.beats = {};
  self.beat = (name) => { beats[name] = (beats[name] ?? 0) + 1; };
  setInterval(() => beat('interval'), 5);
  setInterval('beat("text")', 5);
  const later = () => { beat('chain'); setTimeout(later, 5) };
  later();
  self.requestAnimationFrame?.(function again() {
    beat('frame');
    requestAnimationFrame(again);
  });
  const inner = new Worker(address('setInterval(() => postMessage(1), 5)'));
  inner.onmessage = () => beat('worker');
  const heard = new BroadcastChannel('left');
  heard.onmessage = () => beat('broadcast');
  self.addEventListener('left', () => beat('listener'));
  self.onoffline = () => beat('handler');
''')
async def task():
    while True:
        self.beat('task')
        await asyncio.sleep(0.005)
running = asyncio.ensure_future(task())
"""

ALL_BEAT = """
names = "interval text chain worker task".split()
def beats(): return run_js("self.beats").to_py()
while not all(name in beats() for name in names): await asyncio.sleep(0.01)
print("all beat")
"""

LOOK = """
import asyncio
from pyodide.code import run_js
run_js('''
  self.beats = {};
  new BroadcastChannel('left').postMessage(1);
  self.dispatchEvent(new Event('left'));
  self.dispatchEvent(new Event('offline'));
''')
await asyncio.sleep(0.2)
print(run_js("JSON.stringify(self.beats)"))
"""


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def driver(
    request: pytest.FixtureRequest, site_url: str, snapshot: Snapshot
) -> Iterator[PageDriver]:
    browser: Browser = request.getfixturevalue(request.param)
    with page_of(new_context(browser)) as page:
        snapshot.give(page, site_url)
        yield PageDriver(page, patient=True).open(f"{site_url}#ex=01-tour")


def test_what_was_begun_goes_on_until_the_next_run(driver: PageDriver) -> None:
    assert driver.run(LEAVE + ALL_BEAT) == "ready", driver.output
    assert left(driver) != "{}"
    assert driver.run(LOOK) == "ready", driver.output
    assert driver.output.startswith("{}\n")


def test_stop_ends_what_was_begun(driver: PageDriver) -> None:
    driver.begin(LEAVE + ALL_BEAT + "while True: await asyncio.sleep(0.01)")
    expect(driver.page.locator("#output")).to_contain_text("all beat")
    driver.page.click("#stop")
    assert driver.idle() == "ready", driver.output
    assert left(driver) == "{}"


def test_another_document_ends_what_was_begun(driver: PageDriver) -> None:
    assert driver.run(LEAVE + ALL_BEAT) == "ready", driver.output
    driver.page.evaluate("location.hash = '#ex=03-reductions'")
    driver.page.wait_for_function(
        "tensorwebPage.view.document.id === '03-reductions' && !tensorwebPage.view.held"
    )
    driver.idle()
    assert left(driver) == "{}"


def left(driver: PageDriver) -> str:
    """Return what still beats, by a cell, which ends nothing itself."""
    cell = {"source": LOOK, "files": [], "lines": None, "keep": True}
    cell |= {"timed": False, "search": False}
    driver.page.evaluate("cell => tensorwebPage.session.run(cell)", cell)
    driver.idle()
    driver.drawn()
    return driver.output.split("\n")[0]
