"""Statistics, sorting and sets of `tensorweb.numpy` against NumPy."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import numpy
import pytest
from numpy_habits.statistics_cases import CHANGES, DATA, TOPICS

import tensorweb.numpy as np
from tensorweb.errors import DataError
from tensorweb.tensor import Tensor


def arguments(module: ModuleType) -> dict[str, Any]:
    """Return the data as arrays of a module, float32 and int32."""
    found: dict[str, Any] = {"np": module, "nan": numpy.nan}
    for name, values in DATA.items():
        host = numpy.asarray(values)
        dtypes = {"f": numpy.float32, "i": numpy.int32}
        host = host.astype(dtypes.get(host.dtype.kind, host.dtype))
        found[name] = host if module is numpy else np.asarray(host)
    return found


def differences(got: Any, result_of_numpy: Any) -> str | None:
    """Return how a result differs from NumPy's, None where it does not."""
    if isinstance(result_of_numpy, tuple | list):
        if not isinstance(got, tuple | list) or len(got) != len(result_of_numpy):
            return f"{got}, not {result_of_numpy}"
        pairs = zip(got, result_of_numpy, strict=True)
        return next((text for pair in pairs if (text := differences(*pair))), None)
    if isinstance(result_of_numpy, int | float) and not isinstance(
        result_of_numpy, numpy.generic
    ):
        return None if got == result_of_numpy else f"{got!r}, not {result_of_numpy!r}"
    if not isinstance(got, Tensor):
        return f"{got!r} is no tensor"
    host, expected = got.numpy(), numpy.asarray(result_of_numpy)
    kinds = host.dtype.kind, expected.dtype.kind
    if host.shape != expected.shape or kinds[0] != kinds[1]:
        return f"{host.dtype}{host.shape}, not {expected.dtype}{expected.shape}"
    if not numpy.allclose(host, expected, rtol=2e-5, atol=2e-6, equal_nan=True):
        return f"{host}, not {expected}"
    return None


def compared(expressions: list[str]) -> list[str]:
    """Return which expressions give something else than NumPy."""
    ours, theirs = arguments(np), arguments(numpy)
    found = []
    for text in expressions:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            result_of_numpy = eval(text, theirs)
        try:
            problem = differences(eval(text, ours), result_of_numpy)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        if problem:
            found.append(f"{text}: {problem}")
    return found


@pytest.mark.parametrize("topic", TOPICS)
def test_results_agree_with_numpy(cpu: str, topic: str) -> None:
    assert compared(TOPICS[topic]) == []


ON_A_GPU = (
    "np.histogram(v, [-5.0, 0.0, 2.0, 7.0])",
    "np.unique(nans, return_counts=True)",
)


def test_results_on_a_gpu_agree_with_numpy(webgpu: str) -> None:
    assert compared(list(ON_A_GPU)) == []


@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
def test_degrees_of_freedom_are_given_by_one_name(cpu: str, name: str) -> None:
    twice = {"ddof": 1, "correction": 2}
    with pytest.raises(ValueError, match="ddof"):
        getattr(numpy, name)([1.0, numpy.nan], **twice)
    with pytest.raises(DataError, match=f"^{name}: ddof=1 and correction=2 are one"):
        getattr(np, name)([1.0, np.nan], **twice)


def test_methods_of_ufuncs_update_like_numpy(device: str) -> None:
    lines = CHANGES.strip().split("\n")
    chosen = lines if device == "cpu" else lines[:2]
    found = []
    for line in chosen:
        ours, theirs = arguments(np), arguments(numpy)
        exec(line, theirs)
        exec(line, ours)
        found += [
            f"{line}: {problem}"
            for name in ("v", "w", "i")
            if (problem := differences(ours[name], theirs[name]))
        ]
    assert found == []
