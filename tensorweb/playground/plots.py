"""Plots as records for the page: few points, and only finite ones."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tensorweb.plots import Plot, Series

from . import records
from .streams import clip_line

MOST_POINTS = 1000


def record(display: int, plot: Plot) -> records.PlotRecord:
    """Return a plot; of a long line only the minimum and maximum of each interval."""
    return {
        "display": display,
        "title": clip_line(str(plot.title)),
        "kind": "histogram" if plot.kind == "histogram" else _kind(plot.kind),
        "series": [_series(one) for one in plot.series],
    }


def _kind(kind: str) -> records.PlotKind:
    return "points" if kind == "points" else "lines"


def _series(series: Series) -> records.PlotSeries:
    kept = _kept(series.y)
    return {
        "name": clip_line(str(series.name)),
        "x": [_finite(series.x[index]) for index in kept],
        "y": [_finite(series.y[index]) for index in kept],
        "count": len(series.y),
    }


def _kept(values: Sequence[float]) -> Sequence[int]:
    """Return the indices of the points that are drawn."""
    if len(values) <= MOST_POINTS:
        return range(len(values))
    step = math.ceil(2 * len(values) / MOST_POINTS)
    kept: set[int] = set()
    for start in range(0, len(values), step):
        stretch = range(start, min(start + step, len(values)))
        kept |= {min(stretch, key=values.__getitem__)}
        kept |= {max(stretch, key=values.__getitem__)}
    return sorted(kept)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
