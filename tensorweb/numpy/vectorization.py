"""Functions applied along axes, to elements, or by cases."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, SupportsIndex

from tensorweb import functions as tw
from tensorweb.errors import DataError, ShapeError
from tensorweb.numpy.arguments import (
    as_first_operand,
    as_operand_like,
    as_tensors,
    declare_public,
)
from tensorweb.shapes import broadcast_shapes, normalize_axis, normalize_axis_order
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
        self.otypes = None if otypes is None else list(otypes)
        self._dtypes = None if otypes is None else list(map(_as_dtype_name, otypes))
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
    """Return a dtype, of one of NumPy's letters too."""
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
    """Return the axes before those of a signature, and record lengths of the latter."""
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


declare_public(__name__)
