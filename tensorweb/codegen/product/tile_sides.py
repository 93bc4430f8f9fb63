"""How an operand of a tiled product comes from memory, by registers, into a tile.

Four loads of a thread are on their way while the tile before is multiplied. A tile lies
depth first, four rows or columns to a vector: neighbours, where four are read at once;
otherwise as far apart as a vector's neighbours are many, so that neighbouring threads
read neighbouring elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tensorweb.codegen.product.places import loaded_name, type_name
from tensorweb.codegen.product.tiles import Tile
from tensorweb.codegen.vector import COMPONENTS, WIDTH
from tensorweb.schedule.kernel import Expression

SIDE_BY_SIDE = 4
"""Vectors along depth that neighbouring threads read: whole sectors of memory."""

BANKS = 8
"""Vectors that workgroup memory serves at once."""


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
        is_ahead: whether a placed element is loaded first and computed with later.
    """

    name: str
    expression: Expression
    is_vector: bool
    is_swapped: bool
    is_placed: bool = False
    is_ahead: bool = False

    @property
    def arguments(self) -> tuple[str, str, str]:
        """Names of the arguments of its function."""
        outer, inner = ("row", "depth") if self.name == "left" else ("depth", "column")
        if self.is_swapped:
            outer, inner = inner, outer
        return "batch", outer, inner

    @property
    def is_spread(self) -> bool:
        """Whether the four rows or columns of a vector of the tile lie apart."""
        return not self.is_vector

    @property
    def is_along_depth(self) -> bool:
        """Whether a vector of it holds four terms of one row or column."""
        return self.is_vector and self.arguments[2] == "depth"


