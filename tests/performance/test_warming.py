"""Warming up: what it compiles, that it computes nothing, and what finds it later."""

from __future__ import annotations

import asyncio
import math
from array import array
from collections.abc import Iterator

import pytest
from pretend_driver import PretendDriver

import tensorweb as tw
from bench.programs import tensorweb_programs
from bench.workloads import Input, Workload, workloads
from tensorweb import devices
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.errors import DataError
from tensorweb.performance.warming import FAMILIES, given, graphs, prepare
from tensorweb.playground import policy
from tensorweb.playground.warming import Warming


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[PretendDriver]:
    """A GPU that is not there, the default device meanwhile."""
    driver = PretendDriver()
    monkeypatch.setitem(devices._backends, "webgpu", WebGpuBackend(driver))
    with devices.device("webgpu"):
        yield driver


def operand(each: Input) -> tw.Tensor:
    """Return what stands for an operand; indices lie on the host, as after a check."""
    if each.dtype == "int32":
        return tw.asarray(array("i", bytes(4 * math.prod(each.shape))))
    return given(*each.shape)


def prepare_workload(row: Workload) -> None:
    """Plan what a benchmark's row computes, at its own shapes."""
    operands = [operand(each) for each in row.inputs]
    prepare(lambda: tensorweb_programs()[row.program](*operands))


@pytest.mark.parametrize("row", workloads(), ids=lambda row: row.name)
def test_first_calls_of_the_benchmarks_find_their_pipelines(
    row: Workload, driver: PretendDriver
) -> None:
    tw.warm_up()
    known = set(driver.sources)
    prepare_workload(row)
    new = [source for source in driver.sources if source not in known]
    assert not new or row.name == "elem"  # a chain of the user's own is always new
    assert len(driver.sources) == len(set(driver.sources))


def test_warming_takes_no_memory_and_submits_nothing(driver: PretendDriver) -> None:
    tw.warm_up()
    assert driver.buffers <= 1
    assert len(driver.sources) > 50


def test_warming_up_fits_the_limits_of_small_devices(driver: PretendDriver) -> None:
    driver.limits["maxStorageBufferBindingSize"] = 128 << 20
    driver.limits["maxBufferSize"] = 256 << 20
    driver.limits["maxComputeInvocationsPerWorkgroup"] = 256
    driver.limits["maxComputeWorkgroupStorageSize"] = 16384
    driver.limits["maxStorageBuffersPerShaderStage"] = 8
    devices._backends["webgpu"] = WebGpuBackend(driver)
    tw.warm_up()
    assert driver.sources


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_begins_pipelines(family: str, driver: PretendDriver) -> None:
    for graph in graphs([family]):
        prepare(graph)
    assert driver.sources
    assert driver.pending == set(range(len(driver.sources)))
    assert not driver.waits


def test_warm_up_waits_until_all_is_compiled(driver: PretendDriver) -> None:
    tw.warm_up("scan")
    assert driver.sources
    assert not driver.pending


def test_awaiting_twin_compiles_the_same(driver: PretendDriver) -> None:
    tw.warm_up("scan")
    first = list(driver.sources)
    devices._backends["webgpu"] = WebGpuBackend(other := PretendDriver())
    asyncio.run(tw.warm_up_async("scan"))
    assert other.sources == first
    assert not other.pending


def test_unknown_family_is_named() -> None:
    with pytest.raises(DataError, match=r"unknown family 'fft'; families are matmul"):
        tw.warm_up("fft")


def test_run_waits_only_for_its_own_pipelines(driver: PretendDriver) -> None:
    prepare(lambda: tw.sort(given(1 << 20)))
    begun = set(driver.pending)
    x = given(1000)
    prepare(lambda: tw.cumulative_sum(x))
    scan = driver.pending - begun
    tw.realize(tw.cumulative_sum(tw.asarray([1.0] * 1000)))
    assert driver.waits == [sorted(scan)]
    assert driver.pending == begun


def test_run_does_not_wait_where_python_cannot_block(driver: PretendDriver) -> None:
    driver.blocks = False
    prepare(lambda: tw.cumulative_sum(given(1 << 20)))
    tw.realize(tw.cumulative_sum(tw.zeros(1 << 20) + 1))
    assert not driver.waits


def test_new_pipelines_of_a_plan_compile_side_by_side(driver: PretendDriver) -> None:
    tw.realize(tw.cumulative_sum(tw.zeros(1 << 20) + 1))
    assert [len(waited) for waited in driver.waits] == [len(driver.sources)]
    assert len(driver.sources) > 1


def test_software_adapters_compile_one_after_another(driver: PretendDriver) -> None:
    driver.is_software = True
    tw.realize(tw.cumulative_sum(tw.zeros(1 << 20) + 1))
    assert not driver.waits
    assert not driver.pending


def test_warmed_kernels_compute_on_the_device(webgpu: str) -> None:
    backend = devices.backend(webgpu)
    assert isinstance(backend, WebGpuBackend)
    tw.warm_up("scan")
    compiled = backend.driver.counters()["pipelines"]
    x = tw.realize(tw.asarray([2.0] * 1000))
    assert tw.cumulative_sum(x)[-1].item() == 2000.0
    assert backend.driver.counters()["pipelines"] <= compiled + 1


def test_page_warms_up_a_graph_at_a_time(driver: PretendDriver) -> None:
    warming = Warming(blocking=True)
    steps = 0
    while asyncio.run(warming.step())["more"]:
        steps += 1
        driver.pending.clear()
    assert steps == len(list(graphs()))
    known = set(driver.sources)
    tw.warm_up()
    assert set(driver.sources) == known


def test_page_leaves_a_busy_compiler_alone(driver: PretendDriver) -> None:
    warming = Warming(blocking=True)
    driver.pending = set(range(1000, 1001 + policy.MOST_PENDING))
    assert asyncio.run(warming.step()) == {"more": True}
    assert not driver.sources


def test_page_does_not_warm_software_adapters(driver: PretendDriver) -> None:
    driver.is_software = True
    assert asyncio.run(Warming(blocking=True).step()) == {"more": False}
    assert not driver.sources
