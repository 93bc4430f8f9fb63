"""Resolves dotted paths to values, for completion in the editor.

`()` after a name is the result of a call and `[]` an element, both according to the
library's annotations. No code of a program runs for that.
"""

from __future__ import annotations

import builtins
import inspect
import re
import sys
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import FunctionType, MemberDescriptorType, MethodType, ModuleType, UnionType

import tensorweb as tw
from tensorweb.transforms.jit import Jitted

MISSING = object()
OURS = "tensorweb"
STEP = re.compile(r"(\w+)((?:\(\)|\[\])*)")
PLACES = (MemberDescriptorType, type(vars(inspect.ArgInfo)["args"]))
"""Descriptors of CPython's slots and named tuple fields; reading one runs no code."""


@dataclass(frozen=True)
class Some:
    """An unknown value of a known type."""

    hint: object

    @property
    def own(self) -> type:
        """Return its class."""
        origin = typing.get_origin(self.hint) or self.hint
        return origin if isinstance(origin, type) else object


def find(path: str, names: Mapping[str, object]) -> object:
    """Return the value of a path, `MISSING` if it cannot be resolved.

    >>> find("tw.zeros().sum", {"tw": tw}) is tw.Tensor.sum
    True
    """
    first, *others = path.split(".")
    return _follow([first, *others], names if _name(first) in names else vars(builtins))


def find_imported(path: str) -> object:
    """Return the value of a path whose first part is an imported module.

    >>> find_imported("tensorweb.pi")
    3.141592653589793
    """
    return _follow(path.split("."), sys.modules)


def attribute(value: object, name: str) -> object:
    """Return an attribute, looked up statically; for a property `Some` of its type."""
    if type(value) is property:
        value = _some(returned(value))
    if type(value) is Some:
        value = value.own
    if value is MISSING:
        return MISSING
    if type(value) is ModuleType and name in later_names(value):
        return import_module(f"{vars(value)['__name__']}.{name}")
    found = inspect.getattr_static(value, name, MISSING)
    if type(found) not in PLACES:
        return found
    if isinstance(value, type):
        return _some(_hints(value).get(name, MISSING))
    try:
        return typing.cast("MemberDescriptorType", found).__get__(value, type(value))
    except AttributeError:
        return MISSING


def function_of(value: object) -> object:
    """Return the function inside a wrapper of the library, otherwise the value."""
    own = type(value)
    ufuncs = sys.modules.get("tensorweb.numpy.ufuncs")
    if own is Jitted or (ufuncs and own is ufuncs.ufunc):
        return vars(value).get("__wrapped__", value)
    return value


def later_names(module: ModuleType) -> frozenset[str]:
    """Return the names of a library module's lazily imported modules."""
    inside = vars(module)
    if not _is_ours(inside):
        return frozenset()
    return frozenset(name for name in inside.get("__all__", ()) if name not in inside)


def returned(value: object) -> object:
    """Return the annotated return type of a property or a function of the library."""
    value = function_of(value)
    if type(value) is property:
        return _hints(value.fget).get("return", MISSING)
    if type(value) in (staticmethod, classmethod, MethodType):
        value = typing.cast("MethodType", value).__func__
    if type(value) is not FunctionType or not _is_ours(value.__globals__):
        return MISSING
    return _hints(value).get("return", MISSING)


def _follow(parts: list[str], names: Mapping[str, object]) -> object:
    value: object = MISSING
    for index, part in enumerate(parts):
        step = STEP.fullmatch(part)
        if not step:
            return MISSING
        name, behind = step.groups()
        value = attribute(value, name) if index else names.get(name, MISSING)
        for sign in re.findall(r"\(\)|\[\]", behind):
            value = _called(value) if sign == "()" else _taken(value)
    return value


def _name(part: str) -> str:
    step = STEP.fullmatch(part)
    return step[1] if step else ""


def _called(value: object) -> object:
    """Return the result of a call: `Some` of a class or of the annotated type."""
    if value is not MISSING and issubclass(type(value), type):
        return Some(value)
    return _some(returned(value))


def _taken(value: object) -> object:
    """Return the result of indexing: of a tensor a tensor, of a tuple a member."""
    if type(value) is property:
        value = _some(returned(value))
    own = value.own if type(value) is Some else type(value)
    if issubclass(own, tw.Tensor):
        return Some(own)
    if issubclass(own, tuple) and "_fields" in vars(own):
        return _some(next(iter(_hints(own).values()), MISSING))
    inner = typing.get_args(value.hint) if type(value) is Some else ()
    return _some(inner[0]) if inner and issubclass(own, (tuple, list)) else MISSING


def _some(hint: object) -> object:
    """Return `Some` of an annotated type; `tw.Tensor` if a union contains it."""
    if hint is MISSING or hint is None or hint is typing.Any:
        return MISSING
    if typing.get_origin(hint) in (typing.Union, UnionType):
        parts = [part for part in typing.get_args(hint) if part is not type(None)]
        return _some(tw.Tensor if tw.Tensor in parts else parts[0])
    return Some(hint)


def _hints(value: object) -> dict[str, object]:
    try:
        module = getattr(value, "__module__", "")
        # Methods of tensors are written where `Tensor` is not there yet.
        names = {"Tensor": tw.Tensor} if module.startswith("tensorweb.tensor.") else {}
        return typing.get_type_hints(value, localns=names)
    except Exception:  # A program's annotation can name and raise anything.
        return {}


def _is_ours(namespace: Mapping[str, object]) -> bool:
    """Whether a namespace is that of a library module; `__name__` may be forged."""
    name = namespace.get("__name__")
    if type(name) is not str or name.partition(".")[0] != OURS:
        return False
    module = sys.modules.get(name)
    return module is not None and vars(module) is namespace
