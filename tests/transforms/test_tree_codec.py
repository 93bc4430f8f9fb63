"""Trees assembled by path equal the trees that `rebuild` makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import pytest

import tensorweb as tw
from tensorweb.transforms.recordings import assembly, filling
from tensorweb.trees import empty_like, fill, rebuild

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

PLACES = {id(A): 1, id(B): 0, id(HELD): 2}
NEW = [NEW_B, NEW_A, NEW_LIST]
OTHERS = {key: NEW[path] for key, path in PLACES.items()}


def parts(value: Any) -> Any:
    """Return a value with objects in it that compare by identity."""
    if isinstance(value, tuple | list):
        return type(value), id(value) == id(NEW_LIST), [parts(each) for each in value]
    if isinstance(value, dict):
        return [(key, parts(each)) for key, each in value.items()]
    return (Box, parts(vars(value))) if isinstance(value, Box) else id(value)


@pytest.mark.parametrize("name", VALUES)
def test_a_tree_is_put_together_as_it_is_rebuilt(name: str) -> None:
    value = VALUES[name]
    made = assembly(value, PLACES)
    assert parts(made(NEW)) == parts(rebuild(value, OTHERS))
    again = made(NEW)
    if isinstance(value, list | dict | Box):
        assert again is not made(NEW)
        mine, theirs = empty_like(value), empty_like(value)
        filling(value, PLACES)(mine, NEW)
        fill(theirs, value, OTHERS)
        assert parts(mine) == parts(theirs)


@pytest.mark.parametrize("make", [lambda box: box.first, lambda box: partial(max, box)])
def test_what_is_called_later_holds_the_new_objects(make: Callable[[Box], Any]) -> None:
    found = assembly(make(Box(A)), PLACES)(NEW)
    held = found.__self__ if hasattr(found, "__self__") else found.args[0]
    assert held.content is NEW_A
