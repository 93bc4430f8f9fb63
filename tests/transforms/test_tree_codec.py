"""Trees are built from other tensors and containers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import pytest

import tensorweb as tw
from tensorweb.trees import builder, empty_like, filler, rebuild

A, B = tw.ones(2), tw.zeros(3)
KEPT = tw.ones(1)
NEW_A, NEW_B, NEW_LIST = tw.full(2, 5.0), tw.full(3, 7.0), [1, 2]
HELD = [A]


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass(frozen=True)
class Box:
    content: Any
    label: str = "box"

    def first(self) -> Any:
        return self.content


VALUES: dict[str, Any] = {
    "tensor": A,
    "another's tensor": KEPT,
    "setting": "text",
    "tuple": (A, B),
    "tuple of one": (A,),
    "nothing": ((), [], {}),
    "named": Pair(A, [B, 3]),
    "list": [A, B, A, KEPT],
    "dict": {"b": B, "a": A, 3: None},
    "of settings": {"rate": 0.5, "names": ("x", "y")},
    "held list": (HELD, [HELD], HELD),
    "object": Box({"w": A, "state": Pair(B, Box(HELD))}),
    "pairs in a list": [(A, B), (B, A)],
}

KEYS = {id(A): 1, id(B): 0, id(HELD): 2}
NEW = [NEW_B, NEW_A, NEW_LIST]
OTHERS = {key: NEW[index] for key, index in KEYS.items()}


def expected(value: Any) -> Any:
    """Return a value with the new tensors and list, one container at a time."""
    if id(value) in OTHERS:
        return OTHERS[id(value)]
    if isinstance(value, Pair):
        return Pair(expected(value.left), expected(value.right))
    if isinstance(value, tuple | list):
        return type(value)(map(expected, value))
    if isinstance(value, dict):
        return {key: expected(part) for key, part in value.items()}
    return Box(expected(value.content)) if isinstance(value, Box) else value


def parts(value: Any) -> Any:
    """Return a value whose tensors are replaced by their identity."""
    if isinstance(value, tuple | list):
        return type(value), id(value) == id(NEW_LIST), [parts(part) for part in value]
    if isinstance(value, dict):
        return [(key, parts(part)) for key, part in value.items()]
    return (Box, parts(vars(value))) if isinstance(value, Box) else id(value)


@pytest.mark.parametrize("name", VALUES)
def test_a_tree_is_built_with_other_tensors(name: str) -> None:
    value = VALUES[name]
    build = builder(value, KEYS)
    assert parts(build(NEW)) == parts(rebuild(value, OTHERS)) == parts(expected(value))
    again = build(NEW)
    if isinstance(value, list | dict | Box):
        assert again is not build(NEW)
        filled = empty_like(value)
        filler(value, KEYS)(filled, NEW)
        assert parts(filled) == parts(expected(value))


@pytest.mark.parametrize("make", [lambda box: box.first, lambda box: partial(max, box)])
def test_bound_methods_and_partials_use_the_new_objects(
    make: Callable[[Box], Any],
) -> None:
    built = builder(make(Box(A)), KEYS)(NEW)
    box = built.__self__ if hasattr(built, "__self__") else built.args[0]
    assert box.content is NEW_A
