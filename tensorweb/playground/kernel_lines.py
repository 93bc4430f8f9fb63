"""Which expression of the program each line of a kernel's WGSL computes.

Generated functions have the names of a kernel's expressions, and their values `v0`,
`v1`, … those of its steps, so that only a request of the page compares them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING

from tensorweb.events import Flush
from tensorweb.events import KernelRecord as Launch
from tensorweb.frames import position_of

from . import policy, sources
from .kernel_records import KernelBuffer, KernelLine
from .records import Span
from .sources import is_main, is_program, utf16

if TYPE_CHECKING:
    from tensorweb.codegen.wasm.text import ModuleText

_BINDING = re.compile(r"@group\(0\) @binding\((\d+)\) var<storage, \w+> (\w+)")
_FUNCTION = re.compile(r"fn (\w+?)(?:_element)?_?(\d*)\(")
_VALUE = re.compile(r" +(?:let |var )?(?:before\d+_)?v(\d+)(?:_\d+)?(?:: [^=]+)? = ")

_MODULE_FUNCTION = re.compile(r"  \(func (\$\w+)")
_MODULE_CALL = re.compile(r"call (\$\w+)")
_RETURN = re.compile(r" +return v(\d+);")
_CALL = re.compile(r"(\w+)\(")

_RENAMED = {"element": "value", "store": "value", "store_one": "finish"}
"""The expression of functions that have another name."""

_ONE_STEP = frozenset({"load", "ramp"})
"""Functions of row kernels that compute the step of their number."""


def described(
    code: object, flush: Flush, launch: Launch
) -> tuple[list[KernelLine], list[KernelBuffer]]:
    """Return what the lines of a launch's text belong to, and the buffers it binds."""
    # Imported now: who looks at no kernel needs no text of modules.
    from tensorweb.codegen.wasm.text import ModuleText

    if isinstance(code, ModuleText):
        return _of_module(code, flush, launch)
    return _of_wgsl(str(code), flush, launch)


def _of_wgsl(
    text: str, flush: Flush, launch: Launch
) -> tuple[list[KernelLine], list[KernelBuffer]]:
    """Describe WGSL."""
    spans = Spans(flush)
    indices: dict[str, int] = {}
    buffers: list[KernelBuffer] = []
    rows: list[_Row] = []
    steps: Sequence[int] = ()
    core = dict(launch.steps).get("core", (-1,))[0]
    whole, name = -1, ""
    for line in text.splitlines():
        node = whole
        used: list[int] = []
        if bound := _BINDING.match(line):
            node = launch.bindings[int(bound[1])]
            used = [len(buffers)]
            indices[bound[2]] = len(buffers)
            buffers.append(_buffer(flush, launch, bound[2], node, spans.of(node)))
        elif function := _FUNCTION.match(line):
            whole, steps = _function(launch, function[1], function[2])
            node, name = whole, "" if steps or whole >= 0 else line[3 : line.index("(")]
        elif not line.startswith((" ", ")", "}")):
            whole, steps, name = -1, (), ""
        else:
            used = _indexed(line, indices)
            value = _VALUE.match(line) or _RETURN.match(line)
            if value and int(value[1]) < len(steps):
                # A product that is summed by a reduction has no node of its own.
                node = steps[int(value[1])]
                node = core if node < 0 else node
            elif node < 0 and len(used) == 1 and buffers[used[0]]["written"]:
                node = launch.bindings[used[0]]
        calls = _CALL.findall(line) if bound is None else []
        rows.append(_Row([node] if node >= 0 else [], used, name, calls))
    _give_to_callers(rows)
    return _joined(rows, spans), buffers


def _of_module(
    code: ModuleText, flush: Flush, launch: Launch
) -> tuple[list[KernelLine], list[KernelBuffer]]:
    """Describe the text of a WebAssembly module.

    The buffers have no names there; they are numbered as in its list of addresses.
    """
    spans = Spans(flush)
    buffers = [
        _buffer(flush, launch, f"buffer {index}", node, spans.of(node))
        for index, node in enumerate(launch.bindings)
    ]
    written = [index for index, each in enumerate(buffers) if each["written"]]
    read = [index for index in range(len(buffers)) if index not in written]
    steps = dict(launch.steps)
    core = steps.get("core", (-1,))[0]
    rows: list[_Row] = []
    helper = ""
    text = str(code).splitlines()
    for line, origin in zip(text, code.line_steps(), strict=True):
        node, used = -1, list[int]()
        if function := _MODULE_FUNCTION.match(line):
            helper = function[1]
        if origin is not None:
            name, step = origin
            helper = ""
            nodes = steps.get(name, ())
            node = nodes[step] if 0 <= step < len(nodes) else -1
            used = [at for at in read if 0 <= launch.bindings[at] == node]
            node = core if node < 0 else node
            if step < 0 and ".store" in line:
                used = written
                if node < 0 and len(written) == 1:
                    node = launch.bindings[written[0]]
        calls = _MODULE_CALL.findall(line)
        rows.append(_Row([node] if node >= 0 else [], used, helper, calls))
    _give_to_callers(rows)
    return _joined(rows, spans), buffers


