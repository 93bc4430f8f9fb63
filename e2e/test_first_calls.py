"""First calls inside reductions, whose kernels hold a function a dozen times."""

from __future__ import annotations

from page_driver import PageDriver
from playwright.sync_api import Page

MOST_MS = 10_000
"""For five of them; a branch in one function alone took 7 s to minutes."""

SOURCE = """
import tensorweb as tw
from time import perf_counter
x = tw.realize(tw.linspace(0.1, 0.9, 8192) * 1.0)
begin = perf_counter()
for value in (tw.sqrt(x), x**2.5, x / (x + 1), x % 0.3, tw.hypot(x, x)):
    print(value.sum().item())
print(round((perf_counter() - begin) * 1e3))
"""


def test_functions_inside_sums_compile_in_time(page: Page, site_url: str) -> None:
    driver = PageDriver(page).open(site_url)
    assert driver.run(SOURCE) == "ready"
    *sums, spent = driver.output.split("\n")[:6]
    assert len(sums) == 5
    assert all(float(number) > 100 for number in sums)
    assert int(spent) < MOST_MS
    driver.clean()
