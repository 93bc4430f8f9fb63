"""Which expression of the program each line of a kernel's WGSL computes.

Generated functions have the names of a kernel's expressions, and their values `v0`,
`v1`, … those of its steps, so that only a request of the page compares them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import CodeType

from tensorweb.events import Flush
from tensorweb.events import KernelRecord as Launch
from tensorweb.frames import position_of

from . import sources
from .kernel_records import KernelBuffer, KernelLine
from .records import Span
from .sources import is_main, utf16

_BINDING = re.compile(r"@group\(0\) @binding\((\d+)\) var<storage, \w+> (\w+)")
_FUNCTION = re.compile(r"fn (\w+?)(?:_element)?_?(\d*)\(")
_VALUE = re.compile(r" +(?:let |var )?(?:before\d+_)?v(\d+)(?:_\d+)?(?:: [^=]+)? = ")

_RENAMED = {"element": "value", "store": "value", "store_one": "finish"}
"""The expression of functions that have another name."""

_ONE_STEP = frozenset({"load", "ramp"})
"""Functions of row kernels that compute the step of their number."""


def described(
    text: str, flush: Flush, launch: Launch
) -> tuple[list[KernelLine], list[KernelBuffer]]:
    """Return what the lines of a launch's WGSL belong to, and the buffers it binds."""
    spans = Spans(flush)
    indices: dict[str, int] = {}
    buffers: list[KernelBuffer] = []
    lines: list[KernelLine] = []
    steps: Sequence[int] = ()
    whole = -1
    for row, line in enumerate(text.splitlines()):
        node = -1
        if bound := _BINDING.match(line):
            node = launch.bindings[int(bound[1])]
            indices[bound[2]] = len(buffers)
            buffers.append(_buffer(flush, launch, bound[2], node, spans.of(node)))
        elif function := _FUNCTION.match(line):
            whole, steps = _function(launch, function[1], function[2])
            node = whole
        elif not line.startswith((" ", ")")):
            whole, steps = -1, ()
        elif (value := _VALUE.match(line)) and int(value[1]) < len(steps):
            node = steps[int(value[1])]
        else:
            node = whole
        span = spans.of(node)
        used = _indexed(line, indices) if bound is None else [len(buffers) - 1]
        if span is None and not used:
            continue
        new: KernelLine = {"first": row, "last": row, "span": span, "buffers": used}
        before = lines[-1] if lines else new
        if {**before, "first": row, "last": before["last"] + 1} == new:
            before["last"] = row
        else:
            lines.append(new)
    return lines, buffers


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
    """The expressions of the main file that built the nodes of a flush."""

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
        """Return the expression that an instruction runs; None in other files."""
        key = code, instruction
        if key not in self._known:
            self._known[key] = self._found(code, instruction)
        return self._known[key]

    def _found(self, code: CodeType, instruction: int) -> Span | None:
        line, end_line, column, end_column = position_of(code, instruction)
        file = code.co_filename
        if line is None or not is_main(file):
            return None
        if (lines := self._lines.get(file)) is None:
            lines = self._lines[file] = sources.text_of(file).splitlines()
        end_line = end_line or line
        return {
            "line": line,
            "column": utf16(lines, line, column),
            "endLine": end_line,
            "endColumn": utf16(lines, end_line, end_column),
        }
