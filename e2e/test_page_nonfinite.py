"""The line that first made a NaN or an infinity is found by one click."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsers import Profiles
from page_driver import PageDriver, expect
from test_page_access import in_every_scheme

PROGRAM = """import tensorweb as tw

@tw.jit
def step(x):
    y = x - 2
    return y, tw.sqrt(y)

x = tw.asarray([5.0, 6.0])
for i in range(4):
    x, root = step(x)
    print(float(tw.sum(root)))
big = tw.exp(x * -1000)
cancelled = big - big
tw.show(root)
"""

QUIET = "import tensorweb as tw\ntw.show(tw.log(-tw.ones(2)))"
"""Shows NaN, whose card has a badge and the large pane the offer."""

SENTENCE = "The first NaN is made at line 6: sqrt, its inputs are finite."
OPERANDS = " Its operands"
"""The button behind the sentence about a tensor."""
MADE = "#tensors .viewer-made"


@pytest.fixture(scope="module", params=["webgpu", "cpu"])
def driver(
    request: pytest.FixtureRequest, profiles: Profiles, site_url: str
) -> Iterator[PageDriver]:
    """A page of Chromium that computes on a device, or has no WebGPU at all."""
    on_cpu: Profiles = request.getfixturevalue("profiles_on_cpu")
    chosen = profiles if request.param == "webgpu" else on_cpu
    with chosen.page() as lent:
        driver = PageDriver(lent, device=request.param).open(site_url)
        assert driver.page.evaluate("tensorwebPage.view.device") == request.param
        yield driver
        driver.clean()


def test_one_click_finds_the_line_and_another_goes_there(driver: PageDriver) -> None:
    page = driver.page
    assert driver.run(PROGRAM) == "ready"
    driver.look_into("root")
    made = page.locator(MADE)
    expect(made).to_contain_text("Where is the first NaN made?")
    made.get_by_role("button", name="Find the line").click()
    expect(made).to_have_text(SENTENCE + OPERANDS)
    assert driver.idle() == "ready"
    flag = page.locator(".viewer-flags .flag", has_text="NaN")
    expect(flag).to_have_attribute("title", SENTENCE)
    strip = page.locator("#tensors .tensor", has_text="root")
    assert SENTENCE in (strip.first.get_attribute("title") or "")
    link = made.get_by_role("button", name="line 6")
    link.hover()
    expect(page.locator(".cm-lit")).to_contain_text("return y, tw.sqrt(y)")
    link.click()
    expect(page.locator(".cm-activeLine")).to_contain_text("return y, tw.sqrt(y)")
    page.mouse.move(0, 0)


def test_causes_are_said_and_finite_tensors_say_nothing(driver: PageDriver) -> None:
    page = driver.page
    made = page.locator(MADE)
    driver.look_into("cancelled")
    expect(made).to_have_text(
        "The first NaN is made at line 13: subtract; its inputs hold infinity, first "
        "made at line 12: exp of finite inputs." + OPERANDS
    )
    driver.look_into("big")
    expect(made).to_have_text(
        "The first infinity is made at line 12: exp, its inputs are finite." + OPERANDS
    )
    driver.look_into("x")
    expect(made).to_be_empty()


def test_printed_numbers_and_cards_say_it_as_well(driver: PageDriver) -> None:
    lines = driver.page.locator("#output .nonfinite")
    expect(lines).to_have_text([SENTENCE + OPERANDS, SENTENCE])
    assert driver.run("print('nano.nan info', 1)\n" + QUIET) == "ready"
    expect(lines).to_have_count(0)
    assert driver.run("x = float('nan')\nprint(f'loss={x}')") == "ready"
    lines.get_by_role("button", name="Find the line").click()
    expect(lines).to_have_text(
        "No tensor that the program reads holds NaN or infinity."
    )
    assert driver.idle() == "ready"


def test_it_is_found_by_keys_and_follows_an_edit(driver: PageDriver) -> None:
    page = driver.page
    assert driver.run(PROGRAM) == "ready"
    driver.look_into("root")
    find = page.locator(MADE).get_by_role("button")
    find.focus()
    page.keyboard.press("Enter")
    link = page.locator(MADE).get_by_role("button", name="line 6")
    expect(link).to_be_visible()
    assert driver.idle() == "ready"
    driver.write("# one more line\n" + PROGRAM)
    link.focus()
    expect(page.locator(".cm-lit")).to_contain_text("return y, tw.sqrt(y)")
    page.keyboard.press("Enter")
    expect(page.locator(".cm-activeLine")).to_contain_text("return y, tw.sqrt(y)")
    driver.write("print(1)")
    link.click()
    expect(page.locator("#notice")).to_contain_text("is not in the program any more")


def test_the_operands_of_the_first_infinity_are_shown(driver: PageDriver) -> None:
    page = driver.page
    assert driver.run(PROGRAM) == "ready"
    driver.look_into("big")
    page.locator(MADE).get_by_role("button", name="Find the line").click()
    page.locator(MADE).get_by_role("button", name="Its operands").click()
    expect(page.locator("#why .why-title")).to_have_text("big[0] = inf")
    expect(page.locator("#why .why-rows")).to_contain_text("exp(")
    expect(page.locator("#why .why-cells")).to_contain_text("x[0] = -3")
    # The cell is not explained twice.
    expect(page.locator("#why .why-trail")).to_be_hidden()
    driver.show("Tensors")


def test_where_python_cannot_wait_the_page_says_so(
    profiles_never_waiting: Profiles, never_waits: str
) -> None:
    with profiles_never_waiting.page() as page:
        driver = PageDriver(page).open(never_waits)
        made = page.locator(MADE)
        for device, message in (
            ("webgpu", "cannot wait for WebGPU"),
            ("cpu", "line 2"),
        ):
            driver.choose_device(device)
            assert driver.run(QUIET) == "ready"
            driver.pictured()
            made.get_by_role("button", name="Find the line").click()
            expect(made).to_contain_text(message)
            assert driver.idle() == "ready"


@pytest.mark.parametrize("driver", ["cpu"], indirect=True)
def test_axe_finds_nothing_wide_and_narrow(driver: PageDriver) -> None:
    page = driver.page
    page.set_viewport_size({"width": 390, "height": 800})
    assert driver.run(PROGRAM) == "ready"
    assert in_every_scheme(page) == []
    page.get_by_role("tab", name="Tensors").first.click()
    driver.look_into("cancelled")
    page.locator(MADE).get_by_role("button", name="Find the line").click()
    # The panel stays: the sentence comes where the button was.
    expect(page.locator(MADE)).to_contain_text("subtract")
    assert driver.idle() == "ready"
    assert in_every_scheme(page) == []
    sizes = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert sizes[0] <= sizes[1]
    page.locator(MADE).get_by_role("button", name="line 13").click()
    expect(page.locator(".cm-activeLine")).to_contain_text("big - big")
    page.set_viewport_size({"width": 1280, "height": 800})
    assert in_every_scheme(page) == []
