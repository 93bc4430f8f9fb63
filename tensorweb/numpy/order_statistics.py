"""Order statistics: medians, percentiles, quantiles, with and without NaN.

Values are sorted on their device; which two of them a quantile lies between is
arithmetic on the number of elements, done in Python.
"""

from __future__ import annotations

from typing import Any, SupportsIndex

from tensorweb import dtypes
from tensorweb import functions as tw
from tensorweb.errors import DataError, ShapeError
from tensorweb.graph.tracing import is_traced
from tensorweb.numpy.arguments import (
    as_first_operand,
    as_floats,
    as_operand_like,
    as_real_floats,
    into,
    is_inexact,
)
from tensorweb.numpy.quantile_methods import (
    DISCRETE,
    METHODS,
    NUMBERS,
    Arithmetic,
    Place,
    arithmetic_of,
)
from tensorweb.shapes import Shape, is_integer, normalize_axes, normalize_axis
from tensorweb.shapes import size as size_of
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.reductions import Axis
from tensorweb.tensor.values import is_differentiated, peek

__all__ = [
    "median",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "percentile",
    "quantile",
]


def quantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike = None,
) -> Tensor:
    """Return quantiles along axes: below share `q` of the values; NaN wins.

    The result has the shape of `q` in front of the other axes. The numbers of `q` are
    read; where a derivative by them is taken, or they have no values yet, positions are
    computed from them on the device. `weights`, in the shape of the values or of the
    axes, go with the method `inverted_cdf` only.

    Raises:
        DataError: `q` is not between 0 and 1, or the method is unknown.

    >>> np.quantile([1.0, 2.0, 3.0, 4.0], [0.25, 0.5])
    tensor([1.75, 2.5 ])
    """
    return _quantile("quantile", a, q, 1, axis, out, method, keepdims, weights)


def percentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike = None,
) -> Tensor:
    """Return percentiles along axes: `quantile` of `q / 100`.

    >>> np.percentile([[10, 7, 4], [3, 2, 1]], 50, axis=1)
    tensor([7., 2.])
    >>> np.percentile([1, 2, 3, 4], 40, method="higher")
    tensor(3)
    """
    return _quantile("percentile", a, q, 100, axis, out, method, keepdims, weights)


def _quantile(
    name: str,
    a: ArrayLike,
    q: ArrayLike,
    scale: int,
    axis: Axis,
    out: Tensor | None,
    method: str,
    keepdims: bool,
    weights: ArrayLike,
) -> Tensor:
    x = as_first_operand(a, weights)
    if x.dtype.kind == "complex":
        as_real_floats(name, x)
    shares, shape = _shares(name, q, scale)
    _check_method(name, method)
    if method not in DISCRETE and isinstance(q, Tensor) and q.device == x.device:
        # Values between two are computed with the digits of both.
        x = as_floats(x)
        x = x.astype(tw.result_type(x, q)) if is_inexact(q.dtype) else x
    rows = _rows(x, axis)
    if weights is not None:
        if method != "inverted_cdf":
            raise DataError(
                f'{name}: weights with method {method!r}; only "inverted_cdf" has them.'
            )
        shared = _weights_like(name, weights, x, axis)
        found = _weighted(rows, _rows(shared, axis), shares)
    else:
        found = _chosen(name, tw.sort(rows), shares, method)
    return into(_placed(found, shape, x, axis, keepdims), out)


Shares = list[float] | Tensor
"""Quantiles from 0 to 1: numbers, or a 1-D tensor where these must be followed."""


def _shares(name: str, q: ArrayLike, scale: int) -> tuple[Shares, Shape]:
    """Return quantiles from 0 to 1, and their shape."""
    if isinstance(q, int | float):
        numbers, shape = [float(q)], Shape()
    else:
        given = tw.asarray(q)
        shape = given.shape
        if is_traced(given.node):
            return given.reshape(-1) / scale, shape
        numbers = _numbers(q, given)
    for number in numbers:
        if not 0 <= number <= scale:
            raise DataError(f"{name}: q is {number}; it is from 0 to {scale}.")
    if isinstance(q, Tensor) and is_differentiated(q):
        return q.reshape(-1) / scale, shape
    return [number / scale for number in numbers], shape


def _numbers(q: ArrayLike, given: Tensor) -> list[float]:
    """Return numbers with all the digits that they were given with."""
    if isinstance(q, list | tuple) and all(isinstance(x, int | float) for x in q):
        return [float(number) for number in q]
    flatten = getattr(q, "ravel", None)
    flat = given.ravel() if flatten is None else flatten()
    values = peek(flat) if isinstance(flat, Tensor) else flat.tolist()
    return [float(number) for number in values]


def _check_method(name: str, method: str) -> None:
    if method not in METHODS and method not in DISCRETE:
        known = ", ".join(sorted({*METHODS, *DISCRETE}))
        raise DataError(f"{name}: method {method!r} is unknown; there are {known}.")


