"""Objects that say that they are arrays: their values, or an error that teaches."""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from checks import assert_equal

import tensorweb as tw
from tensorweb.errors import DataError

NUMBERS = np.array([1.5, -2, 3], np.float32)


def interface(**said: Any) -> Any:
    """Return an object that describes an array, truly or not."""
    rest = {"shape": (3,), "typestr": "<f4", "version": 3, "data": NUMBERS.tobytes()}
    return SimpleNamespace(__array_interface__=rest | said)


class Array:
    """Answers `__array__` with anything."""

    def __init__(self, given: object) -> None:
        self.given = given

    def __array__(self, dtype: object = None, copy: object = None) -> Any:
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


class Capsule:
    """Answers `__dlpack__` with anything, from whatever device."""

    def __init__(self, given: Any, device: tuple[int, int] = (1, 0)) -> None:
        self.given = given
        self.device = device

    def __dlpack__(self, **options: Any) -> Any:
        return self.given.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


READ: dict[str, Any] = {
    "interface": interface(),
    "interface of other bytes": interface(
        typestr=">f4", data=NUMBERS.astype(">f4").tobytes()
    ),
    "interface with strides": interface(
        strides=(-4,), offset=8, data=NUMBERS[::-1].tobytes()
    ),
    "__array__": Array(NUMBERS),
    "__dlpack__": Capsule(NUMBERS),
    "deque": deque([1.5, -2, 3]),
    "negative strides": NUMBERS[::-1].copy()[::-1],
    "nothing masked": np.ma.array(NUMBERS),
    "read-only": np.frombuffer(NUMBERS.tobytes(), np.float32),
}


@pytest.mark.parametrize("name", READ)
def test_arrays_are_read(name: str, device: str) -> None:
    found = tw.asarray(READ[name])
    assert (found.dtype, found.device) == (tw.float32, device)
    assert_equal(found, NUMBERS)
    if name != "nothing masked":
        assert_equal(tw.ones(3) + READ[name], NUMBERS + 1)


REFUSED: dict[str, tuple[Any, str]] = {
    "shorter than its shape": (interface(shape=(300,)), "buffer is too small"),
    "a negative length": (interface(shape=(-3,)), "negative dimensions"),
    "no array": (Array([1, 2]), "np.asarray cannot read data of type Array"),
    "an error": (Array(RuntimeError("on the GPU")), "Array: on the GPU. Give an"),
    "no capsule": (Capsule(Array(1)), "np.from_dlpack cannot read"),
    "masked": (np.ma.array(NUMBERS, mask=[0, 1, 0]), r"data\.filled\(0\)"),
    "fields": (np.zeros(2, [("a", "i4")]), r"data\['name'\]"),
    "objects": (np.array([1, None], object), "astype"),
    "text": (np.array(["1"]), "reads numbers in text"),
    "dates": (np.array(["2020-01-01"], "M8[D]"), "counts from 1970"),
    "a set": ({1, 2}, r"list\(data\)"),
    "a fraction": (Fraction(1, 3), r"float\(data\)"),
    "fractions": ([Fraction(1, 3)], r"float\(item\)"),
    "sparse": (SimpleNamespace(toarray=NUMBERS.copy), r"data\.toarray\(\)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_arrays_of_other_objects_raise_with_advice(name: str, cpu: str) -> None:
    data, words = REFUSED[name]
    with pytest.raises(DataError, match=words):
        tw.asarray(data)


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int16", "float16", "float64", "complex64"]
)
def test_dlpack_of_every_dtype_goes_both_ways(dtype: str, cpu: str) -> None:
    host = np.array([[1, 0, 2], [3, 4, 5]]).astype(dtype)
    for given in (host, host.T, host[::-1, ::2], host[:0], host[0, 0]):
        found = tw.from_dlpack(np.asarray(given))
        assert found.dtype == dtype
        assert_equal(found, given)
        back = np.from_dlpack(found)
        assert back.dtype == dtype
        np.testing.assert_array_equal(back, given)


def test_lists_mix_tensors_arrays_and_lists(device: str) -> None:
    x = tw.asarray([1.0, 2.0])
    expected = [[1, 2], [3, 4], [5, 6]]
    for mixed in (
        [x, [3, 4], np.array([5, 6], np.float32)],
        [[1, 2], x + 2, (5, 6)],
        (deque([1, 2]), [x[0] + 2, 4.0], x + 4),
    ):
        found = tw.asarray(mixed)
        assert (found.dtype, found.device) == (tw.float32, device)
        assert_equal(found, expected)
    with pytest.raises(DataError, match="ragged"):
        tw.asarray([x, [1, 2, 3]])
    with pytest.raises(DataError, match="ragged"):
        tw.asarray([[1, 2], [1, 2, 3]])


def test_masked_arrays_answer_for_both(cpu: str) -> None:
    x, masked = tw.asarray(NUMBERS), np.ma.array([1.0, 2, 3], mask=[0, 1, 0])
    for found in (x + masked, masked + x, np.add(x, masked), np.add(masked, x)):
        assert isinstance(found, np.ma.MaskedArray)
        assert found.tolist() == [2.5, None, 6]
    with pytest.raises(DataError, match="masked"):
        np.concatenate([x, masked])


def test_numpy_writes_tensors_into_its_arrays(cpu: str) -> None:
    x = tw.asarray([7.0, 8.0])
    host = np.zeros((2, 2))
    np.copyto(host, x)
    np.put(host, tw.asarray([3]), x[:1])
    np.putmask(host, host == 8, tw.asarray([5.0]))
    np.fill_diagonal(a=host, val=x[1])
    np.testing.assert_array_equal(host, [[8, 5], [7, 8]])


def test_dtypes_of_numpy_are_words_for_dtypes(cpu: str) -> None:
    x = tw.ones(2)
    for word in (np.float64, np.dtype("f8"), "float64", np.ones(1), np.float64(1)):
        assert np.result_type(x, word) == np.float64
        assert tw.result_type(x, word) is tw.float64
    assert tw.can_cast(x, np.float64)
    assert tw.finfo(np.float32).bits == tw.iinfo(np.int32).bits == 32
