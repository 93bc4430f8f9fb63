"""The names that a function captures, by which `jit` sees that a recording is old."""

from __future__ import annotations

import dis
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import compress
from operator import is_, is_not
from types import CellType, CodeType, FunctionType, MethodType, SimpleNamespace
from typing import Any

from tensorweb.graph.tracing import Captures
from tensorweb.tensor.base import TensorBase
from tensorweb.transforms.recordings import put_back
from tensorweb.trees import EXACT_TYPES, Content, content_of, is_changed, is_opened

CONTAINERS = (list, set, deque, bytearray)
"""Types whose elements are compared one by one."""

MISSING = object()
"""Stands for the value of an unbound name."""

NUMBERS = (float, complex, *EXACT_TYPES)
"""Types whose values are compared by `repr`, which distinguishes 0.0 from -0.0."""


class CapturedNames:
    """The names that a function captures, and their values.

    These are the names of closures, and globals of the function's own module, that the
    function reads, or functions and methods of that module that it names; the elements
    of lists, dicts, tuples and registered objects in these names; and the attributes
    that the code names, of other objects of that module. Names of other modules, and
    elements of NumPy arrays, are not included.
    """

    def __init__(self, function: object, updated: set[int]) -> None:
        """Capture all values; objects whose `id` is in `updated` are arguments."""
        self._seen = set(updated)
        self._cells: list[CellType] = []
        self._globals: list[str] = []
        self._containers: list[tuple[Any, Content]] = []
        self._objects: list[Any] = []
        self._reads_by_text = False  # The code calls getattr or vars.
        self._attributes = {"forward"}  # What calling a module calls.
        self._module = _globals_of(function)
        self._captures = Captures(())
        self._visit(function)
        self._visit_objects()
        self._values = self._current_values()
        self._named = list(self._attribute_values())

    def _current_values(self) -> list[object]:
        """Return the current values of the names, closures first."""
        get = self._module.get
        values = [content_of_cell(cell) for cell in self._cells]
        return values + [get(name, MISSING) for name in self._globals]

    def _attribute_values(self) -> Iterator[object]:
        """Yield the values of the attributes that the code names, object by object."""
        for value in self._objects:
            for name, part in vars(value).items():
                # Python itself reads special methods.
                is_named = name in self._attributes or name.startswith("__")
                if self._reads_by_text or is_named:
                    yield part

    def is_changed(self) -> bool:
        """Whether a captured name, attribute or element has another value."""
        return (
            not self._captures.is_current
            or not _are_equal(self._current_values(), self._values)
            or (bool(self._objects) and not self._has_same_attributes())
            or any(
                is_changed(holder, before)
                and not _are_equal(_elements(_content_of(holder)), _elements(before))
                for holder, before in self._containers
            )
        )

    def _has_same_attributes(self) -> bool:
        return _are_equal(list(self._attribute_values()), self._named)

    def restore_objects(self) -> None:
        """Give modules and other objects their former attributes; lists keep theirs."""
        for holder, before in self._containers:
            if is_opened(holder):
                put_back(holder, before)

    def _visit(self, value: Any) -> None:
        """Record what a function reads or an object contains, recursively."""
        if id(value) in self._seen or type(value) in NUMBERS:
            return
        self._seen.add(id(value))
        if isinstance(value, TensorBase):
            self._captures.add(value.node)
        elif isinstance(value, (*CONTAINERS, dict)) or is_opened(value):
            if value is self._module:  # `globals()`: its names are recorded one by one.
                return
            content = _content_of(value)
            self._containers.append((value, content))
            self._visit_all(_elements(content))
            self._visit_all(type(value).__mro__)
        elif isinstance(value, tuple | frozenset):
            self._visit_all(value)
        elif isinstance(value, FunctionType):
            self._visit_function(value)
        elif isinstance(value, MethodType):
            self._visit_all((value.__func__, value.__self__))
        elif isinstance(value, partial):
            self._visit_all((value.func, *value.args, *value.keywords.values()))
        elif isinstance(value, property):
            self._visit(value.fget)
        elif hasattr(value, "__wrapped__"):
            self._visit(value.__wrapped__)
        elif self._is_of_module(value):
            self._objects.append(value)
            # Methods and class attributes are read through the object.
            self._visit_all(type(value).__mro__)
            if isinstance(value, type):
                self._visit_all(value.__mro__)

    def _visit_all(self, values: Iterable[object]) -> None:
        for value in values:
            self._visit(value)

    def _visit_objects(self) -> None:
        """Visit the named attributes until no new names or objects are found."""
        count = -1
        while count != len(self._seen) + len(self._attributes):
            count = len(self._seen) + len(self._attributes)
            self._visit_all(list(self._attribute_values()))

    def _visit_function(self, function: FunctionType) -> None:
        """Record the names that a function and its nested functions read."""
        self._visit_all(function.__defaults__ or ())
        self._visit_all((function.__kwdefaults__ or {}).values())
        self._visit_all(vars(function).values())
        for cell in function.__closure__ or ():
            if id(cell) not in self._seen:
                self._seen.add(id(cell))
                self._cells.append(cell)
                with suppress(ValueError):
                    self._visit(cell.cell_contents)
        if function.__globals__ is self._module:
            names, attributes = _names_in(function.__code__)
            self._attributes |= attributes
            self._reads_by_text |= not names.isdisjoint(("getattr", "vars"))
            for name in names - set(self._globals):
                if name in self._module:
                    self._globals.append(name)
                    self._visit(self._module[name])

    def _is_of_module(self, value: object) -> bool:
        """Whether a value is a class of the function's module, or an instance of it."""
        if isinstance(value, SimpleNamespace):
            return True
        kind = value if isinstance(value, type) else type(value)
        is_own = kind.__module__ == self._module.get("__name__")
        return is_own and hasattr(value, "__dict__")


def _globals_of(function: Any) -> dict[str, Any]:
    """Return the globals of the module in which a function was defined."""
    while True:
        if isinstance(function, partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif isinstance(function, FunctionType | MethodType):
            return getattr(function, "__globals__", {})
        else:
            call = vars(type(function)).get("__call__")
            return getattr(call, "__globals__", {})


def _names_in(code: CodeType) -> tuple[set[str], set[str]]:
    """Return the globals and attributes that code and its nested functions read."""
    names: set[str] = set()
    attributes: set[str] = set()
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.add(instruction.argval)
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"):
            attributes.add(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner = _names_in(constant)
            names |= inner[0]
            attributes |= inner[1]
    return names, attributes


def content_of_cell(cell: CellType) -> object:
    """Return what a variable of an enclosing function holds, or `MISSING`."""
    try:
        return cell.cell_contents
    except ValueError:  # The name has no value yet, or none any more.
        return MISSING


def _content_of(value: Any) -> Content:
    """Return the elements of a container, by name if they have names."""
    return list(value) if isinstance(value, CONTAINERS) else content_of(value)


def _elements(content: Content) -> list[Any]:
    """Return the elements of a container and their names as one list."""
    if isinstance(content, dict):
        return [*content, *content.values()]
    return content or []


def _are_equal(now: list[Any], before: list[Any]) -> bool:
    """Whether two lists hold the same objects or equal numbers."""
    if len(now) != len(before):
        return False
    if all(map(is_, now, before)):
        return True
    differ = compress(zip(now, before, strict=True), map(is_not, now, before))
    return all(
        type(one) is type(other) and type(one) in NUMBERS and repr(one) == repr(other)
        for one, other in differ
    )
