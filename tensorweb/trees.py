"""Trees of tensors: tuples, lists, dicts, dataclasses and registered classes.

`jit` derives three things from a call's arguments and results: a cache key, the same
tree with other tensors, and the containers that a function has changed. A value that
may hold tensors or change, and is no known container, raises `TraceError`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from operator import is_, itemgetter
from types import (
    BuiltinFunctionType,
    EllipsisType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary, WeakSet

from tensorweb.dtypes import DType
from tensorweb.errors import DataError, TraceError
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.hostarrays import is_numpy_scalar
from tensorweb.tensor.operators import is_number_of_its_own

Holder: TypeAlias = Any
"""A mutable value: a tensor, a list, a dict or an object flattened by attributes."""

Content: TypeAlias = "list[Any] | dict[Any, Any] | None"
"""The content of a container; None for a tensor."""

Values: TypeAlias = "Sequence[Any] | Mapping[Any, Any]"
"""Tensors and containers by key."""

Builder: TypeAlias = Callable[[Any], Any]
"""A function from `Values` to a tree."""

Filler: TypeAlias = Callable[[Any, Any], None]
"""A function that fills a container, its first argument, from `Values`."""

IS_HEAP_TYPE = 1 << 9
"""CPython flag of classes created at run time, not in C."""

EXACT_TYPES = frozenset({int, bool, str, bytes, type(None)})
"""Types whose equal values are interchangeable for every function."""

NEVER_CHANGING = (
    type,
    FunctionType,
    BuiltinFunctionType,
    ModuleType,
    EllipsisType,
    DType,
)
"""Types of immutable values that are compared by identity."""

K = TypeVar("K", bound=type)

# Weak, because a class retains its program's globals: networks, compiled functions.
_registered: WeakSet[type] = WeakSet()
_modules: WeakSet[type] = WeakSet()
_with_methods: WeakSet[type] = WeakSet()


def register(kind: K) -> K:
    """Flatten the objects of a class by their attributes, as dataclasses; a decorator.

    >>> @register
    ... class Layer:
    ...     def __init__(self, weights):
    ...         self.weights = weights
    >>> is_opened(Layer(1))
    True
    """
    _registered.add(kind)
    return kind


def register_module(kind: K) -> K:
    """Flatten the objects of a class by those attributes that hold tensors.

    Other attributes are part of the structure. Attributes named in `CONSTANTS` are
    leaves without a derivative. A tensor that occurs twice is one leaf.
    """
    _modules.add(kind)
    return register(kind)


def open_methods_of(kind: type) -> None:
    """Flatten the objects of a class with jitted methods, and of its subclasses.

    Classes that define `__hash__` are excluded: their objects are part of the cache key
    of a compiled function, as numbers are.
    """
    _with_methods.add(kind)


SLOTS = "_slots"
"""The attribute of an unflattened module that names its attributes with leaves, since
the leaves may be no tensors."""

CONSTANTS = "_constants"
"""The attribute of a module's class or object that names its constants."""


UNNAMED = "_unnamed"
"""The attribute of a module's class with the attribute name that paths omit."""


def is_module(value: object) -> bool:
    """Whether a value's class was registered by `register_module`."""
    return type(value) in _modules


def holds_leaves(value: object) -> bool:
    """Whether a value contains tensors or modules."""
    if isinstance(value, TensorBase):
        return True
    if isinstance(value, tuple | list):
        return any(holds_leaves(part) for part in value)
    if isinstance(value, dict):
        return any(holds_leaves(part) for part in value.values())
    if is_module(value):
        return True
    return is_opened(value) and any(
        holds_leaves(part) for part in attributes(value).values()
    )


def endless(value: object) -> DataError:
    """Return the error for a tree that contains itself or nests too deep."""
    return DataError(
        f"{type(value).__name__}: this tree contains itself, or nests deeper than "
        "Python follows. What leads back up, such as a module's `self.parent`, belongs "
        "into a weakref.ref, or out of the tree."
    )


def is_opened(value: object) -> bool:
    """Whether a value is an object that is flattened by its attributes."""
    kind = type(value)
    if kind in _registered:
        return True
    return (
        _fields_of(kind) is not None
        and not isinstance(value, NEVER_CHANGING)
        and not isinstance(value, TensorBase)
    )


def attributes(value: object) -> dict[str, Any]:
    """Return the set attributes of an object, fields first."""
    names = _fields_of(type(value))
    if not names:
        return dict(getattr(value, "__dict__", ()))
    results = {name: getattr(value, name) for name in names if hasattr(value, name)}
    others = getattr(value, "__dict__", None)
    return {**results, **others} if others else results


def _attributes_now(value: object) -> dict[str, Any]:
    """Return the attributes of an object, which callers must not change."""
    if _fields_of(type(value)):
        return attributes(value)
    return getattr(value, "__dict__", {})


