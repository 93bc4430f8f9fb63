"""The bounds of the op table, which need no NumPy, are those of `Case.error`."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from operation_cases import Case
from operation_files import bounds, write_cases

import tensorweb as tw
from e2e.bare.op_runner import Table, compute, is_right, run

EXACT = [0.0, -0.0, 1.0, -3.7, 1e-3, 6e4, 65_519.0, 65_521.0, -7e4, 1e39, 3e-41, -1e-7]
EXACT += [math.inf, -math.inf, math.nan, 3.4028234663852886e38, 1e308, 5e-324]


def candidates(expected: float, dtype: str) -> list[float]:
    """Return numbers of a dtype at and around what is expected, and special ones."""
    kind = np.dtype(dtype).type
    found = [kind(x) for x in (0.0, -0.0, math.inf, -math.inf, math.nan, expected)]
    for towards in (-math.inf, math.inf):
        value = kind(expected)
        for _ in range(6):
            value = np.nextafter(value, kind(towards))
            found.append(value)
    found += [np.finfo(dtype).smallest_normal, -np.finfo(dtype).max]
    return [float(x) for x in found]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("allowed", [0.0, 0.5, 3.0])
def test_bounds_accept_numbers_within_the_error(dtype: str, allowed: float) -> None:
    for expected in EXACT:
        case = Case("", "", {}, np.array([expected]), dtype, (), allowed)
        [least], [greatest] = bounds(case)
        for value in candidates(expected, dtype):
            if expected == 0 == allowed:
                continue  # here signs count as well, and no subnormal number is zero
            within = case.error(np.array([value], dtype)) <= allowed
            assert is_right(value, least, greatest) == within, (expected, value)


def test_an_exact_zero_has_its_sign() -> None:
    case = Case("", "", {}, np.array([0.0, -0.0]), "float32", ())
    least, greatest = bounds(case)
    assert [*map(is_right, (0.0, -0.0), least, greatest)] == [True, True]
    assert [*map(is_right, (-0.0, 0.0), least, greatest)] == [False, False]


def a_case(expected: list[float], dtype: str = "float32") -> Case:
    x = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    exact = np.array(expected).reshape(2, 2)
    return Case("a case", "xp.add(x, 1)", {"x": x}, exact, dtype, ("elementwise",))


@pytest.mark.parametrize(
    ("case", "failure"),
    [
        (a_case([2, 3, 4, 5]), ""),
        (a_case([2, 3, 7, 5]), "a case: element 2 of 4 is 4.0, right is 7.0"),
        (a_case([2, 3, 4, 5], "int32"), "a case: is float32 (2, 2), not int32 [2, 2]"),
    ],
)
def test_wrong_numbers_are_reported(tmp_path: Path, case: Case, failure: str) -> None:
    write_cases(tmp_path, [case], "cpu")
    assert run(Table(tmp_path), "cpu") == [failure] * bool(failure)


def test_wrong_templates_are_reported_on_webgpu(tmp_path: Path, webgpu: str) -> None:
    case = a_case([2, 3, 4, 5])
    write_cases(tmp_path, [case], "webgpu")
    table = Table(tmp_path)
    assert run(table, "webgpu") == []
    table.cases[0]["kernels"] = ["reduce"]
    assert run(table, "webgpu") == ["a case: ran ['elementwise'], not ['reduce']"]


def test_inputs_are_new_tensors(tmp_path: Path, cpu: str) -> None:
    write_cases(tmp_path, [a_case([2, 3, 4, 5])], "cpu")
    table = Table(tmp_path)
    first, second = (compute(table, table.cases[0])[0] for _ in range(2))
    assert not first.shares_memory_with(second)
    assert isinstance(first, tw.Tensor)
