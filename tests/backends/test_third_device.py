"""A new device is one row and one module: everything else asks the table."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextvars import Context

import numpy as np
import pytest
from pretend_backend import ROW, PretendBackend, PretendPreparer, PretendRecorder

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends import cpu as cpu_device
from tensorweb.errors import DeviceError, DTypeError, TraceError
from tensorweb.performance.warming import graphs
from tensorweb.playground.warming import Warming


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Iterator[PretendBackend]:
    """The new device in the table, the default one meanwhile."""
    monkeypatch.setitem(devices.DEVICES, ROW.name, ROW)
    monkeypatch.setattr(devices, "_backends", dict(devices._backends))
    monkeypatch.setattr(devices, "_fastest_here", None)
    with devices.device(ROW.name):
        backend = devices.backend(ROW.name)
        assert isinstance(backend, PretendBackend)
        yield backend


PROGRAMS: dict[str, Callable[[tw.Tensor], tw.Tensor]] = {
    "arithmetic": lambda x: x * 2 - 1,
    "sum": lambda x: tw.sum(x, axis=1),
    "product": lambda x: x @ x.T,
    "movement": lambda x: tw.flip(x.T)[1:],
    "sort": lambda x: tw.sort(x, descending=True),
    "comparison": lambda x: tw.where(x > 2, x, 0),
    "index": lambda x: x[:, tw.asarray([2, 0])],
    "mask": lambda x: x[x > 2],
    "accumulation": lambda x: x.at[tw.asarray([0, 0])].add(1.0),
    "scan": lambda x: tw.cumulative_sum(x, axis=0),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_third_device_agrees_with_the_cpu(name: str, pretend: PretendBackend) -> None:
    found = PROGRAMS[name](tw.asarray([[3.0, 1.0, 2.0], [6.0, 4.0, 5.0]]))
    assert found.device == "pretend"
    with tw.device("cpu"):
        expected = PROGRAMS[name](tw.asarray([[3.0, 1.0, 2.0], [6.0, 4.0, 5.0]]))
    assert found.tolist() == expected.tolist()
    assert asyncio.run((found + 1).tolist_async()) == (expected + 1).tolist()


def test_assignment_and_printing(pretend: PretendBackend) -> None:
    x = tw.zeros((2, 2))
    x[0] = 1.5
    x += 1
    assert repr(x) == "tensor([[2.5, 2.5],\n        [1. , 1. ]])"


def test_values_move_between_all_devices(webgpu: str, pretend: PretendBackend) -> None:
    x = tw.arange(5, dtype=tw.float32, device="webgpu") + 1
    there = x.to_device("pretend")
    assert there.device == "pretend"
    assert (there * 2).to_device("cpu").tolist() == [2.0, 4.0, 6.0, 8.0, 10.0]
    assert (there * 2).to_device("webgpu").tolist() == [2.0, 4.0, 6.0, 8.0, 10.0]
    assert tw.asarray(np.ones(2, np.float32)).device == "pretend"
    with pytest.raises(DeviceError, match="'webgpu' and 'pretend'"):
        x + there


def test_entry_names_the_stored_dtypes(pretend: PretendBackend) -> None:
    with pytest.raises(DTypeError, match="stores bool, float32, int32"):
        tw.zeros(2, dtype=tw.float64)
    with pytest.raises(DTypeError, match="'pretend' has no float16"):
        tw.zeros(2, dtype=tw.float16)


def test_the_last_row_is_the_default_where_it_can_be_had(
    pretend: PretendBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "_process_default", None)
    assert devices.fastest() == "pretend"
    assert Context().run(tw.default_device) == "pretend"  # outside of `with device`
    assert asyncio.run(tw.open_device_async()) == "pretended"


def test_errors_name_it(pretend: PretendBackend) -> None:
    with pytest.raises(DeviceError, match="devices are cpu, webgpu, pretend"):
        tw.ones(2, device="gpu")


def test_synchronize_waits_for_it(pretend: PretendBackend) -> None:
    tw.synchronize()
    assert pretend.synchronized == 1


def test_explain_uses_the_third_backend(pretend: PretendBackend) -> None:
    assert "pretended: 3 calls" in str(tw.explain(tw.ones(3) + tw.arange(3)))


def test_jit_runs_the_function_without_a_recorder(pretend: PretendBackend) -> None:
    runs = 0

    @tw.jit
    def double(x: tw.Tensor) -> tw.Tensor:
        nonlocal runs
        runs += 1
        return x * 2

    assert double(tw.ones(2)).tolist() == [2.0, 2.0]
    assert double(tw.ones(2)).tolist() == [2.0, 2.0]
    assert runs == 2
    assert double.recordings == 0


def test_jit_records_with_a_recorder(pretend: PretendBackend) -> None:
    pretend.recorder = recorder = PretendRecorder()
    double = tw.jit(lambda x: x * 2)
    assert [double(tw.full(2, n)).tolist() for n in (3.0, 4.0)] == [[3, 3], [4, 4]]
    assert len(recorder.recorded) == 1


def test_jit_refuses_devices_that_are_mixed(pretend: PretendBackend) -> None:
    pretend.recorder = PretendRecorder()
    with pytest.raises(DeviceError, match=r"arguments of add lie on cpu and pretend"):
        tw.jit(tw.add)(tw.ones(2), tw.ones(2, device="cpu"))
    with pytest.raises(TraceError, match="on 'pretend' and returns one on 'cpu'"):
        tw.jit(lambda x: tw.ones(2, device="cpu"))(tw.ones(2))


def test_jit_runs_a_function_without_tensors(webgpu: str) -> None:
    assert tw.jit(lambda n: tw.full(2, n))(3.0).tolist() == [3.0, 3.0]


def test_tune_says_that_there_is_nothing_to_choose(pretend: PretendBackend) -> None:
    message = "device 'pretend' has no tiles"
    with pytest.raises(DeviceError, match=message):
        tw.tune()
    with pytest.raises(DeviceError, match=message):
        asyncio.run(tw.tune_async())


def test_warm_up_does_nothing_without_a_preparer(pretend: PretendBackend) -> None:
    tw.warm_up("scan")
    asyncio.run(tw.warm_up_async("scan"))
    assert asyncio.run(Warming(blocking=False).step()) == {"more": False}


def test_warm_up_prepares_with_a_preparer(pretend: PretendBackend) -> None:
    pretend.preparer = preparer = PretendPreparer()
    tw.warm_up("scan")
    assert len(preparer.prepared) == len(list(graphs(["scan"])))
    assert {node.device for node in preparer.prepared} == {"pretend"}
    assert preparer.finished == 1


def test_no_cpu_that_stands_in_for_a_gpu_is_the_default(
    pretend: PretendBackend, webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "_process_default", None)
    monkeypatch.setattr(devices.backend(webgpu), "is_emulated", True)
    monkeypatch.setattr(pretend, "is_emulated", True)
    assert Context().run(tw.default_device) == "cpu"
    said = asyncio.run(tw.open_device_async())
    assert said.startswith(devices.backend("cpu").description)
    assert "a CPU stands in for a GPU" in said
    assert 'tw.set_default_device("' in said

    monkeypatch.setattr(devices, "_fastest_here", None)
    with monkeypatch.context() as without_numpy:
        without_numpy.delitem(devices._backends, "cpu")
        without_numpy.setattr(cpu_device, "open_backend", _refuse)
        assert Context().run(tw.default_device) == "pretend"


def _refuse(name: str) -> None:
    raise DeviceError("no NumPy")
