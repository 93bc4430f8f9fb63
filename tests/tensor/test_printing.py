"""Printing equals NumPy's, and of large tensors only what is shown is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checks import counted

import tensorweb as tw
from tensorweb import devices
from tensorweb.errors import BlockingError

Array = np.ndarray[Any, Any]


def like_numpy(host: Array) -> str:
    """Return NumPy's text as it stands inside `tensor(`."""
    return np.array2string(
        host, max_line_width=75, separator=", ", prefix="tensor(", suffix=")"
    )


def sample(seed: int, dtype: str) -> Array:
    """Return one array of a random shape and kind of values."""
    random = np.random.default_rng(seed)
    shape = tuple(random.integers(1, random.choice([3, 5, 40]), random.integers(1, 4)))
    if dtype == "bool":
        return np.asarray(random.random(shape) < 0.5)
    if "int" in dtype:
        return np.asarray(random.integers(0, random.choice([3, 120]), shape), dtype)
    normal = random.standard_normal(shape)
    kinds = [
        normal,
        np.round(normal * 4),
        np.round(normal * 100, 2),
        np.exp(normal * 8),
        normal * 1e4,
        np.where(normal > 1, np.nan, normal),
        np.where(normal > 1, -np.inf, np.round(normal)),
    ]
    return np.asarray(kinds[seed % len(kinds)], dtype)


@pytest.mark.parametrize("seed", range(21))
@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "int32", "int64", "uint8", "bool"]
)
def test_values_look_like_numpy(dtype: str, seed: int, cpu: str) -> None:
    with np.errstate(all="ignore"):
        host = sample(seed, dtype)
    x = tw.asarray(host)
    assert repr(x).startswith(f"tensor({like_numpy(host)}")
    assert str(x) == str(host)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ([[0.0, 1.0], [2.0, 3.0]], "tensor([[0., 1.],\n        [2., 3.]])"),
        ([1, -2, 30], "tensor([ 1, -2, 30])"),
        ([True, False], "tensor([ True, False])"),
        ([0.1, 0.25], "tensor([0.1 , 0.25])"),
        ([1e10, 1.0], "tensor([1.e+10, 1.e+00])"),
        ([float("nan"), float("-inf"), 1.0], "tensor([ nan, -inf,   1.])"),
        (2.5, "tensor(2.5)"),
        (7, "tensor(7)"),
        (True, "tensor(True)"),
        ([], "tensor([], dtype=float32)"),
    ],
    ids=repr,
)
def test_repr(data: object, text: str, device: str) -> None:
    assert repr(tw.asarray(data)) == text


def test_str_of_a_number_is_the_number(device: str) -> None:
    assert str(tw.asarray(0.1)) == "0.1"
    assert str(tw.asarray(1e7)) == "10000000.0"
    assert str(tw.asarray(3)) == "3"
    assert f"{tw.asarray(2.0)}" == "2.0"


def test_dtype_is_shown_where_it_is_not_obvious(cpu: str) -> None:
    assert repr(tw.asarray([1.5], dtype=tw.float64)) == "tensor([1.5], dtype=float64)"
    assert repr(tw.asarray([1], dtype=tw.uint32)) == "tensor([1], dtype=uint32)"
    assert repr(tw.zeros((0, 3))) == "tensor([], shape=(0, 3), dtype=float32)"


def test_device_is_shown_where_it_is_not_the_default(webgpu: str) -> None:
    assert repr(tw.ones(2, device="cpu")) == "tensor([1., 1.], device='cpu')"
    assert repr(tw.ones(2)) == "tensor([1., 1.])"


def test_facts_go_to_a_new_line_when_the_last_is_full(cpu: str) -> None:
    x = tw.arange(24, dtype=tw.float64)
    assert repr(x).endswith("23.],\n       dtype=float64)")


@pytest.mark.parametrize(
    "shape", [(1001,), (40, 41), (7, 3, 60), (1001, 1), (2, 2, 2, 200)], ids=str
)
def test_large_tensors_are_shortened_like_numpy(
    shape: tuple[int, ...], device: str
) -> None:
    x = counted(*shape)
    host = x.numpy()
    assert str(x) == str(host)
    assert repr(x).startswith(f"tensor({like_numpy(host)},")
    assert repr(x).endswith(f"shape={shape})")


def test_only_shown_elements_are_read(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = devices.backend(device)
    x = (counted(300, 400) * 2).realize()
    sizes: list[int] = []
    read = type(backend).read

    def counting(self: Any, nodes: Any) -> list[bytes]:
        data = read(self, nodes)
        sizes.extend(map(len, data))
        return data

    monkeypatch.setattr(type(backend), "read", counting)
    text = repr(x)
    assert sizes == [6 * 6 * 4]
    assert "2.39998e+05" in text


def test_huge_constants_are_printed_without_storage(device: str) -> None:
    text = repr(tw.ones((100_000, 100_000)))
    assert text.startswith("tensor([[1., 1., 1., ..., 1., 1., 1.],")
    assert text.endswith("shape=(100000, 100000))")


def test_permuted_and_flipped_tensors_print_their_values(device: str) -> None:
    x = tw.flip(counted(2, 3).T, axis=0)
    assert str(x) == "[[2. 5.]\n [1. 4.]\n [0. 3.]]"


def test_values_that_cannot_be_waited_for(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> object:
        raise BlockingError("read: Python cannot wait here")

    x = counted(2, 3) + 1
    monkeypatch.setattr(type(devices.backend(device)), "read", refuse)
    assert repr(x) == "tensor(..., shape=(2, 3), dtype=float32)"
    assert str(x) == repr(x)
