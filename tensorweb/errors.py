"""Every exception that tensorweb raises on purpose, and every warning it gives.

    TensorwebError
    ├── ShapeError (ValueError)          shapes or axes do not fit
    │   └── ShapeTypeError (TypeError)   a shape is not made of integers
    ├── AxisError (ShapeError, IndexError)   an axis does not exist or repeats
    ├── DTypeError (TypeError)           a dtype is unknown, unfit or not on this device
    ├── DataError (ValueError, TypeError)    host data cannot become a tensor
    ├── ExchangeError (DataError, BufferError)   data cannot be shared without a copy
    ├── RangeError (OverflowError)       an integer does not fit its dtype
    ├── TensorIndexError (IndexError)    an index is out of range or of a wrong kind
    ├── MissingPackageError (ImportError)    this needs a package that is not installed
    ├── LinAlgError (ValueError)         a matrix cannot be taken apart or inverted
    │   └── MatrixShapeError (ShapeError)    matrices of a shape that does not fit
    ├── NonFiniteError (FloatingPointError)  an operation made NaN under `debug_nans`
    ├── TraceError (RuntimeError)        a value was asked for while jit records
    ├── DeviceError (ValueError)         devices are mixed, unknown or unavailable
    ├── KernelError (ValueError)         a kernel of your own does not fit its call
    └── BackendError (RuntimeError)      the device could not do its work
        ├── BlockingError                Python cannot wait here; use the awaitable twin
        ├── DeviceLostError              the GPU device was lost; the next run opens one
        ├── DeviceMemoryError (MemoryError)  an allocation failed or exceeds a limit
        └── ShaderError                  the device's compiler refused a kernel

    TensorwebWarning (UserWarning)       a program that probably means something else
    └── NarrowedDataWarning              64-bit host data became 32-bit for the device

Each class is also the built-in kind that NumPy raises, so `except ValueError` works.
A message says what was wrong, with which shapes, dtypes and device, and what to do.

    >>> try:
    ...     tw.asarray([1, 2, 3])[7]
    ... except IndexError as error:
    ...     type(error).__name__
    'TensorIndexError'
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Literal, Self

Shapes = Sequence[tuple[int, ...]]

Rule = Literal[
    "broadcast",
    "broadcast_to",
    "matmul",
    "reshape",
    "concat",
    "aligned",
    "expected",
    "window",
    "index",
]


@dataclass(frozen=True, slots=True)
class Clash:
    """The shapes that a rule cannot combine.

    Attributes:
        rule: what the shapes violate. `broadcast_to` is broadcasting to a fixed shape;
            `aligned` demands that corresponding axes have equal lengths; `expected`
            that an input has a given shape; `window` that a window fits into the input;
            `index` that an index is below the length of its axis.
        shapes: the shapes of the operands, in order. The second shape of `reshape`,
            `broadcast_to` and `expected` is the requested one, with -1 for any length;
            that of `window` is the extent of a window. The first one of `index` is the
            index.
        axes: for each shape the axis that does not fit, None if all its axes do.
        joined: the axis that `concat` joins.
        columns: for each shape the column of each axis in a picture; only of `aligned`,
            `expected`, `window` and `index`.
        layer: class of the layer whose first argument is the only expected length, or
            the length of the indexed axis; empty if there is none.
        fits: returns whether other shapes would fit; only of `aligned` and `expected`.
    """

    rule: Rule
    shapes: tuple[tuple[int, ...], ...]
    axes: tuple[int | None, ...]
    joined: int | None = None
    columns: tuple[tuple[int, ...], ...] = ()
    layer: str = ""
    fits: Callable[[Shapes], bool] | None = field(default=None, compare=False)


def aligned_clash(
    shapes: Sequence[Sequence[int]],
    columns: Sequence[Sequence[int]],
    fits: Callable[[Shapes], bool] | None = None,
    free: Sequence[int] = (),
    rule: Rule = "aligned",
    layer: str = "",
    lacking: Sequence[int] = (),
) -> Clash:
    """Return the clash of shapes that are aligned in columns, one below the other.

    Axes in one column must have equal lengths; the clash names the axes in the first
    column where the lengths differ.

    Args:
        shapes: the shape of each operand, -1 for any length.
        columns: for each shape the column of each axis.
        fits: returns whether other shapes would fit; by default shapes do if they have
            the same counts of axes and lengths that are equal in every column.
        free: columns that a shape may lack, and in which a length of 1 broadcasts.
        rule: the rule of the clash.
        layer: see `Clash`.
        lacking: columns that a shape may lack.

    >>> from tensorweb.errors import aligned_clash
    >>> aligned_clash([(2, 3), (4, 5)], [(0, 1), (1, 2)], free=[0, 2]).axes
    (1, 0)
    """

    def unequal_column(shapes: Sequence[Sequence[int]]) -> int:
        lengths_of = [
            dict(zip(own, shape, strict=True))
            for own, shape in zip(columns, shapes, strict=True)
        ]
        for column in sorted({column for own in columns for column in own}):
            lengths = {shape.get(column) for shape in lengths_of} - {-1}
            lengths -= {None, 1} if column in free else set()
            lengths -= {None} if column in lacking else set()
            if len(lengths) > 1:
                return column
        return -1

    def agree(shapes: Shapes) -> bool:
        is_same_rank = [*map(len, shapes)] == [*map(len, columns)]
        return is_same_rank and unequal_column(shapes) < 0

    wrong = unequal_column(shapes)
    return Clash(
        rule,
        tuple(map(tuple, shapes)),
        tuple(own.index(wrong) if wrong in own else None for own in columns),
        columns=tuple(map(tuple, columns)),
        layer=layer,
        fits=fits or agree,
    )


def window_clash(shape: Sequence[int], reaches: Sequence[int], axis: int) -> Clash:
    """Return the clash of an input and windows over its last axes that exceed it.

    Args:
        shape: the shape of the input, without padding.
        reaches: the extent of a window along each of these axes.
        axis: which of these axes is, with padding, shorter than the window.

    >>> from tensorweb.errors import window_clash
    >>> window_clash((2, 3, 6, 6), (2, 9), 1).axes
    (3, 1)
    """
    begin = len(shape) - len(reaches)
    columns = tuple(range(len(shape))), tuple(range(begin, len(shape)))
    shapes = tuple(shape), tuple(reaches)
    return Clash("window", shapes, (begin + axis, axis), columns=columns)


def index_clash(
    index: int, shape: Sequence[int], axis: int = 0, layer: str = ""
) -> Clash:
    """Return the clash of an index and an axis that has no such index.

    >>> from tensorweb.errors import index_clash
    >>> index_clash(11, (10, 4)).shapes
    ((11,), (10, 4))
    """
    columns = (axis,), tuple(range(len(shape)))
    shapes = (index,), tuple(shape)
    return Clash("index", shapes, (0, axis), columns=columns, layer=layer)


def equal_clash(shapes: Sequence[Sequence[int]]) -> Clash:
    """Return the clash of shapes that must be equal.

    >>> from tensorweb.errors import equal_clash
    >>> equal_clash([(2, 3), (2, 4)]).axes
    (1, 1)
    """
    columns = [range(len(shape)) for shape in shapes]
    return aligned_clash(shapes, columns, lambda new: len(set(new)) == 1)


def expected_clash(
    given: Sequence[int],
    expected: Sequence[int],
    *,
    is_open: bool = False,
    has_one: bool = False,
    layer: str = "",
) -> Clash:
    """Return the clash of an input and the shape that is expected.

    Args:
        given: shape of the input.
        expected: -1 is any length.
        is_open: whether any axes may stand before these.
        has_one: whether one example, without the first axis, is taken, too.
        layer: class of the layer whose first argument is the one expected length.

    >>> from tensorweb.errors import expected_clash
    >>> expected_clash((8, 5), (3,), is_open=True).shapes
    ((8, 5), (-1, 3))
    """
    rank = len(expected)

    def fits(shapes: Shapes) -> bool:
        given, asked = shapes
        tail = given[max(len(given) - rank, 0) :] if is_open else given
        asked = asked[len(asked) - rank :]
        asked = asked[has_one and len(tail) < rank :]
        return len(tail) == len(asked) and all(
            b in (-1, a) for a, b in zip(tail, asked, strict=True)
        )

    filled = (*[-1] * (len(given) - rank if is_open else 0), *expected)
    begin = max(len(filled) - len(given), 0) if is_open else 0
    columns = (range(begin, begin + len(given)), range(len(filled)))
    return aligned_clash((given, filled), columns, fits, (), "expected", layer)


def broadcast_clash(
    shapes: Sequence[Sequence[int]], back: int | None = None, *, is_fixed: bool = False
) -> Clash:
    """Return the clash of shapes along an axis that is counted from the right.

    Without one it is the last axis along which the first shape does not broadcast to
    the second. With `is_fixed` the second shape is the requested one.

    >>> from tensorweb.errors import broadcast_clash
    >>> broadcast_clash([(2, 3), (2,)], 1).axes
    (1, 0)
    """
    aligned = [tuple(shape) for shape in shapes]
    if back is None:
        first, second = (list(reversed(shape)) for shape in aligned[:2])
        second += [0] * (len(first) - len(second))
        pairs = enumerate(zip(first, second, strict=False), 1)
        back = next((at for at, (a, b) in pairs if a not in (1, b)), 0)
    axes = tuple(
        len(shape) - back
        if 0 < back <= len(shape) and (is_fixed or shape[len(shape) - back] != 1)
        else None
        for shape in aligned
    )
    rule: Rule = "broadcast_to" if is_fixed else "broadcast"
    return Clash(rule, tuple(aligned), axes)


def matmul_clash(
    a: Sequence[int], b: Sequence[int], axes: tuple[int | None, ...]
) -> Clash:
    """Return the clash of two operands of a product."""
    return Clash("matmul", (tuple(a), tuple(b)), axes)


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless there is one.

    >>> counted(1, "cell"), counted(10_000, "cell"), counted(2, "launch")
    ('1 cell', '10,000 cells', '2 launches')
    """
    ending = "es" if noun.endswith("ch") else "s"
    return f"{count:,} {noun}{'' if count == 1 else ending}"


