"""What addresses carry with a program: the view of its results, theme, example."""

from __future__ import annotations

import re
from urllib.parse import quote

from page_driver import PageDriver, expect
from playwright.sync_api import Page
from program_steps import ID, SOURCE, go, hold_python, link_code, opened
from test_page_access import violations

from conftest import SITE

PROGRAM = """import tensorweb as tw
first = tw.reshape(tw.arange(24), (2, 3, 4)) % 5
second = tw.reshape(tw.linspace(0.0, 1.0, 25), (5, 5))
tw.show(first)
tw.show(second)
"""

SENT = "tensorwebPage.view.sent"
RUNS = "tensorwebPage.view.origins.output?.run ?? 0"


def test_a_link_carries_how_results_are_looked_at(page: Page, site_url: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sender = PageDriver(page).open(site_url)
    share = page.get_by_role("button", name="Share")
    compare = page.get_by_label("compare its results")
    share.click()
    expect(compare).to_be_disabled()
    expect(page.locator("#share-why")).to_contain_text("Run the program")
    page.keyboard.press("Escape")
    assert sender.run(PROGRAM) == "ready"
    sender.look_into("first")
    page.get_by_label("Row axis").select_option("2")
    index = page.get_by_label("Index on axis 0, as a number")
    index.fill("1")
    index.press("Enter")
    sender.pictured()
    look = page.evaluate("tensorwebPage.view.viewSettings")
    assert (look["axes"], look["index"][0]) == ({"rows": 2, "columns": 1}, 1)
    page.get_by_role("tab", name="Kernels").locator("visible=true").click()
    share.click()
    compare.check()
    expect(page.locator(".share-link")).to_have_value(re.compile("&fp="))
    assert violations(page) == []
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".share-said")).to_have_text("The link is copied.")
    address = page.evaluate("navigator.clipboard.readText()")
    assert re.search("&t=first&tab=kernels&look=.*&fp=.*&v=", address)
    page.get_by_role("button", name="Copy HTML").click()
    expect(page.locator(".share-said")).to_have_text("The HTML is copied.")
    frame = page.evaluate("navigator.clipboard.readText()")
    assert frame.startswith(f'<iframe src="{site_url}embed/#code=')
    assert frame.endswith('loading="lazy"></iframe>')
    version = page.evaluate("tensorwebPage.view.started.version")
    page.goto("about:blank")
    reader = sender.open(address.replace(f"v={version}", "v=9.9"))
    notice = page.locator("#notice")
    expect(notice).to_contain_text("made with tensorweb 9.9")
    assert page.evaluate("tensorwebPage.view.run") is None
    assert page.evaluate("tensorwebPage.view.result") == "kernels"
    page.wait_for_function(f"{SENT} !== null")
    assert reader.run() == "ready"
    expect(notice).to_contain_text("Same result as the sender\u2019s (2 tensors)")
    page.get_by_role("tab", name="Tensors").locator("visible=true").click()
    reader.pictured()
    expect(page.locator(".tensor[aria-current=true]")).to_contain_text("first")
    expect(page.get_by_label("Row axis")).to_have_value("2")
    expect(index).to_have_value("1")
    assert page.evaluate("tensorwebPage.view.viewSettings") == look
    reader.clean()


LOOP = """import tensorweb as tw
x = tw.asarray([[1.0, 2.0], [4.0, 8.0]])
for i in range(6):
    x = x * 0.5
y = x.T + 1
"""


