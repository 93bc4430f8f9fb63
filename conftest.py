"""Examples in docstrings run on the cpu device, with `tw` and `np` at hand.

`np` is `tensorweb.numpy` there.

What a file of tests leaves behind is left out of later garbage collections, which
would look at all of it again: fifteen thousand tests keep a million objects.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from _pytest.doctest import DoctestItem

import tensorweb
from tensorweb import devices, notices

PIPELINES_KEPT = 400
"""From one file of tests to the next. In Mesa each takes a megabyte."""


@pytest.fixture(autouse=True)
def _examples_on_cpu(
    request: pytest.FixtureRequest, doctest_namespace: dict[str, object]
) -> Iterator[None]:
    if not isinstance(request.node, DoctestItem):
        yield
        return
    doctest_namespace["tw"] = tensorweb
    doctest_namespace["np"] = tensorweb.numpy
    notices.begin_program()
    with devices.device("cpu"):
        yield


def pytest_collection_finish() -> None:
    """Leave the collected tests out of garbage collections."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Do the same with what is left behind a file's last test."""
    if nextitem is not None and nextitem.path != item.path:
        _forget_pipelines()
        gc.collect()
        gc.freeze()


def _forget_pipelines() -> None:
    """Give back the memory of a GPU's kernels, where there are many."""
    native = sys.modules.get("tensorweb.drivers.native")
    backend: Any = devices._backends.get("webgpu")
    driver = getattr(backend, "driver", None)
    if native is None or not isinstance(driver, native.NativeDriver):
        return
    if sum(pipeline is not None for pipeline in driver._pipelines) > PIPELINES_KEPT:
        backend._plans.clear()
        backend._pipelines._handles.clear()
        driver._pipelines[:] = [None] * len(driver._pipelines)
