"""dask.distributed on two processes: chunks travel as bytes, and stay tensors."""

from __future__ import annotations

from collections.abc import Iterator

import dask
import numpy as np
import pytest
from dask.distributed import Client, LocalCluster

import tensorweb as tw
from consumers import dask_blocks
from consumers.test_dask import HOST, check, chunks

BUDGET = 8 << 20
"""Bytes that a device of each process may hold, half of what all rows take."""


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A cluster of two processes on this machine, with little memory on a GPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENSORWEB_MEMORY_BUDGET", str(BUDGET))
        cluster = LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        )
    with cluster, Client(cluster) as found:
        yield found


def test_distributed(client: Client) -> None:
    d = chunks()
    with dask.config.set(scheduler=client):
        check(((d * 2) @ d.T).compute(), HOST * 2 @ HOST.T)
        check(d.mean(axis=0).compute(), HOST.mean(axis=0))
        check(d.rechunk((1, 6)).map_blocks(lambda b: b + 1).compute(), HOST + 1)
        kept = d.persist()
        check(kept.sum(axis=1).compute(), HOST.sum(axis=1))


def test_tensors_go_to_workers_and_come_back(client: Client) -> None:
    x = tw.asarray(HOST)
    sent = client.scatter(x)
    check(client.submit(lambda t: t.T * 2, sent).result(), HOST.T * 2)


def test_rows_that_no_device_holds_at_once(client: Client, device: str) -> None:
    with dask.config.set(scheduler=client):
        mean, covariance = dask_blocks.statistics(device)
    blocks = [dask_blocks.block("cpu", (i, 0)) for i in range(dask_blocks.BLOCKS)]
    host = np.concatenate([block.numpy() for block in blocks]).astype(np.float64)
    assert host.nbytes / 2 == 2 * BUDGET
    assert mean.device == covariance.device == device
    np.testing.assert_allclose(mean, host.mean(axis=0), rtol=1e-3, atol=1e-5)
    scale = np.outer(host.std(axis=0), host.std(axis=0))
    expected = np.cov(host, rowvar=False, bias=True)
    np.testing.assert_allclose(covariance / scale, expected / scale, rtol=0, atol=1e-5)
    if device == "webgpu":
        with pytest.raises(tw.DeviceMemoryError, match="budget of 8 MiB"):
            client.submit(everything, device, pure=False).result()


def everything(device: str) -> tw.Tensor:
    """Return all rows at once."""
    blocks = [dask_blocks.block(device, (i, 0)) for i in range(dask_blocks.BLOCKS)]
    return tw.concat(blocks).realize()
