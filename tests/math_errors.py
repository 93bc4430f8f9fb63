"""Judge results of float32 functions: errors in ULP, specials right or wrong."""

from __future__ import annotations

from typing import Any

import math_wgsl_cases
import numpy as np
from numpy.typing import NDArray

SMALLEST = 2.0**-126
OVERFLOW = 2.0**128


def flush(column: NDArray) -> NDArray:
    """Return `column` with subnormals replaced by zeros of their sign."""
    return np.where(np.abs(column) < SMALLEST, np.copysign(0, column), column).astype(
        column.dtype
    )


def ulp_errors(
    case: math_wgsl_cases.Case, got: NDArray, columns: tuple[NDArray, ...]
) -> NDArray:
    """Return the error of each result in ULP; infinite where a special is wrong."""
    exact = case.reference(*columns).astype(np.float64)
    value = got.astype(np.float64)
    clipped = np.clip(
        np.nan_to_num(exact, posinf=OVERFLOW, neginf=-OVERFLOW), -OVERFLOW, OVERFLOW
    )
    clipped_value = np.clip(np.nan_to_num(value), -OVERFLOW, OVERFLOW)
    clipped_value = np.where(
        np.isinf(value), np.copysign(OVERFLOW, value), clipped_value
    )
    size = np.abs(clipped).clip(SMALLEST, OVERFLOW / 2)
    if case.of_operands:
        finite = [
            np.abs(np.nan_to_num(c, posinf=0, neginf=0).astype("f8")) for c in columns
        ]
        size = np.maximum.reduce([size, *finite]).clip(SMALLEST, OVERFLOW / 2)
    errors = np.abs(clipped_value - clipped) / 2.0 ** (np.floor(np.log2(size)) - 23)
    errors[(np.abs(exact) < SMALLEST) & (np.abs(value) <= SMALLEST)] = 0
    wrong = (np.isnan(exact) != np.isnan(value)) | (
        np.isinf(exact) & (value != exact) & ~np.isnan(exact)
    )
    if case.signed_zero:
        wrong |= (exact == 0) & (np.signbit(value) != np.signbit(exact))
    return np.where(
        np.isnan(exact) & np.isnan(value), 0, np.where(wrong, np.inf, errors)
    )


def worst(
    case: math_wgsl_cases.Case, got: NDArray, columns: tuple[NDArray, ...], gives: str
) -> tuple[float, tuple[Any, ...]]:
    """Return the largest error in ULP and the operands and result there.

    Args:
        case: the function.
        got: its results.
        columns: its operands; subnormal ones may have been flushed to zero.
        gives: WGSL's type of the results; those of other types than f32 are exact.
    """
    with np.errstate(all="ignore"):
        if gives != "f32":
            errors = np.where(got == case.reference(*columns), 0.0, np.inf)
        else:
            errors = ulp_errors(case, got, columns)
            flushed = tuple(flush(column) for column in columns)
            errors = np.minimum(errors, ulp_errors(case, got, flushed))
    place = int(np.argmax(errors))
    return float(errors[place]), (*(c[place] for c in columns), got[place])
