"""What CONTRIBUTING.md tells is enough, and few files: its steps followed in a copy."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from contributing import changed, copy_library, follow

from tensorweb import devices
from tensorweb.errors import DeviceError

MADE = {"docs/api.md", "docs/numerics.md"}
"""What `build.py docs` writes."""


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
    return dict(re.findall(r"::(\S+) (PASSED|SKIPPED)", printed))


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
    """A copy of the project that has the operation of CONTRIBUTING.md."""
    project = tmp_path_factory.mktemp("operation")
    copy_library(project)
    follow("An operation", project)
    return project


def test_an_operation_touches_four_files(with_operation: Path) -> None:
    touched = changed(with_operation) - MADE
    assert touched == {
        "shaders/math/cube_root.wgsl",
        "tensorweb/functions/arithmetic.py",
        "tensorweb/ops/arithmetic.py",
        "tensorweb/tensor/elementwise.py",
    }
    run(with_operation, "tools.documents")
    assert changed(with_operation) - touched == MADE


def test_an_operation_passes_the_checks(with_operation: Path) -> None:
    run(with_operation, "ruff", "check", "--no-cache", "tensorweb")
    run(with_operation, "ruff", "format", "--no-cache", "--check", "tensorweb")


def test_an_operation_is_compared_with_numpy(with_operation: Path) -> None:
    ends = outcomes(
        with_operation,
        "cbrt",
        "tests/functions/test_elementwise.py",
        "tests/functions/test_public_names.py",
        "tests/codegen/test_math_wgsl.py",
        "tensorweb/functions/arithmetic.py",
    )
    for device, end in on_devices().items():
        assert ends[f"test_values[{device}-cbrt-float32]"] == end
        assert ends[f"test_layouts[{device}-cbrt]"] == end
    assert ends["test_function_keeps_its_bound[cbrt_f32]"] == on_devices()["webgpu"]
    assert ends["tensorweb.functions.arithmetic.cbrt"] == "PASSED"
    assert ends["test_function_is_documented[cbrt]"] == "PASSED"
