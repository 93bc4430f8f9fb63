"""What an editor says about a name: its members, its signature, its documentation.

No code of a program runs here: values are looked at, never asked.
"""

from __future__ import annotations

import builtins
import inspect
import keyword
import typing
from collections.abc import Iterable, Mapping
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Literal

import tensorweb as tw
from tensorweb.tensor.tensor import ForeignName

from .records import Explanation, Member
from .streams import clip, clip_line

Kind = Literal["function", "class", "module", "property", "variable"]

MOST_MEMBERS = 1000
MOST_DOCUMENTATION = 400
LONGEST_DETAIL = 60
PLAIN = (bool, int, float, str)
MISSING = object()

FUNCTIONS: tuple[type, ...] = (
    *(BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType),
    *(FunctionType, MethodType, ClassMethodDescriptorType, staticmethod, classmethod),
)


def members(path: str, names: Mapping[str, object]) -> list[Member]:
    """Return what can stand behind a dotted path; the names themselves for "".

    >>> [found["name"] for found in members("tw.errors", {"tw": tw})][:2]
    ['AxisError', 'BackendError']
    """
    if not path:
        return [_member(name, names[name]) for name in _sorted(names)]
    value = find(path, names)
    return [] if value is MISSING else list(_members_of(value))


def explain(path: str, names: Mapping[str, object]) -> Explanation:
    """Return signature and first lines of documentation of what a path names.

    >>> explain("tw.zeros", {"tw": tw})["signature"]
    'zeros(shape, dtype=None, *, device=None)'
    """
    value = find(path, names)
    if value is MISSING:
        return {"signature": "", "text": ""}
    name = path.rpartition(".")[2]
    kind = _kind(value)
    if kind in ("variable", "property"):
        return {"signature": f"{name}: {_detail(value)}", "text": _documentation(value)}
    return {"signature": name + _detail(value), "text": _documentation(value)}


def find(path: str, names: Mapping[str, object]) -> object:
    """Return what a dotted path names, `MISSING` for nothing that can be seen."""
    first, *others = path.split(".")
    value = names.get(first, MISSING)
    if value is MISSING:
        value = vars(builtins).get(first, MISSING)
    for name in others:
        value = _attribute(value, name)
    return value


def _attribute(value: object, name: str) -> object:
    """Look a name up; a property is the type that it says to return."""
    if value is MISSING:
        return MISSING
    if type(value) is property:
        value = _returned(value)
    found = inspect.getattr_static(value, name, MISSING)
    return found


def _returned(value: property) -> object:
    try:
        hints = typing.get_type_hints(value.fget)
    except Exception:  # A program's annotation can name and raise anything.
        return MISSING
    returned = hints.get("return", MISSING)
    return tw.Tensor if returned is typing.Self else returned


def _members_of(value: object) -> Iterable[Member]:
    if type(value) is property:
        value = _returned(value)
    if issubclass(type(value), ModuleType):
        inside = vars(value)
        listed = inside.get("__all__")
        public = [name for name in listed if name in inside] if listed else inside
        return [_member(name, inside[name]) for name in _sorted(public)]
    own = value if issubclass(type(value), type) else type(value)
    assert isinstance(own, type), "internal: a class or the class of a value"
    found: dict[str, object] = {}
    for base in reversed(own.__mro__):
        found.update(vars(base))
    if value is not own:
        found.update(_attributes_of(value))
    offered = {name: kept for name, kept in found.items() if _is_offered(kept)}
    return [_member(name, offered[name]) for name in _sorted(offered)]


def _attributes_of(value: object) -> Mapping[str, object]:
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}


def _is_offered(value: object) -> bool:
    """Whether a member is of use: stand-ins only say how a name is called here."""
    return type(value) is not ForeignName


def _sorted(names: Iterable[object]) -> list[str]:
    """Return the names that people use; a program can put anything into its names."""
    found = [name for name in names if type(name) is str and name.isidentifier()]
    public = [name for name in found if not name.startswith("_")]
    return sorted(name for name in public if not keyword.iskeyword(name))[:MOST_MEMBERS]


def _member(name: str, value: object) -> Member:
    return {
        "name": name,
        "kind": _kind(value),
        "detail": clip_line(_detail(value), LONGEST_DETAIL),
    }


def _kind(value: object) -> Kind:
    # The class itself is looked at: `isinstance` asks the program's `__class__` too.
    own = type(value)
    if issubclass(own, type):
        return "class"
    if issubclass(own, ModuleType):
        return "module"
    if own in FUNCTIONS:
        return "function"
    return "property" if own is property else "variable"


def _detail(value: object) -> str:
    """Return a signature, a tensor's facts, a plain value, or what it is."""
    kind = _kind(value)
    if kind == "module":
        return ""
    if kind in ("class", "function"):
        return _signature(value)
    if type(value) is property:
        returned = _returned(value)
        return "" if returned is MISSING else getattr(returned, "__name__", "")
    if issubclass(type(value), tw.Tensor):
        x = typing.cast("tw.Tensor", value)
        return f"{x.dtype} {tuple(x.shape)} on {x.device}"
    if type(value) in PLAIN:
        return repr(value)
    return type(value).__name__


def _signature(value: object) -> str:
    """Return the parameters with their defaults, without types: those are long."""
    if type(value) in (staticmethod, classmethod):
        value = typing.cast("staticmethod[..., object]", value).__func__
    try:
        found = inspect.signature(typing.cast("typing.Any", value))
    except (ValueError, TypeError):
        return "()" if not isinstance(value, type) else ""
    bare = [
        parameter.replace(annotation=parameter.empty)
        for name, parameter in found.parameters.items()
        if name not in ("self", "cls")
    ]
    return str(found.replace(parameters=bare, return_annotation=found.empty))


def _documentation(value: object) -> str:
    """Return the first paragraphs; of a plain value there is nothing to say."""
    if _kind(value) == "variable":
        return ""
    text = inspect.getdoc(value)
    if not text:
        return ""
    first, *others = text.split("\n\n")
    second = next((part for part in others[:1] if not part.startswith(">>>")), "")
    both = f"{first}\n\n{second}".strip()
    return both if len(both) <= MOST_DOCUMENTATION else clip(first, MOST_DOCUMENTATION)


def table() -> dict[str, list[dict[str, object]]]:
    """Return what a page knows of our names before Python is there.

    Keys are `tw`, its modules and `Tensor`; each row is a member with its explanation.
    """
    names = {"tw": tw}
    return {
        path: [
            {**member, **explain(f"{path}.{member['name']}", names)}
            for member in members(path, names)
        ]
        for path in ("tw", "tw.Tensor", "tw.errors", "tw.shapes")
    }
