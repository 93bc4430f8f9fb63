"""Doubts about results: whom they keep alive, and which devices are asked."""

from __future__ import annotations

from weakref import ref

import pytest

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.graph import deferred_errors


def solved(number: float = 2.0) -> tw.Tensor:
    """Return what a stored result in doubt is."""
    matrix = tw.asarray([[number, 1.0], [number, 2.0]])
    found = tw.linalg.solve(matrix, tw.ones(2))
    tw.realize(found)
    return found


@pytest.fixture(autouse=True)
def no_doubts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deferred_errors, "_doubts", [])


def test_results_that_nobody_holds_leave_nothing(device: str) -> None:
    asked = []
    for number in range(1, 6):
        solved(number)
        asked.append(ref(deferred_errors._doubts[-1].failed))
    assert [one() is None for one in asked] == [True] * 4 + [False]


def test_other_devices_are_not_checked(webgpu: str) -> None:
    found = solved(0.0)
    with devices.device("cpu"):
        assert (tw.ones(2) + 1).tolist() == [2, 2]
    with pytest.raises(tw.LinAlgError, match="singular"):
        (tw.ones(2) + 1).tolist()
    assert found.shape == (2,)


def test_a_lost_device_is_not_checked(webgpu: str) -> None:
    found = solved()
    lost = devices.backend(webgpu)
    assert isinstance(lost, WebGpuBackend)
    lost.driver.close()
    with pytest.raises(tw.DeviceLostError):
        tw.realize(tw.ones(3) + 1)
    assert (tw.ones(3) + 1).tolist() == [2, 2, 2]
    with pytest.raises(tw.DeviceLostError, match="make it again"):
        found.tolist()
    assert solved().tolist() == [0.5, 0]
