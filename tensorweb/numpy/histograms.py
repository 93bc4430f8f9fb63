"""Counts of values by bins: histograms of one variable and of several, digits, counts.

Where bins are not given as edges, the least and the greatest value are read.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, SupportsIndex

from tensorweb import dtypes
from tensorweb import functions as tw
from tensorweb.errors import DataError, ShapeError
from tensorweb.numpy.arguments import (
    as_first_operand,
    as_floats,
    as_operand_like,
    as_tensors,
    is_inexact,
)
from tensorweb.numpy.statistics import percentile
from tensorweb.public_names import declare_public
from tensorweb.shapes import is_integer
from tensorweb.shapes import size as size_of
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

Bounds = Sequence[float] | Tensor | None

MOST_BINS = 2**31 - 1
"""The index of a bin is an int32."""


def bincount(
    x: ArrayLike, /, weights: ArrayLike = None, minlength: SupportsIndex = 0
) -> Tensor:
    """Return the counts of 0, 1, … among integers; reads the largest.

    Raises:
        DataError: `minlength` is negative.

    >>> np.bincount([1, 3, 1, 1])
    tensor([0, 3, 0, 1])
    """
    if operator.index(minlength) < 0:
        raise DataError(f"bincount: minlength is {minlength}; it is 0 or more.")
    return tw.bincount(x, weights, minlength)


def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False) -> Tensor:
    """Return the bin of each value: the count of edges that it has passed.

    Edges rise or fall, NaN counting as the greatest; they are read to see that. A value
    on an edge has passed it, with `right` it has not.

    Raises:
        DataError: the edges neither rise nor fall.
        ShapeError: the edges are not 1-D.

    >>> np.digitize([0.2, 6.4, 3.0], [0.0, 1.0, 2.5, 4.0])
    tensor([1, 4, 3])
    """
    values = as_first_operand(x, bins)
    edges = as_operand_like(bins, values)
    if edges.ndim != 1:
        raise ShapeError(f"digitize: bins have shape {edges.shape}; give edges in 1-D.")
    before, after = edges[:-1], edges[1:]
    up = (before <= after) | tw.isnan(after)
    down = (before >= after) | tw.isnan(before)
    rises, falls = tw.stack([up.all(), down.all()]).tolist()
    if not rises and not falls:
        raise DataError("digitize: bins must rise or fall; sort them with np.sort.")
    side = "left" if right else "right"
    if rises:
        return tw.searchsorted(edges, values, side=side)
    return edges.size - tw.searchsorted(tw.flip(edges), values, side=side)


def _scott(x: Tensor) -> float:
    factor: float = (24.0 * math.sqrt(math.pi) / x.size) ** (1.0 / 3.0)
    return factor * float(x.std())


def _freedman_diaconis(x: Tensor) -> float:
    low, high = percentile(x, [25, 75])
    factor: float = x.size ** (-1.0 / 3.0)
    return 2.0 * float(high - low) * factor


def _extent(x: Tensor) -> float:
    low, high = tw.stack([x.min(), x.max()]).tolist()
    return float(high - low)


def _auto(x: Tensor) -> float:
    extent = _extent(x)
    width = max(_freedman_diaconis(x), extent / math.sqrt(x.size) / 2)
    return min(width, extent / (math.log2(x.size) + 1.0))


def _doane(x: Tensor) -> float:
    """Return Sturges' width, narrower for skewed values."""
    n = x.size
    deviation = float(x.std()) if n > 2 else 0.0
    if not deviation:
        return 0.0
    error = math.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
    skew = abs(float((((x - x.mean()) / deviation) ** 3).mean()))
    return _extent(x) / (1.0 + math.log2(n) + math.log2(1.0 + skew / error))