def test_a_link_carries_the_cell_and_the_step(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    page.evaluate(
        "() => { globalThis.copied = [];"
        " navigator.clipboard.writeText = async (text) => copied.push(text) }"
    )
    assert on_cpu.run(LOOP) == "ready"
    page.evaluate("tensorwebPage.why({ name: 'y', index: [0, 1] })")
    title = page.locator("#why .why-title")
    expect(title).to_have_text("y[0, 1] = 1.0625")
    page.locator("#why .why-cell").first.click()
    expect(title).to_have_text("x[1, 0] = 0.0625")
    share, link = page.get_by_role("button", name="Share"), page.locator(".share-link")
    share.click()
    expect(link).to_have_value(re.compile("tab=why.*&at="))
    to_cell = link.input_value()
    page.keyboard.press("Escape")
    on_cpu.show("Film")
    slider = page.get_by_label("Step of the film", exact=True)
    step = page.locator("#film .film-title")
    expect(step).to_contain_text("step 5 ")
    slider.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(step).to_contain_text("step 1 ")
    share.click()
    expect(link).to_have_value(re.compile("tab=film.*&at="))
    to_step = link.input_value()
    page.get_by_role("button", name="Copy as lesson").click()
    expect(page.locator(".share-said")).to_have_text("The lesson is copied.")
    (lesson,) = page.evaluate("copied")
    page.evaluate("delete navigator.clipboard.writeText")
    lines = lesson.splitlines()
    assert lines[2].startswith("Open [the program](http")
    assert [line.split(" [Show](http")[0] for line in lines[4:]] == [
        "1. Ask why `y[0, 1]` is `1.0625`; line 5 made it.",
        "2. Ask why `x[1, 0]` is `0.0625`; line 4 made it.",
        "3. Look at step 1 of `x` in the panel *Film*.",
    ]
    assert f"({to_cell})" in lines[5]
    assert f"({to_step})" in lines[6]
    assert violations(page) == []
    page.keyboard.press("Escape")
    for address, shown, text in (
        (to_cell, title, "x[1, 0] = 0.0625"),
        (to_step, step, "step 1 "),
    ):
        on_cpu.tidy()
        runs = page.evaluate(RUNS)
        page.evaluate("hash => { location.hash = hash }", address.partition("#")[2])
        page.wait_for_function("tensorwebPage.view.document.kind === 'link'")
        page.wait_for_function("!tensorwebPage.view.held && tensorwebPage.view.focus")
        on_cpu.idle()
        assert page.evaluate(RUNS) == runs
        assert on_cpu.run() == "ready"
        expect(shown).to_contain_text(text)
        expect(shown).not_to_be_focused()
        assert page.evaluate(RUNS) == runs + 1
    expect(page.locator("#film")).to_be_visible()
    on_cpu.show("Tensors")


def test_a_link_carries_a_range_of_the_time(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    assert on_cpu.run(LOOP) == "ready"
    on_cpu.show("Timeline")
    about = page.locator(".timeline-head span").first
    picture = page.locator("#timeline[data-view=ready] .timeline-picture")
    expect(picture).to_be_visible()
    picture.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    expect(about).to_contain_text(" of ")
    page.get_by_role("button", name="Share").click()
    link = page.locator(".share-link")
    expect(link).to_have_value(re.compile("tab=timeline.*&at="))
    address = link.input_value()
    page.keyboard.press("Escape")
    part = page.evaluate("tensorwebPage.view.focus.range")
    assert 0 <= part["from"] < part["to"] <= 1
    # Another run has other times.
    assert on_cpu.run() == "ready"
    expect(about).to_contain_text("in all")
    assert page.evaluate("tensorwebPage.view.focus") is None
    on_cpu.tidy()
    page.evaluate("hash => { location.hash = hash }", address.partition("#")[2])
    page.wait_for_function("tensorwebPage.view.document.kind === 'link'")
    page.wait_for_function("!tensorwebPage.view.held && tensorwebPage.view.focus")
    assert on_cpu.run() == "ready"
    expect(about).to_contain_text(" of ")
    on_cpu.show("Tensors")


def test_a_link_carries_a_buffer_of_the_memory(on_cpu: PageDriver) -> None:
    page = on_cpu.page
    on_cpu.show("Memory")
    assert on_cpu.run(f"{LOOP}print(y, x)\n") == "ready"
    picture = page.locator("#memory .memory-picture")
    reading = page.locator("#memory .memory-reading")
    expect(reading).to_contain_text("Point at a block")
    picture.focus()
    for key in ("Home", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(reading).to_contain_text("line 4")
    text = reading.inner_text()
    page.get_by_role("button", name="Share").click()
    link = page.locator(".share-link")
    expect(link).to_have_value(re.compile("tab=memory.*&at="))
    address = link.input_value()
    page.keyboard.press("Escape")
    assert page.evaluate("tensorwebPage.view.focus.memory.step") == 2
    # Another run has other buffers.
    assert on_cpu.run() == "ready"
    expect(reading).to_contain_text("Point at a block")
    assert page.evaluate("tensorwebPage.view.focus") is None
    on_cpu.tidy()
    page.evaluate("hash => { location.hash = hash }", address.partition("#")[2])
    page.wait_for_function("tensorwebPage.view.document.kind === 'link'")
    page.wait_for_function("!tensorwebPage.view.held && tensorwebPage.view.focus")
    assert on_cpu.run() == "ready"
    # Lifetimes in seconds differ.
    expect(reading).to_contain_text(text.split(", ")[0])
    expect(picture).not_to_be_focused()
    on_cpu.show("Tensors")


def test_the_first_tensor_that_differs_is_named(shared: PageDriver) -> None:
    page = shared.page
    page.evaluate(
        "hash => { location.hash = hash }", f"code={link_code(page, PROGRAM)}"
    )
    page.wait_for_function("tensorwebPage.view.document.kind === 'link'")
    page.wait_for_function("!tensorwebPage.view.held")
    shared.idle()
    assert shared.run() == "ready"
    page.evaluate(
        "async () => { globalThis.own ="
        " await tensorwebPage.request('fingerprint', {}) }"
    )
    notice = page.locator("#notice")
    change = "sent => tensorwebPage.change({sent})"
    # What else may differ is a matter of tests/page/links.test.ts.
    page.evaluate(
        "() => { const sent = structuredClone(own);"
        f" sent[0].digest = '0123456789abcdef'; ({change})(sent); }}"
    )
    assert shared.run() == "ready"
    said = "Not the sender\u2019s result: “first” has other values"
    expect(notice).to_contain_text(said)
    # Other GPUs add in another order.
    page.evaluate(
        f"() => {{ const sent = structuredClone(own);"
        f" sent[1].numbers[3] *= 1.0005; ({change})(sent); }}"
    )
    assert shared.run() == "ready"
    expect(notice).to_contain_text("Same result")
    # A program that was changed is not the sender's.
    page.evaluate("tensorwebPage.dismiss()")
    assert shared.run(f"{PROGRAM}print('mine')") == "ready"
    expect(notice).to_be_hidden()


LOOK = (
    '{"axes": {"rows": %s, "columns": 1}, "index": [0, 0],'
    ' "scale": null, "mode": "cells"}'
)
NONE = '"why": [], "film": null, "kernel": null'
BACKWARDS = '"range": {"from": 1, "to": 0}, "memory": null'
HOSTILE = {
    "t=<img src=x onerror=alert(1)>&tab=<b>&v=<script>alert(1)</script>": (
        "panel and the version"
    ),
    "t=%00%ff": "tensor",
    "t=__proto__&tab=constructor&v=" + "9" * 5000: "version and the panel",
    "tab=editor": "panel",
    "fp=%%%": "results",
    "at=AAAA": "place",
    f"at=PACKED {{{NONE}}}": "place",
    f'at=PACKED {{{NONE}, "range": null, "memory": null}}': "place",
    f"at=PACKED {{{NONE}, {BACKWARDS}}}": "place",
    "look=AAAA": "view",
    f"look=PACKED {LOOK % -1}": "view",
    "fp=AAAA": "results",
    'fp=PACKED [{"name": 1}]': "results",
    "fp=PACKED " + "[" * 100_000: "results",
}
"""Fields next to a program, and which of them the page says that it left out."""


def test_hostile_links_do_nothing(shared: PageDriver) -> None:
    page = shared.page
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    notice = page.locator("#notice")
    runs = page.evaluate(RUNS)
    for number, (fields, refused) in enumerate(HOSTILE.items()):
        head, packed, rest = fields.partition("PACKED ")
        text = head + link_code(page, rest) if packed else quote(fields, safe="=&%")
        code = link_code(page, f"print({number})")
        page.evaluate("hash => { location.hash = hash }", f"code={code}&{text}")
        page.wait_for_function(f"{SOURCE} === 'print({number})'")
        expect(notice).to_contain_text(f"The {refused} in it could not be read")
        assert page.evaluate("tensorwebPage.view.result") == "tensors"
        assert page.evaluate(SENT) is None
        assert page.evaluate("document.querySelectorAll('#notice *').length") <= 3
        assert len(page.inner_text("#notice")) < 300
    for fields in ("ex=../../etc/passwd", "own=-1"):
        page.evaluate("hash => { location.hash = hash }", fields)
        expect(notice).to_contain_text("no ")
    assert page.evaluate(RUNS) == runs
    assert asked == []
    page.evaluate("location.hash = '#ex=01-tour'")
    shared.wait("tensorwebPage.view.document.id === '01-tour'")
    shared.idle()


def test_what_cannot_be_seen_is_marked(shared: PageDriver) -> None:
    page = shared.page
    hidden = (
        "\u202e \u202a \u202b \u2066 \u2068 \u2069 \u200b \u200d \u2060 \u3164 \ufe0f"
    )
    hidden += " \N{NO-BREAK SPACE} \U000e0041"
    code = link_code(page, f"# {hidden}\nprint(1)")
    go(page, f"code={code}")
    marks = page.locator("#editor .cm-specialChar")
    expect(marks).to_have_count(len(hidden.split(" ")))


def test_long_lines_of_shared_programs_are_wrapped(shared: PageDriver) -> None:
    page = shared.page
    go(page, f"code={link_code(page, 'x = 1' + ' ' * 600 + '; import os')}")
    page.wait_for_function(f"{SOURCE}.startsWith('x = 1')")
    inside = page.evaluate(
        "() => { const box = document.querySelector('.cm-scroller');"
        "return box.scrollWidth <= box.clientWidth }"
    )
    assert inside
    expect(page.locator("#editor .cm-line").first).to_contain_text("import os")


def test_the_query_chooses_example_and_theme(page: Page, site_url: str) -> None:
    driver = opened(page, f"{site_url}?example=03-reductions&theme=dark")
    assert page.evaluate(ID) == "03-reductions"
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("localStorage['tensorweb:theme']") is None
    opened(page, f"{site_url}?theme=javascript:alert(1)&example=%3Cb%3E")
    expect(page.locator("html")).to_have_attribute("data-theme", "system")
    assert page.evaluate(SOURCE) != ""
    expect(page.locator("#notice")).to_contain_text("no example named “<b>”")
    driver.clean()


def test_other_sites_can_preview_the_page(page: Page, site_url: str) -> None:
    hold_python(page)
    page.goto(site_url)
    look = "name => document.querySelector(`meta[property='og:${name}']`)?.content"
    for name in ("title", "description", "image:alt"):
        assert len(page.evaluate(look, name)) > 20
    card = SITE / page.evaluate(look, "image")
    assert card.read_bytes()[16:24] == (1200).to_bytes(4) + (630).to_bytes(4)
