"""Arguments, attributes and dtypes that NumPy's own tests ask for."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest

import tensorweb.numpy as np
from tensorweb.errors import DataError

FLAGS: tuple[Any, ...] = (
    "A",
    "B",
    "C",
    "CA",
    "F",
    "FA",
    "O",
    "W",
    "X",
    "WRITEABLE",
    "FNC",
    "FORC",
)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (1, 3), (0, 2)])
def test_flags_have_numpy_s_names_and_compare(shape: tuple[int, ...]) -> None:
    own, host = np.zeros(shape), numpy.zeros(shape)
    assert {n: own.flags[n] for n in FLAGS} == {n: host.flags[n] for n in FLAGS}
    assert own.flags == np.ones(shape).flags
    if shape:  # a view has no data of its own
        assert own.flags != own.reshape(shape).flags
    own.flags["W"] = host.flags["W"] = False
    assert {n: own.flags[n] for n in FLAGS} == {n: host.flags[n] for n in FLAGS}
    assert own.flags != np.ones(shape).flags


def test_transposed_flags() -> None:
    whole, host = np.zeros((2, 3)), numpy.zeros((2, 3)).T
    own = whole.T
    assert {n: own.flags[n] for n in FLAGS} == {n: host.flags[n] for n in FLAGS}


@pytest.mark.parametrize("start", [-0.0, 0.0, complex(-0.0, 0.0), complex(-0.0, -0.0)])
def test_complex_sums_that_begin_with_minus_zero(start: complex, device: str) -> None:
    for parts in ([-0.0, -0.0], [-0.0, 0.0], [0.0, -0.0]):
        host = numpy.asarray([complex(*parts)] * 3, "complex64")
        own = np.asarray(host, device=device)
        found = np.sum(own, initial=start)
        expected = numpy.sum(host, initial=start)
        for take in ("real", "imag"):
            sign = np.signbit(getattr(found, take))
            assert bool(sign) == bool(numpy.signbit(getattr(expected, take)))


def test_other_numbers_are_scalars() -> None:
    assert np.isscalar(Fraction(5, 17))


@pytest.mark.parametrize("number", [1, -1, 1000])
def test_choose_gives_numbers_the_dtype_of_the_others(number: int) -> None:
    own = np.choose([0, 1], (number, np.array([1, 2], dtype="uint8")))
    choices: Any = (number, numpy.array([1, 2], dtype="uint8"))
    host: Any = numpy.choose([0, 1], choices)
    assert (own.dtype.name, own.tolist()) == ("uint8", host.tolist())


def test_choose_takes_arrays_one_by_one() -> None:
    index = np.asarray([1, 0])
    assert index.choose([1, 2], [3, 4]).tolist() == [3, 2]


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "complex64"])
def test_float_power_is_at_least_float32(dtype: str) -> None:
    found = np.float_power(np.ones(1, dtype), np.ones(1, dtype))
    assert found.dtype.name == ("complex64" if dtype == "complex64" else "float32")


def test_methods_write_products_and_conjugates_into_out() -> None:
    x = np.asarray([1 + 2j, 3 - 1j])
    out = np.empty_like(x)
    assert x.conjugate(out) is out
    assert out.tolist() == [1 - 2j, 3 + 1j]
    total = np.zeros(())
    assert np.ones(3).dot(b=np.ones(3), out=total) is total
    assert total.item() == 3


def test_clip_converts_by_a_rule_of_casting() -> None:
    x, out = np.asarray([-1.5, 0.5, 2.5]), np.zeros(3, "int32")
    assert x.clip(-1, 2, out, casting="unsafe") is out
    assert out.tolist() == [-1, 0, 2]
    assert np.clip(x, -1, 2, out=out, casting="unsafe") is out
    with pytest.raises(TypeError, match="casting"):
        np.clip(x, -1, 2, out=out, casting="safe")


def test_arange_takes_its_ends_by_name() -> None:
    assert np.arange(stop=3).tolist() == [0, 1, 2]
    assert np.arange(start=3, stop=5).tolist() == [3, 4]
    with pytest.raises(DataError, match="where it stops"):
        np.arange()


def test_numpy_reads_the_elements_of_flat() -> None:
    assert numpy.asarray(np.ones((2, 2)).flat).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("name", ["partition", "argpartition"])
def test_partitions_of_nothing_and_bad_positions(name: str) -> None:
    own: Callable[..., Any] = getattr(np, name)
    assert own(np.zeros((2, 0)), 0, axis=1).shape == (2, 0)
    assert own(np.zeros((2, 0)), 0, axis=0).shape == (2, 0)
    for options in ({"kth": 5}, {"kth": 1.0}, {"kth": 1, "kind": "nonsense"}):
        with pytest.raises(ValueError, match=name):
            own(np.arange(4), **options)
    with pytest.raises(TypeError):
        np.ones((2, 3)).partition(1, axis=None)  # type: ignore[arg-type]  # the error


TEXTS = [
    ("1 2  3     4   ", " ", float),
    ("1 , 2 , 3 , 4", ",", float),
    ("1_x_3_x_4", "_x_", float),
    ("1,2,3", ",", int),
    ("1 0 -2.3 0.0", " ", bool),
    ("nan -NaN nan(foo) inf -Infinity", " ", float),
    ("", " ", float),
]


@pytest.mark.parametrize(("text", "sep", "dtype"), TEXTS)
def test_numbers_are_read_from_text(
    text: str, sep: str, dtype: type, tmp_path: Path
) -> None:
    path = tmp_path / "numbers.txt"
    path.write_text(text)
    host: Any = numpy.fromfile(path, dtype, sep=sep)
    for options in ({}, {"count": 2}):
        expected = host[: options.get("count")].astype(float)
        for own in (
            np.fromfile(path, dtype, sep=sep, **options),
            np.fromstring(text.encode(), dtype, sep=sep) if not options else None,
        ):
            if own is not None:
                numpy.testing.assert_array_equal(own.astype(float), expected)


def test_text_that_is_no_number(tmp_path: Path) -> None:
    path = tmp_path / "numbers.txt"
    path.write_text("1.234 1,234")
    with pytest.raises(DataError, match="is no number"):
        np.fromfile(path, sep=" ")
    with pytest.raises(DataError, match="offset"):
        np.fromfile(path, sep=" ", offset=2)


def test_text_is_written_into_files_of_text_and_of_bytes(tmp_path: Path) -> None:
    path = tmp_path / "numbers.txt"
    x = np.asarray([1.5, 2.0])
    for mode in ("w", "wb"):
        with path.open(mode) as file:
            x.tofile(file, sep=",", format="%.2f")
        assert path.read_text() == "1.50,2.00"


def test_ufuncs_cast_operands_by_a_rule() -> None:
    x = np.asarray([1.5, 2.5])
    for options in (
        {"dtype": int},
        {"dtype": int, "casting": "safe"},
        {"sig": "i"},
        {"sig": ("i",), "casting": "unsafe"},
        {"sig": "ff->f", "signature": "ff->f"},
        {"signature": 3.0},
    ):
        with pytest.raises(TypeError):
            np.add(x, 1, **options)
    assert np.add(x, 0.5, dtype=int, casting="unsafe").tolist() == [1, 2]
    assert np.add(x, 0.5, sig="ii->i", casting="unsafe").tolist() == [1, 2]
    assert np.add(1, 2, dtype="float32", casting="safe").item() == 3


@pytest.mark.parametrize("call", ["equal", "divide", "isnan", "logical_and"])
def test_ufuncs_have_no_results_of_another_dtype(call: str) -> None:
    function: Any = getattr(np, call)
    with pytest.raises(TypeError, match="the result is"):
        function(*[np.ones(2, int)] * function.nin, dtype=int)
    assert np.equal([1], [1], dtype=bool).tolist() == [True]


def test_out_may_be_an_ellipsis_alone() -> None:
    assert np.add(1, 2, out=...).item() == 3
    ellipsis: Any = ...
    with pytest.raises(TypeError, match=r"out="):
        np.add(1, 2, ellipsis)
    with pytest.raises(TypeError, match=r"out="):
        np.negative(1, out=(...,))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "uint32"])
@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor"])
def test_bits_of_nothing(name: str, dtype: str) -> None:
    found = getattr(np, name).reduce(np.zeros(0, dtype))
    expected = getattr(numpy, name).reduce(numpy.zeros(0, dtype))
    assert (found.dtype.name, found.item()) == (dtype, expected.item())


def test_reductions_whose_order_counts_take_one_axis() -> None:
    with pytest.raises(ValueError, match="order counts"):
        np.divide.reduce(np.ones((2, 3)), axis=(0, 1))
    assert np.divide.reduce([[8.0, 2.0], [2.0, 4.0]], axis=1).tolist() == [4, 0.5]


def test_a_number_is_reduced_along_axis_0() -> None:
    assert np.add.reduce(3) == np.add.reduce(3, axis=-1) == np.subtract.reduce(3) == 3


def test_ufuncs_have_signatures_and_are_pickled_by_name() -> None:
    found = inspect.signature(np.divmod)
    host = inspect.signature(numpy.divmod)
    assert list(found.parameters) == list(host.parameters)
    assert [(each.kind, each.default) for each in found.parameters.values()] == [
        (each.kind, each.default) for each in host.parameters.values()
    ]
    assert "function" in inspect.signature(np.ufunc).parameters
    assert pickle.loads(pickle.dumps(np.sin)) is np.sin


def test_bits_of_bool_are_counted() -> None:
    assert np.bitwise_count([True, False]).tolist() == [1, 0]


def test_arguments_refused_by_numpy_are_refused() -> None:
    ones: Any = np.ones(2)
    own: Any = np  # whose types refuse these as well
    calls: list[Callable[[], Any]] = [
        lambda: own.choose(np.zeros((2, 3)), [3, -1]),
        lambda: own.where(ones, x=ones, y=ones),
        lambda: own.putmask(a=ones, mask=[0, 1], values=[1, 2]),
        lambda: own.array([1, 2], copy="always"),
        lambda: own.array([[1, 2]], ndmax=1),
        lambda: own.array([[1, 2]], ndmax=-1),
        lambda: own.array([[1, 2]], ndmax=65),
        lambda: own.sort([2, 1], kind="stable", stable=True),
        lambda: own.block(([1, 2], [3, 4])),
        lambda: own.block([(1, 2), (3, 4)]),
        lambda: own.concatenate([[1], [2]], casting="same_value"),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_convolutions_have_numbers_for_modes(mode: int) -> None:
    x, v = [1.0, 2.0, 3.0, 4.0], [1.0, 0.5]
    own: Any = np.convolve
    host: Any = numpy.convolve
    assert own(x, v, mode).tolist() == host(x, v, mode).tolist()
    with pytest.raises(ValueError, match="mode"):
        own(x, v, -1)


def test_arrays_have_no_more_axes_than_ndmax() -> None:
    assert np.array([[1, 2]], ndmax=2).shape == (1, 2)
    assert np.array([[1, 2]], ndmax=3, ndmin=3).shape == (1, 1, 2)


def test_resize_without_a_shape_changes_nothing() -> None:
    x = np.ones((2, 3))
    x.resize()
    x.resize(None)
    assert x.shape == (2, 3)