def _rows(x: Tensor, axis: Axis) -> Tensor:
    """Return the reduced axes as one, the last."""
    axes = normalize_axes(axis, x.ndim)
    kept = [each for each in range(x.ndim) if each not in axes]
    moved = tw.permute_dims(x, (*kept, *axes))
    length = size_of([x.shape[each] for each in axes])
    return moved.reshape((*[x.shape[each] for each in kept], length))


def _placed(found: Tensor, shape: Shape, x: Tensor, axis: Axis, keep: bool) -> Tensor:
    """Return results `(..., quantiles)` with the shape of `q` in front."""
    front = tw.moveaxis(found, -1, 0)
    axes = normalize_axes(axis, x.ndim)
    rest = [
        1 if each in axes else length
        for each, length in enumerate(x.shape)
        if keep or each not in axes
    ]
    return front.reshape((*shape, *rest))


def _chosen(name: str, rows: Tensor, shares: Shares, method: str) -> Tensor:
    """Return quantiles of sorted rows `(..., n)` as `(..., quantiles)`."""
    length = rows.shape[-1]
    if not length:
        raise ShapeError(f"{name}: there are no values along the axis.")
    if isinstance(shares, Tensor):
        low, high, weight = _place(method, length, shares)
        if method in DISCRETE:
            return _poisoned(tw.take(rows, low, -1), rows)
        values = as_floats(rows)
        found = _mixed(tw.take(values, low, -1), tw.take(values, high, -1), weight)
        return _poisoned(found, values)
    if method in DISCRETE:
        at = [_place(method, length, q)[0] for q in shares]
        return _poisoned(tw.take(rows, tw.asarray(at, device=rows.device), -1), rows)
    values = as_floats(rows)
    if not shares:
        return values[..., :0]
    places = [_place(method, length, q) for q in shares]
    each = [
        _mixed(values[..., low], values[..., high], weight)
        for low, high, weight in places
    ]
    return _poisoned(tw.stack(each, -1), values)


def _mixed(low: Tensor, high: Tensor, weight: Tensor | float) -> Tensor:
    """Return `low + (high - low) * weight`, from the end that is nearer.

    Both ends are exact, and infinite ones need no distance, which has no value between
    two of them: between a number and infinity all is infinite.
    """
    step = high - low
    rest = 1 - weight
    mixed = tw.where(weight < 0.5, low + step * weight, high - step * rest)
    far = tw.where(weight == 1, high, low * rest + high * weight)
    far = tw.where((low == high) | (weight == 0), low, far)
    return tw.where(tw.isfinite(step), mixed, far)


def _poisoned(found: Tensor, rows: Tensor) -> Tensor:
    """Return results, NaN where the sorted row holds one, which stands at its end."""
    if not is_inexact(rows.dtype):
        return found
    return tw.where(tw.isnan(rows[..., -1:]), tw.nan, found)


def _weights_like(name: str, weights: ArrayLike, x: Tensor, axis: Axis) -> Tensor:
    """Return weights in the shape of the values; those of the axes alone repeat.

    Raises:
        ShapeError: they have neither the shape of the values nor that of the axes.
        DataError: `axis` is None and they have another shape.
    """
    given = as_floats(as_operand_like(weights, x))
    if given.shape == x.shape:
        return given
    axes = () if axis is None else _listed(axis, x.ndim)
    wanted = tuple(x.shape[each] for each in axes)
    if given.shape != wanted:
        raise ShapeError(
            f"{name}: weights of shape {given.shape} for values of shape {x.shape}; "
            "give one for each value, or for each one along axis=."
        )
    ordered = tw.permute_dims(given, [axes.index(each) for each in sorted(axes)])
    shape = [x.shape[each] if each in axes else 1 for each in range(x.ndim)]
    return tw.broadcast_to(ordered.reshape(shape), x.shape)


def _listed(axis: Axis, rank: int) -> list[int]:
    """Return axes in the order in which they are given."""
    given = [axis] if is_integer(axis) else list(axis)  # type: ignore[arg-type]  # several
    return [normalize_axis(each, rank) for each in given]


def _weighted(rows: Tensor, weights: Tensor, shares: Shares) -> Tensor:
    """Return the first values whose running share of the weights reaches q."""
    order = tw.argsort(rows)
    ordered = tw.take_along_axis(rows, order, -1)
    running = tw.cumulative_sum(tw.take_along_axis(weights, order, -1), -1)
    total = running[..., -1:]
    found = []
    for share in shares:
        before = (running < share * total) | (running == 0)
        at = tw.minimum(before.sum(-1, keepdims=True), rows.shape[-1] - 1)
        found.append(tw.take_along_axis(ordered, at, -1))
    return _poisoned(tw.concat(found, -1), ordered)


