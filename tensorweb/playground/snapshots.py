"""The state of a program before one of its statements, to run the rest of it again.

A number that is dragged changes one statement again and again. What ran before that
statement need not run again if everything that it made can be restored: names, the
contents of containers and objects, the values of tensors, the state of random numbers.
What is not known to be restorable is an error, and the whole program runs.
"""

from __future__ import annotations

import ast
import functools
import operator
import random
import re
import sys
import types
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from copyreg import _slotnames  # type: ignore[attr-defined]  # names with mangling
from typing import Any, cast

from tensorweb import devices, frames
from tensorweb.dtypes import DType
from tensorweb.graph.autograd import USED, Leaf
from tensorweb.graph.node import Node
from tensorweb.nn import init
from tensorweb.tensor import printing
from tensorweb.transforms.captured_names import MISSING, content_of_cell
from tensorweb.transforms.jit import Jitted
from tensorweb.transforms.kernel import Kernel

from . import policy
from .host import DRAWING
from .kernels import Tally
from .lines import Lines, Made, Marker

PLAIN_FIELDS = 2
"""Pointers of an object beyond its slots: its dict and its weak references."""

IMMUTABLE: frozenset[type] = frozenset(
    {
        *(int, float, complex, bool, str, bytes, range, slice, type(None), DType),
        *(type(...), type(NotImplemented), types.ModuleType, types.CodeType),
        *(types.MappingProxyType, types.GenericAlias, types.UnionType, weakref.ref),
        *(types.GetSetDescriptorType, types.MemberDescriptorType),
        *(types.WrapperDescriptorType, types.MethodDescriptorType),
        *(types.ClassMethodDescriptorType, types.MethodWrapperType, re.Pattern),
        # Caches of the library: no program can import `weakref`.
        weakref.WeakKeyDictionary,
    }
)

OUTSIDE = frozenset(
    ("open", "input", "exec", "eval", "setattr", "delattr", "__import__")
)
"""Functions by which a program has state that is not in its names."""

SAVING = frozenset(("save", "savez", "savez_compressed", "savetxt", "tofile"))

PAGE = "tensorweb.playground"

LIBRARY = (
    *("tensorweb.backends", "tensorweb.drivers", "tensorweb.events"),
    *("tensorweb.graph", "tensorweb.schedule", "tensorweb.transforms", PAGE),
)
"""Packages whose objects are not restored: caches, devices, recordings, what ran."""


RESTORED = (Tally, Lines, Made, Marker, Jitted, Kernel)
"""Classes of these packages whose objects are."""


class NotRestorable(Exception):
    """Says why the state before a statement cannot be restored."""


def split_line(tree: ast.Module, line: int) -> tuple[int, int]:
    """Return the first line of the statement that contains a line, and the last of all.

    The statements are those of the top level of a program that can be compiled.

    Raises:
        NotRestorable: the program reaches what a snapshot does not contain.
    """
    _check(tree)
    first, end = 1, 0
    for statement in tree.body:
        # Statements of one line run together.
        if _begin(statement) > end:
            first = _begin(statement)
        end = statement.end_lineno or first
        if line <= end:
            break
    begins = not tree.body or first == _begin(tree.body[0])
    return (1 if begins else first), (tree.body[-1].end_lineno or 1 if tree.body else 1)


def _begin(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])


def _check(tree: ast.Module) -> None:
    """Raise if a program has state outside of its names."""
    imported: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                roots = [each.name.partition(".")[0] for each in names]
                bound = [each.asname or each.name.partition(".")[0] for each in names]
            case ast.ImportFrom(module, names):
                roots = [(module or ".").partition(".")[0]]
                bound = [each.asname or each.name for each in names]
            case ast.Name(name) if name in OUTSIDE:
                raise NotRestorable(f"line {node.lineno} uses {name}()")
            case ast.Attribute(_, name) if name in SAVING:
                raise NotRestorable(f"line {node.lineno} saves a file")
            case _:
                continue
        for root in roots:
            if root not in policy.RESTORABLE_MODULES:
                raise NotRestorable(f"line {node.lineno} imports {root}")
        imported.update(bound)
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value, _, ast.Store() | ast.Del()):
                while isinstance(value, ast.Attribute):
                    value = value.value
                if isinstance(value, ast.Name) and value.id in imported:
                    raise NotRestorable(f"line {node.lineno} changes {value.id}")


