"""The Array API's own questions: dtypes, kinds, promotion, the namespace itself."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest
from checks import assert_equal, ramp

import tensorweb as tw
from tensorweb.devices import DEVICES
from tensorweb.errors import DataError, DeviceError, DTypeError


def test_namespace_of_a_tensor(cpu: str) -> None:
    x = tw.ones(2)
    assert x.__array_namespace__() is tw
    assert x.__array_namespace__(api_version="2024.12") is tw
    with pytest.raises(DataError, match=r"1999\.01"):
        x.__array_namespace__(api_version="1999.01")


def test_namespace_info(device: str) -> None:
    info = tw.__array_namespace_info__()
    assert info.default_device() == device
    assert set(info.devices()) <= set(DEVICES)
    assert isinstance(info.devices(), tuple)
    assert device in info.devices()
    assert info.capabilities()["boolean indexing"]
    assert info.default_dtypes()["real floating"] is tw.float32
    kinds = info.dtypes(kind="integral")
    assert {"int32", "uint32"} <= set(kinds)
    assert ("float64" in info.dtypes()) == (device == "cpu")


def test_constants() -> None:
    assert (tw.pi, tw.e, tw.inf, tw.newaxis) == (math.pi, math.e, math.inf, None)
    assert math.isnan(tw.nan)
    assert tw.__array_api_version__ == "2025.12"


@pytest.mark.parametrize(
    ("dtype", "kind", "expected"),
    [
        (tw.float32, "real floating", True),
        (tw.float32, "numeric", True),
        (tw.float32, "integral", False),
        (tw.uint8, "unsigned integer", True),
        (tw.int8, ("bool", "signed integer"), True),
        (tw.bool, "numeric", False),
        (tw.bool, tw.bool, True),
        (tw.float64, "complex floating", False),
        (tw.complex64, ("complex floating", "bool"), True),
        (tw.complex128, "numeric", True),
        (tw.complex128, "real floating", False),
        ("int32", tw.int32, True),
    ],
)
def test_isdtype(dtype: Any, kind: Any, expected: bool) -> None:
    assert tw.isdtype(dtype, kind) is expected


def test_isdtype_names_the_kinds() -> None:
    with pytest.raises(DTypeError, match=r"'real'; kinds are bool"):
        tw.isdtype(tw.int32, "real")


def test_result_type_and_can_cast(cpu: str) -> None:
    assert tw.result_type(tw.int8, tw.uint8) is tw.int16
    assert tw.result_type(tw.ones(2), tw.int32, 3) is tw.float32
    assert tw.result_type(tw.int32, 2.5) is tw.float32
    assert tw.can_cast(tw.int8, tw.int32)
    assert not tw.can_cast(tw.ones(2), tw.int32)
    with pytest.raises(DTypeError, match="uint64"):
        tw.result_type(tw.uint64, tw.int8)
    with pytest.raises(DTypeError, match="at least one"):
        tw.result_type(1, 2)


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_finfo(name: str) -> None:
    ours, expected = tw.finfo(name), np.finfo(name)
    assert (ours.bits, ours.eps, ours.max, ours.min, ours.smallest_normal) == (
        expected.bits,
        expected.eps,
        expected.max,
        expected.min,
        expected.smallest_normal,
    )


@pytest.mark.parametrize("name", ["int8", "uint16", "int32", "uint64"])
def test_iinfo(name: str) -> None:
    ours, expected = tw.iinfo(name), np.iinfo(name)
    assert (ours.bits, ours.min, ours.max) == (
        expected.bits,
        expected.min,
        expected.max,
    )


@pytest.mark.parametrize(
    ("name", "keywords"),
    [
        ("asarray", {"dtype", "device", "copy", "requires_grad"}),
        ("arange", {"stop", "step", "dtype", "device"}),
        ("linspace", {"num", "dtype", "device", "endpoint"}),
        ("reshape", {"shape", "copy"}),
        ("sum", {"axis", "dtype", "keepdims", "dim", "keepdim"}),
        ("var", {"axis", "correction", "keepdims", "dim", "keepdim"}),
        ("cumulative_prod", {"axis", "dtype", "include_initial"}),
        ("diff", {"axis", "n", "prepend", "append"}),
        ("searchsorted", {"side", "sorter"}),
        ("isin", {"invert"}),
        ("astype", {"copy", "device"}),
        ("from_dlpack", {"device", "copy"}),
    ],
)
def test_parameters_are_the_standards(name: str, keywords: set[str]) -> None:
    # requires_grad, dim and keepdim are PyTorch's.
    parameters = inspect.signature(getattr(tw, name)).parameters.values()
    named = {p.name for p in parameters if p.kind is not p.POSITIONAL_ONLY}
    assert named == keywords


def test_callables_on_the_cpu(cpu: str) -> None:
    x = tw.asarray(ramp(2, 3))
    assert_equal(tw.map(lambda v: v * v, x.T), (ramp(2, 3) ** 2).T)
    assert tw.map(lambda v: int(v), x).dtype is tw.int32
    assert tw.map(lambda v: v > 2, x).dtype is tw.bool
    assert_equal(tw.zip_with(max, x, [[1.5], [4.5]]), [[1.5, 1.5, 2], [4.5, 4.5, 5]])
    assert_equal(tw.fold(lambda a, v: 10 * a + v, x, 0, axis=-1), [12, 345])
    assert_equal(tw.fold(lambda a, v: a + v, x, 100, axis=0), [103, 105, 107])
    assert_equal(tw.fold(max, tw.zeros((2, 0)), 7, axis=1), [7, 7])
    assert tw.fold(max, tw.zeros((2, 0)), 7, axis=0).shape == (0,)
    with pytest.raises(DataError, match=r"item at \[0\]\[0\] is 'a'"):
        tw.map(lambda v: "a", x)


def test_callables_say_where_they_run(webgpu: str) -> None:
    x = tw.ones(3)
    for act in (
        lambda: tw.map(abs, x),
        lambda: tw.zip_with(max, x, x),
        lambda: tw.fold(max, x, 0, axis=0),
    ):
        with pytest.raises(DeviceError, match=r'cpu only.*to_device\("cpu"\)'):
            act()
