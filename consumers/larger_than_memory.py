"""Arrays larger than the memory of device and process, in blocks by Cubed.

`python -m consumers.larger_than_memory [DEVICE] [MIB]` makes a matrix of that many MiB
on disk, block by block, and computes a sum, a standardisation and a product of it.
Cubed plans each operation so that a task needs at most `allowed_mem` bytes.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
from dataclasses import dataclass

# Cubed reads the array module of its blocks when it is imported.
os.environ.setdefault("CUBED_BACKEND_ARRAY_API_MODULE", "tensorweb.numpy")

import cubed
import cubed.array_api as xp
import numpy as np

import tensorweb as tw

COLUMNS = 256

BLOCK = (512, COLUMNS)
"""512 KiB of float32."""


@dataclass(frozen=True)
class Results:
    """What is computed of a matrix.

    Attributes:
        total: the sum of all elements.
        means, deviations: of each column of the standardised matrix, 0 and 1.
        product: of its transpose with itself.
    """

    total: float
    means: tw.Tensor
    deviations: tw.Tensor
    product: tw.Tensor


def block(start: int, rows: int) -> np.ndarray:
    """Return rows of the matrix as the host would read them from a file.

    >>> block(0, 2).shape
    (2, 256)
    """
    row, column = np.ogrid[start : start + rows, :COLUMNS]
    return ((row * 31 + column * 17) % 101 / 50 + column / 64).astype(np.float32)


def matrix(rows: int, spec: cubed.Spec) -> cubed.Array:
    """Return the matrix of Cubed, none of which has been made."""

    def fill(x: tw.Tensor, block_id: tuple[int, int]) -> tw.Tensor:
        return tw.asarray(block(block_id[0] * BLOCK[0], x.shape[0]))

    empty = xp.empty((rows, COLUMNS), dtype=xp.float32, chunks=BLOCK, spec=spec)
    return cubed.map_blocks(fill, empty, dtype=xp.float32)


def compute(rows: int, spec: cubed.Spec) -> Results:
    """Compute all results of a matrix with a number of rows."""
    x = matrix(rows, spec)
    centred = x - xp.mean(x, axis=0, keepdims=True)
    standard = centred / xp.std(x, axis=0, keepdims=True)
    found = cubed.compute(
        xp.sum(x),
        xp.mean(standard, axis=0),
        xp.std(standard, axis=0),
        xp.matmul(xp.matrix_transpose(standard), standard),
    )
    return Results(float(found[0]), *map(tw.asarray, found[1:]))


def main() -> None:
    """Compute and print a summary."""
    device = sys.argv[1] if len(sys.argv) > 1 else tw.default_device()
    mebibytes = int(sys.argv[2]) if len(sys.argv) > 2 else 64
    tw.set_default_device(device)
    tw.narrow_dtypes()  # Cubed counts elements in int64
    rows = math.ceil(mebibytes * (1 << 20) / COLUMNS / 4)
    with tempfile.TemporaryDirectory() as folder:
        spec = cubed.Spec(work_dir=folder, allowed_mem="12MB", reserved_mem=0)
        found = compute(rows, spec)
    print(f"{rows} rows of {COLUMNS} numbers, {mebibytes} MiB, on {device!r}")
    print(f"sum {found.total:.6g}, means within {abs(found.means).max():.1e}")
    spread = abs(found.deviations - 1).max()
    print(f"deviations 1 within {spread:.1e}, product {found.product.shape}")


if __name__ == "__main__":
    main()
