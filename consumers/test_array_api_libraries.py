"""array-api-compat, array-api-extra and SciPy find the namespace and use it."""

from __future__ import annotations

from typing import Any

import array_api_compat
import array_api_extra as xpx
import numpy as np
import pytest
import scipy.cluster.vq
import scipy.ndimage
import scipy.signal
import scipy.special
import scipy.stats

import tensorweb as tw

HOST = np.arange(12, dtype=np.float32).reshape(3, 4) / 4 + 0.25

COMPAT: dict[str, Any] = {
    "array_namespace": lambda x: array_api_compat.array_namespace(x, None, 2.5) is tw,
    "is_array_api_obj": array_api_compat.is_array_api_obj,
    "device": lambda x: array_api_compat.device(x) == x.device,
    "size": lambda x: array_api_compat.size(x) == 12,
    "to_device": lambda x: array_api_compat.to_device(x, "cpu").device == "cpu",
    "is_writeable_array": array_api_compat.is_writeable_array,
    "is_not_lazy": lambda x: not array_api_compat.is_lazy_array(x),
    "is_not_numpy": lambda x: not array_api_compat.is_numpy_array(x),
}


@pytest.mark.parametrize("name", COMPAT)
def test_array_api_compat(name: str) -> None:
    assert COMPAT[name](tw.asarray(HOST))


EXTRA: dict[str, Any] = {
    "at.set": lambda xp, x: xpx.at(x)[1].set(5.0),
    "at.add": lambda xp, x: xpx.at(x)[:, 0].add(1.0),
    "at.min": lambda xp, x: xpx.at(x)[0].min(1.0),
    "atleast_nd": lambda xp, x: xpx.atleast_nd(x, ndim=4),
    "cov": lambda xp, x: xpx.cov(x * x),
    "create_diagonal": lambda xp, x: xpx.create_diagonal(x[0]),
    "diag_indices": lambda xp, x: x[xpx.diag_indices(3, xp=xp)],
    "expand_dims": lambda xp, x: xpx.expand_dims(x, axis=(0, -1)),
    "isclose": lambda xp, x: xpx.isclose(x, x + 1e-9),
    "kron": lambda xp, x: xpx.kron(x, x),
    "nan_to_num": lambda xp, x: xpx.nan_to_num(x / (x - x[0])),
    "nunique": lambda xp, x: xpx.nunique(xp.floor(x)),
    "one_hot": lambda xp, x: xpx.one_hot(xp.asarray([0, 2, 1]), 3),
    "pad": lambda xp, x: xpx.pad(x, 2, constant_values=1.5),
    "partition": lambda xp, x: xp.sort(xpx.partition(x, 2, axis=1), axis=1),
    "setdiff1d": lambda xp, x: xpx.setdiff1d(x[0], x[0, :2]),
    "sinc": lambda xp, x: xpx.sinc(x),
    "apply_where": lambda xp, x: xpx.apply_where(x > 1, x, xp.log, fill_value=0.0),
    "lazy_apply": lambda xp, x: xpx.lazy_apply(
        lambda a: a * 2, x, shape=x.shape, dtype=x.dtype
    ),
    "default_dtype": lambda xp, x: xp.ones(2, dtype=xpx.default_dtype(xp)),
}


@pytest.mark.parametrize("name", EXTRA)
def test_array_api_extra(name: str, device: str) -> None:
    compare(EXTRA[name], device)


SCIPY: dict[str, Any] = {
    **{
        name: lambda xp, x, name=name: getattr(scipy.special, name)(x / 8)
        for name in (
            *("erf", "erfc", "expit", "logit", "gammaln", "i0", "i0e", "i1", "j0"),
            *("log_ndtr", "ndtr", "ndtri", "entr", "digamma"),
        )
    },
    "logsumexp": lambda xp, x: scipy.special.logsumexp(x, axis=1),
    "softmax": lambda xp, x: scipy.special.softmax(x, axis=1),
    "log_softmax": lambda xp, x: scipy.special.log_softmax(x, axis=0),
    "xlogy": lambda xp, x: scipy.special.xlogy(x, x),
    "rel_entr": lambda xp, x: scipy.special.rel_entr(x, x + 1),
    "gmean": lambda xp, x: scipy.stats.gmean(x, axis=1),
    "hmean": lambda xp, x: scipy.stats.hmean(x, axis=1),
    "zscore": lambda xp, x: scipy.stats.zscore(x, axis=1),
    "skew": lambda xp, x: scipy.stats.skew(x * x, axis=1),
    "kurtosis": lambda xp, x: scipy.stats.kurtosis(x * x, axis=1),
    "moment": lambda xp, x: scipy.stats.moment(x, 2, axis=0),
    "variation": lambda xp, x: scipy.stats.variation(x, axis=1),
    "entropy": lambda xp, x: scipy.stats.entropy(x, axis=1),
    "sem": lambda xp, x: scipy.stats.sem(x, axis=1),
    "pearsonr": lambda xp, x: scipy.stats.pearsonr(x[0], x[1] * x[1]).statistic,
    "detrend": lambda xp, x: scipy.signal.detrend(x * x, type="constant"),
    "whiten": lambda xp, x: scipy.cluster.vq.whiten(x),
    "gaussian_filter": lambda xp, x: scipy.ndimage.gaussian_filter(x, 1.0),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SCIPY)
def test_scipy(name: str, device: str) -> None:
    compare(SCIPY[name], device)


def compare(code: Any, device: str) -> None:
    """Compare what a library gives for a tensor and for an array of NumPy."""
    tw.narrow_dtypes()
    found = code(tw, tw.asarray(HOST))
    expected = code(np, HOST)
    assert isinstance(found, tw.Tensor), type(found)
    assert found.device == device
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)
