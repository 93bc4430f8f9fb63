"""The structure of a call's arguments and results: its tensors, lists and dicts.

`jit` needs three things of it: a key that equal calls share, the same structure around
other tensors, and which of its parts a function has changed.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from tensorweb.errors import TraceError
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.hostarrays import is_numpy_scalar
from tensorweb.tensor.in_place import is_number_of_its_own

Holder = TensorBase | list[Any] | dict[Any, Any]
"""What a function can change: a tensor, a list or a dict."""

EXACT_TYPES = frozenset({int, bool, str, bytes, type(None)})
"""Types whose equal values mean the same to every function."""


def flatten(value: object, holders: list[Holder], seen: dict[int, int]) -> Hashable:
    """Return a value's structure; collect its tensors, lists and dicts in order.

    Tuples, lists and dicts are opened. One object that occurs twice is told from two
    equal ones. Everything else must be hashable and counts as part of the structure.

    Raises:
        TraceError: something is neither a tensor nor hashable.
    """
    if isinstance(value, tuple):
        parts = tuple([flatten(part, holders, seen) for part in value])
        return (type(value), parts)
    if not isinstance(value, TensorBase | list | dict):
        return _plain(value)
    known = seen.get(id(value))
    if known is not None:
        return ("again", known)
    seen[id(value)] = len(holders)
    holders.append(value)
    if isinstance(value, TensorBase):
        node = value.node
        is_number = not node.shape and is_number_of_its_own(node)
        return ("tensor", node.shape, node.dtype.name, node.device, is_number)
    if isinstance(value, list):
        return ("list", tuple([flatten(part, holders, seen) for part in value]))
    items = [flatten(part, holders, seen) for part in value.values()]
    return ("dict", tuple([_plain(key) for key in value]), tuple(items))


def _plain(value: object) -> Hashable:
    """Return what stands for a value that is no tensor, list, dict or tuple.

    Numbers that are equal and mean something else (0.0 and -0.0) differ, and NaN,
    which equals nothing, is like itself.
    """
    kind = type(value)
    if kind in EXACT_TYPES:
        return (kind, value)
    if isinstance(value, float | complex) or is_numpy_scalar(value):
        is_usual = value == value and value != 0
        return (kind, value if is_usual else repr(value))
    try:
        hash(value)
    except TypeError:
        raise TraceError(
            f"jit: an argument or result of type {kind.__name__} is neither a tensor "
            "nor hashable; pass tensors, numbers, text, or tuples, lists and dicts of "
            "them."
        ) from None
    return (kind, value)


def rebuild(value: object, others: Mapping[int, Holder]) -> Any:
    """Return a value with other objects in the places of some, told by their `id`.

    Lists and dicts that are not among them are made anew.
    """
    if isinstance(value, TensorBase | list | dict):
        other = others.get(id(value))
        if other is not None:
            return other
    if isinstance(value, tuple):
        parts = [rebuild(part, others) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, list):
        return [rebuild(part, others) for part in value]
    if isinstance(value, dict):
        return {key: rebuild(part, others) for key, part in value.items()}
    return value


def fill(target: Holder, content: Holder, others: Mapping[int, Holder]) -> None:
    """Give a list or dict the content of another, with other objects in it."""
    if isinstance(target, list) and isinstance(content, list):
        target[:] = [rebuild(part, others) for part in content]
    elif isinstance(target, dict) and isinstance(content, dict):
        filled = {key: rebuild(part, others) for key, part in content.items()}
        target.clear()
        target.update(filled)


def is_changed(container: Holder, before: Holder) -> bool:
    """Whether a list or dict holds other objects than its copy from before."""
    if isinstance(container, list) and isinstance(before, list):
        return len(container) != len(before) or any(
            a is not b for a, b in zip(container, before, strict=True)
        )
    if isinstance(container, dict) and isinstance(before, dict):
        return list(container) != list(before) or any(
            container[key] is not before[key] for key in before
        )
    return False
