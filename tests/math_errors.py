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


class Judge:
    """Knows the operands of one function and what it must give.

    Attributes:
        case: the function.
        columns: its operands; subnormal ones may be flushed to zero by a device.
    """

    def __init__(self, case: math_wgsl_cases.Case, gives: str) -> None:
        """Compute what must come out; results of other types than f32 are exact."""
        self.case = case
        self._is_float = gives == "f32"
        with np.errstate(all="ignore"):
            self.columns = case.samples()
            readings = [self.columns]
            if self._is_float:
                readings.append(tuple(flush(column) for column in self.columns))
            self._readings = [(each, case.reference(*each)) for each in readings]

    def worst(self, got: NDArray) -> tuple[float, tuple[Any, ...]]:
        """Return the largest error in ULP and the operands and result there."""
        with np.errstate(all="ignore"):
            if self._is_float:
                errors = np.minimum.reduce(
                    [self._errors(got, *reading) for reading in self._readings]
                )
            else:
                errors = np.where(got == self._readings[0][1], 0.0, np.inf)
        index = int(np.argmax(errors))
        where = (*(column[index] for column in self.columns), got[index])
        return float(errors[index]), where

    def _errors(
        self, got: NDArray, columns: tuple[NDArray, ...], reference: NDArray
    ) -> NDArray:
        """Return the error of each result; infinite where a special is wrong."""
        exact = reference.astype(np.float64)
        value = got.astype(np.float64)
        clipped = np.clip(
            np.nan_to_num(exact, posinf=OVERFLOW, neginf=-OVERFLOW), -OVERFLOW, OVERFLOW
        )
        clipped_value = np.clip(np.nan_to_num(value), -OVERFLOW, OVERFLOW)
        clipped_value = np.where(
            np.isinf(value), np.copysign(OVERFLOW, value), clipped_value
        )
        size = np.abs(clipped).clip(SMALLEST, OVERFLOW / 2)
        if self.case.of_operands:
            finite = [
                np.abs(np.nan_to_num(c, posinf=0, neginf=0).astype("f8"))
                for c in columns
            ]
            size = np.maximum.reduce([size, *finite]).clip(SMALLEST, OVERFLOW / 2)
        errors = np.abs(clipped_value - clipped) / 2.0 ** (np.floor(np.log2(size)) - 23)
        errors[(np.abs(exact) < SMALLEST) & (np.abs(value) <= SMALLEST)] = 0
        wrong = (np.isnan(exact) != np.isnan(value)) | (
            np.isinf(exact) & (value != exact) & ~np.isnan(exact)
        )
        if self.case.signed_zero:
            wrong |= (exact == 0) & (np.signbit(value) != np.signbit(exact))
        return np.where(
            np.isnan(exact) & np.isnan(value), 0, np.where(wrong, np.inf, errors)
        )
