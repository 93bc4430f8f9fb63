"""The text inside a tiled product's `main`: registers, the loop over depth, stores."""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb.codegen.tiles import Tile
from tensorweb.codegen.vector import COMPONENTS
from tensorweb.schedule.kernel import Expression

SIDE_BY_SIDE = 4
"""Vectors along depth that neighbouring threads read: whole sectors of memory, and few
threads that meet in one bank when the vectors are turned into the tile."""


@dataclass(frozen=True, slots=True)
class Operand:
    """How an operand is read.

    Attributes:
        name: `left` or `right`.
        expression: what an element is.
        is_vector: whether four neighbours are read at once.
        is_swapped: whether its last two groups of axes are exchanged, so that the
            other axis is the one that vectors lie along.
        is_placed: whether it is read at positions of two parts, see `places.py`.
    """

    name: str
    expression: Expression
    is_vector: bool
    is_swapped: bool
    is_placed: bool = False

    @property
    def arguments(self) -> tuple[str, str, str]:
        """Names of the arguments of its function."""
        outer, inner = ("row", "depth") if self.name == "left" else ("depth", "column")
        if self.is_swapped:
            outer, inner = inner, outer
        return "batch", outer, inner

    @property
    def is_along_depth(self) -> bool:
        """Whether a vector of it holds four terms of one row or column."""
        return self.is_vector and self.arguments[2] == "depth"


def constants(tile: Tile) -> str:
    """Return the slot of a tile's sizes."""
    sizes = (
        ("ROWS", tile.rows),
        ("COLUMNS", tile.columns),
        ("DEPTH", tile.depth),
        ("ACROSS", tile.across),
        ("THREADS", tile.threads),
    )
    return "".join(f"const {name}: u32 = {size}u;\n" for name, size in sizes)


