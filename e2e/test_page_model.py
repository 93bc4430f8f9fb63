"""The networks of a program as trees, with values of each module."""

from __future__ import annotations

import re

from page_driver import PageDriver, expect

PROGRAM = """import tensorweb as tw
model = tw.nn.Sequential(tw.nn.Linear(3, 4), tw.nn.ReLU(), tw.nn.Linear(4, 2))
y = model(tw.ones((5, 3)))
print(float(y.sum()))
"""


def test_a_network_is_a_tree_down_to_the_causes_of_a_cell(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    assert on_cpu.run(PROGRAM) == "ready"
    on_cpu.show("Model")
    page.click("#model button:has-text('Look inside')")
    rows = page.locator("#model summary")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("Linear")
    expect(rows.nth(1)).to_contain_text("→ (5, 4)")
    # With the time of its kernels; the device is the CPU.
    expect(rows.nth(0).locator(".model-count")).to_have_text(
        re.compile(r"^26 parameters · (≈ )?[\d.]+ (µs|ms|s)$")
    )
    expect(page.locator("#model button:has-text('Measure times')")).to_be_hidden()
    rows.nth(2).click()
    value = page.locator("#model .model-value")
    expect(value.locator("code")).to_have_text("model.1(…)")
    value.locator("canvas").click(position={"x": 4, "y": 4})
    expect(page.locator("#why .why-title")).to_contain_text("[0, 0] = ")
    expect(page.locator("#why .why-rows li").first).to_contain_text("relu(")


def test_a_program_without_a_network_says_so(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    assert on_cpu.run("print(1)") == "ready"
    on_cpu.show("Model")
    page.click("#model button:has-text('Look inside')")
    expect(page.locator("#model")).to_contain_text("refers to a network")