__all__ = [
    "AxisError",
    "BackendError",
    "BlockingError",
    "DTypeError",
    "DataError",
    "DeviceError",
    "DeviceLostError",
    "DeviceMemoryError",
    "ExchangeError",
    "KernelError",
    "LinAlgError",
    "MatrixShapeError",
    "MissingPackageError",
    "ModeWarning",
    "NarrowedDataWarning",
    "NonFiniteError",
    "RangeError",
    "ShaderError",
    "ShapeError",
    "ShapeTypeError",
    "TensorIndexError",
    "TensorwebError",
    "TensorwebWarning",
    "TraceError",
    "TransformError",
]


class TensorwebError(Exception):
    """Base of all errors of this package.

    >>> issubclass(ShapeError, TensorwebError)
    True
    """


class ShapeError(TensorwebError, ValueError):
    """Shapes do not fit together or a size is impossible.

    Attributes:
        clash: the shapes that do not fit, where one rule refuses them; else None.

    >>> tw.ones((2, 3)) + tw.ones(4)
    Traceback (most recent call last):
    ...
    tensorweb.errors.ShapeError: add: shapes (2, 3) and (4,) do not broadcast...
    """

    clash: Clash | None = None

    def __init__(self, *arguments: object, clash: Clash | None = None) -> None:
        super().__init__(*arguments)
        if clash is not None:
            self.clash = clash


