"""Tensors that move: lists, sliders, displays of a loop, and the requests for them."""

from __future__ import annotations

import pytest
from page_driver import PageDriver, expect
from test_page_access import violations


def expect_status(driver: PageDriver, text: str) -> None:
    expect(driver.page.locator(".cell-status")).to_have_text(text)


def test_lists_of_tensors_alike_are_one_entry(shared: PageDriver) -> None:
    source = (
        "import tensorweb as tw\nhistory = [tw.full((4, 4), i) for i in range(7)]\n"
        "x = history[2]\npair = [tw.ones(3), tw.ones(4)]"
    )
    assert shared.run(source) == "ready"
    page = shared.page
    expect(page.locator(".tensor-name")).to_have_text(["history", "pair[0]", "pair[1]"])
    expect(page.locator(".tensor-type").first).to_contain_text(
        "7 \N{MULTIPLICATION SIGN}"
    )
    shared.look_into("history")
    expect(page.locator(".viewer-title")).to_have_text("history[6]")
    page.get_by_label("Item of the list, as a number").fill("2")
    page.keyboard.press("Tab")
    expect(page.locator(".viewer-title")).to_have_text("history[2] = x")
    # Nobody had looked at it, so that nothing of it was computed.
    expect(page.locator(".facts")).to_contain_text("all2")
    page.get_by_label("Item of the list", exact=True).press("Space")
    expect(page.locator(".viewer-title")).to_have_text("history[5]")
    page.get_by_role("button", name="Pause item").click()


def test_overtaken_slices_are_not_computed(shared: PageDriver) -> None:
    page = shared.page
    assert (
        shared.run("import tensorweb as tw\nt = tw.arange(4000).reshape((40, 10, 10))")
        == "ready"
    )
    shared.pictured()
    page.evaluate(
        """() => { const session = tensorwebPage.session;
        const ask = session.request.bind(session);
        globalThis.asked = [];
        session.request = (name, details) => {
          if (name === "heatmap") asked.push(details.indices[0]);
          return ask(name, details);
        };
        const slider = document.querySelector(".axes input[type=range]");
        for (let i = 1; i < 40; i++) {
          slider.value = i;
          slider.dispatchEvent(new Event("input"));
        } }"""
    )
    shared.pictured()
    asked = page.evaluate("delete tensorwebPage.session.request && asked")
    assert asked[-1] == 39
    assert len(asked) <= 3
    page.locator(".heatmap").focus()
    expect_status(shared, "t[39, 0, 0] = 3900")


def test_display_is_a_line_of_facts_with_digits_on_demand(shared: PageDriver) -> None:
    source = (
        "import tensorweb as tw\nx = tw.linspace(-1.0, 1.0, 1200).reshape((30, 40))"
    )
    assert shared.run(f"{source}\ntw.show(x)\ntw.show(x[0, :3])") == "ready"
    page = shared.page
    card, short = page.locator(".tensor-card").all()
    expect(card).to_contain_text("float32 (30, 40) on")
    expect(card).to_contain_text("-1 \N{HORIZONTAL ELLIPSIS} 1 \N{MIDDLE DOT} mean")
    expect(card.locator(".thumbnail")).to_be_visible()
    assert card.locator("pre").count() == 0
    card.get_by_role("button", name="Digits").click()
    expect(card.locator("pre")).to_contain_text("-0.9983319")
    card.get_by_role("button", name="Digits").click()
    expect(card.locator("pre")).to_have_count(0)
    expect(short.locator("pre")).to_contain_text("-0.9983319")


LIVE = """
import tensorweb as tw
from time import sleep
x = tw.expand_dims(tw.arange(64.0), 1)
for t in range(10_000):
    tw.show(tw.sin(x * 0.1 + tw.arange(48.0) * 0.2 + t), name="wave")
    if t >= {steps}:
        {then}
    sleep(0.01)
"""


