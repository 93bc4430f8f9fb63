"""Programs of matrix products: tiles over any views, split when outputs are few.

                       columns
                    ┌─────┬────┐          ▒ DEPTH terms of a block of rows and columns:
              depth │     │▒▒▒▒│            the two tiles in a workgroup's memory
                    │     │    │          █ the results of one thread, 8 x 16 of the
                    └─────┴────┘            tile's rows and columns: its accumulators,
        depth          columns              which stay in registers
       ┌──┬────┐    ┌─────┬────┐
       │  │    │    │     │    │          load      next tiles, memory → registers
  rows ├──┤    │    ├─────┼────┤          stage     registers → workgroup memory
       │▒▒│    │    │     │ █  │          multiply  workgroup memory → accumulators
       └──┴────┘    └─────┴────┘          store     accumulators → epilogue → memory
         left          result

`tiles.py` chooses the sizes, `operands.py` how operands are read. `matmul.wgsl` has the
loop over depth; its slots say how a tile is loaded and staged. If there are few
results, workgroups share the depth of a result, and a second launch adds their parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from textwrap import indent

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    is_long_code,
    storage_type,
    to_storage,
)
from tensorweb.codegen.launch_builder import (
    LaunchBuilder,
    ShaderFunction,
    constants,
    finish_function,
)
from tensorweb.codegen.product.operands import (
    ProductOperand,
    add_position_functions,
    choose_operands,
    has_several_axes,
    loaded_name,
    only_load,
    position_name,
    reads_elements,
)
from tensorweb.codegen.product.subgroup_matrix import by_subgroup_matrices
from tensorweb.codegen.product.tiles import ProductTile, TileChoice, choose_tile
from tensorweb.codegen.program import (
    OUTPUT,
    Launch,
    Program,
    Target,
    ceil_divide,
    scratch,
    workgroups,
)
from tensorweb.codegen.template import alternative
from tensorweb.codegen.vector import (
    COMPONENTS,
    WIDTH,
    add_vector_function,
    each_of_four,
    store_function,
)
from tensorweb.schedule.kernel import Kernel

# How an operand of a product is loaded into registers and staged in its tile.
#
# While a pair of tiles is multiplied, each thread loads the next vectors of four. A
# tile is depth-major in workgroup memory, four rows (of the left operand) or columns
# (of the right one) to a vector:
#
#   read in vectors along the tile    vector v is rows 4 v … 4 v + 3
#   read in vectors along depth       as above; a vector that is read is four depths of
#                                     one row: its components are staged one by one
#   read one element at a time        vector v is rows v, v + w, v + 2 w and v + 3 w for
#                                     tiles of w vectors: neighbouring threads then read
#                                     neighbouring elements


class Staging:
    """Generate the lines of one operand in the slots of `matmul.wgsl`."""

    def __init__(
        self,
        tile: ProductTile,
        operand: ProductOperand,
        length: int,
        start: int,
        is_padded: bool,
    ) -> None:
        """Start from the sizes of a tile and an operand.

        Args:
            tile: sizes of the tile.
            operand: how the operand is read.
            length: rows of the left or columns of the right operand.
            start: offset of its tile in workgroup memory, in vectors.
            is_padded: whether there is room for padding against bank conflicts. If
                vectors extend along depth, neighbouring threads hold several depths of
                few rows and write one component at a time: padding puts them into
                different banks.
        """
        self.operand = operand
        self.tile = tile
        self.start = start
        is_left = operand.name == "left"
        self.extent = tile.rows if is_left else tile.columns
        self.width = self.extent // WIDTH
        self.loads = tile.loads(is_left)
        self.is_ragged = length % self.extent != 0
        self.padding = 0
        if operand.is_along_depth and is_padded:
            self.padding = policy.TILE_BANKS // policy.LOAD_SECTOR

    @property
    def size(self) -> int:
        """Number of vectors of its tile."""
        padding = self.padding * (self.tile.depth // WIDTH)
        return self.width * self.tile.depth + padding

    def constants(self) -> dict[str, int]:
        """Return the constants of its tile, without the operand's name.

        Row `c` of vector `v` of a tile is `v * STEP + c * APART`.
        """
        is_vector = self.operand.is_vector
        return {
            "START": self.start,
            "WIDTH": self.width,
            "PADDING": self.padding,
            "LOADS": self.loads,
            "STEP": WIDTH if is_vector else 1,
            "APART": 1 if is_vector else self.width,
        }

    def _substitute(self, text: str) -> str:
        """Return text with `left_` for `@`, its axis for `@axis`, `LEFT_` for `%%`."""
        name, axis = self.operand.name, self.operand.axis
        named = text.replace("@axis", f"{name}_{axis}").replace("@", f"{name}_")
        return named.replace("%%", f"{name.upper()}_")

    def _each(self, *lines: str) -> str:
        """Return a loop that runs lines for every load `i` of a thread."""
        body = "".join(f"    {line}\n" for line in lines)
        head = "for (var i = 0u; i < %%LOADS; i++)"
        return self._substitute(f"  // unroll\n  {head} {{\n{body}  }}\n")

    def _registers(self, name: str, element: str, size: str = "%%LOADS") -> str:
        return self._substitute(
            f"  // registers\n  var @{name}: array<{element}, {size}>;\n"
        )

    def sources(self) -> str:
        """Return the lines of each load's address and target, and its registers.

        Past the end the last rows or columns are read again: their results are not
        stored, and a minimum before the loop costs less than a guard inside it.
        """
        if self.operand.is_split:
            return self._sources_of_split()
        axis = self.operand.axis
        size = f"{axis.upper()}S"
        names = ["number", axis, "depth"]
        lines = ["@number[i] = local + i * THREADS;"]
        if self.operand.is_along_depth:
            names += ["inside", "address"]
            sector = f"{policy.LOAD_SECTOR}u"
            lines += [
                f"@inside[i] = @number[i] / {sector} % {size};",
                f"@axis[i] = {self._clamp_index(f'first_{axis} + @inside[i]', 1)};",
                f"@depth[i] = (@number[i] % {sector} + @number[i] / "
                f"({sector} * {size}) * {sector}) * 4u;",
                "@address[i] = %%START + @depth[i] * %%WIDTH + "
                "@depth[i] / 4u * %%PADDING + @inside[i] / 4u;",
            ]
        else:
            lines.append("@depth[i] = @number[i] / %%WIDTH;")
            first = f"first_{axis} + @number[i] % %%WIDTH"
            if self.operand.is_vector:
                lines.append(f"@axis[i] = {self._clamp_index(f'{first} * 4u', WIDTH)};")
            else:
                for c in range(WIDTH):
                    index = self._clamp_index(f"{first} + {c}u * %%WIDTH", 1)
                    lines.append(f"@axis[i][{c}u] = {index};")
        kinds = {axis: "u32" if self.operand.is_vector else "array<u32, 4>"}
        text = self._registers("next", "vec4<Value>")
        text += "".join(self._registers(name, kinds.get(name, "u32")) for name in names)
        return text + self._each(*lines)

    def _sources_of_split(self) -> str:
        """Return the lines of `sources` for addresses in two parts."""
        name, axis = self.operand.name, self.operand.axis
        loaded = loaded_name(name) if self.operand.is_ahead else "Value"
        text = self._registers("next", f"vec4<{loaded}>")
        text += self._registers("number", "u32") + self._registers("depth", "u32")
        text += self._registers("fixed_at", position_name(name), "4")
        if self.operand.is_ahead:
            text += self._registers("moving_at", position_name(name))
        for c in range(WIDTH):
            first = f"first_{axis} + local % %%WIDTH + {c}u * %%WIDTH"
            fixed = f"@fixed(batch, {self._clamp_index(first, 1)})"
            text += self._substitute(f"  @fixed_at[{c}u] = {fixed};\n")
        return text + self._each(
            "@number[i] = local + i * THREADS;", "@depth[i] = @number[i] / %%WIDTH;"
        )

    def _clamp_index(self, first: str, count: int) -> str:
        """Return the index of `count` rows or columns to read, clamped to the last."""
        if not self.is_ragged:
            return first
        return f"min({first}, parameters.{self.operand.axis}s - {count}u)"

    def load(self, is_last: bool) -> str:
        """Return the loads of the tile that starts at depth `next`.

        The last tile may be deeper than the terms; missing terms are zero.
        """
        if not is_last:
            return self._each(*self._load("next + @depth[i]", ""))
        count = WIDTH if self.operand.is_along_depth else 1
        return self._each(
            "let k = next + @depth[i];",
            *self._load(f"min(k, end - {count}u)", "k < end"),
        )

    def _load(self, depth: str, exists: str) -> list[str]:
        """Return the lines that load a vector at a depth, zeros unless `exists`."""
        operand = self.operand
        if operand.is_ahead:
            loads = self._four("@load(@fixed_at[{c}u], @moving_at[i])")
            kind = f"vec4<{loaded_name(operand.name)}>"
            return [
                f"@moving_at[i] = @moving({depth});",
                f"@next[i] = {kind}({loads});",
            ]
        before = []
        if operand.is_split:
            before = [f"let moving = @moving({depth});"]
            value = f"vec4<Value>({self._four('%s(@fixed_at[{c}u], moving)')})"
        elif operand.is_along_depth:
            value = self._call("@axis[i]", self._divide(depth))
        elif operand.is_vector:
            value = self._call("@axis[i] / 4u", depth)
        else:
            calls = (self._call(f"@axis[i][{c}u]", depth) for c in range(WIDTH))
            value = f"vec4<Value>({', '.join(calls)})"
        if exists:
            value = f"select(vec4<Value>(), {value}, {exists})"
        return [*before, f"@next[i] = {value};"]

    @staticmethod
    def _divide(depth: str) -> str:
        return f"{depth} / 4u" if depth.startswith("min") else f"({depth}) / 4u"

    def _four(self, call: str) -> str:
        """Return a call for each of the four elements of a vector, by component `c`."""
        text = call.replace("%s", self.operand.name)
        return ", ".join(
            text.format(c=c, component=component)
            for c, component in enumerate(COMPONENTS)
        )

    def _call(self, along: str, depth: str) -> str:
        """Return the call that reads the operand.

        The inner index is the last argument.
        """
        is_depth_last = self.operand.arguments[2] == "depth"
        outer, inner = (along, depth) if is_depth_last else (depth, along)
        return f"{self.operand.name}(batch, {outer}, {inner})"

    def stage(self, is_last: bool) -> str:
        """Return the stores from registers into the tile that starts at `depth`."""
        if self.operand.is_along_depth:
            line = "tile[@address[i] + c * %%WIDTH][@inside[i] % 4u] = @next[i][c];"
            loop = f"// unroll\nfor (var c = 0u; c < 4u; c++) {{\n  {line}\n}}"
            return self._each(*loop.splitlines())
        value = "@next[i]"
        if self.operand.is_ahead:
            call = "%s(@fixed_at[{c}u], @moving_at[i], @next[i].{component})"
            value = f"vec4<Value>({self._four(call)})"
            if is_last:
                value = f"select(vec4<Value>(), {value}, depth + @depth[i] < end)"
        return self._each(f"tile[%%START + @number[i]] = {value};")


def if_else(condition: str, text: str, otherwise: str) -> str:
    """Return an `if` with two branches, both indented by two more spaces."""
    inner, other = indent(text, "  "), indent(otherwise, "  ")
    return f"  if ({condition}) {{\n{inner}  }} else {{\n{other}  }}\n"


VECTOR_BYTES = 16
"""Bytes of four accumulators."""


def tile_slots(
    tile: ProductTile,
    operands: tuple[ProductOperand, ProductOperand],
    sizes: Sequence[int],
    value: str,
    workgroup_bytes: int,
) -> dict[str, str]:
    """Return the lines of each slot.

    Args:
        tile: sizes of the tile.
        operands: how the left, (rows, depth), and the right, (depth, columns), are
            read.
        sizes: rows, columns and depth of the product.
        value: WGSL type of an accumulator.
        workgroup_bytes: workgroup memory that the device has.
    """
    rows, columns, depth = sizes
    for is_padded in (True, False):
        left = Staging(tile, operands[0], rows, 0, is_padded)
        right = Staging(tile, operands[1], columns, left.size, is_padded)
        if (left.size + right.size) * VECTOR_BYTES <= workgroup_bytes:
            break
    is_ragged = depth % tile.depth != 0
    load = _load(left, right, is_ragged)
    return {
        "tile": _constants(tile, left, right, value),
        "sources": left.sources() + right.sources(),
        "load_first": load,
        "stage": indent(_stage(left, is_ragged) + _stage(right, is_ragged), "  "),
        "load_next": indent(load, "    "),
    }


def _load(left: Staging, right: Staging, is_ragged: bool) -> str:
    """Return the loads of a pair of tiles; only the last pair needs guards."""
    unguarded = left.load(False) + right.load(False)
    if not is_ragged:
        return unguarded
    guarded = left.load(True) + right.load(True)
    return if_else("next + DEPTH <= end", unguarded, guarded)


def _stage(side: Staging, is_ragged: bool) -> str:
    """Return the stores into a tile; values computed here may be past the depth."""
    if not (is_ragged and side.operand.is_ahead):
        return side.stage(False)
    return if_else("depth + DEPTH <= end", side.stage(False), side.stage(True))


def _constants(tile: ProductTile, left: Staging, right: Staging, value: str) -> str:
    """Return the slot of a tile's sizes."""
    vectors = max(left.size + right.size, tile.slice_vectors)
    accumulators = tile.accumulators // WIDTH
    fitting = vectors // tile.threads
    partials = min(accumulators, 1 << (fitting.bit_length() - 1))
    shape = {
        "ROWS": tile.rows,
        "COLUMNS": tile.columns,
        "DEPTH": tile.depth,
        "SLICES": tile.slices,
        "WORKERS": tile.workers,
        "DOWN": tile.workers // tile.across,
        "ACROSS": tile.across,
        "WARP": min(policy.BLOCK_THREADS, tile.workers),
        "WARP_ACROSS": min(policy.BLOCK_THREADS_ACROSS, tile.across),
        "ROW_VECTORS": tile.thread_rows // WIDTH,
        "COLUMN_VECTORS": tile.thread_columns // WIDTH,
        "ACCUMULATORS": accumulators,
        "PARTIALS": partials,
        "SHARE": max(partials // tile.slices, 1),
        "UNROLLED": min(tile.unrolled, tile.depth // tile.slices),
        "VECTORS": vectors,
    }
    for side in (left, right):
        name = side.operand.name.upper()
        shape |= {f"{name}_{key}": size for key, size in side.constants().items()}
    return constants({**shape, "HAS_FMA": value == "f32"})


class _Product:
    """Generate the launches of one matrix product."""

    def __init__(self, kernel: Kernel, choice: TileChoice, target: Target) -> None:
        self.kernel = kernel
        self.target = target
        self.tile = choice.tile
        self.batch, self.rows, self.columns, self.depth = kernel.sizes
        self.value = VALUE_TYPES[kernel.core_dtype]
        depth = self.tile.depth
        tiles = ceil_divide(ceil_divide(self.depth, choice.splits), depth)
        self.split_depth = max(tiles * depth, depth)
        self.splits = max(ceil_divide(self.depth, self.split_depth), 1)
        self.finish = kernel.expression("finish")
        operands, self.vectors = choose_operands(kernel, self.splits > 1, target)
        self.left, self.right = operands
        # Whether four neighbouring results can be stored at once.
        self.is_vector_store = (
            self.columns % WIDTH == 0
            and self.right.is_vector
            and (self.splits > 1 or not self.finish.accesses)
        )

    def program(self) -> Program:
        """Return one launch, or two if the inner axis is split."""
        tile = self.tile
        note = f"tile {tile.name} of {tile.rows} x {tile.columns} x {tile.depth}"
        first = replace(self._tiles(), note=note)
        if self.splits == 1:
            return Program((first,))
        outputs = self.batch * self.rows * self.columns
        return Program((first, self._add_parts(outputs)), (outputs * self.splits * 4,))

    def _tiles(self) -> Launch:
        """Return the launch that multiplies tiles."""
        kernel, operands = self.kernel, (self.left, self.right)
        has_windows = any(has_several_axes(each.expression) for each in operands)
        builder = LaunchBuilder(kernel, "depth" if has_windows else "")
        builder.vectors = self.vectors
        builder.add_sizes(rows=self.rows, columns=self.columns)
        builder.add_sizes(depth=self.depth, split_depth=self.split_depth)
        builder.text = f"alias Value = {self.value};\n"
        for operand in operands:
            self._add_operand(builder, operand)
        self._add_store(builder)
        is_last = self.splits == 1
        element = storage_type(kernel.dtype) if is_last else self.value
        element = f"vec4<{element}>" if self.is_vector_store else element
        builder.add_buffer("result", "w", element, OUTPUT if is_last else scratch(0))
        groups = self.tile.groups(self.batch * self.splits, self.rows, self.columns)
        slots = tile_slots(
            self.tile,
            operands,
            kernel.sizes[1:],
            self.value,
            self.target.workgroup_bytes,
        )
        return builder.launch("matmul", groups, **slots)

    def _add_operand(self, builder: LaunchBuilder, operand: ProductOperand) -> None:
        """Add the function that reads one element or vector of an operand."""
        function = ShaderFunction(operand.name, operand.arguments, "Value")
        if operand.is_vector:
            add_vector_function(builder, function, operand.expression, "vec4<Value>")
        elif operand.is_split:
            ahead = only_load(operand.expression) if operand.is_ahead else None
            tiles = ceil_divide(min(self.split_depth, self.depth), self.tile.depth)
            tests = tiles * self.tile.loads(operand.name == "left")
            add_position_functions(builder, function, operand.expression, ahead, tests)
        else:
            builder.add_function(function, operand.expression)

    def _add_store(self, builder: LaunchBuilder) -> None:
        """Add `store`, which applies the epilogue to four neighbouring results."""
        is_last = self.splits == 1
        layer, call, element = "batch", "values[i]", self.value
        apart = 1 if self.right.is_vector else self.tile.columns // WIDTH
        if is_last:
            element = storage_type(self.kernel.dtype)
            builder.add_function(finish_function(self.kernel.dtype), self.finish)
            call = f"finish(index + u32(i32(i)) * {apart}u, values[i])"
        else:
            splits = builder.parameter("splits", "u32", self.splits)
            layer = f"(batch * {splits} + split)"
        copies = self.tile.thread_rows * self.tile.thread_columns
        in_loop = is_last and is_long_code(self.finish, copies)
        prepared, results = each_of_four(call, element, in_loop)
        builder.text += store_function(
            "split: u32, batch: u32, row: u32, column: u32, values: vec4<Value>",
            f"(({layer} * parameters.rows + row) * parameters.columns + column)",
            results,
            [f"{i * apart}u" for i in range(WIDTH)],
            element if self.is_vector_store else "",
            prepared,
        )

    def _add_parts(self, outputs: int) -> Launch:
        """Return the launch that adds the partial results of a split product."""
        kernel = self.kernel
        builder = LaunchBuilder(kernel)
        builder.add_sizes(outputs=outputs, length=self.splits, splits=1)
        builder.add_sizes(chunk=self.splits, area=self.rows * self.columns)
        builder.text = f"alias Value = {self.value};\n"
        builder.text += alternative("reduce", "parts_of_products")
        function = ShaderFunction(
            "store",
            ("output",),
            "",
            f"result[output] = {to_storage('{0}', kernel.dtype)};",
            more="chunk: u32, total: Value",
            core="total",
        )
        builder.add_function(function, self.finish)
        builder.add_buffer("partials", "r", self.value, scratch(0))
        builder.add_result(kernel.dtype)
        return builder.launch(
            "reduce",
            workgroups(outputs),
            shape=constants({"LANES": 1, "COLUMNS": 256}),
            four=alternative("reduce", "four_terms"),
        )


def matmul(kernel: Kernel, target: Target) -> Program:
    """Return the program of a batched matrix product."""
    by_units = by_subgroup_matrices(kernel, target)
    if by_units:
        return Program((by_units,))
    operands = (kernel.expression("left"), kernel.expression("right"))
    by_element = [operand for operand in operands if reads_elements(operand)]
    has_windows = any(map(has_several_axes, by_element))
    batch, rows, columns, depth = kernel.sizes
    choice = choose_tile(
        batch, rows, columns, depth, target, not by_element, has_windows
    )
    return _Product(kernel, choice, target).program()
