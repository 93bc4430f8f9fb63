"""How trees are put together: worked out once for a recording, followed at every call.

`tensorweb.trees.rebuild` looks at each part of a tree; what a recorded function returns
is always the same tree around other tensors.
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
"""A call's tensors and containers, by their places."""

Assembly: TypeAlias = Callable[[Values], Any]


def assembly(value: object, places: Mapping[int, int]) -> Assembly:
    """Return how to make a value with other objects in it, told by `id`.

    It does what `tensorweb.trees.rebuild` does. The value must stay what it is.
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
    """Return how to give a container the content of another one, as `trees.fill` does.

    The other one must stay what it is.
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
    """Return how to make a tuple or a named one."""
    parts = _parts(value, places)
    if not hasattr(value, "_fields"):
        return lambda values: tuple(parts(values))
    kind = type(value)
    return lambda values: kind(*parts(values))


def _container(value: Holder, places: Mapping[int, int]) -> Assembly:
    """Return how to make a list, a dict or an opened object anew."""
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
    """Return how to make several values, in one step where all have places."""
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
