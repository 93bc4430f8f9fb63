"""What addresses carry beside a program: the view of its results, theme, example."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from page_driver import PageDriver, expect
from playwright.sync_api import Page
from program_steps import ID, SOURCE, link_code, opened

from conftest import SITE

PROGRAM = """import tensorweb as tw
first = tw.ones((4, 4))
second = tw.reshape(tw.linspace(-1.0, 1.0, 25), (5, 5))
tw.show(second)
"""


def test_a_link_carries_how_results_are_looked_at(page: Page, site_url: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sender = PageDriver(page).open(site_url)
    assert sender.run(PROGRAM) == "ready"
    sender.look_into("first")
    page.get_by_role("tab", name="Kernels").locator("visible=true").click()
    page.get_by_role("button", name="Share").click()
    expect(page.locator("#notice")).to_contain_text("copied")
    address = page.evaluate("navigator.clipboard.readText()")
    assert "&t=first&tab=kernels&v=" in address
    version = page.evaluate("tensorwebPage.view.started.version")
    page.goto("about:blank")
    reader = sender.open(address.replace(f"v={version}", "v=9.9"))
    expect(page.locator("#notice")).to_contain_text("made with tensorweb 9.9")
    assert page.evaluate("tensorwebPage.view.run") is None
    assert page.evaluate("tensorwebPage.view.result") == "kernels"
    assert reader.run() == "ready"
    page.get_by_role("tab", name="Tensors").locator("visible=true").click()
    reader.pictured()
    expect(page.locator(".tensor[aria-current=true]")).to_contain_text("first")
    reader.clean()


HOSTILE = [
    "t=<img src=x onerror=alert(1)>&tab=<b>&v=<script>alert(1)</script>",
    "t=__proto__&tab=constructor&v=" + "9" * 5000,
    "tab=editor&t=%00%ff",
    "ex=../../etc/passwd",
    "own=-1",
]


@pytest.mark.parametrize("fields", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_links_do_nothing(page: Page, site_url: str, fields: str) -> None:
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    driver = opened(page, f"{site_url}favicon.svg".removesuffix("favicon.svg"))
    code = "" if fields.startswith(("ex=", "own=")) else link_code(page, "print(1)")
    fields = quote(fields, safe="=&%")
    address = f"code={code}&{fields}" if code else fields
    page.evaluate("fragment => { location.hash = fragment }", address)
    expect(page.locator("#notice")).to_be_visible()
    assert page.evaluate("tensorwebPage.view.result") == "tensors"
    assert page.evaluate("document.querySelectorAll('main img, #notice *').length") <= 3
    assert len(page.inner_text("#notice")) < 300
    assert asked == []
    driver.clean()


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
    page.goto(site_url)
    look = "name => document.querySelector(`meta[property='og:${name}']`)?.content"
    for name in ("title", "description", "image:alt"):
        assert len(page.evaluate(look, name)) > 20
    card = SITE / page.evaluate(look, "image")
    assert card.read_bytes()[16:24] == (1200).to_bytes(4) + (630).to_bytes(4)
