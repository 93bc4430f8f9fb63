"""Convolutions by their definition, in NumPy, to compare with."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import ramp


def small(*shape: int, dtype: Any = np.float32) -> Any:
    """Return small whole numbers, whose sums of products are exact."""
    return ((ramp(*shape, dtype=np.int32) * 5 + 3) % 11 - 5).astype(dtype)


def convolved(
    x: Any,
    weight: Any,
    stride: tuple[int, int] = (1, 1),
    borders: tuple[tuple[int, int], tuple[int, int]] = ((0, 0), (0, 0)),
    dilation: tuple[int, int] = (1, 1),
    groups: int = 1,
) -> Any:
    """Return the convolution by the definition, one output at a time, in float64."""
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), *borders))
    n, _, h, w = padded.shape
    o, depth, kh, kw = weight.shape
    high = (h - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    wide = (w - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    result = np.zeros((n, o, high, wide))
    for index in np.ndindex(o, high, wide):
        output, row, column = index
        first = output // (o // groups) * depth
        top, left = row * stride[0], column * stride[1]
        seen = padded[
            :,
            first : first + depth,
            top : top + dilation[0] * (kh - 1) + 1 : dilation[0],
            left : left + dilation[1] * (kw - 1) + 1 : dilation[1],
        ]
        result[:, output, row, column] = (seen * weight[output]).sum((1, 2, 3))
    return result


def pair(number: Any) -> tuple[int, int]:
    return (number, number) if isinstance(number, int) else number


def definition(x: Any, weight: Any, how: dict[str, Any]) -> Any:
    padding = [pair(width) for width in pair(how.get("padding", 0))]
    return convolved(
        x,
        weight,
        pair(how.get("stride", 1)),
        (padding[0], padding[1]),
        pair(how.get("dilation", 1)),
        how.get("groups", 1),
    )
