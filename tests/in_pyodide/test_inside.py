"""A chosen part of the tests passes inside Pyodide, under Node, on the device `cpu`.

One process runs them all; a test that cannot be there says so by its fixtures and
markers, see `selection.py`, and none is skipped.
"""

from __future__ import annotations

import os

import pytest
from operation_cases import all_cases
from operation_files import write_cases

from tools import in_pyodide, process
from tools.results import Results

CHOSEN: tuple[str, ...] = (
    "tests/playground/test_playground.py",
    "tests/playground/test_playground_pictures.py",
    "tests/playground/test_protocol.py",
    "tests/playground/test_reruns.py",
    "tests/playground/test_streams.py",
    "tests/course_examples",
    "tests/functions/test_charts.py",
    "tests/nn/test_network_modules.py",
    "tests/random_numbers/test_random_recorded.py",
    "tests/random_numbers/test_random_generator.py",
    "tests/saving",
    "tests/tensor/test_copying.py",
    "tests/tensor/test_printing.py",
    "tests/transforms/test_gradients.py",
    "tests/transforms/test_jit.py",
    "tensorweb",
)
"""Files and folders of tests, and of docstrings with examples.

Their subjects are JavaScript, files, memory and the engine of `cpu`; code that only
names or builds graphs is equal in every Python.
"""

if in_pyodide.PYTHON in os.environ:
    # Chromium's page computes the whole op table with the same engine in every run, so
    # it is left to `build.py wheel`, whose Pyodide runs no other test.
    CHOSEN += ("tests/in_pyodide/op_table.py",)

VALUES = "tensorweb/tensor/values.py::tensorweb.tensor.values.ValueMethods"

NUMPY_ONLY = (
    "--ignore-glob=*/backends/numpy_*.py",
    *(f"--deselect={VALUES}.{name}" for name in ("numpy", "numpy_async")),
)
"""What computes with NumPy: where `cpu` is WebAssembly nobody loads it."""

SECONDS = 600
"""On one core that does other work as well it takes a tenth."""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run what is chosen and return what happened to each test."""
    folder = tmp_path_factory.mktemp("in_pyodide")
    if "tests/in_pyodide/op_table.py" in CHOSEN:
        write_cases(folder, all_cases("cpu"), "cpu")
    options = ["-q", "-rN", "--tb=short", "--doctest-modules", *NUMPY_ONLY]
    progress = ["-p", "tools.progress", "--progress", str(folder / "progress")]
    command = in_pyodide.command([*options, *progress, *CHOSEN], folder)
    env = {**in_pyodide.variables(), "TENSORWEB_OP_TABLE": str(folder)}
    code = process.status(command, env=env, seconds=SECONDS)
    found = Results.read(folder / "progress")
    assert code == 0 or found.counts()["failed"], f"pytest ended with {code}"
    return found


def test_chosen_tests_pass_inside_pyodide(results: Results) -> None:
    assert results.named("failed") + results.unfinished() == []
    assert results.skips() == {}
    assert results.not_begun() == 0


@pytest.mark.parametrize("path", CHOSEN)
def test_each_choice_has_tests_that_run(path: str, results: Results) -> None:
    assert any(name.startswith(path) for name in results.named("passed"))
