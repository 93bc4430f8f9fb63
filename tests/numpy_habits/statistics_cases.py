"""Expressions of NumPy's statistics, sorting and sets, by topic.

Each is evaluated with NumPy and with `tensorweb.numpy` as `np`, on the arrays of
`DATA`.
"""

from __future__ import annotations

nan, inf = float("nan"), float("inf")

DATA: dict[str, object] = {
    "f": [
        [[0.5, -1.25, 3.0, 2.0, 7.5], [4.0, 0.25, -6.0, 1.5, 2.5], [1, 1, -2, 8, 0]],
        [[2.5, 9.0, -0.5, 6.0, 1.0], [3.5, 5.25, 0.75, -3.0, 4.5], [6, 2, 2, -7, 3]],
    ],
    "n": [[1.0, nan, 3.0, -2.0], [nan, nan, 5.0, 0.5], [4.0, 2.0, nan, 8.0]],
    "allnan": [[nan, nan], [1.0, 2.0]],
    "i": [[3, 1, 4, 1, 5, 9], [2, 6, 5, 3, 5, 8], [9, 7, 9, 3, 2, 3]],
    "b": [[True, False, True], [False, False, True]],
    "v": [0.5, 3.25, -1.0, 2.0, 2.0, 7.0, -4.5],
    "w": [1.0, 2.0, 0.5, 3.0, 0.0, 1.5, 2.5],
    "c": [1, 2, 1, 3, 1, 2, 1],
    "x": [0.0, 1.0, 1.5, 3.5, 4.0, 6.0],
    "y": [1.0, 3.0, 2.0, 5.0, 4.0, 4.0],
    "dup": [3, 1, 2, 3, 1, 7, 3],
    "rows": [[1, 0, 2], [0, 5, 1], [1, 0, 2], [0, 4, 9], [0, 5, 1]],
    "nans": [2.0, nan, 1.0, nan, 2.0],
    "e": [],
    "ph": [0.0, 1.0, 2.5, 6.0, -1.0, 3.0, -3.2],
}

REDUCTIONS = """
np.sum(f)
np.sum(f, 1)
np.sum(f, (0, 2), keepdims=True)
np.sum(f, -1, initial=2.5, where=f > 0)
np.sum(f, axis=(), where=f > 1)
np.sum(i, 0, np.float32)
np.sum(b, 1)
np.prod(f, 2)
np.prod(i, 0, initial=2)
np.prod(f, where=f > 2)
np.mean(f, 1)
np.mean(i, 0, keepdims=True)
np.mean(f, (1, 2), where=f > 0)
np.mean(f, 0, where=f > 100)
np.std(f, 1)
np.std(f, 1, ddof=1)
np.var(i, (0, 1), ddof=2, keepdims=True)
np.var(f, -1, where=f > 0, ddof=1)
np.var(f, 1, correction=1)
np.var(f, 1, mean=np.mean(f, 1, keepdims=True))
np.min(f, 2)
np.amin(i, 1, keepdims=True)
np.max(f, (0, 1))
np.amax(i)
np.max(f, 1, initial=3, where=f < 2)
np.min(i, 1, initial=4, where=i > 2)
np.max(e, initial=-5.0)
np.max(i, 0, initial=6)
np.ptp(f, 1)
np.ptp(i, axis=0, keepdims=True)
np.argmax(f, 1)
np.argmin(f, keepdims=True)
np.argmax(i)
np.all(b, 0)
np.any(b, 1, keepdims=True)
np.all(f, where=f != 0)
np.any(i, 0, where=i > 8)
np.cumsum(f)
np.cumsum(i, 1)
np.cumsum(i, -1, np.float32)
np.cumprod(f[0], 0)
np.cumulative_sum(i, axis=1, include_initial=True)
np.cumulative_prod(v)
np.count_nonzero(f, (0, 1))
np.count_nonzero(b, 1, keepdims=True)
"""

MISSING = """
np.nansum(n, 0)
np.nansum(n, keepdims=True)
np.nansum(i, 1)
np.nanprod(n, 1)
np.nanmean(n, 0)
np.nanmean(n, 1, keepdims=True)
np.nanmean(allnan, 1)
np.nanstd(n, 1)
np.nanvar(n, 0, ddof=1)
np.nanmin(n, 0)
np.nanmax(n)
np.nanmax(allnan, 1)
np.nanmin(i, 1)
np.nanargmax(n, 1)
np.nanargmin(n)
np.nancumsum(n)
np.nancumprod(n, 1)
np.nanmedian(n, 1)
np.nanmedian(n)
np.nanmedian(allnan, 1, keepdims=True)
np.nanpercentile(n, [10, 50, 95], axis=1)
np.nanquantile(n, 0.3, axis=0)
np.nanquantile(n, [[0.1, 0.5], [0.6, 1.0]], axis=1, keepdims=True)
np.nanquantile(n, 0.5, axis=1, method="lower")
np.nanpercentile(allnan, 40, axis=1)
"""

