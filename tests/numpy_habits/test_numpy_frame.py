"""What `tensorweb.numpy` offers: documented names, dtypes, and classes of numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType

import numpy
import pytest

import tensorweb as tw
import tensorweb.numpy as np
from tensorweb.errors import DataError, DTypeError, TensorIndexError

OURS = {name: getattr(np, name) for name in np.__all__}


def test_every_name_is_numpys() -> None:
    assert [name for name in OURS if not hasattr(numpy, name)] == []


def test_every_function_and_class_has_an_example() -> None:
    made = {
        name: value
        for name, value in OURS.items()
        if inspect.isfunction(value) or inspect.isclass(value)
    }
    lacking = [
        name for name, value in made.items() if ">>> " not in (value.__doc__ or "")
    ]
    assert lacking == []


def test_topics_export_their_definitions() -> None:
    topics = [part for part in vars(np).values() if isinstance(part, ModuleType)]
    for topic in topics:
        found = {
            name
            for name, value in inspect.getmembers(topic, inspect.isfunction)
            if value.__module__ == topic.__name__ and not name.startswith("_")
        }
        assert found <= set(getattr(topic, "__all__", found)), topic


def test_unknown_names_are_answered() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        getattr(np, "no_such_name")  # noqa: B009  # type checkers know it is not there


@pytest.mark.parametrize(
    "word",
    [
        *("f2", "f4", "<f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"),
        *("?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "f", "d"),
        *("half", "single", "double", "bool", "uint16"),
    ],
)
def test_codes_of_dtypes(word: str) -> None:
    assert np.dtype(word).name == numpy.dtype(word).name
    assert np.dtype(word) == word


def test_dtypes_are_one_family() -> None:
    assert np.dtype(float) is tw.float32
    assert np.dtype("int") is np.int_ is tw.int32
    assert isinstance(np.zeros(2).dtype, np.dtype)
    assert not isinstance("float32", np.dtype)
    with pytest.raises(DTypeError, match="structured"):
        np.dtype([("x", float)])
    with pytest.raises(DTypeError, match="'>f4'"):
        np.dtype(">f4")


CLASSES = (
    *("generic", "number", "integer", "signedinteger", "unsignedinteger"),
    *("inexact", "floating"),
)


@pytest.mark.parametrize("name", ["bool", "int8", "uint16", "int64", "float32"])
def test_classes_of_dtypes(name: str) -> None:
    for kind in CLASSES:
        expected = numpy.issubdtype(name, getattr(numpy, kind))
        assert np.issubdtype(name, getattr(np, kind)) == expected
    for other in ("bool", "uint8", "int32", "float16", "float64"):
        for casting in ("no", "equiv", "safe", "same_kind", "unsafe"):
            expected = numpy.can_cast(name, other, casting)
            assert np.can_cast(name, other, casting) == expected, (name, other, casting)


def test_numbers_are_of_their_classes() -> None:
    x = np.asarray([1.0, 2.0])
    assert isinstance(x.sum(), np.floating)
    assert not isinstance(x.sum(), np.integer)
    assert not isinstance(x, np.number)
    assert isinstance(x, np.ndarray)
    assert np.issubdtype(np.floating, np.number)
    assert not np.issubdtype(np.number, np.floating)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: np.zeros(3, [("x", float)]), "keep each field in a tensor"),
        (lambda: np.zeros(3).view(np.int32), "astype"),
        (lambda: np.zeros(3).view(dtype=np.int32), "astype"),
        (lambda: np.zeros(3).view(dict), "in an attribute of yours"),
    ],
)
def test_unsupported_arrays_raise_with_an_alternative(
    cpu: str, act: Callable[[], object], message: str
) -> None:
    with pytest.raises(DTypeError, match=message):
        act()


def test_settings_that_are_refused_change_nothing() -> None:
    printing, errors = np.get_printoptions(), np.geterr()
    with pytest.raises(DataError, match="precision is -1"):
        np.set_printoptions(suppress=True, formatter={"int": str}, precision=-1)
    with pytest.raises(DataError, match="over='raise'"):
        np.seterr(divide="warn", over="raise")
    assert (np.get_printoptions(), np.geterr()) == (printing, errors)


def test_a_buffer_of_a_dtype_that_a_device_lacks(webgpu: str) -> None:
    with pytest.raises(DTypeError, match="webgpu"):
        np.frombuffer(bytes(8), dtype=np.int64)
    assert np.frombuffer(bytes(8), dtype=np.int32).device == webgpu


@pytest.mark.parametrize("flags", [(), ("external_loop",)])
def test_steps_that_only_read_write_nothing(cpu: str, flags: tuple[str, ...]) -> None:
    fixed = np.arange(3)
    fixed.flags.writeable = False
    assert np.stack([x.sum() for x in np.nditer(fixed, flags)]).sum() == 3
    leaf = tw.asarray([1.0, 2.0], requires_grad=True)
    np.stack([(x * x).sum() for x in np.nditer(leaf, flags)]).sum().backward()
    changed = np.arange(3)
    for x in np.nditer(changed, flags):
        x[...] = x + 1
    assert changed.tolist() == [1, 2, 3]


def test_numbers_of_choices_do_not_count_from_the_end(device: str) -> None:
    choices = [[1, 2], [3, 4]]
    for wrong in (-1, 2):
        with pytest.raises(TensorIndexError, match=f"number {wrong} is out of range"):
            np.choose([wrong, 0], choices)
    choose = tw.jit(lambda number: np.choose(number, choices))
    assert choose(np.asarray([1, 0])).tolist() == [3, 2]
    with pytest.raises(TensorIndexError, match="number -1"):
        choose(np.asarray([-1, 0]))
