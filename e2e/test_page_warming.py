"""The page compiles common kernels while nobody runs anything, on real GPUs only."""

from __future__ import annotations

from page_driver import PageDriver
from playwright.sync_api import Page, Route, Worker

BEGUN = """
globalThis.begun = 0;
const begin = GPUDevice.prototype.createComputePipelineAsync;
GPUDevice.prototype.createComputePipelineAsync = function (descriptor) {
  globalThis.begun += 1;
  return begin.call(this, descriptor);
};
"""

NAMED = """
const info = { vendor: "pretended", architecture: "gpu", device: "", description: "" };
Object.defineProperty(GPUAdapter.prototype, "info", { get: () => info });
"""
"""The software adapter under a name that a real GPU could have."""


UNTIL_BEGUN = """least => new Promise((done) => {
  const look = () => (globalThis.begun >= least ? done() : setTimeout(look, 20));
  look();
})"""

AFTER_WARMING = "new Promise((done) => setTimeout(done, 1000))"
"""A timer of the worker: the one that warms up was set earlier, for less time."""


def open_page(page: Page, url: str, prelude: str) -> PageDriver:
    """Open the page whose worker begins with some JavaScript."""

    def prepend(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, body=prelude + response.text())

    page.route("**/worker-*.js", prepend)
    return PageDriver(page).open(url)


def begun(worker: Worker) -> int:
    return int(worker.evaluate("globalThis.begun"))


def wait_until_begun(page: Page, least: int) -> None:
    page.workers[0].evaluate(UNTIL_BEGUN, least)


def test_idle_page_warms_up_and_still_runs(page: Page, site_url: str) -> None:
    driver = open_page(page, site_url, BEGUN + NAMED)
    wait_until_begun(driver.page, 3)
    assert driver.run("import tensorweb as tw\nprint(tw.ones(3).sum())") == "ready"
    assert "3" in driver.output
    count = begun(driver.page.workers[0])
    wait_until_begun(driver.page, count + 1)
    driver.clean()


def test_software_adapters_are_not_warmed(page: Page, site_url: str) -> None:
    driver = open_page(page, site_url, BEGUN)
    assert driver.run("import tensorweb as tw\nprint(tw.ones(3).sum())") == "ready"
    driver.page.workers[0].evaluate(AFTER_WARMING)
    assert begun(driver.page.workers[0]) == 0