def _fields_of(kind: type) -> tuple[str, ...] | None:
    """Return the fields of a dataclass or the slots of a class with jitted methods.

    None for other classes.
    """
    result = _fields.get(kind, ())
    if result == () and kind not in _fields:
        result = None
        if dataclasses.is_dataclass(kind):
            result = tuple([field.name for field in dataclasses.fields(kind)])
        elif not _with_methods.isdisjoint(kind.__mro__) and _is_plain(kind):
            result = _slots_of(kind)
        _fields[kind] = result
    return result


def _is_plain(kind: type) -> bool:
    """Whether a class has no base in C and compares objects by identity."""
    is_python = all(one.__flags__ & IS_HEAP_TYPE for one in kind.__mro__[:-1])
    hashing: object = kind.__hash__
    return is_python and (hashing is object.__hash__ or hashing is None)


def _slots_of(kind: type) -> tuple[str, ...]:
    """Return the names of a class's slots, including inherited ones."""
    return tuple(
        [
            name
            for one in kind.__mro__
            for name, value in vars(one).items()
            if isinstance(value, MemberDescriptorType)
        ]
    )


_fields: WeakKeyDictionary[type, tuple[str, ...] | None] = WeakKeyDictionary()
"""Cached results of `_fields_of`."""


def parts_of(holder: Holder) -> list[Any]:
    """Return the children of a list, dict or object; none for a tensor."""
    if isinstance(holder, TensorBase):
        return []
    if isinstance(holder, list):
        return list(holder)
    return list((holder if isinstance(holder, dict) else attributes(holder)).values())


def empty_like(holder: Holder) -> Holder:
    """Return an empty container of the same class."""
    if isinstance(holder, list):
        return []
    if isinstance(holder, dict):
        return {}
    return object.__new__(type(holder))


def content_of(holder: Holder) -> Content:
    """Return a copy of a container's content as a list or dict, None for a tensor."""
    if isinstance(holder, TensorBase):
        return None
    if isinstance(holder, list):
        return list(holder)
    return dict(holder) if isinstance(holder, dict) else attributes(holder)


def is_changed(holder: Holder, before: Content) -> bool:
    """Whether a container's objects or their order differ from `before`."""
    if before is None or isinstance(holder, TensorBase):
        return False
    if isinstance(before, list):
        return len(holder) != len(before) or not all(map(is_, holder, before))
    now = holder if isinstance(holder, dict) else _attributes_now(holder)
    if not (all(map(is_, now, before)) or list(now) == list(before)):
        return True
    is_same = len(now) == len(before) and all(map(is_, now.values(), before.values()))
    return not is_same


def flatten(value: object, holders: list[Holder], seen: dict[int, int]) -> Hashable:
    """Return a value's structure; collect its tensors and containers in order.

    An object that occurs twice is distinguished from two equal objects. A value that is
    no container is part of the structure.

    Raises:
        TraceError: a value is no container and cannot be part of a structure.
    """
    known = seen.get(id(value))
    if known is not None:
        return "again", known
    if isinstance(value, TensorBase):
        seen[id(value)] = len(holders)
        holders.append(value)
        return tensor_key(value)
    kind = type(value)
    if kind in EXACT_TYPES:
        return kind, value
    if not isinstance(value, list | dict):
        if isinstance(value, tuple):
            return kind, tuple([flatten(part, holders, seen) for part in value])
        if isinstance(value, MethodType):
            return "method", value.__func__, flatten(value.__self__, holders, seen)
        if isinstance(value, partial):
            arguments = (value.func, value.args, value.keywords)
            return "partial", flatten(arguments, holders, seen)
        if not is_opened(value):
            return _plain(value)
    seen[id(value)] = len(holders)
    holders.append(value)
    if isinstance(value, list):
        return "list", tuple([flatten(part, holders, seen) for part in value])
    named = value if isinstance(value, dict) else attributes(value)
    items = tuple([flatten(part, holders, seen) for part in named.values()])
    if isinstance(value, dict):
        return kind, tuple([_plain(key) for key in named]), items
    return kind, tuple(named), items


def tensor_key(tensor: TensorBase) -> Hashable:
    """Return a tensor's part of the cache key of a compiled function."""
    node = tensor.node
    is_number = not node.shape and is_number_of_its_own(node)
    return "tensor", node.shape, node.dtype.name, node.device, is_number


def constant_key(value: object) -> Hashable:
    """Return a key of a value that is not searched for tensors.

    The keys of 0.0 and -0.0 differ, and the keys of two NaN are equal.
    """
    kind = type(value)
    if isinstance(value, tuple):
        return (kind, tuple([constant_key(part) for part in value]))
    if isinstance(value, float | complex) or is_numpy_scalar(value):
        is_usual = value == value and value != 0
        return (kind, value if is_usual else repr(value))
    return (kind, value)