class _AlsoOfNumPy(TensorwebError):
    """An error that is of a class of NumPy's too, where a program has imported that."""

    _host = ("", "")
    """NumPy's module and the name of its class."""

    def __new__(cls, *arguments: object) -> Self:
        """Make an error, of NumPy's class too where its module is imported."""
        module, name = cls._host
        host = sys.modules.get(module)
        if host is None:
            return super().__new__(cls, *arguments)
        joined: type[Self] = _joined(cls, getattr(host, name))  # type: ignore[arg-type]  # a class has a hash
        return super().__new__(joined, *arguments)


@functools.cache
def _joined(own: type[Any], host: type[Any]) -> type[Any]:
    """Return a class of errors that is another one too, under the name it has."""
    if issubclass(own, host):
        return own
    words = {
        "__module__": own.__module__,
        "__doc__": own.__doc__,
        # A pickle makes the error again with NumPy or without.
        "__reduce__": lambda error: (own, error.args, error.__dict__),
    }
    return type(own.__name__, (own, host), words)


class ShapeTypeError(ShapeError, TypeError):
    """A shape is not made of integers.

    >>> tw.zeros((2.0, 3))
    Traceback (most recent call last):
    ...
    tensorweb.errors.ShapeTypeError: shape (2.0, 3) is not made of integers.
    """


