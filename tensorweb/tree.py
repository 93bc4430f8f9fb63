"""Trees of values: flatten and unflatten nested tuples, lists, dicts and objects.

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
from tensorweb.tensor.base import TensorBase
from tensorweb.trees import (
    CONSTANTS,
    SLOTS,
    UNNAMED,
    attributes,
    endless,
    holds_leaves,
    is_module,
    is_opened,
    register,
)

__all__ = ["Structure", "flatten", "leaves", "map", "paths", "register", "unflatten"]


@dataclass(frozen=True, slots=True)
class Structure:
    """The structure of a tree without its leaves; equal for trees that match.

    Attributes:
        kind: the class of a container, None for a leaf.
        names: keys of a dict, attributes of an object, else empty.
        parts: the structures of its children.

    >>> tw.tree.flatten((1, [2, 3]))[1] == tw.tree.flatten((4, [5, 6]))[1]
    True
    """

    kind: type | None
    names: tuple[Any, ...] = ()
    parts: tuple[Structure, ...] = ()

    @property
    def count(self) -> int:
        """The count of leaves.

        >>> flatten([1, (2, 3)])[1].count
        3
        """
        return 1 if self.kind is None else sum(part.count for part in self.parts)

    @property
    def is_constant(self) -> bool:
        """Whether it is a leaf without derivative, such as a module's running mean."""
        return self == CONSTANT

    def slots(self) -> Iterator[Structure]:
        """Yield the structure of each leaf, from left to right.

        >>> _, structure = tw.tree.flatten((1, [2, 3]))
        >>> len(list(structure.slots()))
        3
        """
        if self.kind is None:
            yield self
        for part in self.parts:
            yield from part.slots()

    def __str__(self) -> str:
        """Return the containers with `*` for each leaf."""
        if self.kind is None:
            return "*"
        if self.kind is _Setting:
            return repr(self.names[0].value)
        if self.kind is _Shared:
            return f"*{self.names[0]}"
        texts = [str(part) for part in self.parts]
        if self.names:
            texts = [
                f"{name}: {text}" for name, text in zip(self.names, texts, strict=True)
            ]
        return f"{self.kind.__name__}({', '.join(texts)})"


LEAF = Structure(None)
CONSTANT = Structure(None, ("constant",))


class _Setting:
    """A module's attribute without tensors, which is part of the structure."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Setting):
            return False
        mine, its = self.value, other.value
        if mine is its:
            return True
        return type(mine) is type(its) and (mine == its) is True

    def __hash__(self) -> int:
        return hash(type(self.value))


class _Shared:
    """Kind of a repeated tensor in a module; its name is the index of the leaf."""


def is_setting(structure: Structure) -> bool:
    """Whether a structure is a module's attribute without tensors.

    >>> is_setting(LEAF)
    False
    """
    return structure.kind is _Setting


def is_shared(structure: Structure) -> bool:
    """Whether a structure is a tensor that occurred before in the same module.

    >>> is_shared(LEAF)
    False
    """
    return structure.kind is _Shared


def _opened(value: Any) -> tuple[tuple[Any, ...], list[Any]] | None:
    """Return names and parts of a container, None for a leaf."""
    if isinstance(value, tuple | list):
        return (), list(value)
    if isinstance(value, dict):
        return tuple(value), list(value.values())
    if is_opened(value):
        named = attributes(value)
        named.pop(SLOTS, None)
        return tuple(named), list(named.values())
    return None


def children(value: Any) -> list[Any] | None:
    """Return the children of a container, None for a leaf.

    >>> children({"a": 1, "b": 2}), children(3)
    ([1, 2], None)
    """
    opened = _opened(value)
    return None if opened is None else opened[1]


def flatten(tree: Any) -> tuple[list[Any], Structure]:
    """Return a tree's leaves from left to right, and its structure.

    Tuples (including named ones), lists, dicts, dataclasses and objects of registered
    classes are containers; any other value, including None, is a leaf. In a module,
    attributes with tensors are flattened, all other attributes are part of the
    structure, and a tensor that occurs twice is one leaf.

    Raises:
        DataError: the tree contains itself.

    >>> leaves, structure = tw.tree.flatten({"a": 1, "b": (2, 3)})
    >>> leaves
    [1, 2, 3]
    """
    walk = _Walk()
    try:
        structure = walk.structure(tree, LEAF)
    except RecursionError:
        raise endless(tree) from None
    return walk.found, structure


class _Walk:
    """One walk through a tree, from left to right."""

    def __init__(self) -> None:
        self.found: list[Any] = []
        self._seen: dict[int, int] | None = None
        self._first = 0

    def structure(self, value: Any, leaf: Structure) -> Structure:
        """Return a value's structure and collect its leaves, with structure `leaf`."""
        opened = _opened(value)
        if opened is None:
            return self._leaf(value, leaf)
        names, parts = opened
        if not is_module(value):
            result = tuple([self.structure(part, leaf) for part in parts])
            return Structure(type(value), names, result)
        is_outermost = self._seen is None
        if is_outermost:
            self._seen, self._first = {}, len(self.found)
        result = tuple(self._attributes(value, names, parts, leaf))
        if is_outermost:
            self._seen = None
        return Structure(type(value), names, result)

    def _attributes(
        self, module: Any, names: Sequence[str], parts: Sequence[Any], leaf: Structure
    ) -> Iterator[Structure]:
        slots = getattr(module, SLOTS, ())
        constants = getattr(module, CONSTANTS, ())
        for name, part in zip(names, parts, strict=True):
            if name in slots or holds_leaves(part):
                yield self.structure(part, CONSTANT if name in constants else leaf)
            else:
                yield Structure(_Setting, (_Setting(part),))

    def _leaf(self, value: Any, leaf: Structure) -> Structure:
        if self._seen is not None and (callable(value) or isinstance(value, str)):
            return Structure(_Setting, (_Setting(value),))
        if self._seen is not None and isinstance(value, TensorBase):
            number = len(self.found) - self._first
            known = self._seen.setdefault(id(value), number)
            if known != number:
                return Structure(_Shared, (known,))
        self.found.append(value)
        return leaf


