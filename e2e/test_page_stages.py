"""Stages from the nodes of a flush to the text of its kernels, by slider and keys."""

from __future__ import annotations

from page_driver import PageDriver, expect
from test_page_access import in_every_scheme

PROGRAM = """import tensorweb as tw
x = tw.reshape(tw.linspace(0.0, 1.0, 30), (6, 5))
b = tw.arange(6.0)
y = tw.exp(x.T + b) * (x.T + b)
print(tw.sort(y, axis=1).sum().item())
"""


def test_a_slider_leads_from_nodes_to_the_text(tidy: PageDriver) -> None:
    page = tidy.page
    assert tidy.run(PROGRAM) == "ready", tidy.wrong()
    tidy.show("Kernels")
    page.locator("#kernels .kernel summary").first.click()
    page.locator("#kernels button:has-text('Stages')").first.click()
    slider = page.get_by_label("Stage", exact=True)
    expect(slider).to_be_focused()
    body = page.locator("#kernels .stage-body")
    expect(body.locator("li:has-text('exp(n')")).to_contain_text("tw.exp(x.T + b)")
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "Kernels")
    expect(body.locator(".stage-heading")).to_contain_text(
        ["k1", "k2 sort(x)", "k3 sum(x)", "In no kernel"]
    )
    expect(body.locator(".stage-removed")).to_contain_text("is there already")
    page.keyboard.press("ArrowRight")
    expect(body.locator(".stage-removed").first).to_contain_text("a view")
    expect(body.locator(".stage-merged").first).to_contain_text("an equal step is used")
    expect(body.locator(".stage-added").first).to_contain_text("x[i + 5·j]")
    assert in_every_scheme(page) == []
    page.click("#kernels .stage-choice button:has-text('WGSL')")
    expect(body.locator("li:has-text('= exp_f32(v')")).to_contain_text("line 4")
    expect(body.locator("li:has-text('struct Parameters')").first).to_have_class(
        "stage-added"
    )
    assert in_every_scheme(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert tidy.console == []
