"""The tests' own waits: they end at once when what they wait for cannot come."""

from __future__ import annotations

import pytest
from browsers import LIMIT_MS
from page_driver import PageDriver, expect, until
from playwright.sync_api import Page

TROUBLE = """<body data-state="error"><p class="trouble">Python could not start</p>
<select id="device"><option disabled value="cpu">CPU</option></select>
<div id="tensors" data-view="empty"></div>"""


class Looks:
    """Fails `number` times, then succeeds."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.done = 0

    def __call__(self, timeout: float) -> None:
        self.done += 1
        if self.done <= self.left:
            raise AssertionError("not there")


def test_wait_in_vain_is_given_up(page: Page) -> None:
    said = "Python could not start"
    page.set_content(TROUBLE)
    look = Looks(1000)
    with pytest.raises(AssertionError, match=said):
        until(look, page, "something", LIMIT_MS)
    assert look.done == 2
    with pytest.raises(AssertionError, match=said):
        expect(page.locator("#output")).to_contain_text("something")
    driver = PageDriver(page)
    with pytest.raises(AssertionError, match=said):
        driver.pictured()


def test_device_that_is_not_offered_is_not_waited_for(page: Page) -> None:
    page.set_content(TROUBLE)
    with pytest.raises(AssertionError, match="does not offer cpu"):
        PageDriver(page).choose_device("cpu")


@pytest.mark.parametrize("state", ["loading", "running", "ready"])
def test_busy_or_healthy_page_is_waited_for(page: Page, state: str) -> None:
    page.set_content(f'<body data-state="{state}">')
    look = Looks(50)
    until(look, page, "something", LIMIT_MS)
    assert look.done == 51


def test_what_comes_late_on_a_failed_page_is_seen(page: Page) -> None:
    page.set_content(TROUBLE)
    look = Looks(1)
    until(look, page, "something", LIMIT_MS)
    assert look.done == 2
