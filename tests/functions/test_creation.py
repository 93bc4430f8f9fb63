"""Tensors from data and from nothing, on both devices, compared with NumPy."""

from __future__ import annotations

import array
import sys

import numpy as np
import pytest
from checks import assert_equal

import tensorweb as tw
from tensorweb.errors import (
    DataError,
    DTypeError,
    NarrowedDataWarning,
    RangeError,
    ShapeError,
)

pytestmark = pytest.mark.usefixtures("device")


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (3, tw.int32, ()),
        (2.5, tw.float32, ()),
        (True, tw.bool, ()),
        ([1, 2, 3], tw.int32, (3,)),
        ([1, 2.5], tw.float32, (2,)),
        ([True, False], tw.bool, (2,)),
        ([True, 2], tw.int32, (2,)),
        (((1, 2), (3, 4), (5, 6)), tw.int32, (3, 2)),
        (range(5), tw.int32, (5,)),
        ([range(2), [5, 6]], tw.int32, (2, 2)),
        ([], tw.float32, (0,)),
        ([[], []], tw.float32, (2, 0)),
        ([np.float32(1.5), np.int64(2)], tw.float32, (2,)),
    ],
)
def test_lists_say_their_dtype(
    data: object, dtype: tw.DType, shape: tuple[int, ...]
) -> None:
    x = tw.asarray(data)
    assert (x.dtype, x.shape) == (dtype, shape)
    assert_equal(x, np.asarray(data))


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint32", "bool"])
def test_numpy_arrays_keep_their_dtype(dtype: str) -> None:
    host = np.arange(30).reshape(2, 3, 5).astype(dtype)
    for view in (
        host,
        host.T,
        host[:, ::-2, 1:],
        host[:, :0],
        np.asarray(host[1, 1, 1]),
    ):
        x = tw.asarray(view)
        assert x.dtype.name == dtype
        assert_equal(x, view)


def test_buffers() -> None:
    assert_equal(tw.asarray(array.array("f", [1.5, 2.5])), [1.5, 2.5])
    assert_equal(tw.asarray(memoryview(array.array("i", [1, -2]))), [1, -2])
    assert_equal(tw.asarray(b"\x01\x02", dtype=tw.int32), [1, 2])
    assert_equal(tw.asarray(bytearray(3), dtype=tw.float32), [0, 0, 0])


def test_foreign_byte_order() -> None:
    other = ">" if sys.byteorder == "little" else "<"
    assert_equal(tw.asarray(np.array([1.5, -2], dtype=f"{other}f4")), [1.5, -2])


def test_anything_with_an_array_interface() -> None:
    class Wrapped:
        def __array__(self, dtype: object = None, copy: object = None) -> object:
            return np.array([[1, 2]], np.int32)

    assert_equal(tw.asarray(Wrapped()), [[1, 2]])


def test_tensors_in_lists_are_stacked() -> None:
    x = tw.asarray([1, 2, 3])
    assert_equal(tw.asarray([x, x + 1]), [[1, 2, 3], [2, 3, 4]])
    assert_equal(tw.asarray([x.sum(), 2.5]), [6, 2.5])
    assert_equal(tw.asarray([[x], [x]]), [[[1, 2, 3]], [[1, 2, 3]]])
    with pytest.raises(DataError, match=r"\[1\] has shape \(2,\).*\(3,\)"):
        tw.asarray([x, x[:2]])


def test_dtype_converts_data() -> None:
    assert_equal(tw.asarray([1.7, -1.7], dtype=tw.int32), [1, -1])
    assert_equal(tw.asarray([0, 2], dtype="bool"), [False, True])
    assert_equal(tw.asarray(np.array([1.5, 2.5]), dtype=tw.float32), [1.5, 2.5])
    assert tw.asarray([1, 2], dtype=float).dtype is tw.float32


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([[1, 2], [3]], "row 1 has 1 items, row 0 has 2"),
        ([[1, 2], 3], "row 1 is 3, row 0 has 2 items"),
        ([1, [2]], "row 1 is a sequence of 1 items where row 0 is a number"),
        (
            [[[1], [2]], [[3], [4, 5]]],
            r"item \[1\]\[1\] has 2 items, item \[0\]\[0\] has 1",
        ),
        ([1, "two"], r"item at \[1\] is 'two' of type str"),
        ([[1.0, None]], r"item at \[0\]\[1\] is None"),
        ("123", "string '123' is no number"),
        ({1: 2}, "data of type dict"),
        (np.array(["a"]), "dtype <U1"),
        (None, "NoneType"),
        ([float("nan"), 1], "item at .0. is nan, which no int32 can hold"),
    ],
)
def test_data_that_are_no_numbers(data: object, message: str) -> None:
    dtype = tw.int32 if "int32" in message else None
    with pytest.raises(DataError, match=message):
        tw.asarray(data, dtype=dtype)


