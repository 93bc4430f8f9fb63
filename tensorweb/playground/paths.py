"""Follows dotted paths to what they name, for the help that an editor gives.

`()` behind a name is what a call of it returns and `[]` what an index takes out of it,
as the annotations of the library say. No code of a program runs for that.
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
"""How CPython keeps slots and the fields of named tuples: reading one runs nothing."""


@dataclass(frozen=True)
class Some:
    """A value that is not there yet: its type alone is known."""

    hint: object

    @property
    def own(self) -> type:
        """Return its class."""
        origin = typing.get_origin(self.hint) or self.hint
        return origin if isinstance(origin, type) else object


def find(path: str, names: Mapping[str, object]) -> object:
    """Return what a path names, `MISSING` for nothing that can be seen.

    >>> find("tw.zeros().sum", {"tw": tw}) is tw.Tensor.sum
    True
    """
    first, *others = path.split(".")
    return _follow([first, *others], names if _name(first) in names else vars(builtins))


def find_imported(path: str) -> object:
    """Return what a path names whose first part is a module that was imported.

    >>> find_imported("tensorweb.pi")
    3.141592653589793
    """
    return _follow(path.split("."), sys.modules)


def attribute(value: object, name: str) -> object:
    """Look a name up; a property is some value of the type that it says to return."""
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
    """Return the function behind an object of the library's, else the value."""
    own = type(value)
    universal = sys.modules.get("tensorweb.numpy.universal")
    if own is Jitted or (universal and own is universal.ufunc):
        return vars(value).get("__wrapped__", value)
    return value


def later_names(module: ModuleType) -> frozenset[str]:
    """Return which names of a module of ours are modules, imported when first named."""
    inside = vars(module)
    if not _is_ours(inside):
        return frozenset()
    return frozenset(name for name in inside.get("__all__", ()) if name not in inside)


def returned(value: object) -> object:
    """Return the type that a property or a function of ours says to return."""
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
    for place, part in enumerate(parts):
        step = STEP.fullmatch(part)
        if not step:
            return MISSING
        name, behind = step.groups()
        value = attribute(value, name) if place else names.get(name, MISSING)
        for sign in re.findall(r"\(\)|\[\]", behind):
            value = _called(value) if sign == "()" else _taken(value)
    return value


def _name(part: str) -> str:
    step = STEP.fullmatch(part)
    return step[1] if step else ""


def _called(value: object) -> object:
    """Return what calling gives: some value of a class, or what the function says."""
    if value is not MISSING and issubclass(type(value), type):
        return Some(value)
    return _some(returned(value))


def _taken(value: object) -> object:
    """Return what an index takes out: of a tensor a tensor, of a tuple a member."""
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
    """Return some value of an annotated type; where it can be a tensor, a tensor."""
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
    """Whether this is the inside of a module of the library; programs can claim it."""
    name = namespace.get("__name__")
    if type(name) is not str or name.partition(".")[0] != OURS:
        return False
    module = sys.modules.get(name)
    return module is not None and vars(module) is namespace
