"""The text inside a tiled product's `main`: sums, the loop over depth, stores."""

from __future__ import annotations

from tensorweb.codegen.product.tile_sides import Operand, Side
from tensorweb.codegen.product.tiles import Tile
from tensorweb.codegen.vector import COMPONENTS, WIDTH

WARP = 32
"""Neighbouring threads that compute a block of sums together."""

WARP_ACROSS = 8

VECTOR_BYTES = 16


def _sides(
    tile: Tile,
    operands: tuple[Operand, Operand],
    sizes: tuple[int, int, int],
    has_gaps: bool,
) -> tuple[Side, Side]:
    rows, columns, _ = sizes
    left = Side(tile, operands[0], rows, 0, has_gaps)
    return left, Side(tile, operands[1], columns, left.size, has_gaps)


class TileBody:
    """Writes the slots `tile` and `body` of one product."""

    def __init__(
        self,
        tile: Tile,
        operands: tuple[Operand, Operand],
        sizes: tuple[int, int, int],
        value: str,
        workgroup_bytes: int,
    ) -> None:
        """Begin.

        Args:
            tile: its sizes.
            operands: how the left, (rows, depth), and the right, (depth, columns), are
                read.
            sizes: rows, columns and depth, which decide where edges are.
            value: WGSL type of a sum.
            workgroup_bytes: workgroup memory that the device has.
        """
        self.tile = tile
        self.value = value
        self.left, self.right = _sides(tile, operands, sizes, True)
        if (self.left.size + self.right.size) * VECTOR_BYTES > workgroup_bytes:
            self.left, self.right = _sides(tile, operands, sizes, False)
        self.is_depth_ragged = sizes[2] % tile.depth != 0
        self.row_vectors = tile.thread_rows // WIDTH
        self.column_vectors = tile.thread_columns // WIDTH

    def constants(self) -> str:
        """Return the slot of a tile's sizes."""
        tile = self.tile
        warp = min(WARP, tile.workers)
        sizes = (
            ("ROWS", tile.rows),
            ("COLUMNS", tile.columns),
            ("DEPTH", tile.depth),
            ("ACROSS", tile.across),
            ("WORKERS", tile.workers),
            ("SLICES", tile.slices),
            ("VECTORS", max(self.left.size + self.right.size, tile.meeting)),
            ("WARP", warp),
            ("WARP_ACROSS", min(WARP_ACROSS, tile.across)),
        )
        return "".join(f"const {name}: u32 = {size}u;\n" for name, size in sizes)

    def body(self) -> str:
        """Return the slot that computes and stores a tile."""
        sides = (self.left, self.right)
        text = "".join(side.declare() for side in sides)
        for name in self._sums():
            text += f"  var {name} = vec4<Value>();\n"
        text += self._load("begin", "  ")
        text += "  for (var depth = begin; depth < end; depth += DEPTH) {\n"
        text += "".join(self._stage(side) for side in sides)
        text += "    workgroupBarrier();\n    if (depth + DEPTH < end) {\n"
        text += self._load("depth + DEPTH", "      ")
        text += f"    }}\n{self._product()}    workgroupBarrier();\n  }}\n"
        return text + (self._stores() if self.tile.slices == 1 else self._joined())

    def _load(self, depth: str, indent: str) -> str:
        """Return the loads of a tile; only the last one needs guards."""
        sides = (self.left, self.right)
        if not self.is_depth_ragged:
            return "".join(side.load(depth, indent, False) for side in sides)
        inner = f"{indent}  "
        whole = "".join(side.load(depth, inner, False) for side in sides)
        last = "".join(side.load(depth, inner, True) for side in sides)
        test = f"{depth} + DEPTH <= end"
        return f"{indent}if ({test}) {{\n{whole}{indent}}} else {{\n{last}{indent}}}\n"

    def _stage(self, side: Side) -> str:
        """Return the stores into a tile; values computed only now may be too deep."""
        if not (self.is_depth_ragged and side.operand.is_ahead):
            return side.stage("    ", False)
        whole, last = side.stage("      ", False), side.stage("      ", True)
        return (
            f"    if (depth + DEPTH <= end) {{\n{whole}    }} else {{\n{last}    }}\n"
        )

    def _sums(self) -> list[str]:
        """Return the names of a thread's sums, four neighbouring columns each."""
        return [
            f"sums{i}_{j}"
            for i in range(self.tile.thread_rows)
            for j in range(self.column_vectors)
        ]

    def _product(self) -> str:
        """Return the multiply-adds of a thread's slice of the tile."""
        share = self.tile.depth // self.tile.slices
        unrolled = min(self.tile.unrolled, share)
        first = f"slice * {share}u" if self.tile.slices > 1 else "0u"
        inner = "".join(self._multiply(depth) for depth in range(unrolled))
        if unrolled == share:
            return f"    {{\n      let k = {first};\n{inner}    }}\n"
        end = f"{first} + {share}u"
        head = f"for (var k = {first}; k < {end}; k += {unrolled}u)"
        return f"    {head} {{\n{inner}    }}\n"

    def _multiply(self, depth: int) -> str:
        """Return the multiply-adds of one depth, in a block of its own."""
        text = "      {\n"
        for i in range(self.row_vectors):
            text += f"        let a{i} = {self.left.read(depth, i)};\n"
        for j in range(self.column_vectors):
            text += f"        let b{j} = {self.right.read(depth, j)};\n"
        for i in range(self.tile.thread_rows):
            a = f"vec4<Value>(a{i // WIDTH}.{COMPONENTS[i % WIDTH]})"
            for j in range(self.column_vectors):
                name = f"sums{i}_{j}"
                sum_ = f"{a} * b{j} + {name}"
                if self.value == "f32":
                    sum_ = f"fma({a}, b{j}, {name})"
                text += f"        {name} = {sum_};\n"
        return text + "      }\n"

    @property
    def _down(self) -> int:
        """Vectors of rows from one of a thread's to the next."""
        return self.tile.rows // WIDTH // self.row_vectors

    @property
    def _across(self) -> int:
        """Vectors of columns from one of a thread's to the next."""
        return self.tile.columns // WIDTH // self.column_vectors

    def _stores(self) -> str:
        """Return the stores of a thread's sums."""
        text = ""
        for i in range(self.tile.thread_rows):
            down = f"(down + {i // WIDTH * self._down}u)"
            row = f"first_row + {self.left.position(down, f'{i % WIDTH}u')}"
            for j in range(self.column_vectors):
                across = f"(across + {j * self._across}u)"
                column = f"first_column + {self.right.position(across)}"
                text += f"  store(split, batch, {row}, {column}, sums{i}_{j});\n"
        return text

    def _joined(self) -> str:
        """Return the addition of the slices' sums, of which each slice stores a part.

        The sums pass through the memory of the tiles, as many at a time as fit.
        """
        slices, names = self.tile.slices, self._sums()
        fitting = (self.left.size + self.right.size) // self.tile.threads
        fitting = max(fitting, self.tile.meeting // self.tile.threads)
        each = min(len(names), 1 << (fitting.bit_length() - 1))
        text = "  let worker = local % WORKERS;\n"
        for begin in range(0, len(names), each):
            if begin:
                text += "  workgroupBarrier();\n"
            for place, name in enumerate(names[begin : begin + each]):
                spot = f"(slice * {each}u + {place}u) * WORKERS + worker"
                text += f"  tile[{spot}] = {name};\n"
            text += "  workgroupBarrier();\n"
            own = max(each // slices, 1)
            text += "".join(self._join(begin, each, own, turn) for turn in range(own))
        return text

    def _join(self, begin: int, each: int, own: int, turn: int) -> str:
        """Return the addition and the store of one vector of sums."""
        slices = self.tile.slices
        total = " + ".join(
            f"tile[({other * each}u + place) * WORKERS + worker]"
            for other in range(slices)
        )
        guard = f"if (slice < {each}u) " if each < slices else ""
        down = f"(down + i / 4u * {self._down}u)"
        across = f"(across + j * {self._across}u)"
        row = f"first_row + {self.left.position(down, 'i % 4u')}"
        column = f"first_column + {self.right.position(across)}"
        return (
            f"  {guard}{{\n    let place = slice * {own}u + {turn}u;\n"
            f"    let i = (place + {begin}u) / {self.column_vectors}u;\n"
            f"    let j = (place + {begin}u) % {self.column_vectors}u;\n"
            f"    let total = {total};\n"
            f"    store(split, batch, {row}, {column}, total);\n  }}\n"
        )
