"""What differs between two runs stands side by side."""

from __future__ import annotations

from page_driver import PageDriver, expect
from test_page_access import in_every_scheme

PROGRAM = (
    "import tensorweb as tw\nx = tw.arange(4.0)\ny = x * {}\nz = y.sum()\nprint(z)"
)


def test_two_runs_stand_side_by_side(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    assert on_cpu.run(PROGRAM.format(2)) == "ready", on_cpu.wrong()
    on_cpu.show("Compare")
    assert on_cpu.run(PROGRAM.format(3)) == "ready"
    expect(page.locator("#compare")).to_contain_text(
        "1 line of main.py differs: line 3"
    )
    rows = page.locator("#compare [aria-label=Tensors] tbody tr")
    expect(rows.locator("th")).to_have_text(["y", "z"])
    expect(rows.nth(1)).to_contain_text("mean 12")
    expect(rows.nth(1)).to_contain_text("mean 18")
    expect(page.locator("#compare")).to_contain_text("1 tensor has the same")
    values = page.locator("#compare [aria-label=Values] tbody tr")
    expect(values.locator("th")).to_have_text(["y", "z"])
    expect(values.first).to_contain_text("3 of 4")
    expect(values.first).to_contain_text("[3]")
    expect(values.first.locator("canvas")).to_be_visible()
    expect(page.locator("#compare")).to_contain_text("1 tensor is equal bit for bit")
    first = page.get_by_role("button", name="The first line that differs is line 3")
    expect(first).to_be_visible()
    assert in_every_scheme(page) == []
    page.evaluate("tensorwebPage.run(null, { inside: true })")
    assert on_cpu.idle() == "ready"
    expect(rows.nth(1)).to_contain_text("mean 12")
    page.click("#compare button:has-text('Keep for comparison')")
    assert on_cpu.run(PROGRAM.format(4)) == "ready"
    assert on_cpu.run(PROGRAM.format(3) + "\n") == "ready"
    expect(rows).to_have_count(0)
    page.click("#compare button:has-text('Kept')")
