"""Averages, medians, quantiles, covariances and correlations.

Quantiles are computed from values sorted on their device. Which two sorted values a
quantile lies between follows from the count of elements, in Python.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, overload

from tensorweb import dtypes
from tensorweb import functions as tw
from tensorweb.errors import DataError, ShapeError
from tensorweb.graph.tracing import is_traced
from tensorweb.numpy.arguments import (
    as_first_operand,
    as_floats,
    as_operand_like,
    as_real_floats,
    as_tensors,
    into,
    is_inexact,
    signature_after_first,
)
from tensorweb.numpy.matrices import diagonal
from tensorweb.public_names import declare_public
from tensorweb.shapes import (
    Shape,
    normalize_axes,
    normalize_axis_order,
)
from tensorweb.shapes import size as size_of
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.tensor.reductions import Axis
from tensorweb.tensor.values import is_differentiated, peek


@overload
def average(
    a: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike = None,
    returned: Literal[False] = False,
    *,
    keepdims: bool = False,
) -> Tensor: ...


@overload
def average(
    a: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike = None,
    *,
    returned: Literal[True],
    keepdims: bool = False,
) -> tuple[Tensor, Tensor]: ...


@overload
def average(
    a: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Tensor | tuple[Tensor, Tensor]: ...


def average(
    a: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return the mean along axes, of weighted values if there are weights.

    Weights have the shape of `a` or that of the axes. With `returned` the sums of
    weights are returned too. Weights that sum up to 0 give infinities or NaN.

    Raises:
        DataError: the weights have another shape, and no axis is given.
        ShapeError: they have not the shape of the axes.

    >>> np.average([1.0, 2.0, 6.0], weights=[3, 2, 1])
    tensor(2.1666667)
    >>> np.average([[1, 2], [3, 4]], 0, weights=[1, 3], returned=True)
    (tensor([2.5, 3.5]), tensor([4., 4.]))
    """
    x = as_floats(as_first_operand(a, weights))
    if weights is None:
        mean = x.mean(axis, keepdims=keepdims)
        count = tw.full_like(mean, x.size // max(mean.size, 1))
        return (mean, count) if returned else mean
    weights = _broadcast_weights("average", weights, x, axis)
    total = weights.sum(axis, keepdims=keepdims)
    mean = (x * weights).sum(axis, keepdims=keepdims) / total
    return (mean, total) if returned else mean


def _broadcast_weights(name: str, weights: ArrayLike, x: Tensor, axis: Axis) -> Tensor:
    """Return weights as floats in the shape of the values; those of axes repeat.

    Raises:
        DataError: `axis` is None, and they have not the shape of the values.
        ShapeError: they have neither the shape of the values nor that of the axes.
    """
    own = as_floats(as_operand_like(weights, x))
    if own.shape == x.shape:
        return own
    if axis is None:
        raise DataError(
            f"{name}: weights of shape {own.shape} for values of shape {x.shape}; "
            "name the axes of the weights with axis=."
        )
    axes = normalize_axis_order(axis, x.ndim)
    if own.shape != tuple(x.shape[i] for i in axes):
        raise ShapeError(
            f"{name}: weights of shape {own.shape} for the axes {axes} of shape "
            f"{x.shape}; give one weight for each value along them."
        )
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    shape = [length if i in axes else 1 for i, length in enumerate(x.shape)]
    return tw.broadcast_to(tw.permute_dims(own, order).reshape(shape), x.shape)


def cov(
    m: ArrayLike,
    y: ArrayLike = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: ArrayLike = None,
    aweights: ArrayLike = None,
    *,
    dtype: DTypeLike = None,
) -> Tensor:
    """Return the covariances of variables, which are rows: `(k, n)` gives `(k, k)`.

    `fweights` are counts of the observations, `aweights` their relative weights.

    Raises:
        ShapeError: there are more than two axes, or weights of another length.
        DataError: `ddof` is no integer.

    >>> np.cov([[0, 1, 2], [2, 1, 0]])
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise DataError(f"cov: ddof is {ddof}; give an integer.")
    first = as_first_operand(m, y, fweights, aweights)
    rows = _as_variable_rows("cov", first, y, rowvar, dtype)
    freedom = (0 if bias else 1) if ddof is None else ddof
    weights = _observation_weights(rows, fweights, aweights)
    if weights is None:
        centred = rows - rows.mean(1, keepdims=True)
        products = tw.matmul(centred, tw.conj(centred.mT))
        return tw.squeeze(products / max(rows.shape[1] - freedom, 0))
    total = weights.sum()
    centred = rows - (rows * weights).sum(1, keepdims=True) / total
    lost: ArrayLike = freedom
    if aweights is not None:
        relative = as_floats(as_operand_like(aweights, rows))
        lost = freedom * (weights * relative).sum() / total
    products = tw.matmul(centred, tw.conj((centred * weights).mT))
    return tw.squeeze(products / tw.maximum(total - lost, 0))


def _as_variable_rows(
    name: str, m: ArrayLike, y: ArrayLike, rowvar: bool, dtype: DTypeLike
) -> Tensor:
    """Return variables as rows `(k, n)` of floats."""
    parts: list[Tensor] = []
    for x in as_tensors((m,) if y is None else (m, y)):
        if x.ndim > 2:
            raise ShapeError(
                f"{name}: shape {x.shape} has {x.ndim} axes; variables are the rows of "
                "a matrix."
            )
        is_row = x.ndim < 2 or (bool(parts) and x.shape[0] == 1)
        x = as_floats(x) if dtype is None else x.astype(dtype)
        x = x.reshape((1, -1)) if x.ndim < 2 else x
        parts.append(x if rowvar or is_row else tw.matrix_transpose(x))
    return parts[0] if len(parts) == 1 else tw.concat(parts, 0)


def _observation_weights(rows: Tensor, *weights: ArrayLike) -> Tensor | None:
    """Return the products of weights of observations, None without any."""
    vectors = [as_floats(as_operand_like(w, rows)) for w in weights if w is not None]
    for vector in vectors:
        if vector.shape != (rows.shape[1],):
            raise ShapeError(
                f"cov: weights of shape {vector.shape} for {rows.shape[1]} "
                "observations; give one for each."
            )
    return functools.reduce(tw.multiply, vectors) if vectors else None


def corrcoef(
    x: ArrayLike,
    y: ArrayLike = None,
    rowvar: bool = True,
    *,
    dtype: DTypeLike = None,
) -> Tensor:
    """Return the correlations of variables, which are rows: `(k, n)` gives `(k, k)`.

    A constant variable has NaN correlations.

    Raises:
        ShapeError: there are more than two axes.

    >>> np.corrcoef([0, 1, 2], [2, 1, 0])
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    covariances = cov(x, y, rowvar, dtype=dtype)
    if not covariances.ndim:
        return covariances / covariances
    deviations = tw.sqrt(tw.real(diagonal(covariances)))
    scaled = covariances / deviations[:, None] / deviations[None, :]
    if scaled.dtype.kind == "complex":
        parts = [tw.clip(part, -1, 1) for part in (tw.real(scaled), tw.imag(scaled))]
        return parts[0] + 1j * parts[1]
    return tw.clip(scaled, -1, 1) if is_inexact(scaled.dtype) else scaled


class _QuantileFunction(NamedTuple):
    """A function of quantiles: its name in messages, the range of `q`, missing values.

    Attributes:
        name: of the function, for messages.
        scale: the greatest `q`.
        skips_nan: whether NaN counts as no value.
    """

    name: str
    scale: int = 1
    skips_nan: bool = False


def _quantile(
    function: _QuantileFunction,
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
    """Return quantiles of values as a function of `tensorweb.numpy` defines them."""
    name = function.name
    x = as_first_operand(a, weights)
    if x.dtype.kind == "complex":
        as_real_floats(name, x)
    fractions, shape = _fractions_and_shape(function, q)
    if method not in METHODS and method not in DISCRETE:
        known = ", ".join(sorted({*METHODS, *DISCRETE}))
        raise DataError(f"{name}: method {method!r} is unknown; there are {known}.")
    skips_nan = function.skips_nan and is_inexact(x.dtype)
    if weights is not None:
        if method != "inverted_cdf":
            raise DataError(
                f'{name}: weights with method {method!r}; only "inverted_cdf" has them.'
            )
        weights = _broadcast_weights(name, weights, x, axis)
        result = _weighted_quantiles(x, weights, fractions, axis, skips_nan)
    elif skips_nan:
        rows = tw.sort(_reduced_axes_last(x, axis))
        result = _quantiles_before_nan(rows, fractions, method)
    else:
        if method not in DISCRETE and isinstance(q, Tensor) and q.device == x.device:
            # Values between two are computed with the digits of both.
            x = as_floats(x)
            x = x.astype(tw.result_type(x, q)) if is_inexact(q.dtype) else x
        rows = tw.sort(_reduced_axes_last(x, axis))
        result = _quantiles_of_sorted(name, rows, fractions, method)
    return into(_quantiles_first(result, shape, x, axis, keepdims), out)


@signature_after_first(_quantile)
def quantile(*args: Any, **options: Any) -> Tensor:
    """Return the values below which a fraction `q` of the data along axes lies.

    A row of data that contains NaN gives NaN.

    The result has the shape of `q` in front of the other axes. The numbers of `q` are
    read; where a derivative by them is taken, or they have no values yet, positions are
    computed from them on the device. `weights`, in the shape of the values or of the
    axes, go with the method `inverted_cdf` only.

    Raises:
        DataError: `q` is not from 0 to 1 (of percentiles, to 100), the method is
            unknown, or weights do not fit the method or the values.
        ShapeError: there are no values along the axes.
        DTypeError: the values are complex.

    >>> np.quantile([1.0, 2.0, 3.0, 4.0], [0.25, 0.5])
    tensor([1.75, 2.5 ])
    """
    return _quantile(_QuantileFunction("quantile"), *args, **options)


@signature_after_first(_quantile)
def percentile(*args: Any, **options: Any) -> Tensor:
    """Return percentiles along axes: `quantile` of `q / 100`.

    >>> np.percentile([[10, 7, 4], [3, 2, 1]], 50, axis=1)
    tensor([7., 2.])
    >>> np.percentile([1, 2, 3, 4], 40, method="higher")
    tensor(3)
    """
    function = _QuantileFunction("percentile", scale=100)
    return _quantile(function, *args, **options)


@signature_after_first(_quantile)
def nanquantile(*args: Any, **options: Any) -> Tensor:
    """Return quantiles along axes of the values that are not NaN.

    Their count is read where the values are known.

    >>> np.nanquantile([1.0, np.nan, 3.0], 0.5)
    tensor(2.)
    """
    function = _QuantileFunction("nanquantile", skips_nan=True)
    return _quantile(function, *args, **options)


@signature_after_first(_quantile)
def nanpercentile(*args: Any, **options: Any) -> Tensor:
    """Return percentiles along axes of the values that are not NaN.

    >>> np.nanpercentile([[1.0, np.nan, 3.0], [4.0, 5.0, 8.0]], 50, axis=1)
    tensor([2., 5.])
    """
    function = _QuantileFunction("nanpercentile", scale=100, skips_nan=True)
    return _quantile(function, *args, **options)


Fractions = list[float] | Tensor
"""Quantiles from 0 to 1: numbers, or a 1-D tensor where these must be followed."""


def _fractions_and_shape(
    function: _QuantileFunction, q: ArrayLike
) -> tuple[Fractions, Shape]:
    """Return quantiles from 0 to 1, and their shape."""
    name, scale, _ = function
    x = tw.asarray(q)
    if is_traced(x.node):
        return x.reshape(-1) / scale, x.shape
    numbers = _exact_numbers(q, x)
    for number in numbers:
        if not 0 <= number <= scale:
            raise DataError(f"{name}: q is {number}; it is from 0 to {scale}.")
    if isinstance(q, Tensor) and is_differentiated(q):
        return q.reshape(-1) / scale, x.shape
    return [number / scale for number in numbers], x.shape


def _exact_numbers(q: ArrayLike, x: Tensor) -> list[float]:
    """Return the numbers of `q`, which is `x` as a tensor, with all their digits."""
    listed: Sequence[Any] = q if isinstance(q, list | tuple) else [q]
    if all(isinstance(number, int | float) for number in listed):
        return [float(number) for number in listed]
    flat = q.ravel() if hasattr(q, "ravel") else x.ravel()
    values = peek(flat) if isinstance(flat, Tensor) else flat.tolist()
    return [float(number) for number in values]


def _reduced_axes_last(x: Tensor, axis: Axis) -> Tensor:
    """Return the reduced axes as one, the last."""
    axes = normalize_axes(axis, x.ndim)
    others = [i for i in range(x.ndim) if i not in axes]
    moved = tw.permute_dims(x, (*others, *axes))
    return moved.reshape(
        (*moved.shape[: len(others)], size_of(moved.shape[len(others) :]))
    )


def _quantiles_first(
    results: Tensor, shape: Shape, x: Tensor, axis: Axis, keepdims: bool
) -> Tensor:
    """Return results `(..., quantiles)` with the shape of `q` in front."""
    axes = normalize_axes(axis, x.ndim)
    lengths = [
        1 if i in axes else length
        for i, length in enumerate(x.shape)
        if keepdims or i not in axes
    ]
    return tw.moveaxis(results, -1, 0).reshape((*shape, *lengths))


def _quantiles_of_sorted(
    name: str, rows: Tensor, fractions: Fractions, method: str
) -> Tensor:
    """Return quantiles of sorted rows `(..., n)` as `(..., quantiles)`."""
    length = rows.shape[-1]
    if not length:
        raise ShapeError(f"{name}: there are no values along the axis.")
    low: Any
    if isinstance(fractions, Tensor):
        low, high, weight = _position(method, length, fractions)
    else:
        positions = [_position(method, length, q) for q in fractions]
        low = [position[0] for position in positions]
    if method in DISCRETE:
        index = tw.asarray(low, int, device=rows.device)
        return _propagate_nan(tw.take(rows, index, -1), rows)
    values = as_floats(rows)
    if isinstance(fractions, Tensor):
        ends = tw.take(values, low, -1), tw.take(values, high, -1)
        return _propagate_nan(_interpolate(*ends, weight), values)
    if not positions:
        return values[..., :0]
    results = [
        _interpolate(values[..., low], values[..., high], weight)
        for low, high, weight in positions
    ]
    return _propagate_nan(tw.stack(results, -1), values)


def _interpolate(low: Tensor, high: Tensor, weight: Tensor | float) -> Tensor:
    """Return `low + (high - low) * weight`, from the end that is nearer.

    Both ends are exact, and infinite ones need no distance, which has no value between
    two of them: between a number and infinity all is infinite.
    """
    step = high - low
    mixed = tw.where(weight < 0.5, low + step * weight, high - step * (1 - weight))
    far = tw.where(weight == 1, high, low * (1 - weight) + high * weight)
    far = tw.where((low == high) | (weight == 0), low, far)
    return tw.where(tw.isfinite(step), mixed, far)


def _propagate_nan(results: Tensor, rows: Tensor) -> Tensor:
    """Return results, NaN where the sorted row has one, which is at its end."""
    if not is_inexact(rows.dtype):
        return results
    return tw.where(tw.isnan(rows[..., -1:]), tw.nan, results)


def _weighted_quantiles(
    x: Tensor, weights: Tensor, fractions: Fractions, axis: Axis, skips_nan: bool
) -> Tensor:
    """Return the first values whose cumulative weights reach a fraction of all."""
    if skips_nan:  # NaN is sorted last, without weight
        is_nan = tw.isnan(x)
        x, weights = tw.where(is_nan, tw.inf, x), tw.where(is_nan, 0.0, weights)
    rows, weights = _reduced_axes_last(x, axis), _reduced_axes_last(weights, axis)
    order = tw.argsort(rows)
    values = tw.take_along_axis(rows, order, -1)
    cumulative = tw.cumulative_sum(tw.take_along_axis(weights, order, -1), -1)
    results = []
    for fraction in fractions:
        is_before = (cumulative < fraction * cumulative[..., -1:]) | (cumulative == 0)
        index = tw.minimum(is_before.sum(-1, keepdims=True), rows.shape[-1] - 1)
        results.append(tw.take_along_axis(values, index, -1))
    result = _propagate_nan(tw.concat(results, -1), values)
    if skips_nan:
        only_nan = _reduced_axes_last(is_nan, axis).all(-1, keepdims=True)
        result = tw.where(only_nan, tw.nan, result)
    return result


def _median(
    skips_nan: bool,
    a: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Tensor:
    """Return the middle value of all values, or without NaN."""
    x = as_floats(a)
    rows = tw.sort(_reduced_axes_last(x, axis))
    length = rows.shape[-1]
    if not length:
        result = tw.full_like(rows.sum(-1, keepdims=True), tw.nan)
    elif skips_nan:
        count = (~tw.isnan(rows)).sum(-1, keepdims=True)
        low = tw.take_along_axis(rows, tw.maximum(count - 1, 0) // 2, -1)
        high = tw.take_along_axis(rows, tw.minimum(count // 2, length - 1), -1)
        result = _interpolate(low, high, 0.5)
    else:
        result = rows[..., length // 2]
        if not length % 2:
            result = _interpolate(rows[..., length // 2 - 1], result, 0.5)
        result = _propagate_nan(result[..., None], rows)
    return into(_quantiles_first(result, (), x, axis, keepdims), out)


@signature_after_first(_median)
def median(*args: Any, **options: Any) -> Tensor:
    """Return the middle value along axes, or the mean of the middle two.

    It is NaN if one value is NaN, and of no values.

    >>> np.median([[10, 7, 4], [3, 2, 1]])
    tensor(3.5)
    """
    return _median(False, *args, **options)


@signature_after_first(_median)
def nanmedian(*args: Any, **options: Any) -> Tensor:
    """Return the middle value along axes of the values that are not NaN; of none NaN.

    >>> np.nanmedian([[10.0, np.nan, 4.0], [3.0, 2.0, 1.0]], axis=1)
    tensor([7., 2.])
    """
    return _median(True, *args, **options)


def _quantiles_before_nan(rows: Tensor, fractions: Fractions, method: str) -> Tensor:
    """Return quantiles of the values of sorted rows that come before NaN."""
    shape = (*rows.shape[:-1], len(fractions))
    if not rows.shape[-1]:
        return tw.full(shape, tw.nan, rows.dtype, device=rows.device)
    counts = (~tw.isnan(rows)).sum(-1)
    if isinstance(fractions, Tensor) or is_traced(counts.node):
        lengths = counts[..., None].astype(rows.dtype)
        followed = tw.asarray(fractions, dtype=rows.dtype, device=rows.device)
        low, high, weight = _position(method, lengths, followed)
    else:
        lengths = counts.reshape(-1).tolist()
        positions = [_position(method, n, q) for n in lengths for q in fractions]
        low, high, weight = (
            as_operand_like([p[i] for p in positions], rows).reshape(shape)
            for i in range(3)
        )
    first, second = (tw.take_along_axis(rows, index, -1) for index in (low, high))
    return _interpolate(first, second, weight).astype(rows.dtype)


def _position(method: str, length: Any, q: Any) -> Position:
    """Return the position of a quantile among the first values of a sorted row."""
    xp = _arithmetic_of(length, q)
    if xp is NUMBERS and not length:
        return 0, 0, 0.0
    if method in DISCRETE:
        at = _clip_index(xp, DISCRETE[method](xp, length, q), length)
        return at, at, 0.0
    low, high, weight = METHODS[method](xp, length, q)
    return _clip_index(xp, low, length), _clip_index(xp, high, length), weight * 1.0


def _clip_index(xp: _Arithmetic, index: Any, length: Any) -> Any:
    """Return an index of a row's first values, the nearest one."""
    if xp is NUMBERS:
        return min(max(index, 0), length - 1)
    return tw.maximum(tw.minimum(index, length - 1), 0).astype(dtypes.int32)


Position = tuple[Any, Any, Any]
"""Two indices of sorted values, and the weight of the second."""


class _Arithmetic(NamedTuple):
    """The functions that the formulas need."""

    floor: Callable[[Any], Any]
    ceil: Callable[[Any], Any]
    round: Callable[[Any], Any]
    where: Callable[[Any, Any, Any], Any]


NUMBERS = _Arithmetic(
    math.floor, math.ceil, round, lambda condition, a, b: a if condition else b
)
TENSORS = _Arithmetic(tw.floor, tw.ceil, tw.round, tw.where)


def _arithmetic_of(*values: object) -> _Arithmetic:
    """Return the functions for numbers, or for tensors where one is among them."""
    return TENSORS if any(isinstance(value, Tensor) for value in values) else NUMBERS


def _neighbours(xp: _Arithmetic, index: Any) -> Position:
    low = xp.floor(index)
    return low, low + 1, index - low


def _plotting_positions(
    alpha: float, beta: float
) -> Callable[[_Arithmetic, Any, Any], Position]:
    """Return the continuous method of two plotting positions."""
    return lambda xp, n, q: _neighbours(
        xp, n * q + (alpha + q * (1 - alpha - beta)) - 1
    )


def _averaged_inverted_cdf(xp: _Arithmetic, n: Any, q: Any) -> Position:
    low, high, weight = _neighbours(xp, n * q - 1)
    return low, high, xp.where(weight == 0, 0.5, 1.0)


def _midpoint(xp: _Arithmetic, n: Any, q: Any) -> Position:
    low, high = xp.floor((n - 1) * q), xp.ceil((n - 1) * q)
    return low, high, xp.where(high > low, 0.5, 0.0)


def _closest_observation(xp: _Arithmetic, n: Any, q: Any) -> Any:
    low, high, weight = _neighbours(xp, n * q - 1.5)
    return xp.where((weight == 0) & (low % 2 == 1), low, high)


METHODS: dict[str, Callable[[_Arithmetic, Any, Any], Position]] = {
    "linear": lambda xp, n, q: _neighbours(xp, (n - 1) * q),
    "midpoint": _midpoint,
    "averaged_inverted_cdf": _averaged_inverted_cdf,
    "interpolated_inverted_cdf": _plotting_positions(0, 1),
    "hazen": _plotting_positions(0.5, 0.5),
    "weibull": _plotting_positions(0, 0),
    "median_unbiased": _plotting_positions(1 / 3, 1 / 3),
    "normal_unbiased": _plotting_positions(3 / 8, 3 / 8),
}
"""Where a quantile of n values lies, as Hyndman and Fan, 1996, number the methods."""

DISCRETE: dict[str, Callable[[_Arithmetic, Any, Any], Any]] = {
    "lower": lambda xp, n, q: xp.floor((n - 1) * q),
    "higher": lambda xp, n, q: xp.ceil((n - 1) * q),
    "nearest": lambda xp, n, q: xp.round((n - 1) * q),
    "inverted_cdf": lambda xp, n, q: xp.ceil(n * q - 1),
    "closest_observation": _closest_observation,
}
"""Methods that give one of the values, in its own dtype."""


declare_public(__name__)