def _stone(x: Tensor, low: float, high: float) -> float:
    """Return the width with the least estimated error of cross-validation."""
    n, extent = x.size, _extent(x)
    if n <= 1 or not extent:
        return 0.0
    counts = range(1, max(100, int(math.sqrt(n))) + 1)
    histograms = [histogram(x, count, (low, high))[0] for count in counts]
    squares = tw.stack([tw.square(values).sum() for values in histograms]).tolist()
    errors = [
        (2 - (n + 1) * square / n**2) * count
        for square, count in zip(squares, counts, strict=True)
    ]
    return extent / (1 + errors.index(min(errors)))


WIDTHS: dict[str, Callable[[Tensor], float]] = {
    "auto": _auto,
    "doane": _doane,
    "fd": _freedman_diaconis,
    "rice": lambda x: _extent(x) / (2.0 * x.size ** (1.0 / 3.0)),
    "scott": _scott,
    "sqrt": lambda x: _extent(x) / math.sqrt(x.size),
    "sturges": lambda x: _extent(x) / (math.log2(x.size) + 1.0),
}
"""Widths of bins by NumPy's rules; each reads statistics of the values."""


def histogram_bin_edges(
    a: ArrayLike,
    bins: ArrayLike = 10,
    range: Bounds = None,
    weights: ArrayLike = None,
) -> Tensor:
    """Return the edges that `histogram` takes: one more than bins.

    Raises:
        DataError: edges fall, bins are not positive, or the range is not finite.

    >>> np.histogram_bin_edges([0, 1, 2, 4], bins=4)
    tensor([0., 1., 2., 3., 4.])
    """
    return _bins_by_rule(as_first_operand(a, bins), bins, range, weights).edges


class _Bins(NamedTuple):
    """The edges of bins.

    Attributes:
        edges: in rising order.
        is_even: whether arithmetic finds the bin of a value, or one next to it.
    """

    edges: Tensor
    is_even: bool


def _bins_by_rule(
    x: Tensor, bins: ArrayLike, range: Bounds, weights: ArrayLike
) -> _Bins:
    """Return the bins of values, maybe by the name of a rule."""
    if not isinstance(bins, str):
        return _bins("histogram", x.reshape(-1), bins, range)
    if weights is not None:
        raise DataError(
            f"histogram: bins={bins!r} with weights; give a number of bins."
        )
    low, high = _value_range("histogram", x, range)
    return _even_bins(x, range, low, high, _count_by_rule(x, bins, low, high))


def _count_by_rule(x: Tensor, rule: str, low: float, high: float) -> int:
    """Return the count of bins by a rule."""
    if rule not in (*WIDTHS, "stone"):
        known = ", ".join(sorted((*WIDTHS, "stone")))
        raise DataError(f"histogram: bins={rule!r} is not possible; rules are {known}.")
    inside = as_floats(x).reshape(-1)
    inside = inside[(inside >= low) & (inside <= high)]
    if not inside.size:
        return 1
    width = _stone(inside, low, high) if rule == "stone" else WIDTHS[rule](inside)
    if not is_inexact(x.dtype) and 0 < width < 1:
        width = 1
    return math.ceil((high - low) / width) if width else 1


def _bins(name: str, x: Tensor, bins: ArrayLike, range: Bounds) -> _Bins:
    """Return bins with the edges given, or with evenly spaced ones."""
    if is_integer(bins):
        count = operator.index(bins)
        if count < 1:
            raise DataError(f"{name}: bins is {count}; give a positive number.")
        return _even_bins(x, range, *_value_range(name, x, range), count)
    edges = as_operand_like(bins, x)
    if not edges.ndim:
        raise DataError(f"{name}: bins is {bins!r}; give an integer or 1-D edges.")
    if edges.ndim != 1:
        raise ShapeError(
            f"{name}: bins have shape {edges.shape}; give a number or 1-D edges."
        )
    if edges.size > 1 and not bool((edges[:-1] <= edges[1:]).all()):
        raise DataError(f"{name}: bins must rise; sort them with np.sort.")
    return _Bins(edges, is_even=False)


