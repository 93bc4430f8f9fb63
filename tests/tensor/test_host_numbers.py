"""NumPy's 64-bit data and scalars: dtypes kept, on the GPU narrowed with a warning."""

from __future__ import annotations

import subprocess
import sys
import warnings
from array import array

import numpy as np
import pytest
from checks import assert_equal

import tensorweb as tw
from tensorweb import devices, frames
from tensorweb.errors import (
    DTypeError,
    NarrowedDataWarning,
    RangeError,
    TensorIndexError,
)

NARROWED = {"float64": tw.float32, "int64": tw.int32, "uint64": tw.uint32}

NARROWING = r"ignore::tensorweb.errors.NarrowedDataWarning"


def dtype_on(device: str, name: str) -> tw.DType:
    """Return the dtype that data of a NumPy dtype have on a device."""
    if device == "webgpu" and name in NARROWED:
        return NARROWED[name]
    return getattr(tw, name)  # type: ignore[no-any-return]  # a dtype


@pytest.mark.parametrize("name", NARROWED)
def test_wide_arrays_become_narrow_with_a_warning(name: str, webgpu: str) -> None:
    host = np.arange(3).astype(name)
    with pytest.warns(NarrowedDataWarning, match=f"{name} data became") as caught:
        x = tw.asarray(host)
    assert caught[0].filename == __file__
    assert x.dtype is NARROWED[name]
    assert_equal(x, host)


@pytest.mark.parametrize("name", NARROWED)
def test_wide_arrays_stay_on_the_cpu(name: str, cpu: str) -> None:
    assert tw.asarray(np.arange(3).astype(name)).dtype.name == name


def test_standard_library_buffers_become_narrow(webgpu: str) -> None:
    with pytest.warns(NarrowedDataWarning):
        assert_equal(tw.asarray(array("d", [1.5, 2.5])), [1.5, 2.5])
    with pytest.warns(NarrowedDataWarning):
        assert_equal(tw.asarray(array("q", [1, -2])), [1, -2])


PROGRAM = """
import numpy as np, tensorweb as tw
tw.set_default_device("webgpu")
x = tw.asarray(np.arange(3.0))
y = tw.asarray(np.arange(3))
z = x * np.float64(2) + np.ones(3)
tw.asarray([1.0, 2.0]), tw.asarray([1, 2]), x * 2.0, tw.asarray(1)
print(x.dtype, y.dtype, z.dtype)
"""


