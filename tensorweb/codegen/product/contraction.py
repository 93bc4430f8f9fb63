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
    Declarations,
    Signature,
    function,
    is_bulky,
    storage_type,
    to_storage,
)
from tensorweb.codegen.launches import input_bindings, launch
from tensorweb.codegen.product.operands import (
    Operand,
    has_several_axes,
    only_load,
    operands_of,
    position_functions,
    reads_elements,
)
from tensorweb.codegen.product.subgroup_matrix import by_subgroup_matrices
from tensorweb.codegen.product.tile_slots import ProductSizes, tile_slots
from tensorweb.codegen.product.tiles import Choice, choose_tile
from tensorweb.codegen.program import OUTPUT, Launch, Program, scratch
from tensorweb.codegen.reduction import FOUR_TERMS
from tensorweb.codegen.target import Target
from tensorweb.codegen.vector import (
    WIDTH,
    each_of_four,
    vector_function,
    vector_of,
)
from tensorweb.schedule.kernel import Kernel


class _Product:
    """Generate the launches of one matrix product."""

    def __init__(self, kernel: Kernel, choice: Choice, target: Target) -> None:
        self.kernel = kernel
        self.target = target
        self.tile = choice.tile
        self.batch, self.rows, self.columns, self.depth = kernel.sizes
        self.value = VALUE_TYPES[kernel.core_dtype]
        depth = self.tile.depth
        parts = -(-self.depth // choice.splits)
        self.split_depth = max(-(-parts // depth) * depth, depth)
        self.splits = max(-(-self.depth // self.split_depth), 1)
        self.finish = kernel.expression("finish")
        operands = operands_of(kernel, self.splits > 1, target)
        self.left, self.right = operands.left, operands.right
        self.vectors = operands.vectors
        self.is_vector_store = self._stores_vectors()

    def _stores_vectors(self) -> bool:
        """Return whether four neighbouring results can be stored at once."""
        if self.columns % WIDTH or self.right.is_strided:
            return False
        return self.splits > 1 or not self.finish.accesses

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
        kernel = self.kernel
        read = [self.left.expression, self.right.expression]
        declarations = Declarations(
            kernel.scalar_dtypes,
            "depth" if any(has_several_axes(each) for each in read) else "",
        )
        declarations.parameter("rows", "u32", self.rows)
        declarations.parameter("columns", "u32", self.columns)
        declarations.parameter("depth", "u32", self.depth)
        declarations.parameter("split_depth", "u32", self.split_depth)
        text = f"alias Value = {self.value};\n"
        for operand in (self.left, self.right):
            text += self._read(declarations, operand)
        is_last = self.splits == 1
        text += self._store(declarations, is_last)
        bindings = input_bindings(
            kernel, [*read, self.finish] if is_last else read, self.vectors
        )
        element = storage_type(kernel.dtype) if is_last else self.value
        if self.is_vector_store:
            element = f"vec4<{element}>"
        bindings.append(("result", "w", element, OUTPUT if is_last else scratch(0)))
        groups = self.tile.groups(self.batch * self.splits, self.rows, self.columns)
        return launch(
            "matmul",
            declarations,
            bindings,
            text,
            groups,
            **tile_slots(
                self.tile,
                (self.left, self.right),
                ProductSizes(self.rows, self.columns, self.depth),
                self.value,
                self.target.workgroup_bytes,
            ),
        )

    def _read(self, declarations: Declarations, operand: Operand) -> str:
        """Return the function that reads one element or vector of an operand."""
        signature = Signature(operand.name, operand.arguments, "Value")
        inputs = self.kernel.input_dtypes
        if operand.is_vector:
            four = vector_of("vec4<Value>")
            return vector_function(
                declarations, signature, operand.expression, inputs, four
            )
        if operand.is_split:
            ahead = only_load(operand.expression) if operand.is_ahead else None
            iterations = -(-min(self.split_depth, self.depth) // self.tile.depth)
            tests = iterations * self.tile.loads(operand.name == "left")
            return position_functions(
                declarations, signature, operand.expression, inputs, ahead, tests
            )
        return function(declarations, signature, operand.expression, inputs)

    def _store(self, declarations: Declarations, is_last: bool) -> str:
        """Return `store`, which applies the epilogue to four neighbouring results."""
        index = "((batch * parameters.rows + row) * parameters.columns + column)"
        if not is_last:
            splits = declarations.parameter("splits", "u32", self.splits)
            index = (
                f"(((batch * {splits} + split) * parameters.rows + row)"
                " * parameters.columns + column)"
            )
        element = storage_type(self.kernel.dtype) if is_last else self.value
        text = ""
        if is_last:
            form = to_storage("{0}", self.kernel.dtype)
            signature = Signature("finish", ("index",), element, form, "core: Value")
            inputs = self.kernel.input_dtypes
            text = function(declarations, signature, self.finish, inputs)
        apart = self.tile.columns // WIDTH if self.right.is_strided else 1
        copies = self.tile.thread_rows * self.tile.thread_columns
        call = f"finish(index + u32(i32(i)) * {apart}u, values[i])"
        prepared, each = each_of_four(
            call if is_last else "values[i]",
            element,
            is_last and is_bulky(self.finish, copies),
        )
        if self.is_vector_store:
            lines = f"    result[index / 4u] = vec4<{element}>({', '.join(each)});\n"
        else:
            lines = "".join(
                f"    if (column + {i * apart}u < parameters.columns) {{\n"
                f"      result[index + {i * apart}u] = {value};\n    }}\n"
                for i, value in enumerate(each)
            )
        return (
            f"{text}fn store(split: u32, batch: u32, row: u32, column: u32, "
            "values: vec4<Value>) {\n"
            "  if (row < parameters.rows && column < parameters.columns) {\n"
            f"    let index = {index};\n{prepared}{lines}  }}\n}}\n"
        )

    def _add_parts(self, outputs: int) -> Launch:
        """Return the launch that adds the partial results of a split product."""
        kernel = self.kernel
        declarations = Declarations(kernel.scalar_dtypes)
        for name, size in (
            ("outputs", outputs),
            ("length", self.splits),
            ("splits", 1),
            ("chunk", self.splits),
            ("area", self.rows * self.columns),
        ):
            declarations.parameter(name, "u32", size)
        signature = Signature(
            "store",
            ("output",),
            "",
            f"result[output] = {to_storage('{0}', kernel.dtype)};",
            more="chunk: u32, total: Value",
            core="total",
        )
        inputs = kernel.input_dtypes
        finish = function(declarations, signature, self.finish, inputs)
        text = (
            f"alias Value = {self.value};\n"
            "fn identity() -> Value {\n  return Value(0);\n}\n"
            "fn term(output: u32, position: u32) -> Value {\n"
            "  let batch = output / parameters.area;\n"
            "  let layer = batch * parameters.length + position;\n"
            "  return partials[layer * parameters.area + output % parameters.area];\n"
            "}\n"
            "fn combine(a: Value, b: Value) -> Value {\n  return a + b;\n}\n"
            f"{finish}"
        )
        bindings = input_bindings(kernel, [self.finish])
        bindings += [
            ("partials", "r", self.value, scratch(0)),
            ("result", "w", storage_type(kernel.dtype), OUTPUT),
        ]
        shape = "const LANES: u32 = 1u;\nconst COLUMNS: u32 = 256u;\n"
        return launch(
            "reduce",
            declarations,
            bindings,
            text,
            -(-outputs // 256),
            shape=shape,
            four=FOUR_TERMS,
        )


def _choice(kernel: Kernel, target: Target) -> Choice:
    batch, rows, columns, depth = kernel.sizes
    operands = (kernel.expression("left"), kernel.expression("right"))
    single = [each for each in operands if reads_elements(each)]
    has_windows = any(has_several_axes(expression) for expression in single)
    return choose_tile(batch, rows, columns, depth, target, not single, has_windows)


def matmul(kernel: Kernel, target: Target) -> Program:
    """Return the program of a batched matrix product."""
    by_units = by_subgroup_matrices(kernel, target)
    if by_units:
        return Program((by_units,))
    return _Product(kernel, _choice(kernel, target), target).program()