def _even_bins(x: Tensor, range: Bounds, low: float, high: float, count: int) -> _Bins:
    """Return bins of one width, whose edges have the digits of values and range.

    Raises:
        DataError: the dtype has not as many numbers between the ends.
    """
    dtype = x.dtype if x.dtype.kind == "float" else dtypes.DEFAULT_FLOAT
    if isinstance(range, Tensor) and range.device == x.device:
        dtype = tw.result_type(dtype, range)
    edges = tw.linspace(low, high, count + 1, dtype=dtype, device=x.device)
    # Only bins as narrow as the spacing of floats can be empty; looking costs a read.
    info = dtypes.finfo(dtype)
    limit = 2 * info.eps * max(abs(low), abs(high))
    is_narrow = (high - low) / count < limit
    if is_narrow and bool((edges[:-1] >= edges[1:]).any()):
        raise DataError(
            f"histogram: {count} bins from {low} to {high} are too many for {dtype}; "
            "give fewer."
        )
    # Rounded edges are off by a quarter of a width, and a rounded position by half.
    is_precise = not is_narrow and count * info.eps <= 1 / 8
    is_in_range = 16 * count * info.smallest_normal <= high - low <= info.max / 4
    return _Bins(edges, is_even=is_precise and is_in_range)


def _value_range(name: str, x: Tensor, range: Bounds) -> tuple[float, float]:
    """Return the lowest and the highest edge of bins."""
    if range is not None:
        low, high = map(float, range)
        if low > high:
            raise DataError(f"{name}: range {range} has its high end first.")
    elif x.size:
        low, high = map(float, tw.stack([x.min(), x.max()]).tolist())
    else:
        low, high = 0.0, 1.0
    if not (math.isfinite(low) and math.isfinite(high)):
        raise DataError(
            f"{name}: the range from {low} to {high} is not finite; leave NaN and "
            "infinities out, or give range=."
        )
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def histogram(
    a: ArrayLike,
    bins: ArrayLike = 10,
    range: Bounds = None,
    density: bool | None = None,
    weights: ArrayLike = None,
) -> tuple[Tensor, Tensor]:
    """Return the count of values in each bin, and the edges of the bins.

    A bin contains its left edge, the last one its right edge too. `bins` is a number,
    edges or a rule such as `"auto"`. Counts are int32; with `weights` they are sums of
    weights; `density` divides them so that the area of the bins is 1.

    Raises:
        DataError: edges fall, bins are not positive, or the range is not finite.

    >>> np.histogram([1, 2, 1, 4], bins=[0, 1, 2, 3])
    (tensor([0, 2, 1]), tensor([0, 1, 2, 3]))
    """
    x = as_first_operand(a, bins, weights).reshape(-1)
    found = _bins_by_rule(x, bins, range, weights)
    count, edges = _count_points([x], [found], weights), found.edges
    if not density:
        return count, edges
    widths = as_floats(edges[1:] - edges[:-1])
    return as_floats(count) / widths / count.sum(), edges


def _bin_of(x: Tensor, bins: _Bins) -> Tensor:
    """Return the index of the bin of each value, any bin for values outside."""
    edges, _ = bins
    last = max(edges.size - 2, 0)
    if not bins.is_even:
        found = tw.searchsorted(edges, x, side="right") - 1
        return tw.clip(tw.where(x == edges[-1], last, found), 0, last)
    # As in NumPy: the position between the ends, mended by the edges of its bin.
    width = (edges[-1] - edges[0]) / (last + 1)
    guess = tw.clip(((x - edges[0]) / width).astype(dtypes.int32), 0, last)
    is_below = (x < edges[guess]).astype(dtypes.int32)
    is_above = (x >= edges[guess + 1]).astype(dtypes.int32)
    return tw.clip(guess - is_below + is_above, 0, last)


