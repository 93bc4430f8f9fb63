"""Bins of one width: arithmetic finds them, their edges decide, as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorweb as tw
import tensorweb.numpy as np
from tensorweb.events import record_kernels
from tensorweb.numpy.histograms import _bins

Array = numpy.ndarray[Any, Any]

inf = numpy.inf

RANGES = {
    "usual": (256, -4.0, 4.0),
    "one": (1, -1.0, 1.0),
    "far": (50, 1e6, 1e6 + 20),
    "narrow": (64, 1.0, 1.0 + 2**-17),
    "tiny": (64, -1e-38, 1e-38),
    "huge": (40, -3e38, 3e38),
    "many": (1 << 21, -4.0, 4.0),
}
"""Count, low and high end of bins; all but the last four can be found by arithmetic."""


def on_and_between(edges: Array) -> Array:
    """Return edges, the floats next to them, what lies between and what is outside."""
    edges = edges[:: len(edges) // 400 + 1]
    inside = (edges[1:] / 2 + edges[:-1] / 2).astype(edges.dtype)
    around = [numpy.nextafter(edges, edges.dtype.type(to)) for to in (-inf, inf)]
    outside = numpy.asarray([-inf, inf, numpy.nan], edges.dtype)
    return numpy.concatenate([edges, *around, inside, outside])


@pytest.mark.parametrize("name", RANGES)
def test_every_value_is_in_the_bin_whose_edges_hold_it(name: str, device: str) -> None:
    count, low, high = RANGES[name]
    empty = tw.zeros(1, dtype=tw.float32, device=device)
    edges = np.histogram_bin_edges(empty, count, (low, high))
    values = on_and_between(edges.numpy())
    found = np.histogram(tw.asarray(values, device=device), count, (low, high))[0]
    ends = edges.numpy()
    index = numpy.searchsorted(ends, values, side="right") - 1
    index = numpy.where(values == ends[-1], count - 1, index)
    is_inside = (values >= ends[0]) & (values <= ends[-1])
    expected = numpy.bincount(index[is_inside], minlength=count)
    assert numpy.array_equal(found.numpy(), expected)
    bins = _bins("histogram", empty, count, (low, high))
    assert bins.is_even == (name in ("usual", "one", "far"))


def test_even_bins_are_counted_in_three_launches_without_a_read(webgpu: str) -> None:
    x = tw.asarray(numpy.linspace(-5, 5, 70_001, dtype=numpy.float32), device=webgpu)
    count = tw.jit(lambda x: np.histogram(x, bins=256, range=(-4, 4))[0])
    expected = numpy.histogram(x.numpy(), bins=256, range=(-4, 4))[0]
    assert numpy.array_equal(count(x).numpy(), expected)
    with record_kernels() as kernels:
        count(x)
    assert [one.kind for one in kernels] == [
        "elementwise_several",
        "scatter_privatized",
        "elementwise",
    ]