def test_a_program_is_warned_once_with_its_line(webgpu: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["float32", "int32", "float32"]
    assert done.stderr.count("Warning") == 1
    assert "<string>:4: NarrowedDataWarning: float64 data" in done.stderr


def test_lists_and_python_numbers_are_never_warned_about(webgpu: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = tw.asarray([[1.0, 2.0]]) * 2.0 + [1, 2]
        x[0] = [1.5, 2.5]
        x[0, 0] = np.float64(3.5)
        assert_equal(x * np.int64(2) + np.arange(2), [[7.0, 6.0]])
        assert_equal(x[np.array([0])], x.numpy())


def test_integers_that_do_not_fit_are_refused(webgpu: str) -> None:
    with pytest.raises(RangeError, match=r"item at \[1\] is 1099511627776.*int32"):
        tw.asarray(np.array([1, 2**40]))
    with pytest.raises(RangeError, match=r"item at \[0\]\[1\].*uint32"):
        tw.asarray(np.array([[1, 2**40]], np.uint64))
    with pytest.raises(RangeError, match="the value is"):
        tw.asarray(np.int64(2**40))
    with pytest.raises(RangeError, match="1099511627776"):
        tw.ones(2, dtype=tw.int32) + np.int64(2**40)
    assert_equal(tw.ones(2) * np.array([2**40]), [2.0**40] * 2)
    assert_equal(tw.ones(2) * np.int64(2**40), [2.0**40] * 2)


def test_wide_integers_are_never_wrapped_where_they_are_written(device: str) -> None:
    x = tw.zeros(2, dtype=tw.int32)
    with pytest.raises(RangeError, match="1099511627776"):
        x[:] = np.array([1, 2**40])
    with pytest.raises(RangeError, match="1099511627776"):
        x[0] = np.int64(2**40)
    x[:] = np.array([3, 4])
    assert_equal(x, [3, 4])


def test_wide_indices_are_never_wrapped(device: str) -> None:
    x = tw.arange(5)
    with pytest.raises(TensorIndexError, match=str(2**32)):
        x[np.array([2**32])]
    with pytest.raises(TensorIndexError, match=str(2**32)):
        tw.take(x, np.array([2**32], np.uint64))
    assert_equal(x[np.array([4, -1])], [4, 4])
    assert x[np.int64(1)].shape == ()


@pytest.mark.parametrize("name", NARROWED)
def test_an_explicit_dtype_names_the_device_that_has_it(name: str, webgpu: str) -> None:
    with pytest.raises(DTypeError, match=rf"no {name}.*device=\"cpu\""):
        tw.asarray(np.arange(3), dtype=name)
    with pytest.raises(DTypeError, match=rf"no {name}.*device=\"cpu\""):
        tw.zeros(3, dtype=name)


@pytest.mark.parametrize("name", NARROWED)
def test_wide_tensors_do_not_move_to_a_device_without_their_dtype(
    name: str, webgpu: str
) -> None:
    x = tw.ones(2, dtype=name, device="cpu")
    for move in (
        lambda: x.to_device(webgpu),
        lambda: tw.asarray(x, device=webgpu),
        lambda: tw.asarray([x, x], device=webgpu),
    ):
        with pytest.raises(DTypeError, match=rf"no {name}"):
            move()


def test_tensors_widen_on_the_device_that_can(webgpu: str) -> None:
    x = tw.asarray([1, 2])
    found = tw.asarray(x, dtype=tw.int64, device="cpu")
    assert (found.dtype, found.device, found.tolist()) == (tw.int64, "cpu", [1, 2])


@pytest.mark.parametrize("default", ["cpu", "webgpu"])
@pytest.mark.parametrize("dtype", ["int64", "float64", "bool", "uint8"])
@pytest.mark.parametrize("order", [1, -1])
def test_lists_of_tensors_and_numpy_arrays(
    order: int, dtype: str, default: str, webgpu: str
) -> None:
    rows = [[1.0, 0.0], [0.0, 1.0]]
    x, host = tw.asarray(rows[0]), np.array(rows[1], dtype)
    with devices.device(default), warnings.catch_warnings():
        warnings.simplefilter("ignore", NarrowedDataWarning)
        found = tw.asarray([x, host][::order])
        numbers = tw.asarray([x[0], host[1]][::order])
    assert (found.dtype, found.tolist()) == (tw.float32, rows[::order])
    assert (numbers.dtype, numbers.tolist()) == (tw.float32, [1.0, 1.0])


def test_a_program_may_take_narrower_dtypes(webgpu: str) -> None:
    made = {
        "list": lambda: tw.asarray([1, 2], dtype=tw.int64),
        "array": lambda: tw.asarray(np.arange(3), dtype="int64"),
        "number": lambda: tw.asarray(1, dtype=tw.int64),
        "zeros": lambda: tw.zeros(3, dtype=tw.int64),
        "arange": lambda: tw.arange(3, dtype=tw.int64),
        "eye": lambda: tw.eye(3, dtype=tw.int64),
        "cast": lambda: tw.arange(3).astype(tw.int64),
        "linspace": lambda: tw.linspace(0, 1, 3, dtype=tw.float64),
        "sum": lambda: tw.sum(tw.ones(3), dtype=tw.float64),
        "moved": lambda: tw.ones(3, dtype=tw.int64, device="cpu").to_device(webgpu),
    }
    tw.narrow_dtypes()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = {name: make().dtype for name, make in made.items()}
            with pytest.raises(RangeError, match=r"1099511627776"):
                tw.asarray(np.array([1, 2**40]), dtype=tw.int64)
            with pytest.raises(RangeError, match=r"1099511627776"):
                tw.full(2, 2**40, dtype=tw.int64)
            with pytest.raises(RangeError, match=r"1099511627776"):
                tw.full(2, 2**40, dtype=tw.int64, device="cpu").to_device(webgpu)
            with pytest.raises(RangeError, match=r"at \[1\] is 1099511627776"):
                tw.asarray(tw.asarray([1, 2**40], "int64", device="cpu"), device=webgpu)
            assert tw.zeros(1, dtype=tw.int64, device="cpu").dtype is tw.int64
        assert [warning.category for warning in caught] == [NarrowedDataWarning]
        assert "dtype int64 is int32" in str(caught[0].message)
        assert caught[0].filename == __file__
        floats = dict.fromkeys(("linspace", "sum"), tw.float32)
        assert found == {name: floats.get(name, tw.int32) for name in made}
        frames.begin_program()
        with pytest.raises(DTypeError, match=r"tw\.narrow_dtypes\(\) gives int32"):
            tw.zeros(3, dtype=tw.int64)
    finally:
        tw.narrow_dtypes(False)


SCALARS = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
    *("uint64", "float16", "float32", "float64"),
]


@pytest.mark.parametrize("name", SCALARS)
def test_numpy_scalars_keep_their_dtype(name: str, cpu: str) -> None:
    scalar = np.dtype(name).type(5)
    x = tw.asarray(scalar)
    assert x.dtype.name == name
    assert_equal(x, scalar)
    assert tw.full(2, scalar).dtype.name == name
    assert tw.result_type(scalar, tw.bool).name == name


def test_limits_of_numpy_scalars(device: str) -> None:
    assert tw.asarray(np.uint32(2**32 - 1)).item() == 2**32 - 1
    assert tw.asarray(np.float16(5)).dtype is tw.float16
    assert tw.asarray(np.uint32(5)).dtype is tw.uint32


@pytest.mark.parametrize("name", SCALARS[1:])
@pytest.mark.parametrize("other", SCALARS[1:])
@pytest.mark.filterwarnings("error")
def test_numpy_scalars_promote_as_arrays_do(name: str, other: str, cpu: str) -> None:
    """NumPy 2's rule, with this package's promotion of integers with floats."""
    if {name[0], other[0]} == {"u", "i"} and "uint64" in (name, other):
        return
    scalar = np.dtype(name).type(3)
    host = np.asarray([1, 2], other)
    result = tw.asarray(host) * scalar
    assert result.dtype is tw.result_type(getattr(tw, name), getattr(tw, other))
    if (name[0] == "f") == (other[0] == "f"):
        assert result.dtype.name == (host * scalar).dtype.name
    assert_equal(result, host * scalar)
    assert (scalar * tw.asarray(host)).dtype is result.dtype


@pytest.mark.filterwarnings(NARROWING)
def test_numpy_scalars_in_arithmetic_on_the_gpu(webgpu: str) -> None:
    x = tw.asarray([1, 2])
    assert (x * np.float64(2)).dtype is tw.float32
    assert (x * np.int64(2)).dtype is tw.int32
    assert (tw.ones(2) + np.ones(2)).dtype is tw.float32
    assert (np.ones(2) + tw.ones(2)).dtype is tw.float32
    assert tw.where([True, False], np.float64(1), 2).dtype is tw.float32


def test_unsigned_with_lists_of_integers(device: str) -> None:
    u = tw.asarray([1, 2, 3], dtype=tw.uint32)
    assert (u * [1, 2, 3]).dtype is ([1, 2, 3] * u).dtype is tw.uint32
    assert_equal(u * [1, 2, 3], [1, 4, 9])
    assert_equal(tw.dot(u, [1, 256, 65536]), 1 + 512 + 3 * 65536)
    if device == "cpu":
        assert (tw.add(u, [-1, 0, 1])).dtype is tw.int64
        return
    with pytest.raises(DTypeError, match=r"add: uint32 with int32 gives int64"):
        tw.add(u, [-1, 0, 1])


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("add", lambda u, i: u + i),
        ("where", lambda u, i: tw.where([True, False], u, i)),
        ("concat", lambda u, i: tw.concat([u, i])),
        ("matmul", lambda u, i: u @ i),
        ("maximum", lambda u, i: tw.maximum(u, i)),
    ],
)
def test_unsigned_with_signed_names_operation_and_way(
    name: str, run: object, webgpu: str
) -> None:
    u = tw.asarray([1, 2], dtype=tw.uint32)
    i = tw.asarray([1, 2])
    message = rf"{name}: .*int32 with .*int32 gives int64.*no int64.*astype\(tw.int32\)"
    with pytest.raises(DTypeError, match=message):
        run(u, i)  # type: ignore[operator]  # one of the functions above


