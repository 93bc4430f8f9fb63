"""Functions of many NumPy calls, computed in blocks that stay in a core's cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

BLOCK = 1 << 14
"""Elements of 4 bytes whose intermediate results stay in a core's cache."""


def in_blocks(np: Any, function: Callable[..., Any], dtype: Any, *arrays: Any) -> Any:
    """Return an elementwise function of arrays that broadcast, block by block.

    Args:
        np: NumPy.
        function: takes 1-D arrays of one length, or of length 1.
        dtype: the dtype of the result.
        arrays: the arguments of the function.
    """
    shape = np.broadcast_shapes(*[array.shape for array in arrays])
    result = np.empty(shape, dtype)
    flat = result.reshape(-1)
    columns = [
        array.reshape(1)
        if array.size == 1
        else np.broadcast_to(array, shape).reshape(-1)
        for array in arrays
    ]
    for start in range(0, flat.size, BLOCK):
        block = slice(start, start + BLOCK)
        flat[block] = function(
            *[column if column.size == 1 else column[block] for column in columns]
        )
    return result
