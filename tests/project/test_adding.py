"""Recipes are complete and touch few files: their steps are followed in a copy.

One copy takes them all, since a copy is imported, documented and tested once.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from contributing import changed, copy_library, follow

from tensorweb import devices
from tensorweb.errors import DeviceError

TOUCHED = {
    "An operation": {"shaders/math/degrees.wgsl", "tensorweb/ops/transcendental.py"},
    "A kind of kernel": {
        "shaders/hadamard.wgsl",
        "tensorweb/codegen/compiler.py",
        "tensorweb/codegen/hadamard.py",
        "tensorweb/functions/linear_algebra.py",
        "tensorweb/graph/op.py",
        "tensorweb/nodes/hadamard.py",
        "tensorweb/ops/structure.py",
        "tensorweb/schedule/kernel_builder.py",
        "tests/structure_cases.py",
    },
    "A derivative rule": {"tensorweb/transforms/rules/structure.py"},
    "A NumPy function": {"tensorweb/numpy/emath.py"},
    "A layer": {"tensorweb/nn/losses.py"},
}
"""The files that somebody changes, by recipe."""

WRITTEN = {
    *(f"docs/reference/{name}.md" for name in ("elementwise", "numerics", "tensor")),
    *(f"docs/reference/{name}.md" for name in ("nn", "numpy_modules", "products")),
    "docs/guide/pytorch.md",
    *("tensorweb/functions/elementwise.py", "tensorweb/tensor/elementwise.py"),
}
"""What `build.py docs` writes: pages, and functions and methods of operations."""

TESTS = {
    "tests/functions/test_elementwise.py": "deg2rad",
    "tests/functions/test_public_names.py": "are_documented or entries_are",
    "tests/codegen/test_math_wgsl.py": "deg2rad",
    "tests/transforms/test_rules.py": "deg2rad or hadamard",
    "tests/functions/test_structures.py": "hadamard",
    "tests/schedule/test_kinds.py": "kinds",
    "tests/project/test_layers.py": "point_one_way",
    "tensorweb/functions/elementwise.py": "deg2rad",
    "tensorweb/functions/linear_algebra.py": "hadamard",
    "tensorweb/numpy/emath.py": "logn",
    "tensorweb/nn/losses.py": "log_cosh",
}
"""What tests an addition: files, and the keyword of their tests."""


def run(project: Path, *command: str) -> str:
    """Return what a Python program prints in a copy of the project; it must succeed."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project in which every recipe was followed."""
    folder = tmp_path_factory.mktemp("project")
    copy_library(folder)
    for recipe, files in TOUCHED.items():
        assert follow(recipe, folder) == files
    run(folder, "tools.documents")
    return folder


@pytest.fixture(scope="module")
def ends(project: Path) -> dict[str, str]:
    """How the tests of what was added ended in the copy, by name."""
    keyword = " or ".join({*TESTS.values()})
    options = ("-v", "-p", "no:cacheprovider", "--doctest-modules", "-k", keyword)
    printed = run(project, "pytest", *options, *TESTS)
    return dict(re.findall(r"::(.+?) (PASSED|SKIPPED)", printed))


def test_additions_touch_few_files(project: Path) -> None:
    files = set().union(*TOUCHED.values())
    assert changed(project) == files | WRITTEN


def test_additions_pass_the_checks(project: Path) -> None:
    files = [name for name in changed(project) if name.endswith(".py")]
    run(project, "ruff", "check", "--no-cache", *files)
    run(project, "ruff", "format", "--no-cache", "--check", *files)


def on_devices() -> dict[str, str]:
    """Return how tests must end by device: skipped where this machine lacks it."""
    ends = {}
    for name in devices.DEVICES:
        try:
            devices.backend(name)
        except DeviceError:
            ends[name] = "SKIPPED"
        else:
            ends[name] = "PASSED"
    return ends


def test_an_operation_is_compared_with_numpy(ends: dict[str, str]) -> None:
    for device, end in on_devices().items():
        assert ends[f"test_values[{device}-deg2rad-float32]"] == end
        assert ends[f"test_layouts[{device}-deg2rad]"] == end
    assert ends["test_local_derivatives_are_differences[deg2rad]"] == "PASSED"
    assert ends["test_function_keeps_its_bound[deg2rad_f32]"] == on_devices()["webgpu"]
    for name in ("functions_are_documented", "elementwise_entries_are_functions"):
        assert ends[f"test_{name}"] == "PASSED"


def test_a_kind_of_kernel_is_compared_with_numpy(ends: dict[str, str]) -> None:
    for device, end in on_devices().items():
        compared = [
            ends[name]
            for name in ends
            if name.startswith(f"test_values_and_kernels[{device}-xp.hadamard")
        ]
        assert compared == [end, end]
    assert ends["test_nodes_carry_the_attributes_of_their_kind"] == "PASSED"
    assert ends["test_imports_point_one_way"] == "PASSED"


def test_a_derivative_rule_is_compared_with_differences(ends: dict[str, str]) -> None:
    name = "test_structures_have_derivatives_of_both_orders"
    assert ends[f"{name}[xp.hadamard(m[:2, ::3], axis=0)]"] == "PASSED"


@pytest.mark.parametrize(
    "name",
    [
        "functions.elementwise.deg2rad",
        "functions.linear_algebra.hadamard",
        "numpy.emath.logn",
        "nn.losses.log_cosh",
    ],
)
def test_the_example_of_a_function_is_run(name: str, ends: dict[str, str]) -> None:
    assert ends[f"tensorweb.{name}"] == "PASSED"
