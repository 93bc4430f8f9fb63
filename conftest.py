"""Examples in docstrings run on the cpu device, with `tw` and `np` at hand.

`np` is `tensorweb.numpy` there.

What a file of tests leaves behind is left out of later garbage collections, which
would look at all of it again: fifteen thousand tests keep a million objects.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestItem

import tensorweb
from tensorweb import devices, dtypes, frames
from tools import bundle
from tools.environment import NODE_MODULES
from tools.reach import RULES as RULE_FILES

ROOT = Path(__file__).resolve().parent

# What `--quick` runs: NumPy's device, one dtype of each kind, and of the tests of the
# project the rules that read its files. Tests in these folders compile shaders, start
# processes or compare with recorded numbers for a while.
DTYPES = ("float32", "int32", "uint8", "bool", "complex64")
RULES = {Path(name).name for name in RULE_FILES}
LEFT_OUT = ("codegen", "drivers", "in_pyodide", "page", "performance")

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
    frames.begin_program()
    with devices.device("cpu"):
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--quick`."""
    parser.addoption(
        "--quick",
        action="store_true",
        help="device cpu alone, a dtype of each kind, no tests of the build",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Bundle the script of reports from its present sources, once for all workers."""
    can_bundle = not devices.is_browser() and (NODE_MODULES / "esbuild").is_dir()
    if can_bundle and not hasattr(config, "workerinput"):
        bundle.write_report()


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out what `--quick` has no time for."""
    if config.getoption("quick"):
        dropped = [item for item in items if not is_quick(item)]
        items[:] = [item for item in items if is_quick(item)]
        config.hook.pytest_deselected(items=dropped)


def is_quick(item: pytest.Item) -> bool:
    """Whether a test runs with `--quick`."""
    if item.path.is_relative_to(ROOT / "tests"):
        folder, name = item.path.parent.name, item.path.name
        if folder in LEFT_OUT or (folder == "project" and name not in RULES):
            return False
    if item.get_closest_marker("needs_processes"):
        return False
    if {"webgpu", "wasm"} & {*getattr(item, "fixturenames", ())}:
        return False
    chosen = getattr(item, "callspec", None)
    values = [str(value) for value in chosen.params.values()] if chosen else []
    return not any(
        value == "webgpu" or (value in dtypes.BY_NAME and value not in DTYPES)
        for value in values
    )


def pytest_collection_finish() -> None:
    """Leave the collected tests out of garbage collections."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Do the same with the tensors that a file's last test left."""
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
