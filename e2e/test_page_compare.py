"""What differs between two runs stands side by side."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsers import Profiles
from page_driver import PageDriver, expect

PROGRAM = (
    "import tensorweb as tw\nx = tw.arange(4.0)\ny = x * {}\nz = y.sum()\nprint(z)"
)


@pytest.fixture(scope="module")
def driver(profiles_on_cpu: Profiles, site_url: str) -> Iterator[PageDriver]:
    with profiles_on_cpu.page() as lent:
        driver = PageDriver(lent, device="cpu").open(site_url)
        yield driver
        driver.clean()


def test_two_runs_stand_side_by_side(driver: PageDriver) -> None:
    page = driver.page
    assert driver.run(PROGRAM.format(2)) == "ready", driver.wrong()
    page.get_by_role("tab", name="Compare").click()
    assert driver.run(PROGRAM.format(3)) == "ready"
    rows = page.locator("#compare [aria-label=Tensors] tbody tr")
    expect(rows.locator("th")).to_have_text(["y", "z"])
    expect(rows.nth(1)).to_contain_text("mean 12")
    expect(rows.nth(1)).to_contain_text("mean 18")
    expect(page.locator("#compare")).to_contain_text("1 tensor has the same")
    page.click("#compare button:has-text('Keep for comparison')")
    assert driver.run(PROGRAM.format(4)) == "ready"
    assert driver.run(PROGRAM.format(3) + "\n") == "ready"
    expect(rows).to_have_count(0)
    page.click("#compare button:has-text('Kept')")