@dataclass(slots=True)
class _Row:
    """A line: its nodes, its buffers, its function if that has no node, its calls."""

    nodes: list[int]
    buffers: list[int]
    helper: str
    calls: list[str]


def _give_to_callers(rows: Sequence[_Row]) -> None:
    """Give the lines of functions of the library the nodes of their callers."""
    callers: dict[str, list[_Row]] = {}
    for row in rows:
        for name in row.calls:
            callers.setdefault(name, []).append(row)
    known: dict[str, list[int]] = {}

    def nodes_of(name: str) -> list[int]:
        if name not in known:
            known[name] = []
            found = [
                node
                for row in callers.get(name, ())
                for node in row.nodes or nodes_of(row.helper)
            ]
            known[name] = list(dict.fromkeys(found))
        return known[name]

    for row in rows:
        if row.helper and not row.nodes:
            row.nodes = list(nodes_of(row.helper))


def _joined(rows: Sequence[_Row], spans: Spans) -> list[KernelLine]:
    """Return neighbouring lines that belong to the same, together."""
    lines: list[KernelLine] = []
    for at, row in enumerate(rows):
        found: list[Span] = []
        for span in map(spans.of, row.nodes):
            if span is not None and span not in found:
                found.append(span)
        if not found and not row.buffers:
            continue
        new: KernelLine = {
            "first": at,
            "last": at,
            "spans": found[: policy.MOST_SPANS],
            "buffers": row.buffers,
            "helper": bool(row.helper),
        }
        before = lines[-1] if lines else new
        if {**before, "first": at, "last": before["last"] + 1} == new:
            before["last"] = at
        else:
            lines.append(new)
    return lines


def _indexed(line: str, indices: Mapping[str, int]) -> list[int]:
    """Return the buffers whose elements a line names."""
    names = re.findall(r"(\w+)\[", line)
    return list(dict.fromkeys(indices[name] for name in names if name in indices))


def _function(launch: Launch, name: str, number: str) -> tuple[int, Sequence[int]]:
    """Return the node of a function's lines, and the nodes of its values."""
    steps = dict(launch.steps)
    core = steps.pop("core", (-1,))[0]
    # All expressions of a row kernel share their steps.
    shared = next(iter(steps.values()), ()) if launch.kind == "rows" else ()
    if name in _ONE_STEP and number and int(number) < len(shared):
        return shared[int(number)], ()
    if name == "main":
        return core, shared
    return -1, steps.get(name) or steps.get(_RENAMED.get(name, name), shared)


def _buffer(
    flush: Flush, launch: Launch, name: str, storage: int, span: Span | None
) -> KernelBuffer:
    traffic = {each.storage: each.nbytes for each in (*launch.reads, *launch.writes)}
    return {
        "name": name,
        "value": value_of(flush, storage),
        "bytes": traffic.get(storage, 0),
        "written": any(each.storage == storage for each in launch.writes),
        "span": span,
    }


def value_of(flush: Flush, storage: int) -> str:
    """Describe a storage, for example `float32 (3, 4)`."""
    if storage >= len(flush.graph):
        return "partial results"
    node = flush.graph[storage]
    return f"{node.dtype} {node.shape}"


class Spans:
    """The expressions of the program that built the nodes of a flush."""

    def __init__(self, flush: Flush) -> None:
        """Take where they were built."""
        self._locations = flush.locations
        self._lines: dict[str, list[str]] = {}
        self._known: dict[tuple[CodeType, int], Span | None] = {}

    def of(self, node: int) -> Span | None:
        """Return the expression that built a node; None if that is unknown."""
        if not 0 <= node < len(self._locations):
            return None
        location = self._locations[node]
        return None if location is None else self.at(*location[:2])

    def at(self, code: CodeType, instruction: int) -> Span | None:
        """Return the expression that an instruction runs; None outside the program."""
        key = code, instruction
        if key not in self._known:
            self._known[key] = self._found(code, instruction)
        return self._known[key]

    def _found(self, code: CodeType, instruction: int) -> Span | None:
        line, end_line, column, end_column = position_of(code, instruction)
        file = code.co_filename
        if line is None or not is_program(file):
            return None
        if (lines := self._lines.get(file)) is None:
            lines = self._lines[file] = sources.text_of(file).splitlines()
        end_line = end_line or line
        span: Span = {
            "line": line,
            "column": utf16(lines, line, column),
            "endLine": end_line,
            "endColumn": utf16(lines, end_line, end_column),
        }
        return span if is_main(file) else {**span, "file": sources.name_of(file)}