ORDER_STATISTICS = """
np.median(f)
np.median(f, 1)
np.median(f, (0, 2), keepdims=True)
np.median(i, axis=1)
np.median(n, 1)
np.median(e)
np.percentile(f, 30)
np.percentile(f, [0, 12.5, 100], axis=1)
np.percentile(i, [[25, 75]], axis=(0, 1), keepdims=True)
np.percentile(n, 50, axis=1)
np.quantile(v, 0.4)
np.quantile(f, [0.2, 0.9], axis=(0, 2))
np.quantile(i, 0.3, axis=1, method="nearest")
np.quantile(v, [0.1, 0.5, 0.9], weights=w, method="inverted_cdf")
np.quantile(v, np.asarray([0.25, 0.5]))
np.percentile(f, [], axis=1)
"""

METHODS = (
    "linear lower higher midpoint nearest inverted_cdf averaged_inverted_cdf "
    "closest_observation interpolated_inverted_cdf hazen weibull median_unbiased "
    "normal_unbiased"
)

STATISTICS = """
np.average(f)
np.average(f, 1)
np.average(v, weights=w)
np.average(f, (0, 1), weights=np.asarray([[1.0, 2.0, 0.5], [3.0, 1.0, 1.0]]))
np.average(i, axis=1, weights=[1, 2, 3, 1, 0, 1], returned=True)
np.average(i, 0, returned=True, keepdims=True)
np.cov(i)
np.cov(v)
np.cov(v, w)
np.cov(i, rowvar=False)
np.cov(i, bias=True)
np.cov(i, ddof=0)
np.cov(v, w, fweights=c)
np.cov(v, w, aweights=w)
np.cov(v, w, fweights=c, aweights=w, ddof=1)
np.corrcoef(i)
np.corrcoef(v, w)
np.corrcoef(i, rowvar=False)
"""

HISTOGRAMS = """
np.histogram(v)
np.histogram(v, 4, (-2, 3))
np.histogram(v, [-5.0, 0.0, 2.0, 7.0])
np.histogram(i, bins=5)
np.histogram(v, 3, density=True)
np.histogram(v, 5, weights=w)
np.histogram(v, [-5.0, 0.0, 2.0, 7.0], density=True, weights=w)
np.histogram(v, "sturges")
np.histogram(v, "auto")
np.histogram(v, "fd")
np.histogram(v, "sqrt")
np.histogram(v, "rice")
np.histogram(v, "scott")
np.histogram(i, "auto")
np.histogram(e, 3)
np.histogram([2.0, 2.0], 2)
np.histogram_bin_edges(i, 3)
np.histogram2d(x, y, 3)
np.histogram2d(x, y, [2, 4], range=[[0, 5], [1, 5]])
np.histogram2d(x, y, [[0.0, 2.0, 6.0], [0.0, 3.0, 5.0]], density=True)
np.histogramdd(i.T, 2)
np.histogramdd((x, y), (2, 3), weights=[1, 2, 3, 4, 5, 6])
np.bincount(c)
np.bincount(c, weights=w)
np.bincount(c, minlength=7)
np.digitize(v, [-1.0, 2.0, 3.0])
np.digitize(v, [3.0, 2.0, -1.0])
np.digitize(v, [-1.0, 2.0, 3.0], right=True)
np.digitize(v, [3.0, 2.0, -1.0], right=True)
np.digitize(i, [2, 5])
"""

DIFFERENCES = """
np.diff(v)
np.diff(f, 2)
np.diff(f, 1, 0)
np.diff(f, axis=1, prepend=0)
np.diff(v, prepend=[1, 2], append=9)
np.diff(b)
np.diff(v, 0)
np.ediff1d(i)
np.ediff1d(c, to_end=[7, 8], to_begin=-1)
np.gradient(v)
np.gradient(v, 0.5)
np.gradient(y, x)
np.gradient(y, x, edge_order=2)
np.gradient(v, edge_order=2)
np.gradient(f)
np.gradient(f, axis=2)
np.gradient(i, 2.0, [0.0, 1.0, 3.0, 4.5, 5.0, 9.0])
np.gradient(f, 0.5, axis=(0, 1))
np.trapezoid(v)
np.trapezoid(y, x)
np.trapezoid(f, dx=0.5, axis=1)
np.trapezoid(f, [1.0, 2.0, 4.0], axis=1)
np.interp([0.5, -3.0, 3.5, 10.0, 1.25, nan], x, y)
np.interp(f, x, y, left=-1, right=-2)
np.interp([-4.0, 1.0, 8.0, 15.5], [5.0, 1.0, 3.0], [1.0, 4.0, 2.0], period=6)
np.interp(2.0, x, y)
np.interp([1, 2], [1.5], [4.0])
np.unwrap(ph)
np.unwrap(ph, discont=4)
np.unwrap([[0, 3, 1, 2], [3, 0, 2, 1]], period=4)
np.unwrap([[0, 4, 1, 2], [3, 0, 2, 1]], axis=0, period=5)
"""

