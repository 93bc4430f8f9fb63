"""The networks of a program as trees, with values of each module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsers import Profiles
from page_driver import PageDriver, expect

PROGRAM = """import tensorweb as tw
model = tw.nn.Sequential(tw.nn.Linear(3, 4), tw.nn.ReLU(), tw.nn.Linear(4, 2))
y = model(tw.ones((5, 3)))
print(y.shape)
"""


@pytest.fixture(scope="module")
def driver(profiles_on_cpu: Profiles, site_url: str) -> Iterator[PageDriver]:
    with profiles_on_cpu.page() as lent:
        driver = PageDriver(lent, device="cpu").open(site_url)
        yield driver
        driver.clean()


def test_a_network_is_a_tree_down_to_the_causes_of_a_cell(driver: PageDriver) -> None:
    page = driver.page
    assert driver.run(PROGRAM) == "ready"
    page.get_by_role("tab", name="Model").click()
    page.click("#model button:has-text('Look inside')")
    rows = page.locator("#model summary")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("Linear")
    expect(rows.nth(1)).to_contain_text("→ (5, 4)")
    expect(rows.nth(0).locator(".model-count")).to_have_text("26 parameters")
    rows.nth(2).click()
    value = page.locator("#model .model-value")
    expect(value.locator("code")).to_have_text("model.1(…)")
    value.locator("canvas").click(position={"x": 4, "y": 4})
    expect(page.locator("#why .why-title")).to_contain_text("[0, 0] = ")
    expect(page.locator("#why .why-rows li").first).to_contain_text("relu(")


def test_a_program_without_a_network_says_so(driver: PageDriver) -> None:
    page = driver.page
    assert driver.run("print(1)") == "ready"
    page.get_by_role("tab", name="Model").click()
    page.click("#model button:has-text('Look inside')")
    expect(page.locator("#model")).to_contain_text("refers to a network")
