"""Operators and Python numbers: dtypes, ranges, devices, on both devices."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checks import assert_equal, ramp

import tensorweb as tw
from tensorweb.errors import DeviceError, DTypeError, RangeError, ShapeError
from tensorweb.events import record_kernels

pytestmark = pytest.mark.usefixtures("device")

ARITHMETIC = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.floordiv,
    operator.mod,
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
]
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
Binary = Callable[[Any, Any], Any]


@pytest.mark.parametrize("apply", [*ARITHMETIC, *BITS], ids=lambda f: f.__name__)
def test_operators_on_both_sides(apply: Binary) -> None:
    host = np.array([[1, 2, 3], [4, 5, 7]], np.int32)
    x = tw.asarray(host)
    assert_equal(apply(x, 3), apply(host, 3))
    assert_equal(apply(3, x), apply(3, host))
    assert_equal(apply(x, x[:, ::-1]), apply(host, host[:, ::-1]))
    assert_equal(apply(x, host[1]), apply(host, host[1]))


@pytest.mark.parametrize("apply", [operator.add, operator.truediv, operator.lt])
def test_numpy_arrays_on_the_left_give_tensors(apply: Binary) -> None:
    host = ramp(2, 3) + 1
    result = apply(host, tw.asarray(host[0]))
    assert isinstance(result, tw.Tensor)
    assert_equal(result, apply(host, host[0]))


def test_unary_operators() -> None:
    x = tw.asarray([1, -2])
    assert_equal(-x, [-1, 2])
    assert_equal(+x, [1, -2])
    assert_equal(abs(x), [1, 2])
    assert_equal(~x, [-2, 1])
    assert_equal(~(x > 0), [False, True])


def test_matmul_operator() -> None:
    x = tw.asarray(ramp(2, 3))
    assert_equal(x @ ramp(3, 2), ramp(2, 3) @ ramp(3, 2))
    assert_equal(ramp(5, 2) @ x, ramp(5, 2) @ ramp(2, 3))


@pytest.mark.parametrize(
    ("dtype", "number", "result"),
    [
        (tw.int32, 2, tw.int32),
        (tw.int32, 2.5, tw.float32),
        (tw.int32, True, tw.int32),
        (tw.float32, 2, tw.float32),
        (tw.float32, 2.5, tw.float32),
        (tw.uint32, 2, tw.uint32),
        (tw.bool, 2, tw.int32),
        (tw.bool, 2.5, tw.float32),
        (tw.bool, True, tw.bool),
        (tw.float32, np.float32(2), tw.float32),
        (tw.int32, np.int32(2), tw.int32),
    ],
)
def test_numbers_adopt_the_dtype(
    dtype: tw.DType, number: Any, result: tw.DType
) -> None:
    x = tw.ones(3, dtype=dtype)
    assert (x + number).dtype is result
    assert (number + x).dtype is result
    assert tw.where(True, x, number).dtype is result


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [
        (tw.bool, tw.int32, tw.int32),
        (tw.int32, tw.uint32, None),
        (tw.uint32, tw.float32, tw.float32),
        (tw.int32, tw.float32, tw.float32),
    ],
)
def test_tensors_are_promoted(
    a: tw.DType, b: tw.DType, result: tw.DType | None, device: str
) -> None:
    x, y = tw.ones(2, dtype=a), tw.ones(2, dtype=b)
    if result is not None:
        assert (x + y).dtype is (y + x).dtype is result
    elif device == "cpu":
        assert (x + y).dtype is tw.int64
    else:
        with pytest.raises(DTypeError, match=r"no int64.*cpu"):
            x + y


def test_numbers_that_do_not_fit() -> None:
    with pytest.raises(OverflowError, match="-1 does not fit uint32"):
        tw.ones(2, dtype=tw.uint32) + -1
    with pytest.raises(RangeError, match="4294967296"):
        tw.add(tw.ones(2, dtype=tw.int32), 2**32)
    assert_equal(tw.ones(1) * 10**400, [np.inf])


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(ShapeError, match=r"add: shapes \(2, 3\) and \(2,\)"):
        tw.ones((2, 3)) + tw.ones(2)


def test_operations_refuse_other_dtypes() -> None:
    with pytest.raises(TypeError, match="bitwise_and: float32"):
        tw.ones(2) & 1
    with pytest.raises(TypeError, match="subtract: bool"):
        tw.asarray([True]) - tw.asarray([True])


def test_devices_do_not_mix(device: str) -> None:
    other = "webgpu" if device == "cpu" else "cpu"
    with pytest.raises(DeviceError, match=f'to_device\\("{device}"\\)'):
        tw.ones(2) + tw.ones(2, device=other)


@pytest.mark.parametrize("exponent", [2, 2.0, 0.5, -1, -1.0, 1, 0, -2])
def test_simple_powers_equal_numpy(exponent: float) -> None:
    host = np.array([-np.inf, -3, -0.0, 0.1, 1.7, 1e15, np.inf, np.nan], np.float32)
    with np.errstate(all="ignore"):
        want = host**exponent
    got = (tw.asarray(host) ** exponent).numpy()
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, want, rtol=1.5 * 2.0**-23)  # of pow_f32
    if exponent in (2, 2.0):
        np.testing.assert_array_equal(got, host * host)


def test_powers_of_other_operands_stay_powers() -> None:
    whole = ramp(7, dtype=np.int32) - 3
    assert_equal(tw.asarray(whole) ** 2, whole**2)
    assert_equal(tw.asarray(whole) ** 2.0, whole.astype(np.float32) ** 2)
    assert_equal(2 ** tw.asarray(abs(whole)), 2 ** abs(whole))
    assert_equal(tw.asarray(whole) ** tw.asarray(2), whole**2)
    assert_equal(tw.asarray(whole) ** [2], whole**2)
    assert_equal(tw.pow(whole, tw.asarray([[2], [3]])), whole ** np.array([[2], [3]]))
    with pytest.raises(DeviceError, match="pow"):
        tw.ones(2, device="webgpu") ** tw.full((), 2.0, device="cpu")
    with pytest.raises(DTypeError, match="pow: bool"):
        tw.asarray([True]) ** tw.asarray([True])


def test_a_square_is_a_product(webgpu: str) -> None:
    left, right = ramp(33, 47) % 7, ramp(47, 9) % 5
    x, w = tw.realize(tw.asarray(left)), tw.realize(tw.asarray(right))
    for value in (x**2, x.pow(2), tw.pow(x, 2)):
        with record_kernels() as records:
            tw.realize(value)
        assert [record.name.split(" [")[0] for record in records] == [
            "elementwise multiply"
        ]
    with record_kernels() as records:
        got = (x**2 @ w).numpy()
    assert [record.kind for record in records] == ["matmul"]
    np.testing.assert_array_equal(got, left**2 @ right)


def test_functions_take_numbers_and_lists() -> None:
    assert_equal(tw.add(1, 2), 3)
    assert_equal(tw.pow(2, [1, 2, 3]), [2, 4, 8])
    assert_equal(tw.where([True, False], 1, 2.5), [1, 2.5])
    assert tw.maximum(1, tw.asarray([0.5])).dtype is tw.float32


def test_clip() -> None:
    host = ramp(2, 3) - 2
    assert_equal(tw.clip(host, -1, 2), host.clip(-1, 2))
    assert_equal(tw.clip(host, max=[0, 1, 2]), host.clip(None, [0, 1, 2]))
    assert_equal(tw.asarray(host).clip(min=0), host.clip(0))
    assert_equal(tw.clip(host), host)
    assert_equal(tw.clip([np.nan, 5.0], 0, 1), [np.nan, 1])


def test_isin_and_searchsorted() -> None:
    host = ramp(3, 5, dtype=np.int32)
    assert_equal(tw.isin(host, [3, 14, 99]), np.isin(host, [3, 14, 99]))
    assert_equal(tw.isin(host, 3, invert=True), np.isin(host, 3, invert=True))
    edges = [0, 3, 3, 9]
    for side in ("left", "right"):
        expected = np.searchsorted(edges, host, side=side)  # type: ignore[call-overload]  # left or right
        assert_equal(tw.searchsorted(edges, host, side=side), expected)
