"""Rebuild a result tree from flat values, without traversing the tree at each call.

`tensorweb.trees.rebuild` visits every part of a tree. A compiled function always
returns the same tree with other tensors, so `assembly` computes the steps once per
recording.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from types import MethodType
from typing import Any, TypeAlias

from tensorweb.tensor.base import TensorBase
from tensorweb.trees import (
    EXACT_TYPES,
    Holder,
    attributes,
    empty_like,
    is_opened,
    rebuild,
)

Values: TypeAlias = Sequence[Any]
"""The tensors and containers of a call, by index."""

Assembly: TypeAlias = Callable[[Values], Any]


def assembly(value: object, places: Mapping[int, int]) -> Assembly:
    """Return a function that rebuilds `value` from the values of a call.

    `places` maps the `id` of a part to its index in those values. The result equals
    that of `tensorweb.trees.rebuild`. `value` must not change afterwards.
    """
    place = places.get(id(value))
    if isinstance(value, TensorBase):
        return (lambda values: value) if place is None else itemgetter(place)
    if isinstance(value, tuple):
        return _tuple(value, places)
    if type(value) in EXACT_TYPES:
        return lambda values: value
    if isinstance(value, MethodType | partial):
        return lambda values: rebuild(
            value, {key: values[place] for key, place in places.items()}
        )
    if not isinstance(value, list | dict) and not is_opened(value):
        return lambda values: value
    if place is not None:
        return itemgetter(place)
    return _container(value, places)


def filling(
    content: Holder, places: Mapping[int, int]
) -> Callable[[Any, Values], None]:
    """Return a function that copies `content` into a container, as `trees.fill` does.

    `content` must not change afterwards.
    """
    if isinstance(content, TensorBase):
        return lambda target, values: None
    if isinstance(content, list):
        listed = _parts(content, places)

        def fill_list(target: Any, values: Values) -> None:
            target[:] = listed(values)

        return fill_list
    named = content if isinstance(content, dict) else attributes(content)
    names, parts = list(named), _parts(list(named.values()), places)
    if isinstance(content, dict):

        def fill_dict(target: Any, values: Values) -> None:
            filled = dict(zip(names, parts(values), strict=True))
            target.clear()
            target.update(filled)

        return fill_dict

    def fill_object(target: Any, values: Values) -> None:
        for name in attributes(target).keys() - named.keys():
            object.__delattr__(target, name)
        for name, part in zip(names, parts(values), strict=True):
            object.__setattr__(target, name, part)

    return fill_object


def _tuple(value: tuple[Any, ...], places: Mapping[int, int]) -> Assembly:
    """Return a function that rebuilds a tuple or a named tuple."""
    parts = _parts(value, places)
    if not hasattr(value, "_fields"):
        return lambda values: tuple(parts(values))
    kind = type(value)
    return lambda values: kind(*parts(values))


def _container(value: Holder, places: Mapping[int, int]) -> Assembly:
    """Return a function that makes a new list, dict or registered object."""
    if isinstance(value, list):
        listed = _parts(value, places)
        return lambda values: list(listed(values))
    if isinstance(value, dict):
        names, parts = list(value), _parts(list(value.values()), places)
        return lambda values: dict(zip(names, parts(values), strict=True))
    fill_in = filling(value, places)

    def made(values: Values) -> Any:
        found = empty_like(value)
        fill_in(found, values)
        return found

    return made


def _parts(parts: Sequence[object], places: Mapping[int, int]) -> Assembly:
    """Return a function that rebuilds several values, by one `itemgetter` if it can."""
    found = [places.get(id(part)) for part in parts]
    chosen = [
        place
        for part, place in zip(parts, found, strict=True)
        if place is not None and not isinstance(part, tuple)
    ]
    if len(chosen) == len(parts) > 1:
        return itemgetter(*chosen)
    made = [assembly(part, places) for part in parts]
    return lambda values: [make(values) for make in made]
