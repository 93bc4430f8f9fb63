"""Words of NumPy that programs use: letters of dtypes, attributes, arguments."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from oracles import NUMPYS

import tensorweb as tw
import tensorweb.numpy as np
from tensorweb import dtypes
from tensorweb.errors import DataError, DTypeError

SAME = "bhiqlBHIQLefdFD?"


@pytest.mark.parametrize("letter", SAME)
def test_a_letter_is_the_dtype_that_numpy_has_for_it(letter: str) -> None:
    assert np.dtype(letter) == numpy.dtype(letter).name


@pytest.mark.parametrize(
    "word",
    [
        *("c8", "c16", "<c16", "f8", "i4", "u2", "b1", "half", "single", "double"),
        *("short", "ushort", "intc", "uintc", "longlong", "ulonglong", "long", "ulong"),
        *("byte", "ubyte", "csingle", "cdouble", "bool_"),
    ],
)
def test_a_word_is_the_dtype_that_numpy_has_for_it(word: str) -> None:
    assert np.dtype(word) == numpy.dtype(word).name


@pytest.mark.parametrize("word", ["int", "int_", "intp", "p", "n"])
def test_words_without_a_size_are_the_default_integer(word: str) -> None:
    assert np.dtype(word) is tw.int32


@pytest.mark.parametrize("kind", ["longlong", "ulonglong", "intc", "short", "byte"])
def test_classes_of_numpy_are_dtypes(kind: str) -> None:
    own = getattr(numpy, kind)
    made = np.zeros(3, dtype=own, device="cpu")
    assert made.dtype == numpy.dtype(own).name


@pytest.mark.parametrize("dtype", [*NUMPYS, *dtypes.COMPLEX], ids=str)
@pytest.mark.parametrize(
    "name", ["str", "alignment", "isnative", "names", "fields", "subdtype"]
)
def test_attributes_of_dtypes_are_numpys(dtype: Any, name: str) -> None:
    assert getattr(dtype, name) == getattr(numpy.dtype(dtype.name), name)


def test_bytes_in_the_other_order_are_an_error() -> None:
    assert tw.float32.newbyteorder("<") is tw.float32
    with pytest.raises(DTypeError, match="order of this machine"):
        tw.float32.newbyteorder(">")


FLOAT_LIMITS = [
    *("eps", "epsneg", "max", "min", "tiny", "smallest_normal", "smallest_subnormal"),
    *("bits", "nmant", "nexp", "iexp", "machep", "negep", "minexp", "maxexp"),
    *("precision", "resolution"),
]


@pytest.mark.parametrize("name", FLOAT_LIMITS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_limits_of_floats_are_numpys(dtype: str, name: str) -> None:
    expected = getattr(numpy.finfo(dtype), name)
    assert type(expected)(getattr(np.finfo(dtype), name)) == expected


def test_numbers_are_instances_of_their_dtype() -> None:
    number = np.float32(1)
    assert isinstance(number, np.float32)
    assert isinstance(number, (int, np.floating))
    assert isinstance(numpy.float32(1), np.float32)
    assert not isinstance(np.ones(1), np.float32)
    assert not isinstance(np.float32, np.float32)
    assert not isinstance(1.0, np.float64)


def test_dtypes_are_subclasses_as_numpys_are() -> None:
    assert issubclass(np.float32, np.floating)
    assert issubclass(np.float32, np.float32)
    assert not issubclass(np.float32, np.integer)
    assert issubclass(np.floating, np.inexact)


def test_a_complex_dtype_takes_two_parts() -> None:
    assert np.complex64(1, 2).item() == 1 + 2j
    with pytest.raises(DTypeError, match="one part"):
        np.float32(1, 2)


@pytest.mark.parametrize("kind", ["quick", "heap", "merge", "stable", "Q", None])
def test_sort_takes_short_words(kind: str | None) -> None:
    x = np.array([3, 1, 2])
    assert np.sort(x, kind=kind).tolist() == [1, 2, 3]
    assert x.argsort(kind=kind).tolist() == [1, 2, 0]
    with pytest.raises(DataError, match="quicksort"):
        np.sort(x, kind="bubble")


@pytest.mark.parametrize(
    "value", [0, 255, 256, -1, -129, 2**63, True, 1.5, 1e5, 1e300, 1 + 1j, 1e300j]
)
def test_min_scalar_type(value: complex) -> None:
    assert np.min_scalar_type(value) == numpy.min_scalar_type(value).name


@pytest.mark.parametrize("letters", ["bhi", "dfF", "Fd", "F", "efd", ["d", "f", "S"]])
def test_mintypecode(letters: Any) -> None:
    assert np.mintypecode(letters) == numpy.mintypecode(letters)


@pytest.mark.parametrize(
    "words", [("f2",), ("f4", "i4"), ("f4", "F"), ("i2",), ("d", "F")]
)
def test_common_type(words: tuple[str, ...]) -> None:
    own = [np.ones(1, word, device="cpu") for word in words]
    expected = numpy.common_type(*(numpy.ones(1, word) for word in words))
    assert np.common_type(*own) == numpy.dtype(expected).name


def test_types_of_a_ufunc_are_letters_that_it_takes() -> None:
    assert "ff->f" in np.add.types
    assert np.isnan.types[-1] == "D->?"
    assert not any(each.startswith("F") for each in np.floor.types)
    assert np.add.ntypes == len(np.add.types)


def test_transpose_takes_axes_as_an_array() -> None:
    x = np.zeros((2, 3, 5))
    assert x.transpose(numpy.array([1, 0, 2])).shape == (3, 2, 5)