class Snapshot:
    """Everything that a program's names reach, to be restored any number of times."""

    def __init__(self, names: dict[str, object], further: Iterable[object]) -> None:
        """Note the state of the names, and of further objects of the page.

        Raises:
            NotRestorable: a value is of a kind that is not known to be restorable.
        """
        self._noted: list[tuple[Callable[[Any, Any], None], object, Any]] = []
        # The module's own generator is restored as a state of the module.
        hidden = vars(random)["_inst"]
        self._seen: dict[int, object] = {id(hidden): hidden}
        for name, value in names.items():
            self._walk(value, name)
        drawing = sys.modules.get(DRAWING)
        own = (init._programs, frames._said, getattr(drawing, "_state", None))
        for value in (*further, *own):
            self._walk(value, "the library")
        for value in (names, vars(printing)):
            self._note(_set_dict, value, dict(value))
        self._random = random.getstate()
        self._device = devices._process_default

    def restore(self) -> None:
        """Restore the state."""
        for restore, value, state in self._noted:
            restore(value, state)
        random.setstate(self._random)
        if self._device is not None:
            devices.prefer_device(self._device)

    def _note(
        self, restore: Callable[[Any, Any], None], value: object, state: object
    ) -> None:
        self._noted.append((restore, value, state))

    def _walk(self, root: object, name: str) -> None:
        waiting = [root]
        while waiting:
            value = waiting.pop()
            kind = type(value)
            if kind in IMMUTABLE or id(value) in self._seen:
                continue
            self._seen[id(value)] = value
            if len(self._seen) > policy.MOST_RESTORED:
                raise NotRestorable(f"{name} has too many parts to restore")
            try:
                waiting += self._parts(value, kind)
            except NotRestorable as why:
                raise NotRestorable(f"{name} {why}") from None

    def _parts(self, value: Any, kind: type) -> Iterable[object]:
        """Note the state of one value, and return what it refers to."""
        if isinstance(value, type):
            if value.__module__ != "__main__":
                return ()
            fields = dict(vars(value))
            self._note(_set_class, value, fields)
            return [*fields.values(), *value.__bases__]
        if isinstance(value, Node):
            self._note(_set_history, value, _history(value))
            return ()
        if kind.__module__.startswith(LIBRARY):
            return self._fields(value, kind) if kind in RESTORED else ()
        match value:
            case types.FunctionType():
                if value.__module__ and value.__module__.startswith(PAGE):
                    return ()
                cells = [
                    (cell, content_of_cell(cell)) for cell in value.__closure__ or ()
                ]
                for cell, content in cells:
                    self._note(_set_cell, cell, content)
                contents = [content for _, content in cells]
                defaults = value.__defaults__, value.__kwdefaults__
                self._note(_set_defaults, value, defaults)
                return [vars(value), *defaults, *contents]
            case types.MethodType():
                return value.__self__, value.__func__
            case types.BuiltinFunctionType():
                return () if isinstance(value.__self__, Iterator) else [value.__self__]
            case functools.partial():
                return value.func, value.args, value.keywords
            case random.Random():
                self._note(random.Random.setstate, value, value.getstate())
                return ()
            case property():
                return value.fget, value.fset, value.fdel
            case staticmethod() | classmethod():
                return [value.__func__]
        return self._fields(value, kind)

    def _fields(self, value: Any, kind: type) -> Iterable[object]:
        """Note the contents, the slots and the dict of an object."""
        parts: list[object] = []
        is_plain = True
        for container, contents, restore in CONTAINERS:
            if isinstance(value, container):
                is_plain = False
                state = contents(value)
                if restore is not None:
                    self._note(restore, value, state)
                parts += state
                if isinstance(value, dict):
                    parts += state.values()
                break
        slots = _slotnames(kind) if kind not in BASES else ()
        size = object.__basicsize__ + 8 * (len(slots) + PLAIN_FIELDS)
        # More than that is a state of C, as in an iterator or an array of NumPy. A
        # class of the size of an object has none, as `Generic` since Python 3.12.
        is_known = all(
            "__slots__" in vars(each)
            or each.__dictoffset__
            or each.__basicsize__ == object.__basicsize__
            for each in kind.__mro__[:-1]
        )
        if is_plain and (kind.__basicsize__ > size or not is_known):
            article = "an" if kind.__name__[0] in "aeiou" else "a"
            raise NotRestorable(f"has {article} {kind.__name__}")
        for slot in slots:
            found = _slot(value, slot)
            self._note(_set_slot, (value, slot), found)
            if found is not MISSING:
                parts.append(found)
        if kind not in BASES and kind.__dictoffset__:
            parts.append(object.__getattribute__(value, "__dict__"))
        return parts


