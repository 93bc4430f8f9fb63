"""Rows that no device could hold at once, in blocks on two processes.

`python -m consumers.dask_blocks [DEVICE]` starts two processes on this machine. Each
makes its blocks of rows on its own device and computes with them there; between them
travel small matrices only. Needs dask.distributed.
"""

from __future__ import annotations

import sys

import dask.array as da
from dask.distributed import Client, LocalCluster

import tensorweb as tw

BLOCKS, ROWS, COLUMNS = 16, 4096, 64
"""16 blocks of 1 MiB each."""


def block(device: str, block_id: tuple[int, int] = (0, 0)) -> tw.Tensor:
    """Return the rows of one block, which are the same wherever they are made."""
    key = tw.random.fold_in(tw.random.key(7, device=device), block_id[0])
    scale = tw.arange(1, COLUMNS + 1, dtype=tw.float32, device=device)
    return tw.random.normal(key, (ROWS, COLUMNS)) * scale


def rows(device: str) -> da.Array:
    """Return all rows as an array of dask, none of which is made yet."""
    return da.map_blocks(
        block,
        device,
        chunks=((ROWS,) * BLOCKS, (COLUMNS,)),
        dtype="float32",
        meta=tw.zeros((0, 0), device=device),
    )


def sums(rows: tw.Tensor) -> tw.Tensor:
    """Return the sums of the columns, and below them of all products of two columns.

    They are computed at once, so that nothing holds the rows any longer: what a task
    gives without `realize()` keeps its whole graph until dask sends it.
    """
    return tw.concat([rows.sum(axis=0, keepdims=True), rows.T @ rows]).realize()


def statistics(device: str) -> tuple[tw.Tensor, tw.Tensor]:
    """Return the means of all columns and the matrix of their covariances."""
    x = rows(device)
    parts = x.map_blocks(
        sums,
        chunks=((COLUMNS + 1,) * BLOCKS, (COLUMNS,)),
        dtype="float32",
        meta=tw.zeros((0, 0), device=device),
    )
    totals = parts.reshape(BLOCKS, COLUMNS + 1, COLUMNS).sum(axis=0).compute()
    mean = totals[0] / len(x)
    return mean, totals[1:] / len(x) - mean[:, None] * mean


def main() -> None:
    """Start two processes, and print what they find."""
    device = sys.argv[1] if len(sys.argv) > 1 else tw.default_device()
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster),
    ):
        mean, covariance = statistics(device)
    print(f"{BLOCKS * ROWS} rows of {COLUMNS} numbers on {device!r}")
    print(f"deviations from {covariance[0, 0] ** 0.5:.2f}", end=" ")
    print(f"to {covariance[-1, -1] ** 0.5:.1f}, means within {abs(mean).max():.2f}")


if __name__ == "__main__":
    main()