def _plain(value: object) -> Hashable:
    """Return a hashable key of a value that holds no tensors."""
    kind = type(value)
    if kind not in EXACT_TYPES and not is_numpy_scalar(value) and not _stays(value):
        is_array = hasattr(value, "__array__")
        advice = (
            "make a tensor of it with tw.asarray."
            if is_array
            else "pass tensors, numbers, text, or tuples, lists, dicts and dataclasses "
            "of them, or decorate its class with tw.tree.register."
        )
        raise (ArrayFoundError if is_array else TraceError)(
            f"jit: an argument or result of type {kind.__name__} may hold tensors or "
            f"change, which a recording would not notice; {advice}"
        )
    return constant_key(value)


class ArrayFoundError(TraceError):
    """A tree holds an array of another library, such as NumPy."""


def map_arrays(value: object, function: Callable[[object], object]) -> Any:
    """Return a tree with another value for each array of another library.

    Tuples, lists and dicts that hold arrays are copied; objects are not searched.
    """
    if isinstance(value, tuple | list):
        parts = [map_arrays(part, function) for part in value]
        if all(map(is_, parts, value)):
            return value
        kind = type(value)
        return kind(*parts) if hasattr(value, "_fields") else kind(parts)
    if isinstance(value, dict):
        items = {key: map_arrays(part, function) for key, part in value.items()}
        return value if all(map(is_, items.values(), value.values())) else items
    if isinstance(value, TensorBase | type) or is_numpy_scalar(value):
        return value
    return function(value) if hasattr(value, "__array__") else value


def _stays(value: object) -> bool:
    """Whether a value is immutable, so that it can be part of a cache key.

    Functions are, and objects of a class with `__hash__` if they hold no tensors. Other
    objects hash by identity and may change.
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
    return not any(map(holds_leaves, getattr(value, "__dict__", {}).values()))


def _is_ufunc(value: object) -> bool:
    return type(value).__name__ == "ufunc" and type(value).__module__ == "numpy"


def rebuild(value: object, others: Mapping[int, Holder]) -> Any:
    """Return a value with the objects in `others`, by `id`, replaced.

    Other containers are copied.
    """
    return builder(value, {key: key for key in others})(others)


def fill(target: Holder, content: Holder, others: Mapping[int, Holder]) -> None:
    """Fill a container with another's content, replacing the objects in `others`."""
    filler(content, {key: key for key in others})(target, others)


def builder(value: object, keys: Mapping[int, Any]) -> Builder:
    """Return a function from tensors and containers by key to a value with these.

    Args:
        value: a tree, which must not change afterwards.
        keys: by the `id` of a tensor or container in `value`, its key.
    """
    key = keys.get(id(value))
    if isinstance(value, TensorBase):
        return (lambda values: value) if key is None else itemgetter(key)
    kind = type(value)
    if isinstance(value, tuple):
        parts = _parts_builder(value, keys)
        if hasattr(value, "_fields"):
            return lambda values: kind(*parts(values))
        return lambda values: tuple(parts(values))
    if isinstance(value, MethodType):
        owner, function = builder(value.__self__, keys), value.__func__
        return lambda values: MethodType(function, owner(values))
    if isinstance(value, partial):
        args, keywords = builder(value.args, keys), builder(value.keywords, keys)
        function = value.func
        return lambda values: partial(function, *args(values), **keywords(values))
    is_container = isinstance(value, list | dict)
    if kind in EXACT_TYPES or not (is_container or is_opened(value)):
        return lambda values: value
    if key is not None:
        return itemgetter(key)
    if isinstance(value, list):
        parts = _parts_builder(value, keys)
        return lambda values: list(parts(values))
    if isinstance(value, dict):
        names, parts = list(value), _parts_builder(list(value.values()), keys)
        return lambda values: dict(zip(names, parts(values), strict=True))
    fill_object = filler(value, keys)

    def build_object(values: Values) -> Any:
        created = empty_like(value)
        fill_object(created, values)
        return created

    return build_object


def filler(content: Holder, keys: Mapping[int, Any]) -> Filler:
    """Return a function that fills a container with `content`; see `builder`."""
    if isinstance(content, TensorBase):
        return lambda target, values: None
    if isinstance(content, list):
        elements = _parts_builder(content, keys)

        def fill_list(target: Any, values: Values) -> None:
            target[:] = elements(values)

        return fill_list
    named = content if isinstance(content, dict) else attributes(content)
    names, parts = list(named), _parts_builder(list(named.values()), keys)
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


def _parts_builder(parts: Sequence[object], keys: Mapping[int, Any]) -> Builder:
    """Return a function that builds several values, with one `itemgetter` if it can."""
    known = [keys.get(id(part)) for part in parts if not isinstance(part, tuple)]
    if len(known) == len(parts) > 1 and None not in known:
        return itemgetter(*known)
    builders = [builder(part, keys) for part in parts]
    return lambda values: [build(values) for build in builders]
