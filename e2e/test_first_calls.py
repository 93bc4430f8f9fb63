"""First calls inside reductions, whose kernels hold a function a dozen times."""

from __future__ import annotations

from page_driver import PageDriver
from playwright.sync_api import Page

MOST = 15
"""Times the first calls of plain sums; about 4. A branch in one function alone made it
20 to hundreds."""

SOURCE = """
import tensorweb as tw
from time import perf_counter
x = tw.realize(tw.linspace(0.1, 0.9, 8192) * 1.0)
print(x.sum().item())
plain = (x + 1, x * x, tw.abs(x), x - 0.3, tw.maximum(x, x * 2), x * 3)
waves = tw.sin(x) * tw.cos(x) + tw.tan(x)
functions = (tw.sqrt(x), x**2.5, x / (x + 1), x % 0.3, tw.hypot(x, x), waves)
seconds = [0.0, 0.0]
for values in zip(plain, functions):
    for i, value in enumerate(values):
        begin = perf_counter()
        total = value.sum().item()
        seconds[i] += perf_counter() - begin
    print(total)
print(seconds[1] / seconds[0])
"""


def test_functions_inside_sums_compile_in_time(page: Page, site_url: str) -> None:
    driver = PageDriver(page).open(site_url)
    assert driver.run(SOURCE) == "ready"
    *sums, times = driver.output.split("\n")[:8]
    assert len(sums) == 7
    assert all(float(number) > 100 for number in sums)
    assert float(times) < MOST
    driver.clean()
