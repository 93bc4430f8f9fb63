"""What each line made, at their ends, and the kernels of lines, both ways."""

from __future__ import annotations

import re

import pytest
from browsers import Profiles
from page_driver import PageDriver, expect
from playwright.sync_api import Page
from test_page_access import NARROW, in_every_scheme

PROGRAM = """\
import tensorweb as tw

def layer(x, w):
    h = tw.tanh(x @ w)
    return h * 2

x = tw.linspace(-1.0, 1.0, 4096).reshape(64, 64)
w = x.T
for step in range(64):
    y = layer(x, w)
z = tw.log(y)
y = tw.realize(y + 1)
tw.realize(tw.exp(x) * 3)
"""
LINES = PROGRAM.splitlines()


@pytest.fixture(scope="module")
def ran(shared: PageDriver) -> PageDriver:
    """A page on which the program has run."""
    assert shared.run(PROGRAM) == "ready"
    return shared


def ghosts(page: Page) -> dict[int, str]:
    """Return the texts at their ends by line."""
    found: list[list[str]] = page.evaluate(
        """[...document.querySelectorAll("#editor .cm-line")].flatMap((line, at) =>
        [...line.querySelectorAll(".cm-ghost")].map(
          (one) => [String(at + 1), one.dataset.text.replace(/(k\\d+ )+/, "")]))"""
    )
    return {int(line): text for line, text in found}


def test_lines_tell_what_they_made(ran: PageDriver) -> None:
    page = ran.page
    page.wait_for_selector(".cm-ghost.is-bad")
    assert ghosts(page) == {
        4: "float32 (64, 64) · \u00d764",
        5: "float32 (64, 64) · \u00d764",
        7: "float32 (64, 64)",
        8: "view · float32 (64, 64)",
        10: "float32 (64, 64) · \u00d764",
        11: "NaN first seen · float32 (64, 64)",
        12: "float32 (64, 64)",
        13: "float32 (64, 64)",
    }
    assert in_every_scheme(page) == []


def test_results_never_move_the_code(ran: PageDriver) -> None:
    page = ran.page
    boxes = """() => [...document.querySelectorAll("#editor .cm-line")].map((line) => {
      const { x, y, width, height } = line.getBoundingClientRect();
      return [x, y, width, height];
    })"""
    shown = page.evaluate(boxes)
    page.get_by_role("button", name="More", exact=True).click()
    switch = page.get_by_role("menuitemcheckbox", name="Results of lines")
    expect(switch).to_have_attribute("aria-checked", "true")
    switch.click()
    expect(page.locator(".cm-ghost")).to_have_count(0)
    assert page.evaluate(boxes) == shown
    assert page.evaluate("localStorage['tensorweb:line-results']") == "off"
    page.get_by_role("button", name="More", exact=True).click()
    switch.click()
    expect(page.locator(".cm-ghost").first).to_be_visible()


def test_pointing_at_a_result_shows_its_range_and_picture(ran: PageDriver) -> None:
    page = ran.page
    made = page.locator(".cm-line", has_text="z = tw.log(y)").locator(".cm-ghost")
    made.hover()
    card = page.locator(".line-card")
    expect(card).to_contain_text("z float32 (64, 64) on webgpu")
    expect(card).to_contain_text("NaN")
    expect(card.locator("canvas")).to_be_visible()
    assert in_every_scheme(page) == []
    # The name is bound again, so this value is not there.
    page.locator(".cm-line", has_text="y = layer").locator(".cm-ghost").hover()
    expect(card).to_contain_text("“y” was bound or changed again later.")
    page.locator(".cm-line", has_text="h = tw.tanh").locator(".cm-ghost").hover()
    expect(card).to_contain_text("“h” was local to layer(), which has returned.")
    page.mouse.move(0, 0)
    expect(card).to_have_count(0)


