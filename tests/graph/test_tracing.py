"""A value that depends on a placeholder cannot be read, on any device."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

import tensorweb as tw
from tensorweb import dtypes
from tensorweb.errors import TraceError
from tensorweb.graph.node import leaf
from tensorweb.graph.tracing import Placeholder, is_traced, tracing

ASKED: dict[str, Callable[[tw.Tensor], object]] = {
    "tolist": lambda x: x.tolist(),
    "print": repr,
    "item": lambda x: x[0].item(),
    "if": lambda x: bool(x[0] > 0),
    "realize": lambda x: tw.realize(x + 1),
    "await": lambda x: asyncio.run(x.tolist_async()),
    "mask": lambda x: x[x > 0],
    "unique": tw.unique_values,
    "numpy": lambda x: x[::-1].numpy(),
}


def placeholder(device: str) -> tw.Tensor:
    return tw.Tensor(leaf(Placeholder(), (3,), dtypes.float32, device))


@pytest.mark.parametrize("name", ASKED)
def test_asking_for_a_value_names_the_function(name: str, device: str) -> None:
    with (
        tracing("energy"),
        pytest.raises(TraceError, match=r"argument of energy \(shape \(3,\)"),
    ):
        ASKED[name](placeholder(device))


@pytest.mark.parametrize("name", ASKED)
def test_asking_later_is_an_error_too(name: str, device: str) -> None:
    with pytest.raises(TraceError, match=r"made while jit recorded.*Return it"):
        ASKED[name](placeholder(device) * 2)


def test_values_independent_of_placeholders_can_be_read(device: str) -> None:
    x = tw.ones(3)
    with tracing("energy"):
        assert (x + 1).tolist() == [2.0] * 3


def test_values_that_depend_on_a_placeholder_are_marked(device: str) -> None:
    x = placeholder(device)
    assert is_traced((x.reshape(1, 3) * 2).node)
    assert not is_traced((tw.ones(3) * 2).node)
