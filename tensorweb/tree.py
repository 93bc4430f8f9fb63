"""Trees of values: nested tuples, lists, dicts and objects, opened and put together.

Parameters, gradients and the states of optimisers are such trees.

>>> leaves, structure = flatten({"w": [1, 2], "b": (3,)})
>>> leaves
[1, 2, 3]
>>> unflatten(structure, [10, 20, 30])
{'w': [10, 20], 'b': (30,)}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tensorweb.errors import DataError
from tensorweb.trees import attributes, is_opened, register

__all__ = ["Structure", "flatten", "leaves", "map", "paths", "register", "unflatten"]


@dataclass(frozen=True, slots=True)
class Structure:
    """What a tree is without its leaves; equal for trees that match.

    Attributes:
        kind: the class of a container, None for a leaf.
        names: keys of a dict, attributes of an object, else empty.
        parts: the structures of what it holds.
    """

    kind: type | None
    names: tuple[Any, ...] = ()
    parts: tuple[Structure, ...] = ()

    @property
    def count(self) -> int:
        """How many leaves such a tree has.

        >>> flatten([1, (2, 3)])[1].count
        3
        """
        return 1 if self.kind is None else sum(part.count for part in self.parts)

    def __str__(self) -> str:
        """Return the containers with `*` for each leaf."""
        if self.kind is None:
            return "*"
        texts = [str(part) for part in self.parts]
        if self.names:
            texts = [
                f"{name}: {text}" for name, text in zip(self.names, texts, strict=True)
            ]
        return f"{self.kind.__name__}({', '.join(texts)})"


LEAF = Structure(None)


def _opened(value: Any) -> tuple[tuple[Any, ...], list[Any]] | None:
    """Return names and parts of a container, None for a leaf."""
    if isinstance(value, tuple | list):
        return (), list(value)
    if isinstance(value, dict):
        return tuple(value), list(value.values())
    if is_opened(value):
        named = attributes(value)
        return tuple(named), list(named.values())
    return None


def children(value: Any) -> list[Any] | None:
    """Return what a container holds, None of a leaf.

    >>> children({"a": 1, "b": 2}), children(3)
    ([1, 2], None)
    """
    opened = _opened(value)
    return None if opened is None else opened[1]


def flatten(tree: Any) -> tuple[list[Any], Structure]:
    """Return a tree's leaves from left to right, and what it is without them.

    Tuples (named ones too), lists, dicts, dataclasses and objects of registered classes
    are opened; everything else, None as well, is a leaf.
    """
    found: list[Any] = []

    def walk(value: Any) -> Structure:
        opened = _opened(value)
        if opened is None:
            found.append(value)
            return LEAF
        names, parts = opened
        return Structure(type(value), names, tuple(walk(part) for part in parts))

    structure = walk(tree)
    return found, structure


def unflatten(structure: Structure, leaves: Sequence[Any]) -> Any:
    """Return the tree with other leaves.

    Raises:
        DataError: there are not as many leaves as the structure has places.
    """
    if len(leaves) != structure.count:
        raise DataError(
            f"unflatten: {len(leaves)} leaves for {structure.count} places of "
            f"{structure}."
        )
    rest = iter(leaves)

    def build(part: Structure) -> Any:
        if part.kind is None:
            return next(rest)
        parts = [build(each) for each in part.parts]
        if issubclass(part.kind, tuple):
            has_names = hasattr(part.kind, "_fields")
            return part.kind(*parts) if has_names else tuple(parts)
        if issubclass(part.kind, list):
            return parts
        if issubclass(part.kind, dict):
            return dict(zip(part.names, parts, strict=True))
        made = object.__new__(part.kind)
        for name, each in zip(part.names, parts, strict=True):
            object.__setattr__(made, name, each)
        return made

    return build(structure)


def leaves(tree: Any) -> list[Any]:
    """Return a tree's leaves from left to right.

    >>> leaves({"a": 1, "b": [2, None]})
    [1, 2, None]
    """
    return flatten(tree)[0]


def map(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Return the tree of what a function gives for each leaf, or for leaves together.

    Raises:
        DataError: another tree has another structure.

    >>> map(lambda a, b: a + b, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    found, structure = flatten(tree)
    rows = [found]
    for other in others:
        values, found_structure = flatten(other)
        if found_structure != structure:
            raise DataError(
                f"map: trees do not match, {structure} and {found_structure}."
            )
        rows.append(values)
    return unflatten(structure, [function(*row) for row in zip(*rows, strict=True)])


def paths(tree: Any) -> list[str]:
    """Return where each leaf is, as names and numbers with dots between.

    >>> paths({"layers": [{"w": 1}, {"w": 2}]})
    ['layers.0.w', 'layers.1.w']
    """

    def walk(part: Structure, before: str) -> Iterator[str]:
        if part.kind is None:
            yield before
            return
        names = part.names or range(len(part.parts))
        for name, each in zip(names, part.parts, strict=True):
            yield from walk(each, f"{before}.{name}" if before else str(name))

    return list(walk(flatten(tree)[1], ""))
