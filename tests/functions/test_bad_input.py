"""Bad input gives one clear error of the right kind, and the next statement works."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from checks import assert_equal, counted

import tensorweb as tw
from tensorweb import devices, errors

pytestmark = pytest.mark.usefixtures("device")


@dataclass(frozen=True)
class Case:
    """What a person does wrong, the error, and pieces of its message."""

    name: str
    mistake: Callable[[], object]
    error: type[Exception]
    builtin: type[Exception]
    pieces: tuple[str, ...]


def ints(*values: int) -> tw.Tensor:
    return tw.asarray(list(values), dtype=tw.int32)


CASES = [
    Case(
        "ragged list",
        lambda: tw.asarray([[1, 2], [3]]),
        *(errors.DataError, ValueError, ("ragged", "row 1 has 1 items", "row 0 has 2")),
    ),
    Case(
        "number with a list",
        lambda: tw.asarray([[1, 2], 3]),
        *(errors.DataError, ValueError, ("ragged", "row 1 is 3")),
    ),
    Case(
        "list with a number",
        lambda: tw.asarray([1, [2, 3]]),
        *(errors.DataError, ValueError, ("ragged", "row 1 is a sequence")),
    ),
    Case(
        "range without end",
        lambda: tw.asarray([range(10**12)]),
        *(errors.DataError, ValueError, ("1,000,000,000,000", "tw.arange")),
    ),
    Case(
        "text in a list",
        lambda: tw.asarray([[1, 2], [3, "four"]]),
        *(errors.DataError, TypeError, ("[1][1]", "'four'", "str")),
    ),
    Case(
        "None in a list",
        lambda: tw.asarray([1.0, None]),
        *(errors.DataError, TypeError, ("[1]", "None", "NoneType")),
    ),
    Case(
        "text",
        lambda: tw.asarray("abc"),
        *(errors.DataError, TypeError, ("'abc'", "no number")),
    ),
    Case(
        "dict",
        lambda: tw.asarray({"a": 1}),
        *(errors.DataError, TypeError, ("dict", "cannot become a tensor")),
    ),
    Case(
        "complex number as a real one",
        lambda: tw.asarray(1j, dtype=tw.float32),
        *(errors.DTypeError, TypeError, ("1j", "no imaginary part")),
    ),
    Case(
        "complex array as a real one",
        lambda: tw.asarray(np.ones(2, np.complex64), dtype=tw.float32),
        *(errors.DTypeError, TypeError, ("complex64", "no imaginary parts")),
    ),
    Case(
        "array of objects",
        lambda: tw.asarray(np.array([1, "a"], dtype=object)),
        *(errors.DataError, TypeError, ("object", "cannot become a tensor")),
    ),
    Case(
        "unknown dtype",
        lambda: tw.zeros(3, dtype="float31"),
        *(errors.DTypeError, TypeError, ("float31", "float32")),
    ),
    Case(
        "integer too large for its dtype",
        lambda: tw.asarray([1, 2**40]),
        *(errors.RangeError, OverflowError, (str(2**40), "int32", "[1]")),
    ),
    Case(
        "integer too large for a tensor",
        lambda: ints(1, 2) + 2**31,
        *(errors.RangeError, OverflowError, (str(2**31), "int32")),
    ),
    Case(
        "negative integer for an unsigned dtype",
        lambda: tw.full(3, -1, dtype=tw.uint32),
        *(errors.RangeError, OverflowError, ("-1", "uint32")),
    ),
    Case(
        "NaN as an integer",
        lambda: tw.asarray([float("nan")], dtype=tw.int32),
        *(errors.DataError, ValueError, ("nan", "int32")),
    ),
    Case(
        "shapes that do not broadcast",
        lambda: counted(2, 3) + counted(4, 5),
        *(errors.ShapeError, ValueError, ("add", "(2, 3)", "(4, 5)", "axis")),
    ),
    Case(
        "inner sizes that differ",
        lambda: counted(2, 3) @ counted(4, 5),
        *(errors.ShapeError, ValueError, ("matmul", "(2, 3) @ (4, 5)", "3 and 4")),
    ),
    Case(
        "vectors of unequal length",
        lambda: counted(3) @ counted(4),
        *(errors.ShapeError, ValueError, ("matmul", "(3,)", "(4,)")),
    ),
    Case(
        "matmul of numbers",
        lambda: counted(2, 2) @ tw.asarray(3.0),
        *(errors.ShapeError, ValueError, ("matmul", "()", "use *")),
    ),
    Case(
        "two unknown lengths",
        lambda: counted(6, 2).reshape(-1, -1),
        *(errors.ShapeError, ValueError, ("(-1, -1)", "only one")),
    ),
    Case(
        "reshape to another size",
        lambda: counted(6, 2).reshape(5, 2),
        *(errors.ShapeError, ValueError, ("(6, 2) has 12", "(5, 2) has 10")),
    ),
    Case(
        "negative length",
        lambda: tw.zeros((2, -3)),
        *(errors.ShapeError, ValueError, ("(2, -3)", "negative length -3")),
    ),
    Case(
        "length that is no integer",
        lambda: tw.zeros((2, 3.5)),
        *(errors.ShapeError, ValueError, ("(2, 3.5)", "integers")),
    ),
    Case(
        "axis out of range",
        lambda: counted(2, 3).sum(axis=2),
        *(errors.AxisError, IndexError, ("axis 2 is out of range", "2 axes", "-2 to")),
    ),
    Case(
        "repeated axis",
        lambda: counted(2, 3).sum(axis=(0, -2)),
        *(errors.AxisError, ValueError, ("(0, -2)", "same axis twice")),
    ),
    Case(
        "axis that is no integer",
        lambda: counted(2, 3).sum(axis="rows"),
        *(errors.DataError, TypeError, ("rows",)),
    ),
    Case(
        "axis that is a fraction",
        lambda: counted(2, 3).sum(axis=1.5),
        *(errors.DataError, TypeError, ("1.5", "no integer")),
    ),
    Case(
        "permutation that repeats an axis",
        lambda: counted(2, 3).permute(1, 1),
        *(errors.AxisError, ValueError, ("(1, 1)", "exactly once")),
    ),
    Case(
        "index out of range",
        lambda: counted(3, 2)[3],
        *(errors.TensorIndexError, IndexError, ("index 3", "axis 0", "(3, 2)")),
    ),
    Case(
        "index tensor out of range",
        lambda: counted(3, 2)[ints(0, -4)],
        *(errors.TensorIndexError, IndexError, ("index -4", "axis 0", "(3, 2)")),
    ),
    Case(
        "computed index tensor out of range",
        lambda: counted(3, 2)[ints(0, 1) * 5],
        *(errors.TensorIndexError, IndexError, ("index 5", "axis 0", "(3, 2)")),
    ),
    Case(
        "too many indices",
        lambda: counted(3, 2)[0, 0, 0],
        *(errors.TensorIndexError, IndexError, ("3 for the 2 axes", "(3, 2)")),
    ),
    Case(
        "two ellipses",
        lambda: counted(3, 2)[..., 0, ...],
        *(errors.TensorIndexError, IndexError, ("ellipsis", "2")),
    ),
    Case(
        "mask of another shape",
        lambda: counted(3, 2)[tw.asarray([True, False])],
        *(errors.TensorIndexError, IndexError, ("mask", "(2,)", "(3, 2)")),
    ),
    Case(
        "float as an index",
        lambda: counted(3, 2)[1.0],
        *(errors.TensorIndexError, IndexError, ("1.0", "float", "axis 0")),
    ),
    Case(
        "float tensor as an index",
        lambda: counted(3, 2)[counted(2)],
        *(errors.TensorIndexError, IndexError, ("float32", "astype")),
    ),
    Case(
        "slice with step 0",
        lambda: counted(3)[::0],
        *(errors.TensorIndexError, IndexError, ("step", "zero")),
    ),
    Case(
        "value of another shape assigned",
        lambda: counted(3, 2).__setitem__(0, counted(3)),
        *(errors.ShapeError, ValueError, ("(3,)", "(2,)", "broadcast")),
    ),
    Case(
        "float assigned to integers",
        lambda: ints(1, 2).__setitem__(0, 0.5),
        *(errors.DTypeError, TypeError, ("float32", "int32", "astype")),
    ),
    Case(
        "unknown device",
        lambda: tw.zeros(3, device="cuda"),
        *(errors.DeviceError, ValueError, ("'cuda'", "cpu, webgpu")),
    ),
    Case(
        "truth of many elements",
        lambda: bool(counted(3) > 1),
        *(errors.DataError, ValueError, ("bool()", "(3,)", "3 elements", "any()")),
    ),
    Case(
        "item of many elements",
        lambda: counted(2, 2).item(),
        *(errors.DataError, ValueError, ("item()", "(2, 2)", "4 elements")),
    ),
    Case(
        "item out of range",
        lambda: counted(2, 2).item(2, 0),
        *(errors.TensorIndexError, IndexError, ("index 2", "axis 0", "(2, 2)")),
    ),
    Case(
        "length of a number",
        lambda: len(tw.asarray(3)),
        *(errors.DataError, TypeError, ("len()", "0-d", "size")),
    ),
    Case(
        "maximum of nothing",
        lambda: tw.zeros((0, 3)).max(0),
        *(errors.ShapeError, ValueError, ("max", "(0, 3)", "empty")),
    ),
    Case(
        "place of the maximum of nothing",
        lambda: tw.argmax(tw.zeros(0)),
        *(errors.ShapeError, ValueError, ("argmax", "(0,)", "empty")),
    ),
    Case(
        "bits of floats",
        lambda: counted(3) & 1,
        *(errors.DTypeError, TypeError, ("bitwise_and", "float32", "integer")),
    ),
    Case(
        "minus of bool",
        lambda: tw.asarray([True]) - tw.asarray([False]),
        *(errors.DTypeError, TypeError, ("subtract", "bool", "astype")),
    ),
    Case(
        "joining nothing",
        lambda: tw.concat([]),
        *(errors.ShapeError, ValueError, ("concat", "no tensors")),
    ),
    Case(
        "joining unequal shapes",
        lambda: tw.concat([counted(2, 3), counted(2, 4)]),
        *(errors.ShapeError, ValueError, ("concat", "(2, 3)", "(2, 4)", "axis 0")),
    ),
    Case(
        "stacking unequal shapes",
        lambda: tw.stack([counted(2), counted(3)]),
        *(errors.ShapeError, ValueError, ("stack", "(2,)", "(3,)")),
    ),
    Case(
        "squeezing a longer axis",
        lambda: counted(2, 1).squeeze(0),
        *(errors.ShapeError, ValueError, ("squeeze", "axis 0", "length 2")),
    ),
    Case(
        "cropping outside",
        lambda: counted(3).crop([(1, 4)]),
        *(errors.ShapeError, ValueError, ("crop", "(3,)")),
    ),
    Case(
        "negative pad",
        lambda: counted(3).pad([(1, -1)]),
        *(errors.ShapeError, ValueError, ("pad", "-1")),
    ),
    Case(
        "mutable hash",
        lambda: {counted(2): 1},
        *(TypeError, TypeError, ("unhashable",)),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_mistake_is_explained(case: Case) -> None:
    with pytest.raises(case.error) as caught:
        case.mistake()
    assert isinstance(caught.value, case.builtin)
    message = str(caught.value)
    assert [piece for piece in case.pieces if piece not in message] == []
    assert_equal(counted(3) + 1, [1, 2, 3])


def test_mixed_devices(cpu: str, webgpu: str) -> None:
    here = tw.ones(3, device="cpu")
    there = tw.ones(3, device="webgpu")
    with pytest.raises(errors.DeviceError, match=r"add.*cpu.*webgpu.*to_device"):
        here + there
    with pytest.raises(errors.DeviceError, match=r"to_device"):
        here @ there
    with pytest.raises(errors.DeviceError, match=r"to_device"):
        here[0:1] = there[0:1]
    assert_equal(here + there.to_device("cpu"), [2, 2, 2])


@pytest.mark.parametrize("dtype", [tw.float64, tw.int64, tw.uint64], ids=str)
def test_dtype_that_the_gpu_lacks(dtype: tw.DType, webgpu: str) -> None:
    message = rf"'webgpu' has no {dtype}.*device=\"cpu\".*astype"
    with pytest.raises(errors.DTypeError, match=message):
        tw.zeros(3, dtype=dtype)
    with pytest.raises(errors.DTypeError, match=message):
        tw.zeros(3).astype(dtype)
    refused = (errors.DTypeError, errors.NarrowedDataWarning)
    with pytest.raises(refused, match=rf"{dtype}.*device=\"cpu\""):
        tw.asarray(np.zeros(3, dtype.name))
    assert tw.zeros(3, dtype=dtype, device="cpu").dtype == dtype
    assert_equal(tw.ones(2) + 1, [2, 2])


def test_allocation_above_the_limit(device: str) -> None:
    for shape in [(1 << 20, 1 << 20), (1 << 31, 1 << 10)]:
        huge = tw.ones(shape) * tw.ones((1, 1))
        with pytest.raises(errors.DeviceMemoryError, match=str(shape[0])) as caught:
            (huge + 1).realize()
        assert isinstance(caught.value, MemoryError)
    assert_equal(counted(2) + 1, [1, 2])


def test_reading_where_python_cannot_wait(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> object:
        raise errors.BlockingError("read: await x.tolist_async()")

    x = counted(2, 3) + 1
    with monkeypatch.context() as patch:
        patch.setattr(type(devices.backend(device)), "read_steps", refuse)
        with pytest.raises(errors.BlockingError, match="tolist_async"):
            x.tolist()
        assert repr(x).startswith("tensor(..., shape=(2, 3), dtype=float32")
    assert_equal(x, [[1, 2, 3], [4, 5, 6]])


def test_callables_run_on_the_cpu_only(webgpu: str) -> None:
    with pytest.raises(errors.DeviceError, match=r"cpu only.*to_device"):
        tw.map(lambda value: value + 1, tw.ones(3))
    with pytest.raises(ZeroDivisionError):
        tw.map(lambda value: 1 / value, tw.zeros(3, device="cpu"))
    assert_equal(tw.map(abs, tw.ones(2, device="cpu")), [1, 1])


def test_an_error_inside_an_assignment_changes_nothing(device: str) -> None:
    x = counted(3)
    with pytest.raises(errors.ShapeError):
        x[:2] = counted(3)
    with pytest.raises(errors.TensorIndexError):
        x[5] = 1
    assert_equal(x, [0, 1, 2])