def test_lists_that_contain_themselves_end() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(DataError, match="deeper than 64"):
        tw.asarray(endless)


def test_integers_that_do_not_fit() -> None:
    with pytest.raises(RangeError, match=r"item at \[1\].*1099511627776.*int32"):
        tw.asarray([1, 2**40])
    with pytest.raises(OverflowError, match="-1 does not fit uint32"):
        tw.asarray(-1, dtype=tw.uint32)
    with pytest.raises(OverflowError, match="2147483648"):
        tw.full(3, 2**31)


def test_operands_that_do_not_fit_say_what_to_do(webgpu: str) -> None:
    x, wide = tw.asarray([1, 2, 3]), np.array([1, 2**40, 3])
    advice = r'item at \[1\] is 1099511627776.*float32\), or .* to_device\("cpu"\)'
    for call in (lambda: x + wide, lambda: wide * x, lambda: tw.where(x > 1, x, wide)):
        with pytest.raises(RangeError, match=advice):
            call()
    assert (x + tw.asarray(wide, tw.float32)).tolist() == [2, 2**40, 6]
    assert (x.to_device("cpu") + wide).tolist() == [2, 2**40 + 2, 6]


def test_copy_false_is_for_tensors_only() -> None:
    x = tw.asarray([1, 2])
    assert tw.asarray(x, copy=False) is x
    assert not tw.asarray(x, copy=True).shares_memory_with(x)
    with pytest.raises(ValueError, match="copy=False"):
        tw.asarray(np.zeros(3, np.float32), copy=False)


def test_dlpack_goes_both_ways() -> None:
    host = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = tw.from_dlpack(host)
    assert_equal(x, host)
    np.testing.assert_array_equal(np.from_dlpack(x), host)


@pytest.mark.parametrize("args", [(5,), (2, 7), (7, 2), (1, 10, 3), (10, 1, -4), (0,)])
def test_arange_of_integers(args: tuple[int, ...]) -> None:
    assert_equal(tw.arange(*args), np.arange(*args))
    assert tw.arange(*args).dtype is tw.int32


@pytest.mark.parametrize(
    "args",
    [
        *((2.5,), (0, 1, 0.1), (1, -1, -0.25), (3.0, 1.0), (0.1, 900.3, 0.7)),
        *((1e8, 2e8, 1e6), (2**24, 2**24 + 9, 1.0), (-1, 1, 1 / 3), (0.5, 9, 1)),
        (1, 9, 1e-3),
    ],
)
def test_arange_of_floats(args: tuple[float, ...], device: str) -> None:
    assert_equal(tw.arange(*args), np.arange(*args, dtype=float).astype(np.float32))


def test_arange_refuses_invalid_ranges(device: str) -> None:
    with pytest.raises(RangeError, match="3000000000"):
        tw.arange(3_000_000_000, 3_000_000_002)
    with pytest.raises(DataError, match="step 0"):
        tw.arange(1, 5, 0)
    with pytest.raises(RangeError, match="18446744073709551616"):
        tw.arange(2**64 + 1)
    for step in (2**64, -(2**64)):
        assert_equal(tw.arange(0, step, step), [0])
    with pytest.raises(DataError, match="more numbers"):
        tw.arange(2**64, dtype=tw.float32)
    assert_equal(tw.arange(5, 2, -1, dtype=tw.uint32), [5, 4, 3])


ENDS = [(-0.1, 0.3), (0, 1), (0, 3), (5, 5), (1e-30, 1e30), (7.3, -1e4), (-1, 1)]


@pytest.mark.parametrize("num", [0, 1, 2, 3, 4, 5, 101, 4096, 65_536])
@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace_is_rounded_once(num: int, endpoint: bool, device: str) -> None:
    for ends in ENDS if num < 4096 else ENDS[:2]:
        expected = np.linspace(*ends, num, endpoint=endpoint)
        x = tw.linspace(*ends, num, endpoint=endpoint)
        assert_equal(x, expected.astype(np.float32))


def test_linspace_without_its_end_is_the_beginning(device: str) -> None:
    for num in (4, 11, 1001):
        with_end = tw.linspace(0, 1, num)
        assert_equal(tw.linspace(0, 1, num - 1, endpoint=False), with_end.numpy()[:-1])


