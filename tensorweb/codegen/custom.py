"""Complete the WGSL of kernels that a program brings itself.

The program's text is the body of `main`. Around it stand the declarations of its inputs
and outputs, and of those sizes, shapes and ids that it names.
"""

from __future__ import annotations

import re
from math import prod
from textwrap import indent

from tensorweb.codegen.expression import VALUE_TYPES
from tensorweb.codegen.program import (
    LARGEST_GRID,
    Launch,
    Program,
    Target,
    Word,
    grid_of,
    output,
    scratch,
)
from tensorweb.dtypes import BY_NAME
from tensorweb.graph.attributes import IDS, Argument, Custom
from tensorweb.schedule.kernel import Kernel
from tensorweb.shapes import size

HEADER_BEGINS = "// The header of the kernel."
TEXT_BEGINS = "  // The text of the kernel."

CPU = Target()
"""Stands for what runs the text without a GPU."""

INDENT = "  "
"""Before each line of the text."""


def custom(kernel: Kernel, target: Target) -> Program:
    """Return the program of a program's own kernel.

    Outputs that nobody needs are scratch. On the CPU any grid is dispatched.
    """
    own = kernel.custom
    assert own is not None, "internal: a kernel without its text"
    unread = [n for n in range(len(own.outputs)) if n not in kernel.sizes]
    nbytes = [
        -(-size(own.outputs[n].shape) * BY_NAME[own.outputs[n].dtype].itemsize // 4) * 4
        for n in unread
    ]
    launch = _Writer(kernel, own, unread, target is CPU).launch()
    cleared = frozenset(range(len(unread)) if own.is_cleared else ())
    return Program((launch,), tuple(nbytes), cleared, own.is_cleared)


def locate_in_text(source: str, line: int, column: int) -> tuple[str, int, int]:
    """Return the part of a source that has a line, and line and column in that part.

    The part is `text`, `header`, or `declarations`, whose lines are the source's own.
    """
    lines = source.splitlines()
    text = lines.index(TEXT_BEGINS) + 1
    main = next(n for n, each in enumerate(lines) if each.startswith("@compute"))
    header = lines.index(HEADER_BEGINS) + 1 if HEADER_BEGINS in lines else main
    if text < line < len(lines):
        return "text", line - text, max(column - len(INDENT), 0)
    if header < line <= main:
        return "header", line - header, column
    return "declarations", line, column


class _Writer:
    """Collects the declarations of one kernel."""

    def __init__(
        self, kernel: Kernel, own: Custom, unread: list[int], is_plain: bool
    ) -> None:
        self.kernel = kernel
        self.is_plain = is_plain
        self.own = own
        self.unread = unread
        self.words: list[Word] = []
        self.fields: list[str] = []
        self.values: list[str] = []
        self.buffers: list[tuple[str, str, int]] = []
        self.names = set(re.findall(r"[A-Za-z_]\w*", f"{own.header}\n{own.text}"))

    def launch(self) -> Launch:
        own = self.own
        for argument in own.inputs:
            self._input(argument)
        for index, argument in enumerate(own.outputs):
            self._output(index, argument)
        head, begin, grid = self._head()
        bindings = [
            f"@group(0) @binding({n}) var<storage, {mode}> {declared};\n"
            for n, (mode, declared, _) in enumerate(self.buffers)
        ]
        if self.fields:
            block = "struct Parameters {\n" + "".join(self.fields) + "}\n"
            bindings.insert(0, block)
            bindings.append(
                f"@group(0) @binding({len(self.buffers)}) "
                "var<uniform> parameters: Parameters;\n"
            )
        header = f"\n{HEADER_BEGINS}\n{own.header}\n" if own.header else ""
        source = "".join(
            [
                *bindings,
                *self._constants(),
                header,
                head,
                *begin,
                *self.values,
                f"{TEXT_BEGINS}\n",
                indent(own.text, INDENT),
                "\n}\n",
            ]
        )
        return Launch(
            "custom",
            source,
            "".join("r" if mode == "read" else "w" for mode, *_ in self.buffers),
            tuple(storage for *_, storage in self.buffers),
            grid,
            tuple(self.words),
        )

    def _input(self, argument: Argument) -> None:
        """Declare an input: an array, or a value if it has no axes."""
        name, kind = argument.name, BY_NAME[argument.dtype].wgsl
        (step,) = self.kernel.expression(name).steps
        if step.kind == "scalar":
            held = VALUE_TYPES[argument.dtype]
            self.words.append((step.slot, argument.dtype))
            self.fields.append(f"  {name}: {held},\n")
            value = f"parameters.{name}"
            value = value if held == kind else f"{kind}({value})"
            self.values.append(f"  let {name} = {value};\n")
            return
        if argument.shape:
            self.buffers.append(("read", f"{name}: array<{kind}>", step.slot))
            return
        self.buffers.append(("read", f"{name}_value: array<{kind}>", step.slot))
        self.values.append(f"  let {name} = {name}_value[0];\n")

    def _output(self, index: int, argument: Argument) -> None:
        """Declare an output, of atomics if the text calls atomic functions on it."""
        name, kind = argument.name, BY_NAME[argument.dtype].wgsl
        text = f"{self.own.header}\n{self.own.text}"
        if re.search(rf"\batomic\w+\s*\(\s*&\s*{name}\b", text):
            kind = f"atomic<{kind}>"
        if index in self.unread:
            storage = scratch(self.unread.index(index))
        else:
            storage = output(self.kernel.sizes.index(index))
        self.buffers.append(("read_write", f"{name}: array<{kind}>", storage))

    def _constants(self) -> list[str]:
        """Return the declarations of the sizes and shapes that the text names.

        They are constants, so that they can be lengths of arrays and bounds of loops
        with barriers; a text that names them is compiled for each shape.
        """
        lines = []
        for name, _, shape in (*self.own.inputs, *self.own.outputs):
            if f"{name}_size" in self.names:
                lines.append(f"const {name}_size = {size(shape)}u;\n")
            if f"{name}_shape" in self.names and shape:
                listed = ", ".join(f"{length}u" for length in shape)
                lines.append(
                    f"const {name}_shape = array<u32, {len(shape)}>({listed});\n"
                )
        return lines

    def _head(self) -> tuple[str, list[str], tuple[int, int]]:
        """Return the head of `main`, its first lines, and the grid.

        Workgroups beyond the limits of a dispatch are counted along x and y, and their
        ids computed.
        """
        groups, workgroup = self.own.groups, self.own.workgroup
        attributes = "\n@compute @workgroup_size({}, {}, {})\nfn main(".format(
            *workgroup
        )
        used = [name for name in IDS if name in self.names]
        is_small = groups[2] == 1 and max(groups) <= LARGEST_GRID
        if is_small or self.is_plain:
            return attributes + _parameters(used), [], groups[:2]
        x, y, _ = groups
        width = ", ".join(f"{count}u" for count in workgroup)
        count = ", ".join(f"{count}u" for count in groups)
        ids = f"group % {x}u, group / {x}u % {y}u, group / {x * y}u"
        lines = [
            "  let group = dispatched_id.y * dispatched.x + dispatched_id.x;\n",
            f"  if (group >= {prod(groups)}u) {{\n    return;\n  }}\n",
            f"  let workgroup_id = vec3u({ids});\n",
            f"  let num_workgroups = vec3u({count});\n",
            f"  let global_id = workgroup_id * vec3u({width}) + local_id;\n",
        ]
        given = [name for name in used if name == "local_index"]
        more = (
            "  @builtin(workgroup_id) dispatched_id: vec3u,\n"
            "  @builtin(num_workgroups) dispatched: vec3u,\n"
        )
        head = attributes + _parameters(["local_id", *given], more)
        return head, lines, grid_of(prod(groups))


def _parameters(names: list[str], more: str = "") -> str:
    """Return the parameters of `main` and its opening brace."""
    lines = [f"  @builtin({IDS[name][0]}) {name}: {IDS[name][1]},\n" for name in names]
    return ("\n" if names or more else "") + "".join([*lines, more]) + ") {\n"
