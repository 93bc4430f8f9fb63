"""Run a program of WGSL in Python, one invocation after another.

The program becomes functions of Python, which yield at barriers. Every operation
rounds as the GPU's does, and elements of shared arrays go through a `Memory`;
`Recorder` is one that notes every access. It is slow and exact, and needs no device.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from math import prod
from types import CodeType
from typing import Any, Literal, NamedTuple

from tensorweb.codegen import policy
from tensorweb.codegen.python_functions import (
    ATOMIC,
    FORMATS,
    ROUND,
    TOOLS,
    Value,
    Writer,
    replaced,
    waiting,
    zero,
)
from tensorweb.codegen.wgsl import (
    Statement,
    Term,
    refuse,
)
from tensorweb.codegen.wgsl_program import (
    Array,
    Module,
    OutsideError,
    ProgramParser,
)
from tensorweb.codegen.wgsl_types import VECTORS, members_of
from tensorweb.errors import counted

Triple = tuple[int, int, int]
Parts = tuple[int, ...] | None
Part = int | Parts


class Memory:
    """The arrays that invocations share.

    Attributes:
        values: flat lists of elements by name.
        shapes: lengths of the arrays.
    """

    def __init__(self, arrays: Mapping[str, Array], storages: Mapping[str, bytes]):
        """Take the bytes of storages; memory of workgroups is zero."""
        self.arrays = arrays
        self.values: dict[str, list[Value]] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        for name, own in arrays.items():
            if own.space == "storage":
                self.values[name] = _elements(own.kind, storages[name])
            shape = tuple(len(self.values[name]) if n < 0 else n for n in own.shape)
            self.shapes[name] = shape
        self.clear()

    def clear(self) -> None:
        """Fill the memory of workgroups with zeros."""
        for name, own in self.arrays.items():
            if own.space == "workgroup":
                self.values[name] = [zero(own.kind)] * prod(own.shape)

    def data(self, name: str) -> bytes:
        """Return the bytes of a storage."""
        kind, values = self.arrays[name].kind, self.values[name]
        form = _format(kind)
        if len(form) == 1:
            return struct.pack(f"<{len(values)}{form}", *values)
        return b"".join(struct.pack(f"<{form}", *each) for each in values)

    def note(
        self, kind: Kind, name: str, at: int, line: int, parts: Parts = None
    ) -> None:
        """Receive an access to an element, or to these parts of a vector."""

    def outside(self, name: str, index: int, length: int, line: int) -> None:
        """Receive an index beyond the end of an array."""

    def tick(self, line: int) -> None:
        """Receive an iteration of a loop."""

    def address(self, name: str, indices: tuple[int, ...], line: int) -> int:
        """Return the address of an element; -1 if there is none."""
        at = 0
        for index, length in zip(indices, self.shapes[name], strict=True):
            if not 0 <= index < length:
                self.outside(name, index, length, line)
                return -1
            at = at * length + index
        return at

    def load(
        self, name: str, indices: tuple[int, ...], line: int, part: Part = None
    ) -> Value:
        """Return an element, or a part of a vector; zero where there is none."""
        at = self.address(name, indices, line)
        value = self.values[name][at] if at >= 0 else zero(self.arrays[name].kind)
        if isinstance(part, int) and not 0 <= part < len(value):
            self.outside(name, part, len(value), line)
            part = len(value) - 1
        parts = (part,) if isinstance(part, int) else part
        if at >= 0:
            self.note("read", name, at, line, parts)
        if parts is None:
            return value
        return value[part] if parts != part else tuple(value[i] for i in parts)

    def store(
        self,
        name: str,
        indices: tuple[int, ...],
        value: Value,
        line: int,
        part: int | None = None,
    ) -> None:
        """Write an element or a part of a vector, if there is one."""
        at = self.address(name, indices, line)
        if at < 0:
            return
        own = self.values[name]
        if part is not None and not 0 <= part < len(own[at]):
            self.outside(name, part, len(own[at]), line)
            return
        own[at] = value if part is None else replaced(own[at], part, value)
        self.note("write", name, at, line, None if part is None else (part,))

    def atomic(
        self, call: str, name: str, indices: tuple[int, ...], value: Value, line: int
    ) -> Value:
        """Change an element by an atomic function; return what it was."""
        at = self.address(name, indices, line)
        if at < 0:
            return 0
        before = self.values[name][at]
        if call != "atomicLoad":
            after = ROUND[self.arrays[name].kind](ATOMIC[call](before, value))
            self.values[name][at] = after
        self.note("atomic", name, at, line)
        return before

    def get(
        self, value: Value, name: str, indices: tuple[int, ...], line: int
    ) -> Value:
        """Return an element of a variable; the last one for an index beyond it."""
        for index in indices:
            if not 0 <= index < len(value):
                self.outside(name, index, len(value), line)
                index = -1
            value = value[index]
        return value

    def put(
        self,
        value: Value,
        name: str,
        indices: tuple[int, ...],
        element: Value,
        line: int,
    ) -> None:
        """Write an element of a variable, if there is one."""
        own = self.get(value, name, indices[:-1], line)
        if 0 <= indices[-1] < len(own):
            own[indices[-1]] = element
        else:
            self.outside(name, indices[-1], len(own), line)


def _elements(kind: str, data: bytes) -> list[Value]:
    """Return the elements of a storage."""
    form = _format(kind)
    count = len(data) // struct.calcsize(f"<{form}")
    if len(form) == 1:
        return list(struct.unpack_from(f"<{count}{form}", data))
    return list(struct.iter_unpack(f"<{form}", data[: count * struct.calcsize(form)]))


def _format(kind: str) -> str:
    """Return the format of an element of a storage in memory."""
    if kind in VECTORS:
        element, width = VECTORS[kind]
        return FORMATS[element] * width
    members = members_of(kind)
    return "".join(FORMATS[each] for _, each in members) or FORMATS[kind]


Kind = Literal["read", "write", "atomic", "barrier"]


class Step(NamedTuple):
    """An access of one invocation to shared memory, or a barrier.

    Attributes:
        kind: `read`, `write`, `atomic` or `barrier`.
        name: of the array.
        at: address of the element.
        value: of the element then.
        line: of the text, from 1 on.
    """

    kind: Kind
    name: str
    at: int
    value: Value
    line: int


@dataclass
class Users:
    """Which invocations used an element since the last barrier, with the last line."""

    readers: dict[int, int] = field(default_factory=dict)
    writers: dict[int, int] = field(default_factory=dict)
    atomics: dict[int, int] = field(default_factory=dict)
    is_named: bool = False


class Recorder(Memory):
    """Notes the accesses of the invocations of one workgroup, and their mistakes.

    Attributes:
        thread: index of the invocation that runs.
        steps: of each invocation, in order.
        problems: sentences with their lines.
        is_cut: whether there were more steps than are noted.
    """

    def __init__(self, arrays: Mapping[str, Array], storages: Mapping[str, bytes]):
        """Begin without steps."""
        super().__init__(arrays, storages)
        self.thread = 0
        self.steps: dict[int, list[Step]] = {}
        self.problems: dict[tuple[str, int, str], str] = {}
        self.is_cut = False
        self._count = self._iterations = 0
        self._users: dict[tuple[str, int, int], Users] = {}

    def note(
        self, kind: Kind, name: str, at: int, line: int, parts: Parts = None
    ) -> None:
        """Note an access, and whether it races with another one."""
        self._count += 1
        value = self.values[name][at]
        self.is_cut = self._count > policy.MOST_STEPS
        if not self.is_cut:
            step = Step(kind, name, at, value, line)
            self.steps.setdefault(self.thread, []).append(step)
        if parts is None:
            parts = tuple(range(len(value))) if isinstance(value, tuple) else (0,)
        for part in parts:
            self._race(kind, name, at, line, part)

    def _race(self, kind: Kind, name: str, at: int, line: int, part: int) -> None:
        """Note who uses an element, and whether it races with another one."""
        users = self._users.setdefault((name, at, part), Users())
        mine = {
            "read": users.readers,
            "write": users.writers,
            "atomic": users.atomics,
        }[kind]
        mine[self.thread] = line
        others = [("writes", users.writers)]
        others += [("reads", users.readers)] if kind == "write" else []
        for verb, own in others:
            other = next((thread for thread in own if thread != self.thread), None)
            if other is not None and not users.is_named:
                users.is_named = True
                self.problem(
                    "race",
                    line,
                    name,
                    f"Race: thread {self.thread} {kind}s {self.label(name, at)} (line "
                    f"{line}), and thread {other} {verb} it (line {own[other]}), "
                    "without a barrier between",
                )

    def label(self, name: str, at: int) -> str:
        """Return an element as the text names it, `tile[1][2]`."""
        found = ""
        for length in reversed(self.shapes[name]):
            at, index = divmod(at, length)
            found = f"[{index}]{found}"
        return name + found

    def problem(self, kind: str, line: int, name: str, text: str) -> None:
        """Note a mistake; the first one of a kind at a line stands for all of them."""
        self.problems.setdefault((kind, line, name), text)

    def outside(self, name: str, index: int, length: int, line: int) -> None:
        """Note an index beyond the end."""
        self.problem(
            "outside",
            line,
            name,
            f"Out of bounds: thread {self.thread} uses {name}[{index}] (line {line}), "
            f"and {name} has {counted(length, 'element')}",
        )

    def tick(self, line: int) -> None:
        """Raise after as many iterations as an endless loop has."""
        self._iterations += 1
        if self._iterations > policy.MOST_ITERATIONS:
            refuse(line, f"the loop has run {policy.MOST_ITERATIONS:,} times")

    def barrier(self, space: str, lines: Mapping[int, int], count: int) -> None:
        """Note that invocations wait, each at its line."""
        for thread, line in lines.items():
            step = Step("barrier", "", 0, 0, line)
            self.steps.setdefault(thread, []).append(step)
        line = next(iter(lines.values()))
        if len(lines) < count or len(set(lines.values())) > 1:
            some = len([each for each in lines.values() if each == line])
            self.problem(
                "barrier",
                line,
                "",
                f"Barrier: {some} of {counted(count, 'thread')} wait in line {line}, "
                "and the others do not; all must reach the same barrier",
            )
        self._users = {
            key: users
            for key, users in self._users.items()
            if self.arrays[key[0]].space != space
        }


@dataclass(frozen=True)
class Program:
    """A program as Python.

    Attributes:
        module: what was read.
        code: defines its functions.
        tools: what they name.
        waits: whether main has barriers.
    """

    module: Module
    code: CodeType
    tools: Mapping[str, Any]
    waits: bool

    def run(
        self,
        memory: Memory,
        parameters: Mapping[str, Value],
        groups: Triple,
        chosen: Triple | None = None,
    ) -> None:
        """Run all workgroups, or the chosen one.

        Args:
            memory: is read and written.
            parameters: the values of the launch.
            groups: workgroups along x, y and z.
            chosen: index of a workgroup.
        """
        names: dict[str, Any] = {**TOOLS, **self.tools}
        for tool in ("load", "store", "atomic", "get", "put", "tick"):
            names[tool] = getattr(memory, tool)
        names |= {f"v_parameters_{name}": value for name, value in parameters.items()}
        exec(self.code, names)
        x, y, z = groups
        every = ((i, j, k) for k, j, i in product(range(z), range(y), range(x)))
        for group in every if chosen is None else (chosen,):
            memory.clear()
            self._run_group(memory, names["f_main"], group, groups)

    def _run_group(
        self, memory: Memory, main: Any, group: Triple, groups: Triple
    ) -> None:
        """Run the invocations of a workgroup, each up to the next barrier."""
        recorder = memory if isinstance(memory, Recorder) else None
        x, y, z = sizes = self.module.workgroup
        running = {}
        for thread in range(x * y * z):
            local = thread % x, thread // x % y, thread // (x * y)
            ids = {
                "global_invocation_id": tuple(
                    a * b + c for a, b, c in zip(group, sizes, local, strict=True)
                ),
                "local_invocation_id": local,
                "local_invocation_index": thread,
                "workgroup_id": group,
                "num_workgroups": groups,
            }
            if recorder:
                recorder.thread = thread
            begun = main(*(ids[name] for name in self.module.builtins.values()))
            if self.waits:
                running[thread] = begun
        while running:
            lines = {}
            spaces = set()
            for thread, own in list(running.items()):
                if recorder:
                    recorder.thread = thread
                found = next(own, None)
                if found is None:
                    del running[thread]
                else:
                    lines[thread] = found[0]
                    spaces.add(found[1])
            if lines and recorder:
                for space in spaces:
                    recorder.barrier(space, lines, x * y * z)


BUILTINS = (
    *("global_invocation_id", "local_invocation_id", "local_invocation_index"),
    *("workgroup_id", "num_workgroups"),
)


TOO_DEEP = (
    "expressions or blocks as deep as this are not in the part of WGSL that runs "
    "without a GPU; write several statements or functions"
)


@lru_cache(policy.MOST_STEPPED)
def read_program(source: str) -> Program:
    """Return the program of a text.

    Raises:
        ShaderError: with a report for the first line that is not understood.

    >>> text = "@compute @workgroup_size(4) fn main() { workgroupBarrier(); }"
    >>> read_program(text).waits
    True
    """
    parser = ProgramParser(source, fold)
    try:
        module = parser.program()
    except RecursionError:
        refuse(parser.line, TOO_DEEP, OutsideError)
    for name in module.builtins.values():
        if name not in BUILTINS:
            refuse(1, f"the builtin {name!r} is not known without a GPU")
    own = waiting(module.functions)
    writer = Writer(module.arrays, own)
    try:
        for constant in module.constants:
            writer.statement(constant, 0, ())
        for each in module.functions.values():
            writer.function(each)
    except RecursionError:
        refuse(writer.line, TOO_DEEP, OutsideError)
    try:
        code = compile("\n".join(writer.lines), "<kernel>", "exec")
    except SyntaxError as error:  # Python limits the depth of blocks and parentheses
        refuse(writer.origins[(error.lineno or 1) - 1], TOO_DEEP, OutsideError)
    return Program(module, code, writer.tools, "main" in own)


def fold(term: Term, constants: Sequence[Statement]) -> object:
    """Return the value of a constant; None if it is none."""
    writer = Writer({}, set())
    for constant in constants:
        writer.statement(constant, 0, ())
    writer.write(0, f"found = {writer.term(term)}")
    names = {**TOOLS, **writer.tools, "get": Memory({}, {}).get}
    try:
        exec("\n".join(writer.lines), names)
    except NameError:
        return None
    return names["found"]


def parameters_of(module: Module, words: Sequence[int]) -> dict[str, Value]:
    """Return the values of a launch, from the words of its parameter block."""
    data = struct.pack(f"<{len(words)}i", *words)
    return {
        name: struct.unpack_from(f"<{FORMATS[kind]}", data, 4 * number)[0]
        for number, (name, kind) in enumerate(module.parameters)
    }