def _history(node: Node) -> object:
    history = node.history
    if history is None or isinstance(history, Leaf) or history is USED:
        return history
    raise NotRestorable("has a value whose backward pass is still to come")


def _set_history(node: Node, history: Any) -> None:
    node.history = history


def _set_cell(cell: types.CellType, content: object) -> None:
    if content is not MISSING:
        cell.cell_contents = content


def _set_defaults(function: types.FunctionType, state: tuple[Any, Any]) -> None:
    defaults, keywords = state
    # Python optimises calls anew after each assignment.
    if function.__defaults__ is not defaults:
        function.__defaults__ = defaults
    if function.__kwdefaults__ is not keywords:
        function.__kwdefaults__ = keywords


def _slot(value: object, slot: str) -> object:
    try:
        return object.__getattribute__(value, slot)
    except AttributeError:
        return MISSING


def _set_slot(owned: tuple[object, str], state: object) -> None:
    value, slot = owned
    if _slot(value, slot) is state:
        return
    if state is MISSING:
        object.__delattr__(value, slot)
    else:
        object.__setattr__(value, slot, state)


def _set_class(kind: type, fields: Mapping[str, object]) -> None:
    for name in vars(kind).keys() - fields.keys():
        type.__delattr__(kind, name)
    for name, value in fields.items():
        if vars(kind).get(name, MISSING) is not value:
            type.__setattr__(kind, name, value)


def _set_dict(value: dict[Any, Any], state: dict[Any, Any]) -> None:
    dict.clear(value)
    dict.update(value, state)


def _set_ordered(value: OrderedDict[Any, Any], state: dict[Any, Any]) -> None:
    OrderedDict.clear(value)
    OrderedDict.update(value, state)


def _set_list(value: list[Any], state: list[Any]) -> None:
    list.__setitem__(value, slice(None), state)


def _set_set(value: set[Any], state: set[Any]) -> None:
    set.clear(value)
    set.update(value, state)


def _set_copy(value: set[Any]) -> set[Any]:
    """Return a copy as `_set_set` restores it.

    Raises:
        NotRestorable: its order is another one, or would be after further elements.
    """
    copy = set(value)
    size = set.__sizeof__(value) - type(value).__basicsize__
    is_same = size == set.__sizeof__(copy) - set.__basicsize__
    if not is_same or not all(map(operator.is_, set.__iter__(value), copy)):
        raise NotRestorable("has a set whose copy has another order")
    return copy


def _set_deque(value: deque[Any], state: list[Any]) -> None:
    deque.clear(value)
    deque.extend(value, state)


def _entries(value: dict[Any, Any]) -> dict[Any, Any]:
    return cast("dict[Any, Any]", OrderedDict(value))


CONTAINERS: tuple[
    tuple[type, Callable[[Any], Any], Callable[[Any, Any], None] | None], ...
] = (
    *((kind, lambda _: (), None) for kind in (int, float, complex, str, bytes)),
    (OrderedDict, _entries, _set_ordered),
    (dict, dict, _set_dict),
    (list, list, _set_list),
    (set, _set_copy, _set_set),
    (deque, list, _set_deque),
    (tuple, list, None),
    (frozenset, list, None),
)
"""Kinds of containers, what they contain, and how that is restored."""

BASES = frozenset(kind for kind, _, _ in CONTAINERS)
