"""Recipes are complete and touch few files: their steps are followed in a copy."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from contributing import changed, copy_library, follow

from tensorweb import devices
from tensorweb.errors import DeviceError

PAGES = {f"docs/reference/{name}.md" for name in ("elementwise", "numerics", "tensor")}
"""Pages that `build.py docs` writes."""

SURFACES = {"tensorweb/functions/elementwise.py", "tensorweb/tensor/elementwise.py"}
"""Functions and methods that `build.py docs` writes."""


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


def outcomes(project: Path, keyword: str, *files: str) -> dict[str, str]:
    """Return how the tests of a keyword ended in a copy of the project, by name."""
    options = ("-v", "-p", "no:cacheprovider", "--doctest-modules", "-k", keyword)
    printed = run(project, "pytest", *options, *files)
    return dict(re.findall(r"::(.+?) (PASSED|SKIPPED)", printed))


def check_style(project: Path) -> None:
    """Hold the files that were touched to the project's style."""
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


@pytest.fixture(scope="module")
def with_operation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the recipes' operation, and its surfaces."""
    project = tmp_path_factory.mktemp("operation")
    copy_library(project)
    follow("An operation", project)
    assert changed(project) == OPERATION
    run(project, "tools.documents")
    return project


OPERATION = {"shaders/math/degrees.wgsl", "tensorweb/ops/trigonometric.py"}
"""The files that somebody changes who adds an operation."""


def test_an_operation_touches_two_files(with_operation: Path) -> None:
    assert changed(with_operation) == OPERATION | PAGES | SURFACES


def test_an_operation_passes_the_checks(with_operation: Path) -> None:
    check_style(with_operation)


def test_an_operation_is_compared_with_numpy(with_operation: Path) -> None:
    ends = outcomes(
        with_operation,
        "deg2rad",
        "tests/functions/test_elementwise.py",
        "tests/functions/test_public_names.py",
        "tests/codegen/test_math_wgsl.py",
        "tests/transforms/test_rules.py",
        "tensorweb/functions/elementwise.py",
    )
    for device, end in on_devices().items():
        assert ends[f"test_values[{device}-deg2rad-float32]"] == end
        assert ends[f"test_layouts[{device}-deg2rad]"] == end
    assert ends["test_local_derivatives_are_differences[deg2rad]"] == "PASSED"
    assert ends["test_function_keeps_its_bound[deg2rad_f32]"] == on_devices()["webgpu"]
    assert ends["tensorweb.functions.elementwise.deg2rad"] == "PASSED"
    assert ends["test_function_is_documented[deg2rad]"] == "PASSED"


@pytest.fixture(scope="module")
def with_kind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy with the kind of kernel of docs/contributing/extending.md."""
    project = tmp_path_factory.mktemp("kind")
    copy_library(project)
    follow("A kind of kernel", project)
    return project


def test_a_kind_of_kernel_touches_nine_files(with_kind: Path) -> None:
    touched = changed(with_kind) - PAGES
    assert touched == {
        "shaders/hadamard.wgsl",
        "tensorweb/codegen/compiler.py",
        "tensorweb/codegen/hadamard.py",
        "tensorweb/functions/linear_algebra.py",
        "tensorweb/graph/kinds.py",
        "tensorweb/nodes/hadamard.py",
        "tensorweb/ops/structure.py",
        "tensorweb/schedule/kernel_builder.py",
        "tests/structure_cases.py",
    }
    run(with_kind, "tools.documents")
    assert changed(with_kind) - touched <= {*PAGES, "docs/reference/products.md"}


def test_a_kind_of_kernel_passes_the_checks(with_kind: Path) -> None:
    check_style(with_kind)


def test_a_kind_of_kernel_is_compared_with_numpy(with_kind: Path) -> None:
    ends = outcomes(
        with_kind,
        "hadamard or kind or point_one_way",
        "tests/functions/test_structures.py",
        "tests/schedule/test_kinds.py",
        "tests/project/test_layers.py",
        "tensorweb/functions/linear_algebra.py",
    )
    for device, end in on_devices().items():
        compared = [
            ends[name]
            for name in ends
            if name.startswith(f"test_values_and_kernels[{device}-xp.hadamard")
        ]
        assert compared == [end, end]
    assert ends["test_nodes_carry_the_attributes_of_their_kind"] == "PASSED"
    assert ends["tensorweb.functions.linear_algebra.hadamard"] == "PASSED"
    assert ends["test_imports_point_one_way"] == "PASSED"


def test_a_derivative_rule_touches_one_file(tmp_path: Path) -> None:
    copy_library(tmp_path)
    follow("A kind of kernel", tmp_path)
    before = changed(tmp_path)
    follow("A derivative rule", tmp_path)
    assert changed(tmp_path) - before == {"tensorweb/transforms/rules/structure.py"}
    check_style(tmp_path)
    ends = outcomes(tmp_path, "hadamard", "tests/transforms/test_rules.py")
    assert set(ends.values()) == {"PASSED"}


@pytest.mark.parametrize(
    ("recipe", "file", "names"),
    [
        ("A NumPy function", "tensorweb/numpy/emath.py", ["logn"]),
        ("A layer", "tensorweb/nn/losses.py", ["log_cosh"]),
    ],
    ids=["numpy-function", "layer"],
)
def test_a_function_or_a_layer_touches_one_file(
    recipe: str, file: str, names: list[str], tmp_path: Path
) -> None:
    copy_library(tmp_path)
    follow(recipe, tmp_path)
    assert changed(tmp_path) == {file}
    check_style(tmp_path)
    ends = outcomes(tmp_path, " or ".join(names), file)
    module = file.removesuffix(".py").replace("/", ".")
    assert ends == {f"{module}.{name}": "PASSED" for name in names}
