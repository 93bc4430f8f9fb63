"""Rows of what moves, joins, selects and contracts; attributes are in the builders."""

from __future__ import annotations

from tensorweb.graph import Op

IOTA = Op("iota", "iota", "0, 1, 2, … along one axis", arity=0, numpy="arange")
CAST = Op("cast", "map", "the same values in another dtype", result="attrs")
COPY = Op("copy", "copy", "a contiguous copy, where no strides can express a view")

RESHAPE = Op("reshape", "movement", "the same elements in row-major order, new shape")
PERMUTE = Op("permute", "movement", "the axes in another order")
EXPAND = Op("expand", "movement", "axes of length 1 repeated, by stride 0")
SLICE = Op("slice", "movement", "start, length and step of each axis; flips too")

PAD = Op("pad", "pad", "a border around the tensor", arity=2)
CONCAT = Op("concat", "concat", "tensors one after another along an axis", arity=-1)
EMBED = Op("embed", "embed", "a tensor written over a box of another", arity=2)
GATHER = Op("gather", "gather", "elements of a storage at given positions", arity=2)
SCATTER = Op(
    "scatter", "scatter", "a storage with given positions written; last wins", arity=3
)
COMPRESS = Op("compress", "compress", "the positions where a mask holds", arity=2)
MATMUL = Op("matmul", "matmul", "the batched matrix product", arity=2, weight=1000)

ROWS: tuple[Op, ...] = (
    IOTA,
    CAST,
    COPY,
    RESHAPE,
    PERMUTE,
    EXPAND,
    SLICE,
    PAD,
    CONCAT,
    EMBED,
    GATHER,
    SCATTER,
    COMPRESS,
    MATMUL,
)