def unflatten(structure: Structure, leaves: Sequence[Any]) -> Any:
    """Return the tree with other leaves.

    Raises:
        DataError: there are not as many leaves as the structure has slots.

    >>> leaves, structure = tw.tree.flatten({"a": 1, "b": (2, 3)})
    >>> tw.tree.unflatten(structure, [4, 5, 6])
    {'a': 4, 'b': (5, 6)}
    """
    if not isinstance(structure, Structure):
        raise DataError(
            f"unflatten: structure is of type {type(structure).__name__}; give the "
            "second result of tw.tree.flatten."
        )
    if len(leaves) != structure.count:
        raise DataError(
            f"unflatten: {len(leaves)} leaves for {structure.count} slots of "
            f"{structure}."
        )
    return _Building(leaves).tree(structure)


class _Building:
    """One tree in the making."""

    def __init__(self, leaves: Sequence[Any]) -> None:
        self._leaves = leaves
        self._next = 0
        self._first: int | None = None

    def tree(self, part: Structure) -> Any:
        """Return a part of the tree; takes its leaves."""
        if part.kind is None:
            self._next += 1
            return self._leaves[self._next - 1]
        if part.kind is _Setting:
            return part.names[0].value
        if part.kind is _Shared:
            return self._leaves[(self._first or 0) + part.names[0]]
        if issubclass(part.kind, tuple | list | dict):
            return self._container(part.kind, part)
        created = object.__new__(part.kind)
        is_outermost = self._first is None and is_module(created)
        if is_outermost:
            self._first = self._next
        for name, each in zip(part.names, part.parts, strict=True):
            object.__setattr__(created, name, self.tree(each))
        if is_outermost:
            self._first = None
        if is_module(created):
            _note_slots(created, part)
        return created

    def _container(self, kind: type, part: Structure) -> Any:
        parts = [self.tree(value) for value in part.parts]
        if issubclass(kind, tuple):
            return kind(*parts) if hasattr(kind, "_fields") else tuple(parts)
        if issubclass(kind, list):
            return parts
        return dict(zip(part.names, parts, strict=True))


def _note_slots(made: Any, structure: Structure) -> None:
    """Note which of a module's attributes hold leaves, where they are no tensors."""
    names = [
        name
        for name, part in zip(structure.names, structure.parts, strict=True)
        if part.kind is not _Setting
    ]
    if not all(holds_leaves(getattr(made, name)) for name in names):
        object.__setattr__(made, SLOTS, frozenset(names))


def leaves(tree: Any) -> list[Any]:
    """Return a tree's leaves from left to right.

    >>> leaves({"a": 1, "b": [2, None]})
    [1, 2, None]
    """
    return flatten(tree)[0]


def map(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Return a tree of the results of a function applied to corresponding leaves.

    Raises:
        DataError: another tree has another structure.

    >>> map(lambda a, b: a + b, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    result, structure = flatten(tree)
    rows = [result]
    for other in others:
        values, found_structure = flatten(other)
        if found_structure != structure:
            raise DataError(
                f"map: trees do not match, {structure} and {found_structure}."
            )
        rows.append(values)
    return unflatten(structure, [function(*row) for row in zip(*rows, strict=True)])


def paths(tree: Any) -> list[str]:
    """Return the path of each leaf: names and indices separated by dots.

    >>> paths({"layers": [{"w": 1}, {"w": 2}]})
    ['layers.0.w', 'layers.1.w']
    """

    def walk(part: Structure, before: str) -> Iterator[str]:
        if part.kind is None:
            yield before
            return
        if not part.parts:  # nothing below, or a setting
            return
        unnamed = getattr(part.kind, UNNAMED, None)
        names = part.names or range(len(part.parts))
        for name, each in zip(names, part.parts, strict=True):
            inner = f"{before}.{name}" if before else str(name)
            yield from walk(each, before if name == unnamed else inner)

    return list(walk(flatten(tree)[1], ""))
