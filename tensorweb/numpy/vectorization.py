"""Loops over arrays: along axes, by cases, over indices and over elements."""

from __future__ import annotations

import inspect
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any, Self, SupportsIndex

from tensorweb import functions as tw
from tensorweb.errors import DataError, ShapeError
from tensorweb.numpy.arguments import (
    as_first_operand,
    as_operand_like,
    as_tensors,
)
from tensorweb.numpy.creation import asarray
from tensorweb.public_names import declare_public
from tensorweb.shapes import (
    as_shape,
    broadcast_shapes,
    normalize_axis,
    normalize_axis_order,
)
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike


def apply_along_axis(
    func1d: Callable[..., ArrayLike],
    axis: SupportsIndex,
    arr: ArrayLike,
    *args: object,
    **kwargs: object,
) -> Tensor:
    """Return the results of a function for each 1-D slice along an axis.

    The axis is replaced by those of the results, which have one shape. Python calls the
    function once for each slice.

    Raises:
        ShapeError: there are no slices.

    >>> np.apply_along_axis(lambda row: row[0] + row[-1], 1, [[1, 2, 3], [4, 5, 6]])
    tensor([ 4, 10])
    """
    x = tw.asarray(arr)
    along = normalize_axis(axis, x.ndim)
    rows = tw.moveaxis(x, along, -1)
    front = rows.shape[:-1]
    results = [
        tw.asarray(func1d(rows[index], *args, **kwargs))
        for index in product(*map(range, front))
    ]
    if not results:
        raise ShapeError(
            f"apply_along_axis: shape {x.shape} has no slices along axis {along}."
        )
    inner = results[0].shape
    joined = tw.stack(results).reshape((*front, *inner))
    sources = range(len(front), len(front) + len(inner))
    return tw.moveaxis(joined, sources, range(along, along + len(inner)))


def apply_over_axes(
    func: Callable[[Tensor, int], ArrayLike],
    a: ArrayLike,
    axes: SupportsIndex | Iterable[SupportsIndex],
) -> Tensor:
    """Apply `func(a, axis)` along several axes, one after the other.

    Axes that it reduces stay with length 1.

    Raises:
        ShapeError: the function removes more than the axis.

    >>> np.apply_over_axes(np.sum, [[1, 2], [3, 4]], [0, 1])
    tensor([[10]])
    """
    x = tw.asarray(a)
    rank = x.ndim
    for axis in normalize_axis_order(axes, rank):
        result = tw.asarray(func(x, axis))
        x = result if result.ndim == rank else tw.expand_dims(result, axis)
        if x.ndim != rank:
            raise ShapeError(
                f"apply_over_axes: the function gave shape {result.shape} for axis "
                f"{axis}; it takes away one axis or none."
            )
    return x


def piecewise(
    x: ArrayLike,
    condlist: ArrayLike,
    funclist: Sequence[ArrayLike],
    *args: object,
    **kw: object,
) -> Tensor:
    """Evaluate by cases: where a condition holds, its function or number.

    Later cases win; one function more is for the remaining elements, otherwise 0.
    Every function gets all of `x`, and its results are chosen from.

    Raises:
        DataError: there are not as many functions as conditions, or one more.

    >>> np.piecewise([-2.0, 1.0, 3.0], [np.asarray([True, False, False])], [-1, 1])
    tensor([-1.,  1.,  1.])
    """
    cases = list(funclist)
    listed = condlist if isinstance(condlist, list | tuple) else [condlist]
    values = as_first_operand(x, *listed, *cases)
    conditions = _as_conditions(condlist, values)
    if len(cases) not in (len(conditions), len(conditions) + 1):
        raise DataError(
            f"piecewise: {len(cases)} functions for {len(conditions)} conditions; give "
            "as many, or one more."
        )
    if len(cases) == len(conditions):
        cases.append(0)

    def evaluate(case: ArrayLike) -> Tensor:
        result = case(values, *args, **kw) if callable(case) else case
        return as_operand_like(result, values).astype(values.dtype)

    result = evaluate(cases.pop())
    for condition, case in zip(conditions, cases, strict=True):
        result = tw.where(condition, evaluate(case), result)
    return tw.broadcast_to(result, values.shape)


