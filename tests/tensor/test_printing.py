"""What tensors look like, and of large ones only what is shown is read."""

from __future__ import annotations

from typing import Any

import pytest
from checks import counted

import tensorweb as tw
from tensorweb import devices
from tensorweb.errors import BlockingError
from tensorweb.waits import Steps


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


def test_only_shown_elements_are_read(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = devices.backend(device)
    x = (counted(300, 400) * 2).realize()
    sizes: list[int] = []
    read = type(backend).read_steps

    def counting(self: Any, nodes: Any) -> Steps[list[bytes]]:
        data = yield from read(self, nodes)
        sizes.extend(map(len, data))
        return data

    monkeypatch.setattr(type(backend), "read_steps", counting)
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
    monkeypatch.setattr(type(devices.backend(device)), "read_steps", refuse)
    assert repr(x) == "tensor(..., shape=(2, 3), dtype=float32)"
    assert str(x) == repr(x)