def test_a_result_opens_in_the_panel_of_tensors(ran: PageDriver) -> None:
    page = ran.page
    page.get_by_role("tab", name="Kernels").click()
    page.locator(".cm-line", has_text="w = x.T").locator(".cm-ghost").click()
    expect(page.locator("#tensors")).to_be_visible()
    page.wait_for_function("tensorwebPage.view.tensor === 'w'")
    # By keyboard, from the line of the cursor; the editor is described by it.
    page.evaluate("tensorwebPage.goTo(null, 11, 0)")
    expect(page.locator("#line-results")).to_have_text(re.compile("Line 11 made .*NaN"))
    page.keyboard.press("Alt+Enter")
    page.wait_for_function("tensorwebPage.view.tensor === 'z'")


def test_lines_and_kernels_light_each_other(ran: PageDriver) -> None:
    page = ran.page
    page.get_by_role("tab", name="Kernels").click()
    rows = page.locator(".kernel-row")
    last = rows.last
    expect(last.locator(".kernel-line")).to_have_text("line 13")
    hue = re.search(r"hue-\d", last.get_attribute("class") or "")
    assert hue is not None
    dot = page.locator(f".cm-lineNumbers .cm-has-kernel.{hue[0]}", has_text="13")
    expect(dot).to_have_count(1)
    last.hover()
    lit = page.locator(f".cm-lit-hue.{hue[0]}")
    # It computes `x` once more, which the first kernel has not stored.
    expect(lit).to_contain_text(["x = tw.linspace", "tw.realize(tw.exp(x) * 3)"])
    parts = page.locator(f".cm-lit-part.{hue[0]}")
    assert "tw.exp(x) * 3" in "".join(parts.all_text_contents())
    assert in_every_scheme(page) == []
    # A kernel that is fused from two lines lights both.
    rows.filter(has_text="tanh").first.hover()
    expect(page.locator(".cm-lit-hue").first).to_have_text(LINES[3])
    # A line lights its kernels: pointed at, or with the cursor in it.
    page.locator(".cm-line", has_text="tw.exp(x)").hover()
    expect(last).to_have_attribute("aria-current", "true")
    page.mouse.move(0, 0)
    page.evaluate("tensorwebPage.goTo(null, 4, 0)")
    expect(last).not_to_have_attribute("aria-current", "true")
    expect(rows.filter(has_text="tanh").first).to_have_class(re.compile("is-lit"))


def test_results_of_changed_lines_leave(ran: PageDriver) -> None:
    page = ran.page
    page.evaluate("tensorwebPage.goTo(null, 8, 7)")
    page.keyboard.type(" ")
    assert 8 not in ghosts(page)
    assert 7 in ghosts(page)
    page.keyboard.press("Control+z")


def test_lines_of_webassembly_and_of_the_program_light_each_other(
    on_cpu: PageDriver,
) -> None:
    page = on_cpu.page
    assert on_cpu.run(TANH) == "ready"
    page.get_by_role("tab", name="Kernels").click()
    kernel = page.locator(".kernel-row").last
    kernel.locator("summary").click()
    pieces, lit = kernel.locator(".source-piece"), kernel.locator(".is-lit")
    pieces.filter(has_text="v128.load").first.hover()
    part = page.locator("#editor .cm-lit-part")
    expect(part).to_have_text("tw.ones((64, 64)) * 2")
    expect(lit.filter(has_text="buffer 0 read, float32")).to_have_count(1)
    page.mouse.move(0, 0)
    page.locator("#editor .cm-line", has_text="y = tw").get_by_text("tanh").hover()
    expect(lit.filter(has_text="f32x4.mul").first).to_be_visible()
    expect(lit.filter(has_text="v128.load")).to_have_count(0)
    # The page would open it again after the next run.
    kernel.locator("summary").click()
    on_cpu.choose_device("webgpu")


def test_results_on_a_narrow_page(profiles: Profiles, site_url: str) -> None:
    with profiles.page(viewport=NARROW) as page:
        driver = PageDriver(page).open(site_url)
        assert driver.run(PROGRAM) == "ready"
        page.get_by_role("tab", name="Code").click()
        expect(page.locator(".cm-ghost").first).to_be_visible()
        assert in_every_scheme(page) == []
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width == NARROW["width"]
        driver.clean()


