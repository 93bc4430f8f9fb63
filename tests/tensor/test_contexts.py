"""Threads, tasks of asyncio and forked processes do not get in each other's way."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from threading import Barrier

import pytest

import tensorweb as tw
from tensorweb import devices, evaluate
from tensorweb.graph.node import Node
from tensorweb.graph.tracing import tracing

OTHER = {"cpu": "webgpu", "webgpu": "cpu"}


def test_with_device_holds_in_its_own_thread(webgpu: str) -> None:
    meeting = Barrier(2)

    def made(name: str) -> list[str]:
        found = []
        for _ in range(20):
            with tw.device(name):
                meeting.wait()
                found.append(tw.ones(2).device)
                meeting.wait()
        return found

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(made, ["cpu", "webgpu"])
    assert set(first) == {"cpu"}
    assert set(second) == {"webgpu"}


def test_with_device_holds_in_its_own_task(webgpu: str) -> None:
    async def made(name: str) -> list[str]:
        found = []
        with tw.device(name):
            for _ in range(5):
                await asyncio.sleep(0)
                found.append(tw.ones(2).device)
        return found

    async def both() -> list[list[str]]:
        return await asyncio.gather(made("cpu"), made("webgpu"))

    first, second = asyncio.run(both())
    assert set(first) == {"cpu"}
    assert set(second) == {"webgpu"}
    assert tw.default_device() == "webgpu"


def test_a_task_begins_with_the_default_of_its_maker(webgpu: str) -> None:
    async def default() -> str:
        return tw.default_device()

    async def run() -> str:
        with tw.device("cpu"):
            task = asyncio.ensure_future(default())
        return await task

    assert asyncio.run(run()) == "cpu"


def test_set_default_device_is_for_every_thread(
    webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "_process_default", None)
    with ThreadPoolExecutor(1) as pool:
        for name in ("cpu", "webgpu"):
            tw.set_default_device(name)
            assert pool.submit(tw.default_device).result() == name
            with tw.device(OTHER[name]):
                assert tw.default_device() == OTHER[name]
                assert pool.submit(tw.default_device).result() == name


def test_recording_a_function_leaves_other_threads_bounded(cpu: str) -> None:
    def depth() -> int:
        x = tw.ones(3)
        for _ in range(2 * evaluate.DEEPEST):
            x = x + 1
        node: Node = x.node
        return node.depth

    with ThreadPoolExecutor(1) as pool, tracing("f"):
        assert pool.submit(depth).result() <= evaluate.DEEPEST
        assert depth() > evaluate.DEEPEST


def test_kernels_are_recorded_of_their_own_thread(webgpu: str) -> None:
    def compute() -> None:
        with tw.device("webgpu"):
            tw.realize(tw.ones(5) + tw.arange(5))

    with ThreadPoolExecutor(1) as pool, tw.record_kernels() as kernels:
        pool.submit(compute).result()
        assert kernels == []
        compute()
        assert len(kernels) == 1


def _use_devices(x: tw.Tensor, results: Connection) -> None:
    """Run in a forked process."""
    found = []
    for use in (x.tolist, (x + 1).tolist, lambda: tw.ones(2, device="webgpu").tolist()):
        try:
            found.append(str(use()))
        except tw.DeviceError as error:
            found.append(str(error))
    with tw.device("cpu"):
        found.append(str((tw.asarray([1.0, 2.0]) * 2).tolist()))
    results.send(found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_may_not_use_its_parent_s_device(webgpu: str) -> None:
    x = tw.realize(tw.asarray([1.0, 2.0]) * 3)
    assert isinstance(x, tw.Tensor)
    context = multiprocessing.get_context("fork")
    results, child_end = context.Pipe(duplex=False)
    child = context.Process(target=_use_devices, args=(x, child_end))
    child.start()
    try:
        assert results.poll(60), "the forked process hangs"
        *refused, computed = results.recv()
    finally:
        child.kill()
        child.join()
    # A constant needs no device, everything else does.
    assert ["before os.fork" in text for text in refused] == [True, True, False]
    assert "spawn" in refused[0]
    assert computed == "[2.0, 4.0]"
    assert x.tolist() == [3.0, 6.0]