def median(
    a: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Tensor:
    """Return the middle value along axes, the mean of the middle two; NaN wins.

    Of nothing it is NaN.

    >>> np.median([[10, 7, 4], [3, 2, 1]])
    tensor(3.5)
    """
    x = as_floats(tw.asarray(a))
    rows = tw.sort(_rows(x, axis))
    length = rows.shape[-1]
    if not length:
        found = tw.full_like(rows.sum(-1, keepdims=True), tw.nan)
    else:
        found = _poisoned(_middle(rows, length)[..., None], rows)
    return into(_placed(found, (), x, axis, keepdims), out)


def _middle(rows: Tensor, length: int) -> Tensor:
    high = rows[..., length // 2]
    return high if length % 2 else _mixed(rows[..., length // 2 - 1], high, 0.5)


def nanmedian(
    a: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Tensor:
    """Return the middle value along axes of what is not NaN; NaN where nothing is.

    >>> np.nanmedian([[10.0, np.nan, 4.0], [3.0, 2.0, 1.0]], axis=1)
    tensor([7., 2.])
    """
    x = as_floats(tw.asarray(a))
    rows = tw.sort(_rows(x, axis))
    if not rows.shape[-1]:
        return median(x, axis, out, keepdims=keepdims)
    count = (~tw.isnan(rows)).sum(-1, keepdims=True)
    low = tw.take_along_axis(rows, tw.maximum(count - 1, 0) // 2, -1)
    high = tw.take_along_axis(rows, tw.minimum(count // 2, rows.shape[-1] - 1), -1)
    found = _mixed(low, high, 0.5)
    return into(_placed(found, (), x, axis, keepdims), out)


def nanquantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike = None,
) -> Tensor:
    """Return quantiles along axes of what is not NaN.

    How much that is, is read where the values are known.

    >>> np.nanquantile([1.0, np.nan, 3.0], 0.5)
    tensor(2.)
    """
    return _nanquantile("nanquantile", a, q, 1, axis, out, method, keepdims, weights)


def nanpercentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike = None,
) -> Tensor:
    """Return percentiles along axes of what is not NaN: `nanquantile` of `q / 100`.

    >>> np.nanpercentile([[1.0, np.nan, 3.0], [4.0, 5.0, 8.0]], 50, axis=1)
    tensor([2., 5.])
    """
    return _nanquantile(
        "nanpercentile", a, q, 100, axis, out, method, keepdims, weights
    )


def _nanquantile(
    name: str,
    a: ArrayLike,
    q: ArrayLike,
    scale: int,
    axis: Axis,
    out: Tensor | None,
    method: str,
    keepdims: bool,
    weights: ArrayLike,
) -> Tensor:
    x = tw.asarray(a)
    if not is_inexact(x.dtype):
        return _quantile(name, x, q, scale, axis, out, method, keepdims, weights)
    if weights is not None:
        missing = tw.isnan(x)
        counted = tw.where(missing, 0.0, _weights_like(name, weights, x, axis))
        values = tw.where(missing, tw.inf, x)  # last, and without weight
        found = _quantile(name, values, q, scale, axis, None, method, keepdims, counted)
        nothing = missing.all(axis, keepdims=keepdims)
        return into(tw.where(nothing, tw.nan, found), out)
    shares, shape = _shares(name, q, scale)
    _check_method(name, method)
    rows = tw.sort(_rows(x, axis))
    counts = (~tw.isnan(rows)).sum(-1)
    if not rows.shape[-1]:
        count = shares.size if isinstance(shares, Tensor) else len(shares)
        shape_of_rows = (*rows.shape[:-1], count)
        found = tw.full(shape_of_rows, tw.nan, x.dtype, device=x.device)
        return into(_placed(found, shape, x, axis, keepdims), out)
    low, high, weight = _places(method, counts, shares, rows)
    first, second = (tw.take_along_axis(rows, each, -1) for each in (low, high))
    found = _mixed(first, second, weight)
    return into(_placed(found.astype(x.dtype), shape, x, axis, keepdims), out)


def _places(method: str, counts: Tensor, shares: Shares, rows: Tensor) -> Place:
    """Return where quantiles of the first values of sorted rows lie, for each row."""
    if isinstance(shares, Tensor) or is_traced(counts.node):
        lengths = counts[..., None].astype(rows.dtype)
        followed = tw.asarray(shares, dtype=rows.dtype, device=rows.device)
        low, high, weight = _place(method, lengths, followed)
        return low, high, tw.broadcast_to(weight, low.shape)
    known: list[SupportsIndex] = counts.reshape(-1).tolist()
    places = [_place(method, int(n), q) for n in known for q in shares]
    at = (*counts.shape, len(shares))
    low, high, weight = (
        as_operand_like([place[i] for place in places], rows).reshape(at)
        for i in range(3)
    )
    return low, high, weight


def _place(method: str, length: Any, q: Any) -> Place:
    """Return where a quantile of the first values of a sorted row lies."""
    xp = arithmetic_of(length, q)
    if xp is NUMBERS and not length:
        return 0, 0, 0.0
    if method in DISCRETE:
        at = _within(xp, DISCRETE[method](xp, length, q), length)
        return at, at, 0.0
    low, high, weight = METHODS[method](xp, length, q)
    return _within(xp, low, length), _within(xp, high, length), weight * 1.0


def _within(xp: Arithmetic, index: Any, length: Any) -> Any:
    """Return an index of a row's first values, the nearest one."""
    if xp is NUMBERS:
        return min(max(index, 0), length - 1)
    return tw.maximum(tw.minimum(index, length - 1), 0).astype(dtypes.int32)