DRAGGED = """\
import tensorweb as tw
rate = 0.5
x = tw.ones(3) * rate
x
"""


def number_at(page: Page) -> tuple[float, float]:
    """Return the position of the number of line 2 on the screen."""
    box = page.locator(".cm-line .tok-number", has_text=re.compile(r"^\d")).first
    found = box.bounding_box()
    assert found is not None
    return found["x"] + found["width"] / 2, found["y"] + found["height"] / 2


EMPTIED = """
globalThis.emptied = 0;
const content = document.querySelector(".output-content");
new MutationObserver(() => {
  if (content.childElementCount === 0) emptied += 1;
}).observe(content, { childList: true });
"""


def test_a_number_is_dragged_and_the_result_follows(shared: PageDriver) -> None:
    page = shared.page
    assert shared.run(DRAGGED) == "ready"
    page.evaluate(EMPTIED)
    x, y = number_at(page)
    page.keyboard.down("Alt")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y, steps=5)
    page.wait_for_function("tensorwebPage.view.tensors[0]?.max?.toFixed(2) === '0.60'")
    assert shared.idle() == "ready"
    expect(page.locator("#state")).to_contain_text("ran lines 2 to 4 again")
    # The output before stays until the new one replaces it.
    assert page.evaluate("emptied") == 0
    expect(page.locator("#output .footer")).to_have_count(1)
    # Escape restores the number, and what it makes.
    page.keyboard.press("Escape")
    page.mouse.up()
    page.keyboard.up("Alt")
    page.wait_for_function("tensorwebPage.view.tensors[0]?.max === 0.5")
    assert page.evaluate("tensorwebPage.editor.source()") == DRAGGED


def test_a_drag_is_one_step_of_undo(shared: PageDriver) -> None:
    page = shared.page
    assert shared.run(DRAGGED) == "ready"
    x, y = number_at(page)
    page.mouse.move(x, y)
    handle = page.locator(".cm-number-handle")
    expect(handle).to_be_visible()
    assert in_every_scheme(page) == []
    handle.hover()
    page.mouse.down()
    page.mouse.move(x + 90, y + 20, steps=9)
    page.mouse.up()
    source = page.evaluate("tensorwebPage.editor.source()")
    assert source.startswith("import tensorweb as tw\nrate = 0.")
    assert source != DRAGGED
    assert shared.idle() == "ready"
    page.click(".cm-line >> nth=3")
    page.keyboard.press("Control+z")
    assert page.evaluate("tensorwebPage.editor.source()") == DRAGGED


def test_a_number_is_changed_by_keys(shared: PageDriver) -> None:
    page = shared.page
    assert shared.run(DRAGGED) == "ready"
    page.evaluate("tensorwebPage.goTo(null, 2, 8)")
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("Shift+Alt+ArrowDown")
    page.wait_for_function("tensorwebPage.view.tensors[0]?.max?.toFixed(2) === '0.39'")
    # Elsewhere the keys move a line, as before.
    page.evaluate("tensorwebPage.goTo(null, 4, 0)")
    page.keyboard.press("Alt+ArrowUp")
    assert page.evaluate("tensorwebPage.editor.source()").split("\n")[2] == "x"


RUNS = """
globalThis.runs = 0;
tensorwebPage.add({ update() {}, begin: () => { runs += 1; } });
"""


def test_many_changes_are_one_run_at_a_time(shared: PageDriver) -> None:
    page = shared.page
    slow = DRAGGED + "import time\ntime.sleep(0.2)\n"
    assert shared.run(slow) == "ready"
    page.evaluate(RUNS)
    page.evaluate("tensorwebPage.goTo(null, 2, 8)")
    for _ in range(12):
        page.keyboard.press("Alt+ArrowUp")
    page.wait_for_function("tensorwebPage.view.tensors[0]?.max?.toFixed(2) === '0.62'")
    assert shared.idle() == "ready"
    assert page.evaluate("runs") < 12