class AxisError(_AlsoOfNumPy, ShapeError, IndexError):
    """An axis does not exist or is given twice.

    Where NumPy is imported, `except numpy.exceptions.AxisError` catches it too.

    >>> tw.ones(3).sum(axis=2)
    Traceback (most recent call last):
    ...
    tensorweb.errors.AxisError: axis 2 is out of range for a tensor with 1 axes...
    """

    _host = ("numpy.exceptions", "AxisError")


class DTypeError(TensorwebError, TypeError):
    """A dtype is unknown, unfit for the operation or absent on the device.

    >>> tw.bitwise_and(1.5, 2)
    Traceback (most recent call last):
    ...
    tensorweb.errors.DTypeError: bitwise_and: float32 operands; it takes integer or...
    """


class DataError(TensorwebError, ValueError, TypeError):
    """Host data (a list, an array, a buffer) cannot become a tensor.

    >>> tw.asarray([[1, 2], [3]])
    Traceback (most recent call last):
    ...
    tensorweb.errors.DataError: ragged list: row 1 has 1 items, row 0 has 2; all...
    """


class ExchangeError(DataError, BufferError):
    """Data cannot be handed to or taken from another library as asked.

    >>> tw.ones(3).__dlpack__(copy=False)
    Traceback (most recent call last):
    ...
    tensorweb.errors.ExchangeError: __dlpack__: copy=False, but values are always...
    """


class RangeError(TensorwebError, OverflowError):
    """A Python integer does not fit the dtype.

    >>> tw.asarray([300], dtype=tw.uint8)
    Traceback (most recent call last):
    ...
    tensorweb.errors.RangeError: ...Python integer 300 does not fit uint8...
    """


class TensorIndexError(TensorwebError, IndexError):
    """An index is out of range or of a kind that cannot index.

    Attributes:
        clash: the index and the shape, where it is out of range; else None.

    >>> tw.arange(3)[5]
    Traceback (most recent call last):
    ...
    tensorweb.errors.TensorIndexError: index 5 is out of range for axis 0 of...
    """

    clash: Clash | None = None

    def __init__(self, *arguments: object, clash: Clash | None = None) -> None:
        super().__init__(*arguments)
        if clash is not None:
            self.clash = clash


class DeviceError(TensorwebError, ValueError):
    """Devices are mixed, unknown or unavailable.

    >>> tw.ones(2, device="tpu")
    Traceback (most recent call last):
    ...
    tensorweb.errors.DeviceError: unknown device 'tpu'; devices are cpu, webgpu.
    """