def _count_points(
    columns: Sequence[Tensor], bins: Sequence[_Bins], weights: ArrayLike
) -> Tensor:
    """Return counts, or sums of weights, of points by bins: an axis for each column."""
    shape = [max(one.edges.size - 1, 0) for one in bins]
    flat_index = tw.zeros_like(columns[0], dtype=dtypes.DEFAULT_INT)
    inside = tw.ones_like(columns[0], dtype=dtypes.bool)
    for column, one, length in zip(columns, bins, shape, strict=True):
        inside = inside & (column >= one.edges[0]) & (column <= one.edges[-1])
        flat_index = flat_index * length + _bin_of(column, one)
    if weights is None:
        values = inside.astype(dtypes.DEFAULT_INT)
    else:
        values = as_operand_like(weights, inside).reshape(-1)
        if values.shape != inside.shape:
            raise ShapeError(
                f"histogram: {values.size} weights for {inside.size} values; give one "
                "for each."
            )
        values = tw.where(inside, values, 0)
    dtype = dtypes.DEFAULT_INT if values.dtype is dtypes.bool else values.dtype
    count = size_of(shape)
    if count > MOST_BINS:
        raise DataError(
            f"histogram: {count} bins, {shape} along the axes; give at most "
            f"{MOST_BINS}."
        )
    empty = tw.zeros(count, dtype=dtype, device=inside.device)
    return empty.at[flat_index].add(values).reshape(tuple(shape))


def histogramdd(
    sample: ArrayLike,
    bins: ArrayLike = 10,
    range: Sequence[Bounds] | None = None,
    density: bool | None = None,
    weights: ArrayLike = None,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Return the count of points in each box, and the edges along each axis.

    Points are the rows of a tensor `(n, d)`; a list or tuple has `d` sequences, which
    are the coordinates along each axis. `bins` is a number, or numbers or edges for
    each axis.

    Raises:
        DataError: there are not as many bins or ranges as axes, or too many bins.

    >>> points = np.asarray([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    >>> counts, edges = np.histogramdd(points, bins=2)
    >>> counts
    tensor([[1., 0.],
            [1., 1.]])
    """
    if isinstance(sample, list | tuple) and not isinstance(sample[0], int | float):
        columns = [column.reshape(-1) for column in as_tensors(sample)]
    else:
        points = tw.asarray(sample)
        columns = list((points.reshape(-1, 1) if points.ndim < 2 else points).T)
    rank = len(columns)
    bins = [bins] * rank if is_integer(bins) else bins
    ranges = [None] * rank if range is None else range
    found = [
        _bins("histogram", x, bins_of_axis, bounds)
        for x, bins_of_axis, bounds in zip(
            columns,
            _one_for_each_axis("bins", bins, rank),
            _one_for_each_axis("range", ranges, rank),
            strict=True,
        )
    ]
    edges = tuple(one.edges for one in found)
    count = as_floats(_count_points(columns, found, weights))
    if density:
        total = count.sum()
        for axis, ends in enumerate(edges):
            widths = as_floats(ends[1:] - ends[:-1])
            count = count / widths.reshape((-1, *(1,) * (rank - axis - 1)))
        count = count / total
    return count, edges


def _one_for_each_axis(name: str, values: Any, rank: int) -> list[Any]:
    """Return the values of an argument, one for each axis."""
    if not hasattr(values, "__len__") or len(values) != rank:
        raise DataError(
            f"histogramdd: {name} is {values!r}; give a list of {rank}, one an axis."
        )
    return list(values)


def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: ArrayLike = 10,
    range: Sequence[Bounds] | None = None,
    density: bool | None = None,
    weights: ArrayLike = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the count of points in each rectangle, and the edges along x and y.

    Raises:
        ShapeError: x and y have different lengths.

    >>> np.histogram2d([0, 1, 1], [0, 0, 1], bins=2)[0]
    tensor([[1., 0.],
            [1., 1.]])
    """
    first, second = (values.reshape(-1) for values in as_tensors([x, y]))
    if first.shape != second.shape:
        raise ShapeError(
            f"histogram2d: {first.size} and {second.size} coordinates; give as many."
        )
    if not (isinstance(bins, list | tuple) and len(bins) == 2):
        bins = [bins, bins]
    count, edges = histogramdd((first, second), bins, range, density, weights)
    return count, edges[0], edges[1]


declare_public(__name__)
