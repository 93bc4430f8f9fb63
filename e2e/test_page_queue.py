"""Work that a program queues on the GPU is bounded, so that Stop gets through."""

from __future__ import annotations

from page_driver import PageDriver, expect
from playwright.sync_api import Page

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


def test_stop_ends_a_program_that_never_reads(page: Page, site_url: str) -> None:
    """The queue is short when Stop comes, so that Python need not be restarted."""
    driver = PageDriver(page, patient=True).open(site_url)
    assert driver.run("kept = 1") == "ready"
    driver.begin(NEVER_READS)
    expect(page.locator("#output")).to_contain_text("step 30")
    page.click("#stop")
    assert driver.idle() == "ready"
    assert "restarted" not in driver.output
    assert driver.run("import tensorweb as tw\ntw.ones(3).sum().item()") == "ready"
    driver.clean()