@pytest.mark.parametrize("num", [262_145, 700_001])
@pytest.mark.parametrize("endpoint", [True, False])
def test_long_linspace(num: int, endpoint: bool, device: str) -> None:
    for ends in ((0.1, 1.7), (-3.3, 3.3)):
        expected = np.linspace(*ends, num, endpoint=endpoint).astype(np.float32)
        x = tw.linspace(*ends, num, endpoint=endpoint).numpy()
        assert x[0] == expected[0]
        assert x[-1] == expected[-1]
        assert (x != expected).mean() < 0.001
        steps = np.abs(x.view(np.int32) - expected.view(np.int32))
        near_zero = np.abs(expected) < 1e-3
        assert steps[~near_zero].max() <= 1
        assert np.abs(x - expected).max() < 1e-6


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, bool])
def test_linspace_of_whole_numbers(dtype: type, device: str) -> None:
    for num in (1, 4, 7, 100):
        for ends in ((0, 99), (0.5, 31.0)):
            with np.errstate(all="ignore"):
                expected = np.floor(np.linspace(*ends, num)).astype(dtype)
            assert_equal(tw.linspace(*ends, num, dtype=dtype), expected)


def test_constants_take_no_storage() -> None:
    x = tw.zeros((100_000, 100_000))
    assert x[5, 5].item() == 0
    assert x[::50_000, ::50_000].tolist() == [[0, 0], [0, 0]]


def test_like() -> None:
    x = tw.asarray([[1, 2, 3]])
    assert_equal(tw.zeros_like(x), [[0, 0, 0]])
    assert tw.ones_like(x).dtype is tw.int32
    assert_equal(tw.full_like(x, 2.5, dtype=tw.float32), [[2.5, 2.5, 2.5]])
    assert tw.empty_like(x).shape == (1, 3)
    assert_equal(tw.full((2,), tw.asarray(3) + 1), [4, 4])


def test_full_takes_one_number() -> None:
    with pytest.raises(ShapeError, match="one number"):
        tw.full((2,), [1, 2])
    with pytest.raises(ShapeError, match="negative"):
        tw.zeros((2, -1))


@pytest.mark.parametrize("k", [-2, 0, 1, 9])
def test_patterns(k: int) -> None:
    x = np.arange(30, dtype=np.int32).reshape(2, 3, 5)
    assert_equal(tw.eye(3, 5, k=k), np.eye(3, 5, k=k))
    assert_equal(tw.tril(x, k=k), np.tril(x, k=k))
    assert_equal(tw.triu(x, k=k), np.triu(x, k=k))


@pytest.mark.parametrize("k", [2**31 - 1, 2**31, 2**32, 2**32 + 1, 2**63, -(2**31)])
@pytest.mark.parametrize("sign", [1, -1])
def test_diagonals_far_outside(k: int, sign: int, device: str) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3) + 1
    nearby = sign * (9 if k > 0 else -9)
    assert_equal(tw.eye(2, 3, k=sign * k), np.eye(2, 3, nearby))
    assert_equal(tw.tril(tw.asarray(x), k=sign * k), np.tril(x, nearby))
    assert_equal(tw.triu(tw.asarray(x), k=sign * k), np.triu(x, nearby))


@pytest.mark.parametrize("indexing", ["xy", "ij"])
def test_meshgrid(indexing: str) -> None:
    parts = ([1, 2, 3], [4.0, 5.0], [True])
    for x, expected in zip(
        tw.meshgrid(*parts, indexing=indexing),
        np.meshgrid(*parts, indexing=indexing),  # type: ignore[arg-type]  # xy or ij
        strict=True,
    ):
        assert_equal(x, expected)
        assert 0 in x.strides


def test_float64_is_never_narrowed_quietly() -> None:
    with pytest.warns(NarrowedDataWarning, match=r"dtype=tw.float32.*device=\"cpu\""):
        tw.asarray(np.zeros(3), device="webgpu")
    with pytest.raises(DTypeError, match="int64"):
        tw.zeros(3, dtype=tw.int64, device="webgpu")
    assert tw.asarray(np.zeros(3), device="cpu").dtype is tw.float64


def test_falling_numbers_begin_with_a_plain_zero(device: str) -> None:
    for x in (
        tw.arange(0, -12, -4, dtype=tw.float32),
        tw.arange(0.0, -12.0, -4.0),
        tw.linspace(0, -8, 3),
    ):
        assert x.tolist() == [0.0, -4.0, -8.0]
        assert not tw.signbit(x)[0].item()


def test_number_of_a_narrow_dtype_is_rounded_before_it_is_widened(cpu: str) -> None:
    narrow = tw.full((3,), 0.1, dtype=tw.float32)
    assert narrow.astype(tw.float64).tolist() == [float(np.float32(0.1))] * 3
    wide = tw.ones(3, dtype=tw.float64)
    assert tw.minimum(narrow, wide).tolist() == [float(np.float32(0.1))] * 3
    assert (wide * 0.1).tolist() == [0.1] * 3
