"""Completion for the editor: members, signature and documentation of a name.

No code of a program runs here: values are inspected statically.
"""

from __future__ import annotations
import __future__

import builtins
import inspect
import keyword
import re
import sys
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    UnionType,
    WrapperDescriptorType,
)

import tensorweb as tw
from tensorweb.tensor.tensor import ForeignName
from tensorweb.transforms.jit import Jitted

from . import policy
from .records import Explanation, Member, MemberKind
from .streams import clip, clip_line

PATHS = (
    "tw",
    "tw.Tensor",
    "tw.errors",
    "tw.shapes",
    "tw.nn",
    "tw.nn.init",
    "tw.optim",
    "tw.random",
    "tw.linalg",
    "tw.fft",
    "tw.scipy.special",
    "tw.numpy",
    "tw.numpy.linalg",
    "tw.numpy.fft",
    "tw.numpy.random",
)
"""Paths whose members the page can complete before Python has loaded."""

PLAIN = (bool, int, float, str)

FUNCTIONS: tuple[type, ...] = (
    *(BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType),
    *(FunctionType, MethodType, ClassMethodDescriptorType, staticmethod, classmethod),
)


def members(
    path: str, names: Mapping[str, object], imported: bool = False
) -> list[Member]:
    """Return the members of a dotted path; the names themselves for "".

    If the path is `imported` its first part is a module, regardless of `names`.

    >>> [found["name"] for found in members("tw.errors", {"tw": tw})][:2]
    ['AxisError', 'BackendError']
    """
    if not path:
        return [_member(name, names[name]) for name in _sorted(names)]
    value = find_imported(path) if imported else find(path, names)
    return [] if value is MISSING else list(_members_of(value))


def explain(
    path: str, names: Mapping[str, object], imported: bool = False
) -> Explanation:
    """Return signature and first paragraphs of documentation of a path.

    >>> explain("tw.zeros", {"tw": tw})["signature"]
    'zeros(shape, *more, dtype=None, device=None)'
    """
    value = find_imported(path) if imported else find(path, names)
    if value is MISSING:
        return {"signature": "", "text": ""}
    name = path.rpartition(".")[2]
    kind = _kind(value)
    if kind in ("variable", "property"):
        title = f"{name}: {_detail(value)}".removesuffix(": ")
        return {"signature": title, "text": _documentation(value)}
    return {"signature": name + _detail(value), "text": _documentation(value)}


def _members_of(value: object) -> Iterable[Member]:
    if type(value) is property:
        value = Some(returned(value))
    if issubclass(type(value), ModuleType):
        return _members_of_module(typing.cast("ModuleType", value))
    if type(value) is Some:
        value = value.own
    own = value if issubclass(type(value), type) else type(value)
    assert isinstance(own, type), "internal: a class or the class of a value"
    found: dict[str, object] = {}
    for base in reversed(own.__mro__):
        found.update(vars(base))
    found = {name: _place(value, name, kept) for name, kept in found.items()}
    if value is not own:
        found.update(_attributes_of(value))
    offered = {name: kept for name, kept in found.items() if _is_offered(kept)}
    return [_member(name, offered[name]) for name in _sorted(offered)]


def _members_of_module(module: ModuleType) -> Iterable[Member]:
    inside = vars(module)
    listed = inside.get("__all__")
    public: Iterable[str] = inside
    if listed:
        later = later_names(module)
        public = [name for name in listed if name in inside or name in later]
    found = {name: attribute(module, name) for name in _sorted(public)}
    return [_member(name, kept) for name, kept in found.items() if _is_offered(kept)]


def _place(value: object, name: str, kept: object) -> object:
    """Return the value of a slot or a named tuple's field."""
    return attribute(value, name) if type(kept) in PLACES else kept


def _attributes_of(value: object) -> Mapping[str, object]:
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}


def _is_offered(value: object) -> bool:
    """Whether a member is useful; stand-ins for foreign names are not."""
    return type(value) not in (ForeignName, __future__._Feature)


def _sorted(names: Iterable[object]) -> list[str]:
    """Return the public identifiers; a program can put any value into its names."""
    found = [name for name in names if type(name) is str and name.isidentifier()]
    public = [name for name in found if not name.startswith("_")]
    return sorted(name for name in public if not keyword.iskeyword(name))[
        : policy.MOST_MEMBERS
    ]


def _member(name: str, value: object) -> Member:
    return {
        "name": name,
        "kind": _kind(value),
        "detail": clip_line(_detail(value), policy.LONGEST_DETAIL),
    }


def _kind(value: object) -> MemberKind:
    # `isinstance` would also run the program's `__class__`.
    own = type(value)
    if issubclass(own, type):
        return "class"
    if issubclass(own, ModuleType):
        return "module"
    if own in FUNCTIONS or type(function_of(value)) in FUNCTIONS:
        return "function"
    return "property" if own is property else "variable"


def _detail(value: object) -> str:
    """Return a signature, a tensor's facts, a plain value, or the type's name."""
    kind = _kind(value)
    if kind == "module":
        return ""
    if kind in ("class", "function"):
        return _signature(value)
    if kind == "property":
        hint = returned(value)
        return "" if hint is MISSING else getattr(hint, "__name__", "")
    if type(value) is Some:
        return getattr(value.own, "__name__", "")
    if issubclass(type(value), tw.Tensor):
        x = typing.cast("tw.Tensor", value)
        return f"{x.dtype} {tuple(x.shape)} on {x.device}"
    if type(value) in PLAIN:
        return repr(value)
    return type(value).__name__


def _signature(value: object) -> str:
    """Return the parameters with their defaults, without the long annotations."""
    value = function_of(value)
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
    """Return the first paragraphs of the docstring, "" for a plain value."""
    if _kind(value) == "variable":
        return ""
    text = inspect.getdoc(function_of(value))
    if not text:
        return ""
    first, *others = text.split("\n\n")
    second = next((part for part in others[:1] if not part.startswith(">>>")), "")
    both = f"{first}\n\n{second}".strip()
    return (
        both
        if len(both) <= policy.MOST_DOCUMENTATION
        else clip(first, policy.MOST_DOCUMENTATION)
    )


def table() -> dict[str, list[dict[str, object]]]:
    """Return the names that the page can complete before Python has loaded.

    Keys are `tw`, its modules and `Tensor`; each entry is a member with its
    explanation, and with the path of the type it `gives`, if that has members of its
    own.
    """
    names = {"tw": tw}
    return {
        path: [
            {
                **member,
                **explain(f"{path}.{member['name']}", names),
                **_given(find(f"{path}.{member['name']}", names)),
            }
            for member in members(path, names)
        ]
        for path in PATHS
    }


def _given(value: object) -> dict[str, object]:
    """Return the path of the type that a function or property returns."""
    for path, ending in (("value()", ""), ("value()[]", "[]")):
        found = find(path, {"value": value})
        if type(found) is Some and issubclass(found.own, tw.Tensor):
            return {"gives": f"tw.Tensor{ending}"}
    return {}


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
        return getattr(value, name)
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
    """Return the names of a library module that are imported on first use."""
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
    value = inspect.unwrap(value)
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
