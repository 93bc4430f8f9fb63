"""Evaluates statements with NumPy and with `tensorweb.numpy`, and tells differences."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy

import tensorweb.numpy as np
from tensorweb.tensor import Tensor

NARROW = {"f": numpy.float32, "i": numpy.int32, "c": numpy.complex64}
"""The dtypes that NumPy's results have here, by kind."""


def arrays(module: ModuleType, data: Mapping[str, object]) -> dict[str, Any]:
    """Return the data as arrays of a module, in the dtypes that are usual here."""
    found: dict[str, Any] = {"np": module}
    for name, values in data.items():
        host = numpy.asarray(values)
        host = host.astype(NARROW.get(host.dtype.kind, host.dtype))
        found[name] = host if module is numpy else np.asarray(host)
    return found


def result(text: str, names: dict[str, Any]) -> Any:
    """Run statements, separated by semicolons, and return the value of the last one."""
    *statements, last = text.split("; ")
    exec("\n".join(statements), names)
    return eval(last, names)


def difference(
    got: Any, result_of_numpy: Any, rtol: float = 1e-5, atol: float = 1e-6
) -> str | None:
    """Return how a result differs from NumPy's, None where it does not."""
    if isinstance(result_of_numpy, tuple | list):
        if not isinstance(got, tuple | list) or len(got) != len(result_of_numpy):
            return f"{got}, not {result_of_numpy}"
        pairs = zip(got, result_of_numpy, strict=True)
        return next(
            (text for pair in pairs if (text := difference(*pair, rtol, atol))), None
        )
    if not isinstance(result_of_numpy, numpy.ndarray | numpy.generic):
        number = got.item() if isinstance(got, Tensor) else got
        return None if number == result_of_numpy else f"{got}, not {result_of_numpy}"
    if not isinstance(got, Tensor | bool | int | float | complex):
        return f"{got!r} is no tensor"
    host, expected = numpy.asarray(got), numpy.asarray(result_of_numpy)
    kinds = [array.dtype.kind.replace("u", "i") for array in (host, expected)]
    if host.shape != expected.shape or kinds[0] != kinds[1]:
        return f"{host.dtype}{host.shape}, not {expected.dtype}{expected.shape}"
    if not numpy.allclose(host, expected, rtol=rtol, atol=atol, equal_nan=True):
        return f"{host}, not {expected}"
    return None


def compared(statements: list[str], data: Mapping[str, object]) -> list[str]:
    """Return which statements give something else than NumPy."""
    found = []
    for text in statements:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            result_of_numpy = result(text, arrays(numpy, data))
        try:
            problem = difference(result(text, arrays(np, data)), result_of_numpy)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        if problem:
            found.append(f"{text}: {problem}")
    return found