class MissingPackageError(TensorwebError, ImportError):
    """What was asked for needs a package that is not installed, NumPy for example.

    >>> issubclass(MissingPackageError, ImportError)
    True
    """


class LinAlgError(_AlsoOfNumPy, ValueError):
    """A matrix cannot be taken apart, or has no inverse.

    It is raised when the result is read, and names the matrix of the stack. Beside
    NumPy, `except numpy.linalg.LinAlgError` catches it too.

    Attributes:
        location: code that asked for the result and an instruction in it, where such
            things are noted: not the code that reads.

    >>> print(tw.linalg.inv([[1.0, 2.0], [2.0, 4.0]]))
    Traceback (most recent call last):
    ...
    tensorweb.errors.LinAlgError: inv: the matrix of shape (2, 2) is singular...
    """

    _host = ("numpy.linalg", "LinAlgError")
    location: tuple[CodeType, int] | None = None


class MatrixShapeError(ShapeError, LinAlgError):
    """Matrices are not square, have fewer than two axes, or do not fit others.

    >>> tw.linalg.inv([[1.0, 2.0]])
    Traceback (most recent call last):
    ...
    tensorweb.errors.MatrixShapeError: inv: shape (1, 2); the last two axes must be...
    """


class NonFiniteError(TensorwebError, FloatingPointError):
    """An operation made a NaN or an infinity while `tw.debug_nans` looked.

    >>> issubclass(NonFiniteError, FloatingPointError)
    True
    """


class TraceError(TensorwebError, RuntimeError):
    """A value was asked for while `jit` records what a function does.

    >>> issubclass(TraceError, RuntimeError)
    True
    """


class TransformError(TensorwebError, ValueError):
    """A derivative was asked for where there is none, or in a form that has none.

    >>> issubclass(TransformError, ValueError)
    True
    """


class KernelError(TensorwebError, ValueError):
    """A kernel of your own is declared or called wrongly, or has other results.

    >>> tw.kernel("y[0] = x[0];", inputs={"x": tw.float32}, outputs={"x": tw.float32})
    Traceback (most recent call last):
    ...
    tensorweb.errors.KernelError: kernel: two arguments are called 'x'...
    """


class BackendError(TensorwebError, RuntimeError):
    """The device could not do its work.

    >>> issubclass(BackendError, RuntimeError)
    True
    """


class BlockingError(BackendError):
    """Python cannot wait at this point; the awaitable twin of the call can.

    >>> issubclass(BlockingError, BackendError)
    True
    """


class DeviceLostError(BackendError):
    """The GPU device was lost with its tensors; the next run gets a new one.

    >>> issubclass(DeviceLostError, BackendError)
    True
    """


class DeviceMemoryError(BackendError, MemoryError):
    """An allocation failed or exceeds the device's limit.

    >>> issubclass(DeviceMemoryError, MemoryError)
    True
    """


class ShaderError(BackendError):
    """The device's compiler refused a kernel.

    Attributes:
        label: the kernel in words.
        source: its complete text.
        reports: what the compiler said, each with line and column of the source, which
            begin at 1; 0 where it named none.

    >>> issubclass(ShaderError, BackendError)
    True
    """

    label = ""
    source = ""
    reports: tuple[tuple[str, int, int], ...] = ()


class TensorwebWarning(UserWarning):
    """Base of all warnings of this package.

    >>> issubclass(TensorwebWarning, UserWarning)
    True
    """


class ModeWarning(TensorwebWarning):
    """A layer evaluates while gradients are computed; said once a program.

    `model.train()` or `model.eval()` says which is meant.

    >>> issubclass(ModeWarning, TensorwebWarning)
    True
    """


class NarrowedDataWarning(TensorwebWarning):
    """Host data of 64-bit numbers became 32-bit ones; said once a program.

    >>> issubclass(NarrowedDataWarning, TensorwebWarning)
    True
    """