SORTING = """
np.sort(f)
np.sort(f, 0)
np.sort(i, axis=None)
np.sort(n, 1, "mergesort")
np.argsort(v, kind="stable")
np.argsort(i, 0, stable=True)
np.argsort(i, None, kind="stable")
np.lexsort((v, c))
np.lexsort(i)
np.lexsort((i, i[::-1]), axis=0)
np.partition(v, 3)[3]
np.sort(np.partition(i, (1, 2), axis=1)[:, :2])
v[np.argpartition(v, -1)][-1]
"""

SETS = """
np.unique(dup)
np.unique(i, return_counts=True)
np.unique(dup, True, True, True)
np.unique(i, return_inverse=True)
np.unique(nans)
np.unique(nans, True, True, True)
np.unique(nans, equal_nan=False)
np.unique(e, return_inverse=True)
np.unique(rows, axis=0)
np.unique(rows, axis=1)
np.unique(rows, True, True, True, axis=0)
np.unique(f, axis=2, return_index=True)
np.union1d(dup, c)
np.intersect1d(dup, c)
np.intersect1d(dup, [7, 3, 3, 8], return_indices=True)
np.intersect1d([1, 5], [5, 2], assume_unique=True)
np.setdiff1d(dup, [3])
np.setdiff1d([4, 1, 3], [3], assume_unique=True)
np.setxor1d(dup, [7, 8, 1])
np.isin(i, [1, 9])
np.isin(i, [1, 9], invert=True)
"""

UFUNCS = """
np.add.reduce(i)
np.add.reduce(f, axis=None)
np.add.reduce(f, (0, 2), keepdims=True, where=f > 0)
np.multiply.reduce(i, 1, initial=2)
np.subtract.reduce(i)
np.divide.reduce(x[1:], initial=3.0)
np.maximum.reduce(f, (0, 1))
np.logical_and.reduce(b)
np.logical_or.reduce(b, 1)
np.logical_xor.reduce(b, 1)
np.bitwise_or.reduce(i, 1)
np.bitwise_xor.reduce(i, axis=None)
np.bitwise_and.reduce(i)
np.gcd.reduce(np.asarray([12, 18, 30]))
np.hypot.reduce(f, axis=2)
np.fmax.reduce(n, 1)
np.power.reduce(np.asarray([2, 3, 2]))
np.add.reduce(e)
np.add.accumulate(i, 1)
np.maximum.accumulate(v)
np.minimum.accumulate(f, 2)
np.multiply.accumulate(c)
np.subtract.accumulate(v)
np.bitwise_xor.accumulate(i)
np.add.reduceat(v, [0, 3, 1, 5])
np.multiply.reduceat(i, [0, 2], axis=1)
np.add.outer(v, w)
np.subtract.outer(i, c)
np.less.outer([1, 2], [0, 2, 4])
np.add(v, w, dtype=np.float32)
np.divmod(i, 4)
np.modf(v)
np.add.nin, np.sin.nin, np.divmod.nout, np.add.identity, np.multiply.identity
"""

CHANGES = """
np.add.at(v, [0, 0, 2], 1)
np.add.at(i, ([0, 0, 1], [1, 1, 2]), [10, 20, 30])
np.subtract.at(v, [1, 1], [0.5, 1])
np.multiply.at(v, [3, 3, -1], 2)
np.divide.at(v, 1, 4)
np.maximum.at(v, [0, 0], [9, 3])
np.minimum.at(i, 0, 2)
np.negative.at(v, [0, 1, 0, 5])
np.power.at(v, [3, 3, 1], [2, 3, 1])
np.bitwise_or.at(i, (slice(None), 0), 8)
np.add(v, w, out=v)
np.multiply(v, 2, v)
np.sqrt(np.abs(v), out=v, where=v > 0)
np.negative(i, out=i)
np.add(v, i[0, 0], out=v)
np.divmod(v, 2, out=(v, w))
np.cumsum(v, out=v)
"""

TOPICS: dict[str, list[str]] = {
    name.lower(): lines.strip().split("\n")
    for name, lines in {
        "REDUCTIONS": REDUCTIONS,
        "MISSING": MISSING,
        "ORDER_STATISTICS": ORDER_STATISTICS,
        "STATISTICS": STATISTICS,
        "HISTOGRAMS": HISTOGRAMS,
        "DIFFERENCES": DIFFERENCES,
        "SORTING": SORTING,
        "SETS": SETS,
        "UFUNCS": UFUNCS,
    }.items()
}
TOPICS["order_statistics"] += [
    f'np.quantile({data}, [0.0, 0.1, 0.25, 0.5, 0.7, 1.0], method="{method}")'
    for method in METHODS.split()
    for data in ("v", "x")
]