def _as_conditions(condlist: ArrayLike, values: Tensor) -> list[Tensor]:
    """Return conditions as bool tensors; one alone need not be in a list."""
    if isinstance(condlist, list | tuple) and not isinstance(condlist[0], bool):
        conditions = [as_operand_like(condition, values) for condition in condlist]
    else:
        table = as_operand_like(condlist, values)
        conditions = list(tw.unstack(table)) if table.ndim > values.ndim else [table]
    return [condition.astype("bool") for condition in conditions]


class vectorize:
    """A Python function of numbers as one of tensors, called for each element.

    Elements are read and go to the function as Python numbers; results become a tensor
    on the device of the first one. Compositions of tensor functions are faster by far.
    With a `signature` such as `(m,n),(n)->(m)` the function is given tensors of the
    last axes that it names, for each index of the others. Without a function it is a
    decorator.

    Raises:
        DataError: the signature is none, there are no elements and no `otypes`, or
            the function cannot be called.

    >>> larger = np.vectorize(lambda a, b: a if a > b else b)
    >>> larger([1, 5, 2], 3)
    tensor([3, 5, 3])
    >>> np.vectorize(np.dot, signature="(n),(n)->()")([[1, 2], [3, 4]], [1, 1])
    tensor([3, 7])
    """

    def __init__(
        self,
        pyfunc: Callable[..., Any] | None = None,
        otypes: Sequence[DTypeLike] | str | None = None,
        doc: str | None = None,
        excluded: Iterable[int | str] | None = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        """Keep a function; `excluded` names arguments that are handed on as such."""
        if pyfunc is not None and not callable(pyfunc):
            raise DataError(f"vectorize: {pyfunc!r} is no function; give one.")
        if signature is not None:
            _parse_signature(signature)
        self.signature = signature
        self.pyfunc = pyfunc
        self.otypes: Sequence[DTypeLike] | str | None = otypes
        self.excluded: set[int | str] = set(excluded or ())
        self.__doc__ = doc or (None if pyfunc is None else inspect.getdoc(pyfunc))
        self.__name__ = getattr(pyfunc, "__name__", "vectorize")

    def __call__(self, *args: ArrayLike, **kwargs: ArrayLike) -> Any:
        """Return the function of each element; several results give a tuple."""
        if self.pyfunc is None:  # as a decorator
            options = (self.otypes, self.__doc__, self.excluded, False, self.signature)
            decorated: Any = args[0]
            return vectorize(decorated, *options)
        if self.signature is not None:
            fixed = {*kwargs, *self.excluded}
            call, varied = self._with_fixed(args, kwargs, fixed)
            return _call_by_signature(
                self.__name__, call, self.signature, varied, self._dtypes
            )
        call, varied = self._with_fixed(args, kwargs, self.excluded)
        operands = [tw.asarray(x) for x in varied]
        shape = broadcast_shapes(*(x.shape for x in operands))
        columns = [tw.broadcast_to(x, shape).reshape(-1).tolist() for x in operands]
        rows = zip(*columns, strict=True) if columns else [()]
        device = operands[0].device if operands else None
        return self._join_results([call(*row) for row in rows], shape, device)

    @property
    def _dtypes(self) -> list[DTypeLike] | None:
        """The dtypes of results; programs may set `otypes`, as in NumPy."""
        return None if self.otypes is None else list(map(_as_dtype_name, self.otypes))

    def _with_fixed(
        self,
        args: tuple[ArrayLike, ...],
        kwargs: dict[str, ArrayLike],
        fixed: set[int | str],
    ) -> tuple[Callable[..., Any], list[ArrayLike]]:
        """Return the function of the arguments that are not fixed, and these."""
        assert self.pyfunc is not None, "internal: there is a function"
        function = self.pyfunc
        values: dict[Any, ArrayLike] = dict(enumerate(args)) | kwargs
        names = [name for name in values if name not in fixed]

        def call(*varied: Any) -> Any:
            arguments = values | dict(zip(names, varied, strict=True))
            positional = [arguments.pop(i) for i in range(len(args))]
            return function(*positional, **arguments)

        return call, [values[name] for name in names]

    def _join_results(
        self, results: list[Any], shape: tuple[int, ...], device: str | None
    ) -> Any:
        """Return results as one tensor, or as a tuple of them."""
        if results:
            is_tuple = isinstance(results[0], tuple)
            columns = list(zip(*results, strict=True)) if is_tuple else [results]
        elif self._dtypes is not None:
            is_tuple = len(self._dtypes) > 1
            columns = [()] * len(self._dtypes)
        else:
            raise DataError(
                f"{self.__name__}: there are no elements to call it with; give the "
                "dtypes of results with otypes=."
            )
        joined = []
        dtypes = [None] * len(columns) if self._dtypes is None else self._dtypes
        for column, dtype in zip(columns, dtypes, strict=True):
            numbers = [x.item() if hasattr(x, "item") else x for x in column]
            joined.append(tw.asarray(numbers, dtype, device=device).reshape(shape))
        return tuple(joined) if is_tuple else joined[0]


def _as_dtype_name(otype: DTypeLike) -> DTypeLike:
    """Return the dtype of a letter of NumPy, such as "d"; other values as given."""
    letters = {"d": "float64", "f": "float32", "i": "int32", "l": "int64", "?": "bool"}
    return letters.get(otype, otype) if isinstance(otype, str) else otype


Axes = tuple[str, ...]

_NAMES = r"\((?:\w+(?:,\w+)*)?\)"
_LIST = f"{_NAMES}(?:,{_NAMES})*"


def _parse_signature(signature: str) -> tuple[list[Axes], list[Axes]]:
    """Return the names of the axes of each operand and of each result.

    Raises:
        DataError: the signature is none.

    >>> _parse_signature("(m,n),(n)->(m)")
    ([('m', 'n'), ('n',)], [('m',)])
    """
    text = re.sub(r"\s+", "", signature)
    if not re.fullmatch(f"{_LIST}->{_LIST}", text):
        raise DataError(
            f"signature={signature!r}; write one such as '(m,n),(n)->(m)', with () for "
            "numbers."
        )
    left, right = (
        [tuple(re.findall(r"\w+", part)) for part in re.findall(_NAMES, side)]
        for side in text.split("->")
    )
    return left, right


def _call_by_signature(
    name: str,
    function: Callable[..., Any],
    signature: str,
    args: Sequence[ArrayLike],
    otypes: Sequence[DTypeLike] | None,
) -> Any:
    """Return a function of the last axes for all indices of the others, broadcast.

    Raises:
        DataError: operands or results are more or fewer than the signature has, or
            the dtypes or shapes of results without elements are unknown.
        ShapeError: axes of one name differ in length, or an operand has too few.
    """
    inputs, outputs = _parse_signature(signature)
    if len(args) != len(inputs):
        raise DataError(f"{name}: {len(args)} operands for the signature {signature}.")
    operands = as_tensors(args)
    lengths: dict[str, int] = {}
    outer = [
        _record_lengths(name, x.shape, axes, lengths)
        for x, axes in zip(operands, inputs, strict=True)
    ]
    shape = broadcast_shapes(*outer)
    operands = [
        tw.broadcast_to(x, (*shape, *x.shape[x.ndim - len(axes) :]))
        for x, axes in zip(operands, inputs, strict=True)
    ]
    rows = []
    for index in product(*map(range, shape)):
        returned = function(*(x[index] for x in operands))
        row = returned if isinstance(returned, tuple) else (returned,)
        if len(row) != len(outputs):
            raise DataError(
                f"{name}: {len(row)} results for {len(outputs)} of {signature}."
            )
        rows.append([tw.asarray(result) for result in row])
        for result, axes in zip(rows[-1], outputs, strict=True):
            if _record_lengths(name, result.shape, axes, lengths):
                raise ShapeError(
                    f"{name}: a result of shape {result.shape} for the axes {axes}."
                )
    if not rows:
        joined = _empty_results(name, shape, outputs, lengths, otypes)
    else:
        joined = [
            tw.stack(list(column)).reshape((*shape, *column[0].shape))
            for column in zip(*rows, strict=True)
        ]
        if otypes is not None:
            joined = [x.astype(t) for x, t in zip(joined, otypes, strict=True)]
    return joined[0] if len(joined) == 1 else tuple(joined)


def _record_lengths(
    name: str, shape: tuple[int, ...], axes: Axes, lengths: dict[str, int]
) -> tuple[int, ...]:
    """Record the lengths of a signature's axes; return those of the batch axes."""
    if len(shape) < len(axes):
        raise ShapeError(f"{name}: shape {shape} has too few axes for {axes}.")
    first = len(shape) - len(axes)
    for axis, length in zip(axes, shape[first:], strict=True):
        if lengths.setdefault(axis, length) != length:
            raise ShapeError(
                f"{name}: the axis {axis!r} has lengths {lengths[axis]} and {length}; "
                "they must be equal."
            )
    return shape[:first]


def _empty_results(
    name: str,
    shape: tuple[int, ...],
    outputs: list[Axes],
    lengths: dict[str, int],
    otypes: Sequence[DTypeLike] | None,
) -> list[Tensor]:
    """Return results without an element, for which no function was called."""
    if otypes is None or not all(axis in lengths for axes in outputs for axis in axes):
        raise DataError(
            f"{name}: there are no elements to call it with; give the dtypes of "
            "results with otypes=, and name no axis that only results have."
        )
    return [
        tw.zeros((*shape, *(lengths[axis] for axis in axes)), dtype=dtype)
        for axes, dtype in zip(outputs, otypes, strict=True)
    ]


def ndindex(*shape: Any) -> Iterator[tuple[int, ...]]:
    """Yield every index of a shape, the last axis fastest.

    >>> list(np.ndindex(2, 2))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    return itertools.product(*map(range, as_shape(lengths)))


def ndenumerate(arr: ArrayLike) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Yield every index with its element, as a number; reads the array once.

    >>> list(np.ndenumerate([[1, 2]]))
    [((0, 0), 1), ((0, 1), 2)]
    """
    x = asarray(arr)
    return zip(ndindex(x.shape), x.ravel().tolist(), strict=True)


def iterable(y: object) -> bool:
    """Return whether an object can be iterated.

    >>> np.iterable([1, 2]), np.iterable(2)
    (True, False)
    """
    if isinstance(y, Tensor):
        return bool(y.ndim)
    try:
        iter(y)  # type: ignore[call-overload]  # that is the question
    except TypeError:
        return False
    return True


class broadcast:
    """Arrays that broadcast: their common shape, and their elements side by side.

    >>> b = np.broadcast([[1], [2]], [10, 20])
    >>> b.shape, list(b)
    ((2, 2), [(1, 10), (1, 20), (2, 10), (2, 20)])
    """

    def __init__(self, *args: ArrayLike) -> None:
        """Broadcast arrays.

        Raises:
            ShapeError: their shapes do not broadcast.
        """
        self._arrays = [asarray(array) for array in args]
        self.shape = broadcast_shapes(*(array.shape for array in self._arrays))
        self.ndim = self.nd = len(self.shape)
        self.numiter = len(self._arrays)

    @property
    def size(self) -> int:
        """The count of elements of the common shape."""
        return math.prod(self.shape)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Yield the elements side by side, as numbers; reads each array once."""
        wide = [array.broadcast_to(self.shape).ravel() for array in self._arrays]
        return iter(list(zip(*(array.tolist() for array in wide), strict=True)))


FLAGS = (
    *("multi_index", "c_index", "external_loop", "refs_ok", "zerosize_ok"),
    *("buffered", "delay_bufalloc", "grow_inner"),
)
"""The flags that nditer accepts; those about buffers have no effect."""


class nditer:
    """Elements of operands that broadcast, side by side; `z[...] = v` writes.

    An operand that is None is allocated for results. Written values are stored in
    `operands` when the loop ends.

    Raises:
        DataError: flags ask for ranges or indices in columns.

    `external_loop` yields all elements at once, as a vector.

    >>> both = np.nditer([[1, 2], [[10], [20]], None])
    >>> for x, y, z in both:
    ...     z[...] = x + y
    >>> both.operands[2]
    tensor([[11, 12],
            [21, 22]])
    """

    def __init__(
        self,
        op: Any,
        flags: Sequence[str] = (),
        op_flags: Sequence[Any] = (),
    ) -> None:
        """Take one operand, or several in a list."""
        refused = [flag for flag in flags if flag not in FLAGS]
        if refused:
            raise DataError(
                f"nditer: the flag {refused[0]!r} is not possible; use functions of "
                "whole tensors."
            )
        self._is_loop_outside = "external_loop" in flags
        self._is_one = not isinstance(op, list | tuple) or _is_data(op)
        self.operands: tuple[Any, ...] = tuple(
            None if x is None else tw.asarray(x) for x in ([op] if self._is_one else op)
        )
        shapes = [x.shape for x in self.operands if x is not None]
        self.shape = broadcast_shapes(*shapes)
        self._indices = list(itertools.product(*(range(n) for n in self.shape)))
        self.multi_index: tuple[int, ...] = ()
        self.index = 0

    def __enter__(self) -> Self:
        """Return the iterator; written values are stored when the loop ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: there are no buffers."""

    def __iter__(self) -> Iterator[Any]:
        """Yield the operands side by side: elements, or vectors of all of them."""
        inputs = [x for x in self.operands if x is not None]
        dtype = tw.result_type(*inputs) if inputs else None
        empty = tw.zeros(self.shape, dtype, device=inputs[0].device if inputs else None)
        columns = [
            self._parts(empty if x is None else tw.broadcast_to(x, self.shape))
            for x in self.operands
        ]
        written = [x is None for x in self.operands]
        indices = [()] if self._is_loop_outside else self._indices
        for i, index in enumerate(indices):
            self.multi_index, self.index = index, i
            row = [tw.asarray(column[i], copy=True) for column in columns]
            before = [part.node for part in row]
            yield row[0] if self._is_one else tuple(row)
            for number, (part, old) in enumerate(zip(row, before, strict=True)):
                columns[number][i] = part
                written[number] |= part.node is not old
        self.operands = tuple(map(self._stored, self.operands, columns, written))

    def _parts(self, x: Tensor) -> list[Tensor]:
        """Return the elements, or one vector of all of them."""
        flat = x.reshape(-1)
        return [flat] if self._is_loop_outside else list(tw.unstack(flat))

    def _stored(
        self, operand: Tensor | None, parts: list[Tensor], is_written: bool
    ) -> Tensor | None:
        """Return an operand with its written parts, or a new one for results."""
        if not parts or not is_written:
            return operand
        values = parts[0] if self._is_loop_outside else tw.stack(parts)
        values = values.reshape(self.shape)
        if operand is None:
            return values
        if operand.shape == self.shape:
            operand[...] = values.astype(operand.dtype)
        return operand

    @property
    def nop(self) -> int:
        """The count of operands."""
        return len(self.operands)

    @property
    def itersize(self) -> int:
        """The count of iterations."""
        return len(self._indices)


def _is_data(values: Sequence[Any]) -> bool:
    """Whether a list is one operand: of numbers and lists of them alone."""
    return all(isinstance(value, int | float) for value in values)


declare_public(__name__)
