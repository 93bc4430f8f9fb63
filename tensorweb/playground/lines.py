"""What each line of a program made: names, shapes, dtypes and counts, never values.

The program is compiled with a marker after each assignment. From Python 3.13 on a
marker is a NOP that `sys.monitoring` reports until a line has made no tensor
`policy.MOST_IDLE` times; then it costs nothing, also inside a running loop. Older
Pythons, which only run the tests, call a function instead. Either way lines, columns,
order of evaluation and scopes remain those of the program's text.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, groupby, islice
from types import CodeType, FrameType
from typing import Any, TypeVar, cast
from weakref import ref

import tensorweb as tw
from tensorweb import frames
from tensorweb.frames import Location, Position, end_execution, line_of, position_of
from tensorweb.graph.node import Node, pair_of
from tensorweb.graph.op import CONSTANT
from tensorweb.graph.tracing import is_tracing

from . import policy
from .films import Film, node_of
from .records import LineResult
from .sources import FILENAME
from .streams import clip_line

_monitoring: Any = vars(sys).get("monitoring") if sys.version_info > (3, 13) else None
# Before, `frame.f_locals` of a function is a copy that would retain tensors.

TOOL = 3
"""An id of `sys.monitoring` that it reserves for no kind of tool."""

_FIRST = 1 << 24
"""Line of the first marker while a program is compiled; no program is as long."""

_AFTER, _RETURNED = "__tensorweb_line__", "__tensorweb_returned__"
"""Names of the functions that older Pythons call."""

Assignment = ast.Assign | ast.AugAssign | ast.AnnAssign
Loop = ast.For | ast.AsyncFor
With = ast.With | ast.AsyncWith
Function = ast.FunctionDef | ast.AsyncFunctionDef

Extent = tuple[int, int, int, int]
"""First and last line, first and last column in bytes."""

NOWHERE = (0, 0, 0, 0)

Value = TypeVar("Value")


@dataclass(slots=True)
class Made:
    """What one statement bound to one name, the last time that it ran."""

    file: str
    line: int
    end_line: int
    function: str
    name: str
    shape: tuple[int, ...] = ()
    dtype: object = None
    device: str = ""
    is_view: bool = False
    owned_at: Location | None = None
    """Where the storage was made that a view shares."""
    varies: bool = False
    node: ref[Node] | None = None
    before: int = 0
    """How often the statement had run before it made this first."""
    film: Film | None = None
    """Its values, if the run retains them."""

    def note(self, x: tw.Tensor) -> None:
        """Take over the facts of a tensor, without a reference to it."""
        node = node_of(x)
        if node.shape != self.shape or node.dtype is not self.dtype:
            self.varies = self.dtype is not None
            self.shape, self.dtype = node.shape, node.dtype
        self.device = node.device
        owner = node.owner
        self.is_view = owner is not None and owner.op is not CONSTANT
        self.owned_at = getattr(owner, "location", None)
        # While jit or vmap records a function, its values are none of the run.
        is_value = not is_tracing()
        self.node = ref(node) if is_value else None
        if self.film is not None and is_value:
            self.film.add(x)

    def record(self, runs: int, copied: Collection[tuple[str, int]]) -> LineResult:
        """Return the facts as a record for the page; `copied` are lines that copied."""
        made = line_of(self.owned_at) if self.is_view and self.owned_at else None
        # The storage of a temporary value of the statement is the result's own.
        is_own = (
            made is not None
            and made.file == self.file
            and self.line <= made.number <= self.end_line
        )
        found: LineResult = {
            "file": self.file,
            "line": self.line,
            "endLine": self.end_line,
            "function": self.function,
            "name": self.name,
            "shape": list(self.shape),
            "dtype": str(self.dtype),
            "device": self.device,
            "view": self.is_view and not is_own,
            "count": runs - self.before,
            "varies": self.varies,
        }
        lines = range(self.line, self.end_line + 1)
        if any((self.file, line) in copied for line in lines):
            found["copied"] = True
        return found


@dataclass(frozen=True, slots=True)
class Target:
    """A name that a statement binds, or an attribute or item of a named object."""

    label: str
    name: str
    attribute: str | None = None
    key: object = None
    is_item: bool = False

    def value_in(
        self, names: Mapping[str, object], further: Mapping[str, object]
    ) -> tuple[str, object]:
        """Return the label and the value, without running code of the program."""
        found = names.get(self.name)
        if found is None:
            found = further.get(self.name)
        if self.attribute is not None:
            own = getattr(type(found), "__dictoffset__", 0)
            fields = object.__getattribute__(found, "__dict__") if own else None
            return self.label, _entry(fields, self.attribute)
        if self.is_item and not issubclass(type(found), tw.Tensor):
            return self.label, _entry(found, self.key)
        # An item that is assigned changes the tensor that has it.
        return self.name, found


def _entry(value: object, key: object) -> object:
    """Return an entry of a plain dict; None without it, or if a key runs code."""
    is_plain = type(value) is dict and type(key) in (str, int)
    return cast("dict[object, object]", value).get(key) if is_plain else None


@dataclass(slots=True)
class Marker:
    """A point of the program behind which a statement has bound its targets.

    `runs` counts how often it was reached, `seen` is the time of the last one, and
    `idle` counts the runs without a tensor.
    """

    file: str
    line: int
    end_line: int
    function: str
    position: tuple[int, int, int, int]
    targets: tuple[Target, ...]
    made: dict[str, Made] = field(default_factory=dict)
    runs: int = 0
    seen: int = 0
    idle: int = 0


class Lines:
    """Notes what the lines of a run made."""

    def __init__(self) -> None:
        self._markers: list[Marker] = []
        # By the address of an instruction: code objects contain their instructions.
        self._addresses: dict[int, Marker] = {}
        self._retained: list[CodeType] = []
        self._found: list[tuple[Marker, Made]] = []
        self._tick = count(1).__next__
        self._retains = False
        self._copies: dict[tuple[CodeType, int], None] = {}

    def begin(self, keep: bool, retains: bool = False) -> None:
        """Free the last results; with `keep` functions of that run are still noted.

        `retains` keeps the values that lines make, each as a film.
        """
        self._retains = retains
        self._found.clear()
        self._copies.clear()
        for marker in self._markers:
            marker.made.clear()
            marker.runs = 0
        if not keep:
            self._markers.clear()
            self._addresses.clear()
            self._retained.clear()

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note what lines make and copy inside a `with` block."""
        frames.copies = self._copies
        try:
            with self._hearing():
                yield
        finally:
            frames.copies = None

    @contextmanager
    def _hearing(self) -> Iterator[None]:
        """Hear of the markers that are reached inside a `with` block."""
        if _monitoring is None:
            builtins.__dict__[_AFTER] = self._after
            builtins.__dict__[_RETURNED] = self._returned
            yield
            return
        events = _monitoring.events
        heard = {events.INSTRUCTION: self._reached, events.PY_RETURN: self._left}
        if _monitoring.get_tool(TOOL) is None:
            _monitoring.use_tool_id(TOOL, "tensorweb")
        for event, function in heard.items():
            _monitoring.register_callback(TOOL, event, function)
        try:
            yield
        finally:
            for event in heard:
                _monitoring.register_callback(TOOL, event, None)

    def compiled(
        self,
        tree: ast.Module | ast.Expression,
        file: str,
        flags: int = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
    ) -> CodeType:
        """Compile a program's file, or its last expression, with markers.

        Raises what `compile` raises.
        """
        mode = "exec" if isinstance(tree, ast.Module) else "eval"
        # A tree that is too deep for this has markers in its outer statements.
        with suppress(RecursionError):
            _Marking(file, self._markers).mark(tree)
        code = compile(tree, file, mode, flags, dont_inherit=True)
        assert isinstance(code, CodeType), "internal: code is compiled"
        return code if _monitoring is None else self._monitored(code, mode == "eval")

    def records(self, names: Mapping[str, object]) -> list[LineResult]:
        """Return what the run's lines made, in the order in which they first did.

        `names` are the program's, with the last values that its statements bound.
        """
        last: dict[str, Marker] = {}
        for marker in () if self._retains else self._markers:
            if not marker.function and marker.file == FILENAME:
                for target in marker.targets:
                    if marker.seen > getattr(last.get(target.name), "seen", 0):
                        last[target.name] = marker
        for name, marker in last.items():
            # Of few runs each was looked at.
            if marker.runs > policy.MOST_LOOKS and marker.made:
                for target in marker.targets:
                    if target.name == name:
                        self._take(marker, *target.value_in(names, {}))
        found = (line_of((*each, 0)) for each in self._copies)
        copied = {(line.file, line.number) for line in found if line is not None}
        return [made.record(marker.runs, copied) for marker, made in self._found]

    def film(self, result: int) -> list[tuple[int, tw.Tensor]]:
        """Return the values of one of the records, each with the count before it.

        Raises:
            LookupError: there is no such record, or the run retained no values.
        """
        if not 0 <= result < len(self._found):
            raise LookupError(f"there is no result number {result} in the last run")
        film = self._found[result][1].film
        if film is None:
            raise LookupError("the last run retained no values")
        return film.steps()

    def bound(self, names: Iterable[str]) -> dict[Node, str]:
        """Return what the program bound to names, the last values first.

        A run that retains no values has none.
        """
        asked = {*names}
        found = [
            (step, pair_of(node_of(x)), made.name)
            for _, made in self._found
            if made.film is not None and not made.function and made.name in asked
            for step, x in made.film.steps()
        ]
        found.sort(key=lambda each: each[0], reverse=True)
        return {node: name for _, node, name in found}

    def unnamed(self, entries: Iterable[tw.Tensor]) -> Iterator[tuple[int, tw.Tensor]]:
        """Yield last values of records that still exist and are not among `entries`.

        Each is yielded once, with the index of its record.
        """
        seen = {id(node_of(x)) for x in entries}
        for index, (_, made) in enumerate(self._found):
            node = made.node() if made.node is not None else None
            if node is not None and id(node) not in seen:
                seen.add(id(node))
                yield index, tw.Tensor(node)

    def made(self, tensors: Sequence[tw.Tensor]) -> list[list[int]]:
        """Return for each tensor the indices of the records whose last value it is."""
        indices: dict[int, list[int]] = {}
        for index, (_, made) in enumerate(self._found):
            node = made.node() if made.node is not None else None
            if node is not None:
                indices.setdefault(id(node), []).append(index)
        return [indices.get(id(node_of(x)), []) for x in tensors]

    def is_unchanged(self, name: str, line: int, value: object) -> bool:
        """Whether a statement of the main file bound this value, as it still is."""
        if type(value) in (int, float, bool, str):
            return True
        if type(value) is not tw.Tensor:
            return False
        node = node_of(value)
        return node.history is None and any(
            (made.file, made.line, made.name) == (FILENAME, line, name)
            and made.node is not None
            and made.node() is node
            for _, made in self._found
        )

    def module(self, text: str, file: str) -> CodeType:
        """Compile another file of the program, with markers."""
        tree = compile(text, file, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        assert isinstance(tree, ast.Module), "internal: a module is parsed"
        return self.compiled(tree, file, 0)

    def _monitored(self, code: CodeType, returns: bool) -> CodeType:
        """Give markers the positions of their statements, and let them be reported."""
        constants = tuple(
            self._monitored(one, not one.co_name.startswith("<"))
            if isinstance(one, CodeType)
            else one
            for one in code.co_consts
        )
        addresses: dict[int, Marker] = {}
        positions: list[Position] = []
        for index, position in enumerate(code.co_positions()):
            line = position[0]
            if line is None or line < _FIRST:
                positions.append(position)
                continue
            marker = addresses[2 * index] = self._markers[line - _FIRST]
            positions.append(marker.position)
        table = location_table(code.co_firstlineno, positions)
        code = code.replace(co_consts=constants, co_linetable=table)
        events = _monitoring.events
        chosen = events.INSTRUCTION if addresses else 0
        if returns:
            chosen |= events.PY_RETURN
        if chosen:
            self._retained.append(code)
            for offset, marker in addresses.items():
                self._addresses[id(code) + offset] = marker
            _monitoring.set_local_events(TOOL, code, chosen)
        return code

    def _reached(self, code: CodeType, offset: int) -> object:
        """Handle an instruction event: note what a marker's statement has bound."""
        marker = self._addresses.get(id(code) + offset)
        if marker is None:
            return _monitoring.DISABLE
        marker.seen = self._tick()
        end_execution()
        runs = marker.runs = marker.runs + 1
        is_seldom = runs > policy.MOST_LOOKS and not self._retains
        if is_seldom and runs & policy.SELDOM and marker.made:
            return None
        # Frame 1 is the program's: the interpreter calls this from there.
        return None if self._bound(marker, sys._getframe(1)) else _monitoring.DISABLE

    def _left(self, code: CodeType, offset: int, value: object) -> object:
        """Handle a return event: note the value that a function returns."""
        marker = self._addresses.get(id(code) + offset)
        if marker is None:
            if code not in self._retained:
                return _monitoring.DISABLE
            marker = self._addresses[id(code) + offset] = _return_marker(code, offset)
            self._markers.append(marker)
        marker.runs += 1
        return None if self._take(marker, "", value) else _monitoring.DISABLE

    def _after(self, index: int) -> None:
        """Note what a statement has bound, where there are no events."""
        marker, frame = self._markers[index], sys._getframe(1)
        marker.seen = self._tick()
        end_execution()
        marker.runs += 1
        if marker.idle >= policy.MOST_IDLE:
            return
        self._bound(marker, frame)
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            frame.f_locals.clear()

    def _returned(self, index: int, value: Value) -> Value:
        """Note the value that a function returns, where there are no events."""
        self._markers[index].runs += 1
        self._take(self._markers[index], "", value)
        return value

    def _bound(self, marker: Marker, frame: FrameType) -> bool:
        """Note the targets of a statement; return whether to look again."""
        goes_on = False
        for target in marker.targets:
            label, value = target.value_in(frame.f_locals, frame.f_globals)
            goes_on |= self._take(marker, label, value)
        return goes_on

    def _take(self, marker: Marker, label: str, value: object) -> bool:
        """Note a value that is a tensor, or a list, tuple or dict of some."""
        if type(value) is tw.Tensor or issubclass(type(value), tw.Tensor):
            made = marker.made.get(label)
            if made is None:
                made = self._new(marker, label)
            made.note(cast("tw.Tensor", value))
            return True
        for suffix, x in _first_items(value):
            name = label + suffix
            (marker.made.get(name) or self._new(marker, name)).note(x)
        marker.idle += not marker.made
        return marker.idle < policy.MOST_IDLE

    def _new(self, marker: Marker, label: str) -> Made:
        name = clip_line(label, policy.LONGEST_TENSOR_NAME)
        made = Made(marker.file, marker.line, marker.end_line, marker.function, name)
        made.before = max(marker.runs - 1, 0)
        if self._retains:
            made.film = Film(bool(marker.function))
        marker.made[label] = made
        if len(self._found) < policy.MOST_LINE_RESULTS:
            self._found.append((marker, made))
        return made


def _first_items(value: object) -> Iterator[tuple[str, tw.Tensor]]:
    """Yield the first few tensors of a list, tuple or dict, and how each is reached."""
    items: Iterable[tuple[object, object]]
    if type(value) is tuple or type(value) is list:
        items = enumerate(value)
    elif type(value) is dict:
        items = value.items()
    else:
        return
    for key, item in islice(items, policy.MOST_LINE_PARTS):
        if issubclass(type(item), tw.Tensor) and type(key) in (int, str):
            yield f"[{key!r}]", cast("tw.Tensor", item)


def _return_marker(code: CodeType, offset: int) -> Marker:
    line, end_line, _, _ = position_of(code, offset)
    line = line or code.co_firstlineno
    function = "" if code.co_name.startswith("<") else code.co_name
    return Marker(code.co_filename, line, end_line or line, function, NOWHERE, ())


class _Marking:
    """Puts markers into the statements of one file."""

    def __init__(self, file: str, markers: list[Marker]) -> None:
        self._file = file
        self._markers = markers
        self._function = ""

    def mark(self, tree: ast.Module | ast.Expression) -> None:
        """Put markers into a tree."""
        if isinstance(tree, ast.Module):
            tree.body = self._block(tree.body)
        elif _monitoring is None:
            tree.body = self._returning(tree, tree.body)

    def _block(
        self, body: list[ast.stmt], head: Sequence[ast.stmt] = (), plain: bool = False
    ) -> list[ast.stmt]:
        """Return statements with markers; in a `plain` block only inside of them."""
        marked = [*head]
        for statement in body:
            self._inside(statement, plain)
            marked.append(statement)
            if isinstance(statement, Assignment) and not plain:
                marked += self._after(statement)
        if _monitoring is not None and marked and _is_marker(marked[-1]):
            # The jump or return that follows has no position of its own and would
            # take over the marker's.
            at = self._markers[marked[-1].lineno - _FIRST].position
            marked.append(_at(ast.Pass(), at))
        return marked

    def _inside(self, statement: ast.stmt, plain: bool) -> None:
        """Put markers into the blocks of one statement."""
        if isinstance(statement, Function):
            before, self._function = self._function, statement.name
            statement.body = self._block(statement.body)
            self._function = before
            return
        if isinstance(statement, ast.ClassDef):
            statement.body = self._block(statement.body, plain=True)
            return
        head: list[ast.stmt] = []
        if isinstance(statement, Loop) and not plain and not _is_range(statement.iter):
            head = self._marker(statement, statement.iter, [statement.target])
        elif isinstance(statement, With) and not plain:
            last = statement.items[-1]
            bound = [one.optional_vars for one in statement.items if one.optional_vars]
            head = self._marker(statement, last.context_expr, bound)
        if isinstance(statement, ast.Return) and statement.value and not _monitoring:
            statement.value = self._returning(statement, statement.value)
        for name in ("body", "orelse", "finalbody"):
            if body := getattr(statement, name, None):
                first = head if name == "body" else ()
                setattr(statement, name, self._block(body, first, plain))
        for part in (
            *getattr(statement, "handlers", ()),
            *getattr(statement, "cases", ()),
        ):
            part.body = self._block(part.body, (), plain)

    def _after(self, statement: Assignment) -> list[ast.stmt]:
        """Return the marker behind an assignment; none if no tensor is assigned."""
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        else:
            targets = [statement.target]
        is_constant = isinstance(statement.value, ast.Constant | ast.JoinedStr)
        is_new = not isinstance(statement, ast.AugAssign) and all(
            isinstance(one, ast.Name) for one in targets
        )
        if statement.value is None or (is_constant and is_new):
            return []
        return self._marker(statement, statement, targets)

    def _marker(
        self, statement: ast.stmt, end: ast.AST, bound: Sequence[ast.expr]
    ) -> list[ast.stmt]:
        targets = [*islice(_targets(bound), policy.MOST_LINE_PARTS)]
        if not targets:
            return []
        at = _position(bound[-1])
        index = self._add(statement.lineno, getattr(end, "end_lineno", 0), at, targets)
        if _monitoring is not None:
            line = _FIRST + index
            return [_at(ast.Pass(), (line, line, 0, 0))]
        call = ast.Call(ast.Name(_AFTER, ast.Load()), [ast.Constant(index)], [])
        return [_at(ast.Expr(call), at)]

    def _returning(
        self, statement: ast.Return | ast.Expression, value: ast.expr
    ) -> ast.expr:
        """Return the call that notes a returned value, where there are no events."""
        at = _position(value)
        index = self._add(at[0], at[1], at, [])
        name = ast.Name(_RETURNED, ast.Load())
        call = ast.Call(name, [ast.Constant(index), value], [])
        for one in (call, name, call.args[0]):
            ast.copy_location(one, value)
        return call

    def _add(
        self, line: int, end_line: int, at: Extent, targets: Sequence[Target]
    ) -> int:
        marker = Marker(
            self._file, line, max(line, end_line), self._function, at, tuple(targets)
        )
        self._markers.append(marker)
        return len(self._markers) - 1


def _targets(bound: Sequence[ast.expr]) -> Iterator[Target]:
    """Yield the names, attributes and items of names that are bound."""
    for node in bound:
        match node:
            case ast.Name(name):
                yield Target(name, name)
            case ast.Tuple(parts) | ast.List(parts):
                yield from _targets(parts)
            case ast.Starred(part):
                yield from _targets([part])
            case ast.Attribute(ast.Name(name), attribute):
                yield Target(f"{name}.{attribute}", name, attribute)
            case ast.Subscript(ast.Name(name), ast.Constant(key)):
                yield Target(f"{name}[{key!r}]", name, key=key, is_item=True)
            case ast.Subscript(ast.Name(name)):
                yield Target(name, name, is_item=True)


def _is_range(node: ast.expr) -> bool:
    match node:
        case ast.Call(ast.Name("range")):
            return True
    return False


def _is_marker(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass) and statement.lineno >= _FIRST


def _position(node: ast.expr) -> Extent:
    end_line, end_column = node.end_lineno, node.end_col_offset
    assert end_line is not None, "internal: a parsed node has an end"
    assert end_column is not None, "internal: a parsed node has an end"
    return node.lineno, end_line, node.col_offset, end_column


def _at(statement: ast.stmt, extent: Extent) -> ast.stmt:
    """Give a statement and its parts a position."""
    for node in ast.walk(statement):
        node.lineno, node.end_lineno = extent[0], extent[1]  # type: ignore[attr-defined]
        node.col_offset, node.end_col_offset = extent[2:]  # type: ignore[attr-defined]
    return statement


def location_table(first: int, positions: Iterable[Position]) -> bytes:
    r"""Return the `co_linetable` of a position for each code unit.

    The format is described in `Objects/locations.md` of CPython.

    >>> code = compile("x = (1 +\n  y)", "main.py", "exec")
    >>> table = location_table(code.co_firstlineno, code.co_positions())
    >>> same = code.replace(co_linetable=table)
    >>> list(same.co_positions()) == list(code.co_positions())
    True
    """
    table = bytearray()
    before = first
    for (line, end_line, column, end_column), units in groupby(positions):
        left = sum(1 for _ in units)
        while left:
            length = min(left, 8)
            left -= length
            kind = 15 if line is None else 13 if column is None else 14
            table.append(0x80 | kind << 3 | (length - 1))
            if line is None:
                continue
            step = line - before
            before = line
            table += _number(-step << 1 | 1 if step < 0 else step << 1)
            if column is not None:
                table += _number((end_line or line) - line)
                table += _number(column + 1)
                table += _number((end_column or 0) + 1)
    return bytes(table)


def _number(value: int) -> bytes:
    """Return a number in groups of six bits, the lowest first."""
    groups = bytearray()
    while value > 0x3F:
        groups.append(0x40 | value & 0x3F)
        value >>= 6
    groups.append(value)
    return bytes(groups)
