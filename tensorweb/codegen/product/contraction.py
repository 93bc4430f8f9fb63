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

`tiles.py` chooses the sizes, `operands.py` how operands are read; `tile_slots.py`
generates how they are loaded and staged and fills `matmul.wgsl`, which has the loop
over depth. If there are few results, workgroups share the depth of a result, and a
second launch adds their parts.
"""

from __future__ import annotations

from dataclasses import replace

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
    only_load,
    reads_elements,
)
from tensorweb.codegen.product.subgroup_matrix import by_subgroup_matrices
from tensorweb.codegen.product.tile_slots import tile_slots
from tensorweb.codegen.product.tiles import TileChoice, choose_tile
from tensorweb.codegen.program import (
    OUTPUT,
    Launch,
    Program,
    ceil_divide,
    scratch,
    workgroups,
)
from tensorweb.codegen.target import Target
from tensorweb.codegen.template import alternative
from tensorweb.codegen.vector import (
    WIDTH,
    add_vector_function,
    each_of_four,
    store_function,
)
from tensorweb.schedule.kernel import Kernel


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
