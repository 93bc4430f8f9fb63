"""The values of a name over the iterations of a loop, step by step."""

from __future__ import annotations

from page_driver import PageDriver, expect

PROGRAM = """import tensorweb as tw
x = tw.asarray([[1.0, 2.0], [4.0, 8.0]])
for i in range(6):
    x = x * 0.5
"""


def test_steps_are_scrubbed_pinned_and_asked(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    assert on_cpu.run(PROGRAM) == "ready"
    on_cpu.show("Film")
    expect(page.locator("#film > .empty")).to_contain_text("Press “Look inside”")
    page.click("#film button:has-text('Look inside')")
    title = page.locator("#film .film-title")
    expect(title).to_contain_text("step 5 · float32 (2, 2)")
    names = page.locator("#film .plot-legend li")
    expect(names).to_have_text(["largest", "mean", "smallest"])
    expect(page.locator("#film .film-stage .lit-scale")).to_contain_text("0.01563")
    slider = page.get_by_label("Step of the film", exact=True)
    slider.focus()
    page.keyboard.press("Home")
    expect(title).to_contain_text("step 0 · float32 (2, 2) · 0.5 … 4")
    page.get_by_role("button", name="Pin").click()
    page.keyboard.press("Tab")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(title).to_contain_text("step 1 minus step 0 · float32 (2, 2) · -2 … -0.25")
    page.locator("#film .film-histogram canvas").click(position={"x": 1, "y": 40})
    expect(title).to_contain_text("step 0 · float32")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.locator("#film .film-stage canvas").click(position={"x": 4, "y": 4})
    expect(page.locator("#why .why-title")).to_have_text("x[0, 0] = 0.25")


def test_a_program_without_loops_says_so(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    assert on_cpu.run("import tensorweb as tw\nx = tw.ones(2)") == "ready"
    on_cpu.show("Film")
    expect(page.locator("#film")).to_contain_text("more than once")


def test_a_result_of_a_line_opens_as_it_was_there(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    source = "import tensorweb as tw\nx = tw.ones(3)\nx = x * 4\ny = x + 1\n"
    assert on_cpu.run(source) == "ready"
    page.locator(".cm-line", has_text="x = tw.ones").locator(".cm-ghost").click()
    title = page.locator("#film .film-title")
    expect(title).to_contain_text("step 0 · float32 (3,) · all 1")
    expect(page.get_by_label("Line", exact=True)).to_contain_text("x · line 2")
    # The values of that run are there; the newest value of a name is a tensor.
    page.locator(".cm-line", has_text="y = x").locator(".cm-ghost").click()
    page.wait_for_function("tensorwebPage.view.tensor === 'y'")
