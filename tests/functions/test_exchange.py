"""Other libraries: they learn of tensors when imported, and get NumPy's dtypes."""

from __future__ import annotations

import importlib
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from checks import assert_equal

import tensorweb as tw
from tensorweb import exchange


@pytest.fixture
def einops() -> Any:
    """The backend that einops would ask."""
    backends = SimpleNamespace(AbstractBackend=object)
    exchange.register(backends)
    return backends.TensorwebBackend()


def test_a_module_is_notified_once_on_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a_library_that_comes.py").write_text("ready = 1\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)  # type: ignore[no-untyped-call]  # pytest's
    notified: list[Any] = []
    row = {"a_library_that_comes": lambda module: notified.append(module.ready)}
    monkeypatch.setattr(exchange, "_waiting", row)
    module = importlib.import_module("a_library_that_comes")
    assert notified == [1]
    importlib.reload(module)
    assert notified == [1]


def test_an_imported_module_is_notified_immediately(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notified: list[Any] = []
    monkeypatch.setattr(exchange, "ROWS", {"math": notified.append})
    exchange.listen()
    assert [module.__name__ for module in notified] == ["math"]


def test_einops_finds_its_backend(einops: Any, device: str) -> None:
    x = tw.reshape(tw.arange(6), (2, 3))
    host = x.numpy()
    assert einops.framework_name == "tensorweb"
    assert einops.is_appropriate_type(x)
    assert not einops.is_appropriate_type(host)
    assert_equal(einops.from_numpy(host), einops.to_numpy(x))
    assert_equal(einops.transpose(x, (1, 0)), host.T)
    assert_equal(einops.stack_on_zeroth_dimension([x, x]), np.stack([host, host]))
    assert_equal(einops.concat([x, x], 1), np.concatenate([host, host], 1))
    repeated = np.broadcast_to(host[:, None, :, None], (2, 4, 3, 5))
    assert_equal(einops.add_axes(x, 4, {1: 4, 3: 5}), repeated)
    assert_equal(einops.einsum("ij,kj->ik", x, x), host @ host.T)
    assert_equal(einops.arange(2, 5), [2, 3, 4])
    assert einops.is_float_type(x * 1.5)
    assert not einops.is_float_type(x)


def test_dtypes_are_dtypes_to_numpy() -> None:
    for dtype in tw.__array_namespace_info__().dtypes(device="cpu").values():
        assert np.dtype(dtype) == dtype.name  # type: ignore[call-overload]  # NumPy asks
        assert issubclass(dtype.type, np.generic)
    assert np.zeros(2, tw.int32).dtype == "int32"  # type: ignore[call-overload]  # as above


def test_tensors_travel_by_their_bytes(device: str) -> None:
    x = tw.reshape(tw.arange(6, dtype=tw.float32), (2, 3)).T * 2
    again = pickle.loads(pickle.dumps(x))
    assert (again.dtype, again.device) == (x.dtype, device)
    assert_equal(again, x.numpy())
