"""Values out of tensors on both devices: numbers, lists, arrays, and their errors."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checks import assert_equal, ramp

import tensorweb as tw
from tensorweb.errors import (
    DataError,
    DTypeError,
    MissingPackageError,
    TensorIndexError,
)
from tensorweb.evaluate import DEEPEST

pytestmark = pytest.mark.usefixtures("device")


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint32", "bool"])
def test_lists_and_arrays_of_every_view(dtype: str) -> None:
    host = (ramp(2, 3, 5) % 3).astype(dtype)
    for view in (host, host.T, host[:, ::-1, 1::2], host[:, :0], host[1, 1, 1:2]):
        x = tw.asarray(host)
        same = {host.shape: x, host.T.shape: x.permute(2, 1, 0)}.get(view.shape)
        got = tw.asarray(view) if same is None else same
        assert got.tolist() == view.tolist()
        assert got.numpy().dtype == dtype
        np.testing.assert_array_equal(got.numpy(), view)
        np.testing.assert_array_equal(np.asarray(got), view)


def test_special_values_survive() -> None:
    values = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45, 3.4e38], np.float32)
    x = tw.asarray(values)
    np.testing.assert_array_equal(x.numpy().view(np.int32), values.view(np.int32))


def test_arrays_may_be_written_to() -> None:
    x = tw.ones(3)
    host = x.numpy()
    host[0] = 5
    assert_equal(x, [1, 1, 1])
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="copy=False"):
        np.asarray(x, copy=False)


def test_item() -> None:
    x = tw.asarray(ramp(2, 3))
    assert x.item(1, -1) == 5
    assert x.item(4) == 4
    assert x[:1, :1].item() == 0
    assert type(tw.asarray(True).item()) is bool
    assert type(x.argmax().item()) is int
    with pytest.raises(DataError, match=r"item\(\): shape \(2, 3\) has 6 elements"):
        x.item()
    with pytest.raises(TensorIndexError, match="index 2 is out of range for axis 0"):
        x.item(2, 0)
    with pytest.raises(TensorIndexError, match="position 6"):
        x.item(6)
    with pytest.raises(TensorIndexError, match="3 indices for the 2 axes"):
        x.item(0, 0, 0)


def test_python_numbers() -> None:
    x = tw.asarray([3])
    assert (int(x), float(x), bool(x), complex(x)) == (3, 3.0, True, 3 + 0j)
    assert [10, 20, 30, 40][tw.asarray(3)] == 40
    assert f"{tw.asarray(2.5):.3f}" == "2.500"
    with pytest.raises(TypeError, match="float32 tensor is no integer"):
        range(tw.asarray(1.0))  # type: ignore[arg-type]  # on purpose
    with pytest.raises(DTypeError, match="0-d"):
        [1][x]


@pytest.mark.parametrize("convert", [bool, int, float, complex])
def test_many_elements_are_no_number(convert: Any) -> None:
    with pytest.raises(
        ValueError, match=rf"{convert.__name__}\(\): shape \(2,\) has 2"
    ):
        convert(tw.ones(2))
    with pytest.raises(ValueError, match="0 elements"):
        convert(tw.ones(0))


def test_truth_of_many_says_any_or_all() -> None:
    with pytest.raises(ValueError, match=r"x.any\(\) or x.all\(\)"):
        bool(tw.ones(2) > 0)


def test_length() -> None:
    assert len(tw.ones((3, 2))) == 3
    with pytest.raises(TypeError, match="0-d"):
        len(tw.ones(()))


def test_awaitable_twins() -> None:
    async def read() -> list[Any]:
        x = tw.asarray([1, 2]) * 2
        await x.realize_async()
        return [
            await x.tolist_async(),
            (await x.numpy_async()).tolist(),
            await x.item_async(1),
            await x.sum().item_async(),
        ]

    assert asyncio.run(read()) == [[2, 4], [2, 4], 4, 6]


def test_layout() -> None:
    x = tw.asarray(ramp(2, 3, 5))
    assert (x.strides, x.offset, x.is_contiguous) == ((15, 5, 1), 0, True)
    y = x[1, ::-1].T
    assert (y.strides, y.offset, y.is_contiguous) == ((1, -5), 25, False)
    assert (x.ndim, x.size, x.nbytes, x.shape) == (3, 30, 120, (2, 3, 5))
    assert y.contiguous().strides == (3, 1)
    assert x.contiguous() is x
    assert_equal(y, ramp(2, 3, 5)[1, ::-1].T)


def test_astype_and_devices(device: str) -> None:
    x = tw.asarray([1.5, -2.5])
    assert_equal(x.astype(tw.int32), [1, -2])
    assert x.astype(tw.float32, copy=False) is x
    other = "webgpu" if device == "cpu" else "cpu"
    moved = (x + 1).to_device(other)
    assert (moved.device, moved.to_device(device).tolist()) == (other, [2.5, -1.5])
    assert x.to_device(device).shares_memory_with(x)
    assert tw.astype(x, tw.float64, device="cpu").dtype is tw.float64
    with pytest.raises(DTypeError, match='device="cpu" for float64'):
        tw.asarray([1.0], device="webgpu").astype("float64")
    with pytest.raises(TypeError, match="not a dtype"):
        x.astype("text")


def test_realize_computes_once() -> None:
    x = tw.asarray([1, 2]) + 1
    y = x * 2
    assert tw.realize(x) is x
    assert x.node.is_computed
    both = tw.realize(x, y)
    assert isinstance(both, tuple)
    assert both[1] is y
    assert y.node.is_computed
    tw.synchronize()
    with pytest.raises(DataError, match="list given"):
        tw.realize([1])  # type: ignore[arg-type]  # on purpose


def test_loops_that_never_read_stay_shallow() -> None:
    x = tw.ones(3)
    for _ in range(1000):
        x = x * 1.5 - x * 0.5
        assert x.node.depth <= DEEPEST + 1
    assert_equal(x, [1, 1, 1])


def test_explanations_are_text() -> None:
    text = str(tw.explain(tw.exp(tw.asarray([1.0, 2.0])).sum()))
    assert "exp" in text
    assert "sum" in text
    assert repr(tw.explain(tw.ones(3) + 1)) == str(tw.explain(tw.ones(3) + 1))


def test_constructor_points_to_asarray() -> None:
    with pytest.raises(DataError, match=r"tw.asarray\(data\)"):
        tw.Tensor([1, 2])  # type: ignore[arg-type]  # on purpose


class OfAnotherLibrary:
    """Numbers that only NumPy can fetch."""

    def __dlpack__(self) -> object:
        raise AssertionError("NumPy would ask")


@pytest.mark.parametrize(
    ("ask", "instead"),
    [
        (lambda: tw.ones(2, device="webgpu").numpy(), "tolist()"),
        (lambda: tw.from_dlpack(OfAnotherLibrary()), "nested lists"),
        (lambda: tw.asarray(OfAnotherLibrary()), "nested lists"),
    ],
)
def test_functions_that_need_numpy_raise_without_it(
    ask: Callable[[], object],
    instead: str,
    webgpu: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(MissingPackageError, match="pip install numpy") as caught:
        ask()
    assert instead in str(caught.value)
    assert isinstance(caught.value, ImportError)