def test_tensor_shown_in_a_loop_moves_and_keeps_its_history(shared: PageDriver) -> None:
    page = shared.page
    shared.begin(LIVE.format(steps=10_000, then="break"))
    card = page.locator(".tensor-card")
    page.wait_for_function(
        "Number(document.querySelector('[aria-label=\"Step of the display\"]').max) > 5"
    )
    expect(card).to_have_count(1)
    expect(page.locator(".viewer-title")).to_have_text("wave")
    expect(page.locator("#origin-note")).to_be_hidden()
    seen = page.locator(".facts").inner_text()
    expect(page.locator(".facts")).not_to_have_text(seen)
    page.click("#stop")
    shared.idle()
    shared.pictured()
    expect(page.locator(".tensor-name")).to_have_text(["wave", "x"])
    expect(page.locator(".viewer-facts")).to_contain_text("float32 (64, 48) on")
    step = page.get_by_label("Step of the display, as a number")
    last = step.input_value()
    step.fill("0")
    page.keyboard.press("Tab")
    expect(page.locator(".facts")).to_contain_text("shown1")
    canvas = page.locator(".heatmap")
    canvas.focus()
    canvas.press("ArrowRight")
    expect_status(shared, "wave[0, 1] = 0.19866933")
    page.get_by_role("button", name="Play step").click()
    expect(page.locator(".facts")).not_to_contain_text("shown1 ")
    page.get_by_role("button", name="Pause step").click()
    step.fill(last)
    page.keyboard.press("Tab")
    expect(page.locator(".facts")).to_contain_text("elements")


FORGED = """
import tensorweb as tw
from tensorweb.playground import bridge
emit = bridge._session._emit
def forge(kind, fields):
    if kind == "picture" and fields["shape"] == [8, 8]:
        values = fields["heatmap"]["values"]
        fields["heatmap"]["values"] = {values}
    emit(kind, fields)
bridge._session._displays._emit = forge
for _ in range(3):
    tw.show(tw.ones((8, 8)))
while True:
    tw.show(tw.ones((4, 4)))
"""


@pytest.mark.parametrize("values", ["values[:-4]", "values + values[:4]"])
def test_picture_of_another_size_is_not_drawn(shared: PageDriver, values: str) -> None:
    shared.begin(FORGED.replace("{values}", values))
    forged, plain = (shared.page.locator(".tensor-card").nth(at) for at in (0, 1))
    expect(plain).to_contain_text("shown")
    assert forged.locator(".display-range").inner_text() == ""
    shared.page.click("#stop")
    shared.idle()
    expect(forged.locator(".thumbnail")).to_be_visible()


PLOTS = """
import tensorweb as tw
losses = []
for step in tw.progress(range(40), name="train"):
    losses.append(1 / (step + 1))
    tw.plot({"loss": losses, "half": [x / 2 for x in losses]}, title="training")
tw.plot([1, 2, 2, 3], kind="histogram")
tw.plot([1, 2, 2, 3], kind="points")
"""


def test_plots_are_drawn_in_their_place(shared: PageDriver) -> None:
    page = shared.page
    assert shared.run(PLOTS) == "ready"
    cards = page.locator(".plot-card")
    expect(cards).to_have_count(3)
    expect(cards.first.locator("svg")).to_have_attribute(
        "aria-label", "training: lines of 80 values from 0.0125 to 1"
    )
    expect(cards.first.locator(".plot-line")).to_have_count(2)
    expect(cards.first.locator(".plot-legend")).to_have_text("losshalf")
    expect(cards.nth(1).locator(".plot-area")).to_have_count(1)
    assert "train  40/40" in shared.output
    assert "train  1/40" not in shared.output
    assert violations(page) == []


PEAKS = """
import tensorweb as tw
t = tw.arange(60.0).reshape((3, 4, 5))
t[2, 1, 3] = 90.0
t[1, 0, 2] = float("nan")
tw.show(t)
"""


def test_reader_jumps_to_the_largest_the_first_nan_and_any_index(
    shared: PageDriver,
) -> None:
    page = shared.page
    assert shared.run(PEAKS) == "ready"
    shared.look_into("t")
    page.get_by_role("button", name="go to the largest value").click()
    expect_status(shared, "t[2, 1, 3] = 90")
    expect(page.get_by_label("Index on axis 0, as a number")).to_have_value("2")
    page.get_by_role("button", name="go to the first NaN").click()
    expect_status(shared, "t[1, 0, 2] = nan")
    page.get_by_label("Go to index").fill("[0, -1, 4]")
    page.keyboard.press("Enter")
    expect_status(shared, "t[0, 3, 4] = 19")
    assert violations(page) == []


def test_progress_draws_what_a_loop_logs(shared: PageDriver, on_cpu: None) -> None:
    source = """
import time
import tensorweb as tw
loop = tw.progress(range(3), name="train")
for step in loop:
    loop.log(loss=tw.asarray(1.0) / (1 + step), error=step)
    time.sleep(0.11)
"""
    assert shared.run(source) == "ready"
    card = shared.page.locator("#output .plot-card")
    expect(card).to_have_count(1)
    expect(card.locator(".plot-legend")).to_have_text("losserror")
    expect(shared.page.locator("#output")).to_contain_text("error 2")