SORTED = """\
import tensorweb as tw

x = tw.realize(tw.ones((64, 64)) * 2)
y = tw.sort(x @ x, axis=1)
print(y.sum().item())
z = tw.realize(y * 2)
"""


def test_values_between_kernels_say_why_they_are_stored(shared: PageDriver) -> None:
    page = shared.page
    assert shared.run(SORTED) == "ready"
    page.get_by_role("tab", name="Kernels").click()
    why = page.get_by_role("button", name="Why not fused?")
    why.click()
    expect(why).to_have_attribute("aria-pressed", "true")
    rows = page.locator(".kernel-row")
    expect(rows.filter(has_text="sort(").locator(".kernel-split").first).to_have_text(
        "k2 → k3, float32 (64, 64): 16.4 kB written, 16.4 kB read. A kernel is built "
        "around one reduction, product or sort, and the reader has its own."
    )
    expect(rows.last.locator(".kernel-split")).to_contain_text("k3 → k5")
    expect(rows.last.locator(".kernel-split")).to_contain_text("was submitted before")
    assert in_every_scheme(page) == []
    page.set_viewport_size(NARROW)
    page.get_by_role("tab", name="Kernels").locator("visible=true").click()
    expect(rows.last.locator(".kernel-split")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    why.press("Enter")
    expect(page.locator(".kernel-split")).to_have_count(0)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.locator(".cm-line", has_text="z = tw").locator(".cm-ghost").hover()
    expect(page.locator(".line-card .kernel-split")).to_contain_text("k3 → k5")
    page.mouse.move(0, 0)


TANH = """\
import tensorweb as tw

x = tw.realize(tw.ones((64, 64)) * 2)
y = tw.realize(tw.tanh(tw.sin(x) * 0.5 + x) - 1)
"""


def test_lines_of_wgsl_and_of_the_program_light_each_other(shared: PageDriver) -> None:
    page = shared.page
    assert shared.run(TANH) == "ready"
    page.get_by_role("tab", name="Kernels").click()
    kernel = page.locator(".kernel-row").last
    kernel.locator("summary").click()
    buffers = kernel.locator(".kernel-buffers li")
    expect(buffers.first).to_have_text("input0 read, float32 (4096,), 16.4 kB line 3")
    pieces, lit = kernel.locator(".source-piece"), kernel.locator(".is-lit")
    sine = pieces.filter(has_text="= sin_f32(")
    sine.hover()
    part = page.locator("#editor .cm-lit-part")
    expect(part).to_have_text("tw.sin(x)")
    expect(sine).to_have_class(re.compile("is-lit"))
    assert in_every_scheme(page) == []
    # By keys: the next lines add and multiply, and no buffer.
    source = kernel.locator(".kernel-source")
    source.focus()
    page.mouse.move(0, 0)
    page.keyboard.press("ArrowDown")
    expect(part).to_have_text("tw.ones((64, 64)) * 2")
    expect(lit).to_contain_text(["input0 read", "var<storage, read> input0"])
    # An expression of the code lights its own lines, the rest of its line all of them.
    page.evaluate("tensorwebPage.goTo(null, 4, 0)")
    expect(lit.filter(has_text="= tanh_f32(")).to_have_count(1)
    expect(lit.filter(has_text="= sin_f32(")).to_have_count(1)
    page.mouse.move(0, 0)
    page.locator("#editor .cm-line", has_text="y = tw").get_by_text("sin").hover()
    expect(lit.filter(has_text="fn sin_f32(")).to_have_count(1)
    expect(lit.filter(has_text="= sin_f32(")).to_have_count(1)
    expect(lit.filter(has_text="= tanh_f32(")).to_have_count(0)
    page.locator("#editor .cm-line", has_text="x = tw").hover(
        position={"x": 40, "y": 8}
    )
    expect(lit.filter(has_text="input0 read")).to_have_count(1)
    page.set_viewport_size(NARROW)
    page.get_by_role("tab", name="Kernels").locator("visible=true").click()
    expect(buffers.first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    page.set_viewport_size({"width": 1280, "height": 720})
