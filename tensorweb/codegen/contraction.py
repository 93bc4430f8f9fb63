"""Programs of matrix products: a tiled kernel over any views of the operands."""

from __future__ import annotations

from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    function,
    storage_type,
    stored,
)
from tensorweb.codegen.families import input_storages, launch
from tensorweb.codegen.program import OUTPUT, Program
from tensorweb.schedule.kernel import Kernel

TILE = 64


def matmul(kernel: Kernel) -> Program:
    """Return the program of a batched matrix product."""
    batch, rows, columns, depth = kernel.sizes
    declarations = Declarations(kernel.scalar_dtypes)
    for name, size in (
        ("batch", batch),
        ("rows", rows),
        ("columns", columns),
        ("depth", depth),
    ):
        declarations.parameter(name, "u32", size)
    value = VALUE_TYPES[kernel.core_dtype]
    product = "fma(vec4<Value>(a), b, sum)" if value == "f32" else "a * b + sum"
    left, right = kernel.expression("left"), kernel.expression("right")
    finish = kernel.expression("finish")
    text = "".join(
        [
            f"alias Value = {value};\n",
            function(
                declarations,
                "left",
                ("batch", "row", "depth"),
                left,
                kernel.input_dtypes,
                "Value",
            ),
            function(
                declarations,
                "right",
                ("batch", "depth", "column"),
                right,
                kernel.input_dtypes,
                "Value",
            ),
            "fn multiply_add(a: Value, b: vec4<Value>, sum: vec4<Value>)"
            f" -> vec4<Value> {{\n  return {product};\n}}\n",
            function(
                declarations,
                "store",
                ("index",),
                finish,
                kernel.input_dtypes,
                "",
                f"result[index] = {stored('{0}', kernel.dtype)};",
                "core",
                "core: Value",
            ),
        ]
    )
    storages, places = input_storages(kernel, [left, right, finish])
    storages.append(("result", "w", storage_type(kernel.dtype)))
    groups = batch * -(-rows // TILE) * -(-columns // TILE)
    return Program(
        (launch("matmul", declarations, storages, (*places, OUTPUT), text, groups),)
    )