class _Side:
    """One operand's way from memory through registers into its tile."""

    def __init__(
        self, tile: Tile, operand: Operand, length: int, depth: int, value: str
    ) -> None:
        self.operand = operand
        self.value = value
        is_left = operand.name == "left"
        self.extent = tile.rows if is_left else tile.columns
        self.first = "first_row" if is_left else "first_column"
        self.limit = "parameters.rows" if is_left else "parameters.columns"
        self.quads = self.extent * tile.depth // 4
        self.loads = -(-self.quads // tile.threads)
        self.tile = tile
        self.is_ragged = length % self.extent != 0
        self.is_depth_ragged = depth % tile.depth != 0

    def declare(self) -> str:
        """Return the registers and what each load's place in the tile is."""
        name = self.operand.name
        lines = []
        for i in range(self.loads):
            place = f"local + {i * self.tile.threads}u" if i else "local"
            lines.append(f"  let {name}_place{i} = {place};\n")
            if self.operand.is_along_depth:
                side = min(SIDE_BY_SIDE, self.tile.depth // 4)
                beside = f"{name}_place{i} % {side}u"
                beyond = f"{name}_place{i} / {side * self.extent}u * {side}u"
                lines += [
                    f"  let {name}_along{i} = {name}_place{i} / {side}u"
                    f" % {self.extent}u;\n",
                    f"  let {name}_depth{i} = ({beside} + {beyond}) * 4u;\n",
                ]
            else:
                across = self.extent // 4
                lines += [
                    f"  let {name}_along{i} = {name}_place{i} % {across}u * 4u;\n",
                    f"  let {name}_depth{i} = {name}_place{i} / {across}u;\n",
                ]
            lines.append(f"  var {name}_next{i} = vec4<Value>();\n")
        if self.operand.is_placed:
            lines += [
                f"  let {name}_fixed{i}_{place} = {name}_fixed(batch, "
                f"{self.first} + {name}_along{i} + {place}u);\n"
                for i in range(self.fixed_places)
                for place in range(4)
            ]
        return "".join(lines)

    @property
    def fixed_places(self) -> int:
        """How many different rows or columns a thread's loads begin at."""
        is_even = self.tile.threads % (self.extent // 4) == 0
        return 1 if is_even else self.loads

    def load(self, depth: str, indent: str) -> str:
        """Return the loads of the tile that begins at a depth into registers."""
        return "".join(self._load(i, depth, indent) for i in range(self.loads))

    def _load(self, i: int, depth: str, indent: str) -> str:
        name = self.operand.name
        along = f"{self.first} + {name}_along{i}"
        k = f"{depth} + {name}_depth{i}"
        register = f"{name}_next{i}"
        guards = []
        if self.quads % self.tile.threads:
            guards.append(f"{name}_place{i} < {self.quads}u")
        if self.is_depth_ragged:
            guards.append(f"{k} < end")
        if self.operand.is_vector:
            if self.is_ragged:
                guards.append(f"{along} < {self.limit}")
            vector = (
                self._call(along, f"({k}) / 4u")
                if self.operand.is_along_depth
                else self._call(f"({along}) / 4u", k)
            )
            return self._guarded(
                [f"{register} = {vector};\n"], register, guards, indent
            )
        lines = []
        if self.operand.is_placed:
            lines.append(f"let {name}_moving{i} = {name}_moving({k});\n")
        for place, component in enumerate(COMPONENTS):
            single = self._call(f"{along} + {place}u", k)
            if self.operand.is_placed:
                fixed = f"{name}_fixed{i % self.fixed_places}_{place}"
                single = f"{name}({fixed}, {name}_moving{i})"
            line = f"{register}.{component} = {single};\n"
            if self.is_ragged:
                inside = f"{along} + {place}u < {self.limit}"
                line = f"if ({inside}) {{\n{indent}    {line}{indent}  }}\n"
            lines.append(line)
        reset = guards or self.is_ragged
        return self._guarded(lines, register if reset else "", guards, indent)

    def _call(self, along: str, depth: str) -> str:
        """Return the call that reads the operand; the inner argument comes last."""
        last = self.operand.arguments[2]
        outer, inner = (along, depth) if last == "depth" else (depth, along)
        return f"{self.operand.name}(batch, {outer}, {inner})"

    @staticmethod
    def _guarded(
        lines: list[str], register: str, guards: list[str], indent: str
    ) -> str:
        reset = f"{indent}{register} = vec4<Value>();\n" if register and guards else ""
        if register and not guards and len(lines) > 1:
            reset = f"{indent}{register} = vec4<Value>();\n"
        if not guards:
            return reset + "".join(f"{indent}{line}" for line in lines)
        inner = "".join(f"{indent}  {line}" for line in lines)
        return f"{reset}{indent}if ({' && '.join(guards)}) {{\n{inner}{indent}}}\n"

    def stage(self, indent: str) -> str:
        """Return the stores from registers into the tile."""
        name = self.operand.name
        across = self.extent // 4
        lines = []
        for i in range(self.loads):
            if self.operand.is_along_depth:
                part = [
                    f"{name}_tile[({name}_depth{i} + {place}u) * {across}u"
                    f" + {name}_along{i} / 4u][{name}_along{i} % 4u]"
                    f" = {name}_next{i}.{component};\n"
                    for place, component in enumerate(COMPONENTS)
                ]
            else:
                part = [f"{name}_tile[{name}_place{i}] = {name}_next{i};\n"]
            guard = (
                [f"{name}_place{i} < {self.quads}u"]
                if self.quads % self.tile.threads
                else []
            )
            lines.append(self._guarded(part, "", guard, indent))
        return "".join(lines)


def body(
    tile: Tile,
    left: Operand,
    right: Operand,
    sizes: tuple[int, int, int],
    value: str,
) -> str:
    """Return the slot `body` for operands of (rows, depth) and (depth, columns).

    Args:
        tile: its sizes.
        left: how the left operand is read.
        right: how the right operand is read.
        sizes: rows, columns and depth, which decide where guards are needed.
        value: WGSL type of a sum.
    """
    rows, columns, depth = sizes
    sides = (
        _Side(tile, left, rows, depth, value),
        _Side(tile, right, columns, depth, value),
    )
    text = "".join(side.declare() for side in sides)
    row_vectors, column_vectors = tile.thread_rows // 4, tile.thread_columns // 4
    for i in range(tile.thread_rows):
        for j in range(column_vectors):
            text += f"  var sums{i}_{j} = vec4<Value>();\n"
    text += "".join(side.load("begin", "  ") for side in sides)
    text += "  for (var depth = begin; depth < end; depth += DEPTH) {\n"
    text += "".join(side.stage("    ") for side in sides)
    text += "    workgroupBarrier();\n    if (depth + DEPTH < end) {\n"
    text += "".join(side.load("depth + DEPTH", "      ") for side in sides)
    text += "    }\n"
    text += f"    for (var k = 0u; k < DEPTH; k += {tile.unrolled}u) {{\n"
    for k in range(tile.unrolled):
        text += _multiply(tile, k, value)
    text += "    }\n    workgroupBarrier();\n  }\n"
    down, across = tile.rows // 4 // row_vectors, tile.columns // 4 // column_vectors
    for i in range(tile.thread_rows):
        row = f"first_row + (down + {i // 4 * down}u) * 4u + {i % 4}u"
        for j in range(column_vectors):
            column = f"first_column + (across + {j * across}u) * 4u"
            text += f"  store(split, batch, {row}, {column}, sums{i}_{j});\n"
    return text


def _multiply(tile: Tile, k: int, value: str) -> str:
    """Return the multiply-adds of one depth, in a block of its own."""
    row_vectors, column_vectors = tile.thread_rows // 4, tile.thread_columns // 4
    left_width, right_width = tile.rows // 4, tile.columns // 4
    text = "      {\n"
    for i in range(row_vectors):
        place = f"(k + {k}u) * {left_width}u + {i * (left_width // row_vectors)}u"
        text += f"        let a{i} = left_tile[{place} + down];\n"
    for j in range(column_vectors):
        place = f"(k + {k}u) * {right_width}u + {j * (right_width // column_vectors)}u"
        text += f"        let b{j} = right_tile[{place} + across];\n"
    for i in range(tile.thread_rows):
        a = f"vec4<Value>(a{i // 4}.{COMPONENTS[i % 4]})"
        for j in range(column_vectors):
            name = f"sums{i}_{j}"
            sum_ = (
                f"fma({a}, b{j}, {name})" if value == "f32" else f"{a} * b{j} + {name}"
            )
            text += f"        {name} = {sum_};\n"
    return text + "      }\n"
