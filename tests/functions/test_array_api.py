"""What the Array API asks for at its edges: masks, copies, devices, DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checks import assert_equal

import tensorweb as tw
from tensorweb import devices
from tensorweb.errors import DeviceError, ExchangeError, TensorIndexError


@pytest.mark.parametrize(
    ("shape", "mask"),
    [
        ((1,), (0,)),
        ((3, 4), (0,)),
        ((0, 1), (0, 0)),
        ((3, 4), (3, 0)),
        ((3, 4), (0, 4)),
        ((3, 4), (0, 0)),
        ((0,), (0,)),
    ],
)
def test_masks_without_elements(shape: Any, mask: Any, device: str) -> None:
    host, chosen = np.ones(shape, np.float32), np.zeros(mask, bool)
    x, m = tw.asarray(host), tw.asarray(chosen)
    assert_equal(x[m], host[chosen])
    assert_equal(x[chosen], host[chosen])
    x[m] = 5
    assert_equal(x, host)


def test_masks_of_other_lengths_are_refused(device: str) -> None:
    for mask in ((2,), (3, 2), (0, 2)):
        with pytest.raises(TensorIndexError, match="a mask of shape"):
            tw.ones((3, 4))[tw.zeros(mask, dtype=tw.bool)]


def test_conversion_without_a_copy_returns_its_argument(device: str) -> None:
    x = tw.asarray([1.0, 2.0])
    for same in (
        tw.asarray(x, dtype=tw.float32, copy=False),
        tw.asarray(x, dtype="float32"),
        tw.asarray(x, dtype=np.float32, device=device),
        tw.asarray(x, device=device, copy=False),
        x.to_device(x.device),
        x.astype(tw.float32, copy=False, device=device),
        tw.from_dlpack(x, copy=False),
    ):
        assert same is x
    assert tw.asarray(x, dtype=tw.float32, copy=True) is not x
    assert tw.asarray(x, dtype=tw.int32) is not x


def test_only_devices_that_can_be_had_are_listed(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tw.__array_namespace_info__()
    assert isinstance(info.devices(), tuple)
    assert all(info.dtypes(device=name) for name in info.devices())
    assert "float16" not in info.dtypes()
    assert "float16" not in info.dtypes(kind="real floating")

    def missing(name: str) -> object:
        raise DeviceError("there is no adapter.")

    monkeypatch.setattr("tensorweb.functions.data_types.backend", missing)
    assert info.devices() == ()


def test_dlpack_has_the_whole_signature(device: str) -> None:
    x = tw.asarray([[1.0, 2.0], [3.0, 4.0]]) * 2
    assert x.__dlpack_device__() == (1, 0)
    capsule = x.__dlpack__(stream=None, max_version=(1, 0), dl_device=(1, 0), copy=None)
    assert "dltensor" in repr(capsule)
    assert "dltensor" in repr(x.__dlpack__(copy=True))
    np.testing.assert_array_equal(np.from_dlpack(x), x.numpy())
    for wrong in ({"copy": False}, {"dl_device": (2, 0)}, {"stream": 1}):
        with pytest.raises(BufferError, match=r"__dlpack__: "):
            x.__dlpack__(**wrong)


def test_from_dlpack_says_when_it_must_copy(device: str) -> None:
    host = np.ones(3, np.float32)
    assert_equal(tw.from_dlpack(host), host)
    assert_equal(tw.from_dlpack(host, copy=True), host)
    assert tw.from_dlpack(host, device="cpu").device == "cpu"
    with pytest.raises(BufferError, match="copy=False"):
        tw.from_dlpack(host, copy=False)
    other = "webgpu" if device == "cpu" else "cpu"
    with pytest.raises(ExchangeError, match="copy=False"):
        tw.from_dlpack(tw.ones(2), device=other, copy=False)
    assert devices.default_device() == device


def test_diff_takes_n_and_axis_in_the_order_of_numpy(device: str) -> None:
    x = tw.asarray([[1, 2, 5], [4, 8, 0]])
    assert_equal(tw.diff(x, 2), np.diff(x.numpy(), 2))
    assert_equal(tw.diff(x, 1, 0), [[3, 6, -5]])
    assert_equal(x.diff(0), x.numpy())
