"""Memory over thousands of steps in Chromium's worker: the same as natively, and more.

JavaScript's heap and WebAssembly's memory must stay as they are too.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from bare_page import BarePage, open_bare, serve_bare
from browsers import CHROMIUM_FLAGS, launch_chromium
from playwright.sync_api import Playwright

from conftest import Serve

STEPS = 1_260
ROUNDS = 7
"""At most, until one leaves nothing: what stays behind grows in every round, while in
some the browser also compiles what runs often, half a megabyte of its heap."""

FIRST = 300

FLAGS = [*CHROMIUM_FLAGS, "--enable-blink-features=ForceEagerMeasureMemory"]
"""With it the browser answers at once what its heaps hold."""

HEAP = "performance.measureUserAgentSpecificMemory().then(found => found.breakdown)"
HEAP_SLACK = 34_000
"""Bytes that JavaScript's heap may seem to gain in a round, 27 a step."""

STILL_LOOKS = 3
"""Looks, a second apart, after which a heap that did not fall has settled."""

PROGRAM = """
import json, sys
sys.path.insert(0, "/home/pyodide")
from pathlib import Path
Path("/home/pyodide/training.py").write_text({text!r})
import tensorweb as tw
import training
tw.set_default_device("webgpu")
def answer(steps, kind):
    found = training.measure(steps, {first}, getattr(training, kind))
    return json.dumps([found, training.leaks(found)])
"""


@pytest.fixture(scope="module")
def worker(
    playwright: Playwright,
    serve: Serve,
    memory: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[BarePage]:
    """Python with the wheel and the training steps, in a worker of its own browser."""
    browser = launch_chromium(playwright, FLAGS)
    folder = tmp_path_factory.mktemp("bare-memory")
    found = open_bare(browser, serve_bare(serve, folder, memory), "inWorker")
    found("resume")
    found.install()
    text = (Path(__file__).parent / "bare/training.py").read_text("utf-8")
    found("await", PROGRAM.format(text=text, first=FIRST))
    yield found
    browser.close()


def measured(
    worker: BarePage, steps: int, kind: str
) -> tuple[dict[str, Any], list[str]]:
    """Return what the steps held, and what of it has grown."""
    found, leaks = json.loads(worker("await", f"answer({steps}, {kind!r})"))
    return found, leaks


def javascript_bytes(worker: BarePage) -> int:
    """Return what JavaScript's objects take in the worker, collected before."""
    rows = worker.page.evaluate(HEAP)
    return sum(row["bytes"] for row in rows if "JavaScript" in row["types"])


def settled_bytes(worker: BarePage, enough: int = 0) -> int:
    """Return what the heap takes when it falls no more, or is at most `enough`."""
    least = javascript_bytes(worker)
    looks = 0
    while least > enough and looks < STILL_LOOKS:
        time.sleep(1)
        now = javascript_bytes(worker)
        looks = 0 if now < least else looks + 1
        least = min(least, now)
    return least


def test_thousands_of_steps_leave_nothing_behind(worker: BarePage) -> None:
    heaps: list[int] = []
    gains: list[int] = []
    while len(heaps) < ROUNDS and min(gains, default=HEAP_SLACK + 1) > HEAP_SLACK:
        found, leaks = measured(worker, STEPS, "Training")
        assert leaks == []
        assert found["loss"] > 0
        heaps.append(settled_bytes(worker, heaps[-1] + HEAP_SLACK if heaps else 0))
        gains = [after - before for before, after in pairwise(heaps)]
    assert min(gains) <= HEAP_SLACK, heaps


def test_retained_results_are_detected(worker: BarePage) -> None:
    heap = settled_bytes(worker)
    _, leaks = measured(worker, 1200, "Leaking")
    names = {line.partition(":")[0] for line in leaks}
    assert names >= {"live_buffers", "live_bytes", "objects", "traced"}
    assert settled_bytes(worker, heap + HEAP_SLACK) > heap + HEAP_SLACK