@pytest.mark.parametrize("value", [1, 0, True, 1.0, np.int64(1), np.float32(0.0)])
def test_numbers_written_into_masks(value: object, device: str) -> None:
    host = np.array([False, True, False])
    x = tw.asarray(host)
    x[:2] = value
    host[:2] = value
    assert_equal(x, host)


def test_whole_numbers_written_into_integers(device: str) -> None:
    host = np.zeros(6, np.int32)
    x = tw.asarray(host)
    for target in (x, host):
        target[0] = 5.0
        target[1] = np.float64(-6.0)
        target[2:4] = [7.0, 8]
        target[4:] = np.array([9.0, 10.0])
    assert_equal(x, host)
    mask = tw.zeros(4, dtype=tw.bool)
    mask[:3] = [0, 1, 1]
    assert_equal(mask, [False, True, True, False])
    with pytest.raises(DTypeError, match=r"cannot hold 5.5: it holds whole numbers"):
        x[0] = 5.5
    with pytest.raises(DTypeError, match=r"cannot hold 2.5"):
        x[:2] = [1.0, 2.5]
    with pytest.raises(DTypeError, match=r"cannot hold 2: it holds 0 and 1"):
        mask[0] = 2
    with pytest.raises(DTypeError, match=r"cannot hold nan"):
        x[0] = tw.nan
    with pytest.raises(DTypeError, match=r"x\[key\] = v: v is float32 and x is int32"):
        x[0] = tw.ones(())
