"""What a visitor sees first: a recorded result at once, and then a run by itself."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from browsers import hold_back, release
from page_driver import PageDriver, expect
from playwright.sync_api import Page
from program_steps import SOURCE, TOUR, link_code, type_at_start

from tools import first_look

RAN = (
    "tensorwebPage.view.origins.tensors && !tensorwebPage.view.origins.tensors.recorded"
)
WORKER = "**/worker-*.js"


def test_the_result_is_there_before_python_and_runs_by_itself(
    page: Page, site_url: str
) -> None:
    waiting = hold_back(page, WORKER)
    driver = PageDriver(page, first_visit=True).open(site_url, wait=False)
    driver.pictured()
    expect(page.locator("#output")).to_contain_text("shape (3, 2) dtype float32")
    expect(page.locator("#origin-note")).to_contain_text("Computed before")
    assert page.locator("[data-stale]").count() == 0
    assert page.evaluate("document.body.dataset.state") == "loading"
    release(page, WORKER, waiting)
    driver.wait(RAN)
    assert driver.idle() == "ready"
    expect(page.locator("#origin-note")).to_be_hidden()
    expect(page.locator("#state")).to_contain_text("Done in")
    # Nothing lies over the first result.
    expect(page.locator("#notice")).to_be_hidden()
    page.locator("#intro").get_by_role("button", name="Tour").click()
    expect(page.locator(".tour")).to_contain_text("Your program")
    page.reload()
    driver.idle()
    driver.drawn(30)
    expect(page.locator("#notice")).to_be_hidden()
    expect(page.locator("#origin-note")).to_contain_text("Computed before")
    driver.clean()


@pytest.mark.parametrize("kind", ["link", "typed"])
def test_nothing_else_runs_by_itself(page: Page, site_url: str, kind: str) -> None:
    page.goto(f"{site_url}favicon.svg")
    code = link_code(page, "print('not asked for')")
    waiting = hold_back(page, WORKER)
    driver = PageDriver(page, first_visit=True)
    driver.open(site_url + (f"#code={code}" if kind == "link" else ""), wait=False)
    page.wait_for_function(f"globalThis.tensorwebPage && {SOURCE} !== ''")
    if kind == "typed":
        type_at_start(page, "# mine\n")
    release(page, WORKER, waiting)
    assert driver.idle() == "ready"
    driver.drawn(30)
    assert not page.evaluate(f"Boolean({RAN})")
    assert "not asked for" not in driver.output
    assert page.evaluate(SOURCE) != TOUR


def test_the_recording_is_what_a_run_gives(shared: PageDriver) -> None:
    """`python3 build.py first-look` makes it anew."""
    recorded = json.loads(first_look.FILE.read_text("utf-8"))
    assert recorded["source"] == TOUR
    shared.page.evaluate("tensorwebPage.workspace.openExample('01-tour')")
    found = first_look.listen_and_run(shared.page)
    asked = [(one["name"], one["details"]) for one in recorded["responses"]]
    for one in found["responses"]:
        assert (one["name"], one["details"]) in asked, "record it anew"
    for record in (recorded, found):
        del record["responses"]
        # How much comes at a time is a matter of time.
        said = [note.get("text", "") for note in record["notes"]]
        record["notes"] = "".join(said)
        for part in (record["run"], *record["run"]["kernels"]):
            part.pop("seconds", None)
        for tensor in record["tensors"]:
            tensor.pop("id")
            # Where it lies in memory is another address in every run.
            tensor["storage"].pop("id")
    assert_alike(found, recorded)


def assert_alike(found: Any, recorded: Any, where: str = "") -> None:
    """Compare two JSON values; numbers may differ as adapters do."""
    if isinstance(recorded, dict):
        assert set(found) == set(recorded), where
        for key in recorded:
            assert_alike(found[key], recorded[key], f"{where}.{key}")
    elif isinstance(recorded, list):
        assert len(found) == len(recorded), where
        for index, (one, other) in enumerate(zip(found, recorded, strict=True)):
            assert_alike(one, other, f"{where}[{index}]")
    elif isinstance(recorded, float):
        assert math.isclose(found, recorded, rel_tol=1e-3, abs_tol=1e-6), where
    else:
        assert found == recorded, where
