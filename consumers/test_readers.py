"""pandas, matplotlib, xarray and PyTorch read tensors, or hold them."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import tensorweb as tw

mpl.use("agg")

from matplotlib import pyplot as plt

HOST = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_pandas_reads_tensors() -> None:
    x = tw.asarray(HOST)
    pd.testing.assert_series_equal(pd.Series(x[0]), pd.Series(HOST[0]))
    pd.testing.assert_frame_equal(pd.DataFrame(x), pd.DataFrame(HOST))
    frame = pd.DataFrame({"a": x[0], "b": x[1]})
    pd.testing.assert_frame_equal(frame, pd.DataFrame({"a": HOST[0], "b": HOST[1]}))
    assert_same(tw.asarray(frame["b"]), HOST[1])
    assert_same(tw.asarray(frame), HOST.T)


def test_pandas_answers_operators_with_tensors() -> None:
    series = pd.Series(HOST[0])
    for found in (series + tw.asarray(HOST[1]), tw.asarray(HOST[1]) + series):
        assert isinstance(found, pd.Series)
        np.testing.assert_array_equal(found, HOST[0] + HOST[1])


def test_matplotlib_draws_tensors() -> None:
    x = tw.asarray(HOST)
    figure, axes = plt.subplots()
    (line,) = axes.plot(x[0], x[1])
    np.testing.assert_array_equal(line.get_ydata(), HOST[1])
    axes.scatter(x[0], x[1], c=x[0])
    axes.bar(x[0], x[1])
    axes.hist(x.ravel())
    axes.fill_between(x[0], x[1])
    image = axes.imshow(x)
    np.testing.assert_array_equal(np.asarray(image.get_array()), HOST)
    axes.contourf(x + x.T[:2, :1])
    figure.canvas.draw()
    plt.close(figure)


XARRAY: dict[str, Any] = {
    "arithmetic": lambda a: a * 2 + a,
    "sum": lambda a: a.sum("row", skipna=False),
    "mean": lambda a: a.mean("column", skipna=False),
    "max": lambda a: a.max(skipna=False),
    "transpose": lambda a: a.T,
    "isel": lambda a: a.isel(row=0, column=slice(1, None)),
    "where": lambda a: xr.where(a > 1, a, 0 * a),
    "concat": lambda a: xr.concat([a, a], "row"),
    "broadcast": lambda a: a - a.isel(row=0),
    "where other": lambda a: a.where(a > 1, 0),
    "shift": lambda a: a.shift(row=1, fill_value=0),
    "pad": lambda a: a.pad(row=1, mode="edge"),
    "ufunc": lambda a: np.sqrt(a),
    "apply_ufunc": lambda a: xr.apply_ufunc(lambda x: x + 1, a),
    "dot": lambda a: xr.dot(a, a, dim="column"),
}


@pytest.mark.parametrize("name", XARRAY)
def test_xarray_holds_tensors(name: str, device: str) -> None:
    dims = ("row", "column")
    found = XARRAY[name](xr.DataArray(tw.asarray(HOST), dims=dims))
    expected = XARRAY[name](xr.DataArray(HOST, dims=dims))
    assert found.dims == expected.dims
    assert isinstance(found.data, tw.Tensor), type(found.data)
    assert found.data.device == device
    assert_same(found.data, expected.data)


def test_torch_and_back() -> None:
    torch = pytest.importorskip("torch")
    x = tw.asarray(HOST)
    there = torch.from_dlpack(x)
    assert there.shape == (2, 3)
    np.testing.assert_array_equal(there.numpy(), HOST)
    assert_same(tw.from_dlpack(there * 2), HOST * 2)
    assert_same(tw.asarray(torch.ones(2)), np.ones(2, np.float32))


def test_dlpack_of_numpy_and_back() -> None:
    np.testing.assert_array_equal(np.from_dlpack(tw.asarray(HOST)), HOST)
    assert_same(tw.from_dlpack(HOST), HOST)


def assert_same(found: tw.Tensor, expected: Any) -> None:
    """Compare a tensor's values with NumPy's."""
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