class Side:
    """Writes the text of one operand."""

    def __init__(
        self,
        tile: Tile,
        operand: Operand,
        length: int,
        start: int,
        has_gaps: bool,
    ) -> None:
        """Begin.

        Args:
            tile: its sizes.
            operand: how it is read.
            length: rows of the left or columns of the right operand.
            start: where its tile begins in workgroup memory.
            has_gaps: whether there is room for gaps in the tile. Where vectors lie
                along depth, neighbouring threads hold several depths of few rows and
                write one component at a time, with gaps to different banks.
        """
        self.operand = operand
        self.tile = tile
        self.name = operand.name
        is_left = operand.name == "left"
        self.extent = tile.rows if is_left else tile.columns
        self.thread = "down" if is_left else "across"
        self.vectors = (tile.thread_rows if is_left else tile.thread_columns) // WIDTH
        self.first = "first_row" if is_left else "first_column"
        self.limit = "parameters.rows" if is_left else "parameters.columns"
        self.width = self.extent // WIDTH
        self.quads = self.width * tile.depth
        self.loads = tile.loads(is_left)
        self.is_ragged = length % self.extent != 0
        self.side = 1
        if operand.is_along_depth:
            self.side = min(SIDE_BY_SIDE, tile.depth // WIDTH)
        self.start = start
        self.gap = BANKS // self.side if has_gaps and self.side > 1 else 0

    @property
    def size(self) -> int:
        """Vectors of its tile."""
        return self.quads + self.gap * (self.tile.depth // WIDTH)

    def position(self, vector: str, component: str = "") -> str:
        """Return which row or column of its tile a component of a vector is.

        Without a component, the first.
        """
        first = vector if self.operand.is_spread else f"{vector} * 4u"
        apart = f" * {self.width}u" if self.operand.is_spread else ""
        return f"{first} + {component}{apart}" if component else first

    def declare(self) -> str:
        """Return the registers, what each load reads and where it goes in the tile."""
        name = self.name
        lines = []
        for i in range(self.loads):
            place = f"local + {i * self.tile.threads}u" if i else "local"
            lines.append(f"  let {name}_place{i} = {place};\n")
            if self.operand.is_along_depth:
                lines += self._declare_along_depth(i)
            else:
                inside = self.position(f"{name}_place{i} % {self.width}u")
                lines += [
                    f"  let {name}_along{i} = {self.first} + {inside};\n",
                    f"  let {name}_depth{i} = {name}_place{i} / {self.width}u;\n",
                ]
            lines += self._declare_positions(i)
            kind = "Value"
            if self.operand.is_ahead:
                kind = loaded_name(name)
                lines.append(f"  var {name}_moving{i} = {type_name(name)}();\n")
            lines.append(f"  var {name}_next{i} = vec4<{kind}>();\n")
        return "".join(lines)

    def _declare_along_depth(self, i: int) -> list[str]:
        """Return where a vector that lies along depth comes from and goes to."""
        name, side = self.name, self.side
        beside = f"{name}_place{i} % {side}u"
        beyond = f"{name}_place{i} / {side * self.extent}u * {side}u"
        gaps = f" + {name}_depth{i} / 4u * {self.gap}u" if self.gap else ""
        return [
            f"  let {name}_inside{i} = {name}_place{i} / {side}u % {self.extent}u;\n",
            f"  let {name}_along{i} = {self.first} + {name}_inside{i};\n",
            f"  let {name}_depth{i} = ({beside} + {beyond}) * 4u;\n",
            f"  let {name}_spot{i} = {self.start}u + {name}_depth{i} * {self.width}u"
            f"{gaps} + {name}_inside{i} / 4u;\n",
        ]

    def _declare_positions(self, i: int) -> list[str]:
        """Return the rows or columns that a load reads.

        Beyond the edge the last ones are read again: what they give is not stored, and
        a minimum before the loop costs less than a guard inside it.
        """
        name = self.name
        along = f"{name}_along{i}"
        if self.operand.is_vector:
            last = 1 if self.operand.is_along_depth else WIDTH
            text = f"min({along}, {self.limit} - {last}u)" if self.is_ragged else along
            return [f"  let {name}_from{i} = {text};\n"]
        lines = []
        for place in range(WIDTH):
            text = f"{along} + {place * self.width}u"
            if self.is_ragged:
                text = f"min({text}, {self.limit} - 1u)"
            if not self.operand.is_placed:
                lines.append(f"  let {name}_from{i}_{place} = {text};\n")
            elif i < self._fixed_places:
                text = f"{name}_fixed(batch, {text})"
                lines.append(f"  let {name}_fixed{i}_{place} = {text};\n")
        return lines

    @property
    def _fixed_places(self) -> int:
        """How many different rows or columns a thread's loads begin at."""
        return 1 if self.tile.threads % self.width == 0 else self.loads

    def load(self, depth: str, indent: str, is_last: bool) -> str:
        """Return the loads of the tile that begins at a depth into registers.

        The last tile may be deeper than the terms; what it lacks is zero.
        """
        return "".join(self._load(i, depth, indent, is_last) for i in range(self.loads))

    def _load(self, i: int, depth: str, indent: str, is_last: bool) -> str:
        name = self.name
        position = f"{depth} + {name}_depth{i}"
        k = position
        if is_last:
            last = WIDTH if self.operand.is_along_depth else 1
            k = f"min({position}, end - {last}u)"
        if self.operand.is_ahead:
            lines = [
                f"{name}_moving{i} = {name}_moving({k});\n",
                f"{name}_next{i} = vec4({self._at_places('_load', i)});\n",
            ]
            return self._guarded(i, lines, indent)
        lines = []
        if self.operand.is_along_depth:
            value = self._call(f"{name}_from{i}", f"({k}) / 4u")
        elif self.operand.is_vector:
            value = self._call(f"{name}_from{i} / 4u", k)
        elif self.operand.is_placed:
            lines.append(f"let {name}_moving{i} = {name}_moving({k});\n")
            value = f"vec4({self._at_places('', i)})"
        else:
            value = _vector(
                self._call(f"{name}_from{i}_{place}", k) for place in range(WIDTH)
            )
        if is_last:
            value = f"select(vec4<Value>(), {value}, {position} < end)"
        lines.append(f"{name}_next{i} = {value};\n")
        return self._guarded(i, lines, indent)

    def _at_places(self, function: str, i: int, more: Sequence[str] = ("",) * 4) -> str:
        """Return the calls of a function of both parts of a load's four positions."""
        fixed = f"{self.name}_fixed{i % self._fixed_places}"
        return ", ".join(
            f"{self.name}{function}({fixed}_{place}, {self.name}_moving{i}{text})"
            for place, text in enumerate(more)
        )

    def _value(self, i: int, is_last: bool) -> str:
        """Return the four elements of a load as they go into the tile."""
        following = f"{self.name}_next{i}"
        if not self.operand.is_ahead:
            return following
        more = [f", {following}.{component}" for component in COMPONENTS]
        value = f"vec4({self._at_places('', i, more)})"
        if is_last:
            return f"select(vec4<Value>(), {value}, depth + {self.name}_depth{i} < end)"
        return value

    def _call(self, along: str, depth: str) -> str:
        """Return the call that reads the operand; the inner argument comes last."""
        last = self.operand.arguments[2]
        outer, inner = (along, depth) if last == "depth" else (depth, along)
        return f"{self.name}(batch, {outer}, {inner})"

    def _guarded(self, i: int, lines: list[str], indent: str) -> str:
        """Return lines for the threads whose place is in the tile."""
        if (i + 1) * self.tile.threads <= self.quads:
            return "".join(f"{indent}{line}" for line in lines)
        inside = f"{self.name}_place{i} < {self.quads}u"
        inner = "".join(f"{indent}  {line}" for line in lines)
        return f"{indent}if ({inside}) {{\n{inner}{indent}}}\n"

    def stage(self, indent: str, is_last: bool) -> str:
        """Return the stores from registers into the tile that begins at `depth`."""
        name = self.name
        text = ""
        for i in range(self.loads):
            if self.operand.is_along_depth:
                lines = [
                    f"tile[{name}_spot{i} + {place * self.width}u]"
                    f"[{name}_inside{i} % 4u] = {name}_next{i}.{component};\n"
                    for place, component in enumerate(COMPONENTS)
                ]
            else:
                value = self._value(i, is_last)
                lines = [f"tile[{self.start}u + {name}_place{i}] = {value};\n"]
            text += self._guarded(i, lines, indent)
        return text

    def read(self, depth: int, number: int) -> str:
        """Return one of a thread's vectors, at a depth counted from `k`."""
        apart = self.width // self.vectors
        gaps = f" + k / 4u * {self.gap}u" if self.gap else ""
        first = self.start + depth * self.width + depth // WIDTH * self.gap
        start = f"k * {self.width}u{gaps} + {first + number * apart}u"
        return f"tile[{start} + {self.thread}]"


def _vector(values: Iterable[str]) -> str:
    return f"vec4<Value>({', '.join(values)})"
