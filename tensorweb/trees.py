"""Trees of tensors: tuples, lists, dicts, dataclasses, and what is registered.

`jit` needs three things of a call's arguments and results: a key that equal calls
share, the same tree around other tensors, and which of its parts a function has
changed. What cannot be opened and may hold tensors or change is refused, never frozen.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping
from functools import partial
from types import (
    BuiltinFunctionType,
    EllipsisType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any, TypeAlias, TypeVar

from tensorweb.dtypes import DType
from tensorweb.errors import TraceError
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.hostarrays import is_numpy_scalar
from tensorweb.tensor.in_place import is_number_of_its_own

Holder: TypeAlias = Any
"""What a function can change: a tensor, a list, a dict or an opened object."""

EXACT_TYPES = frozenset({int, bool, str, bytes, type(None)})
"""Types whose equal values mean the same to every function."""

NEVER_CHANGING = (
    type,
    FunctionType,
    BuiltinFunctionType,
    ModuleType,
    EllipsisType,
    DType,
)
"""Types whose values are themselves, and stay what they are."""

K = TypeVar("K", bound=type)

_registered: set[type] = set()


def register(kind: K) -> K:
    """Open the objects of a class by their attributes, as dataclasses are; a decorator.

    >>> @register
    ... class Layer:
    ...     def __init__(self, weights):
    ...         self.weights = weights
    >>> is_opened(Layer(1))
    True
    """
    _registered.add(kind)
    return kind


def is_opened(value: object) -> bool:
    """Whether a value is an object whose attributes are parts of the tree."""
    kind = type(value)
    if kind in _registered:
        return True
    return (
        dataclasses.is_dataclass(kind)
        and not isinstance(value, NEVER_CHANGING)
        and not isinstance(value, TensorBase)
    )


def attributes(value: object) -> dict[str, Any]:
    """Return the attributes of an opened object that are set, fields first."""
    names: list[str] = []
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    found = {name: getattr(value, name) for name in names if hasattr(value, name)}
    return {**found, **getattr(value, "__dict__", {})}


def parts_of(holder: Holder) -> list[Any]:
    """Return what a list, a dict or an opened object holds; nothing of a tensor."""
    if isinstance(holder, TensorBase):
        return []
    if isinstance(holder, list):
        return list(holder)
    return list((holder if isinstance(holder, dict) else attributes(holder)).values())


def empty_like(holder: Holder) -> Holder:
    """Return another container of the same kind that holds nothing yet."""
    if isinstance(holder, list):
        return []
    if isinstance(holder, dict):
        return {}
    return object.__new__(type(holder))


def copied(holder: Holder) -> Holder:
    """Return a container with the same content; a tensor as it is."""
    if isinstance(holder, TensorBase):
        return holder
    copy = empty_like(holder)
    fill(copy, holder, {})
    return copy


def flatten(value: object, holders: list[Holder], seen: dict[int, int]) -> Hashable:
    """Return a value's structure; collect its tensors and containers in order.

    One object that occurs twice is told from two equal ones. What is not opened counts
    as part of the structure.

    Raises:
        TraceError: something can neither be opened nor be part of a structure.
    """
    if isinstance(value, tuple):
        parts = tuple([flatten(part, holders, seen) for part in value])
        return (type(value), parts)
    if not isinstance(value, TensorBase | list | dict):
        if isinstance(value, MethodType):
            return ("method", value.__func__, flatten(value.__self__, holders, seen))
        if isinstance(value, partial):
            given = (value.func, value.args, value.keywords)
            return ("partial", flatten(given, holders, seen))
        if type(value) in EXACT_TYPES or not is_opened(value):
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
    named = value if isinstance(value, dict) else attributes(value)
    items = tuple([flatten(part, holders, seen) for part in named.values()])
    return (type(value), tuple([_plain(key) for key in named]), items)


def _plain(value: object) -> Hashable:
    """Return what stands for a value that holds no tensors.

    Numbers that are equal and mean something else (0.0 and -0.0) differ, and NaN,
    which equals nothing, is like itself.
    """
    kind = type(value)
    if kind in EXACT_TYPES:
        return (kind, value)
    if isinstance(value, float | complex) or is_numpy_scalar(value):
        is_usual = value == value and value != 0
        return (kind, value if is_usual else repr(value))
    if not _stays(value):
        raise TraceError(
            f"jit: an argument or result of type {kind.__name__} may hold tensors or "
            "change, which a recording would not notice; pass tensors, numbers, text, "
            "or tuples, lists, dicts and dataclasses of them."
        )
    return (kind, value)


def _stays(value: object) -> bool:
    """Whether a value stands for itself in a recording: it can be no other one later.

    Objects whose class says what equal ones are do, if they hold no tensors, and
    functions do; other objects are told by their identity and may change.
    """
    kind = type(value)
    if isinstance(value, BuiltinFunctionType):
        return value.__self__ is None or isinstance(value.__self__, ModuleType)
    if isinstance(value, NEVER_CHANGING) or kind is object:
        return True
    if isinstance(value, frozenset):
        return all(_stays(part) for part in value)
    is_told_by_identity = kind.__hash__ is object.__hash__
    if is_told_by_identity and not (hasattr(value, "__wrapped__") or _is_ufunc(value)):
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return not any(
        isinstance(part, TensorBase) for part in getattr(value, "__dict__", {}).values()
    )


def _is_ufunc(value: object) -> bool:
    return type(value).__name__ == "ufunc" and type(value).__module__ == "numpy"


def rebuild(value: object, others: Mapping[int, Holder]) -> Any:
    """Return a value with other objects instead of some, told by their `id`.

    Containers that are not among them are made anew.
    """
    if isinstance(value, TensorBase):
        return others.get(id(value), value)
    if isinstance(value, tuple):
        parts = [rebuild(part, others) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, MethodType):
        return MethodType(value.__func__, rebuild(value.__self__, others))
    if isinstance(value, partial):
        keywords = rebuild(value.keywords, others)
        return partial(value.func, *rebuild(value.args, others), **keywords)
    if type(value) in EXACT_TYPES:
        return value
    if not isinstance(value, list | dict) and not is_opened(value):
        return value
    if id(value) in others:
        return others[id(value)]
    made = empty_like(value)
    fill(made, value, others)
    return made


def fill(target: Holder, content: Holder, others: Mapping[int, Holder]) -> None:
    """Give a container the content of another, with other objects in it."""
    if isinstance(target, TensorBase):
        return
    if isinstance(target, list):
        target[:] = [rebuild(part, others) for part in content]
    elif isinstance(target, dict):
        filled = {key: rebuild(part, others) for key, part in content.items()}
        target.clear()
        target.update(filled)
    else:
        wanted = attributes(content)
        for name in attributes(target).keys() - wanted.keys():
            object.__delattr__(target, name)
        for name, part in wanted.items():
            object.__setattr__(target, name, rebuild(part, others))


def is_changed(container: Holder, before: Holder) -> bool:
    """Whether a container holds other objects than its copy from before."""
    if isinstance(container, TensorBase):
        return False
    now, then = parts_of(container), parts_of(before)
    if len(now) != len(then) or any(a is not b for a, b in zip(now, then, strict=True)):
        return True
    if isinstance(container, list):
        return False
    if isinstance(container, dict):
        return list(container) != list(before)
    return list(attributes(container)) != list(attributes(before))
