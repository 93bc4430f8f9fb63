"""Entries that move, join, select and contract; attributes are in the builders."""

from __future__ import annotations

from tensorweb.graph.op import Op

IOTA = Op("iota", "iota", "0, 1, 2, … along one axis", arity=0, numpy="arange")
CAST = Op("cast", "map", "the same values in another dtype", result="given")
COPY = Op("copy", "copy", "a contiguous copy, where no strides can express a view")

RESHAPE = Op("reshape", "movement", "the same elements in row-major order, new shape")
PERMUTE = Op("permute", "movement", "the axes in another order")
EXPAND = Op("expand", "movement", "axes of length 1 repeated, by stride 0")
SLICE = Op("slice", "movement", "start, length and step of each axis; flips too")
ALIAS = Op("alias", "movement", "the same elements, told apart from the input")
UNFOLD = Op("unfold", "movement", "windows of one axis, which may overlap")

PAD = Op("pad", "pad", "a border around the tensor", arity=2)
CONCAT = Op("concat", "concat", "tensors one after another along an axis", arity=-1)
EMBED = Op("embed", "embed", "a tensor written over a box of another", arity=2)
GATHER = Op(
    "gather", "gather", "elements, or slices of whole axes, at positions", arity=-1
)
SCATTER = Op(
    "scatter", "scatter", "a copy with positions written; the last wins", arity=-1
)
SCATTER_ADD = Op(
    "scatter_add",
    "accumulate",
    "a storage with values added at given positions; equal positions add up",
    arity=3,
    numpy="add",
    wgsl={"any": "({0} + {1})"},
    identity={"any": -0.0},
)
SCATTER_MULTIPLY = Op(
    "scatter_multiply",
    "accumulate",
    "a storage multiplied by values at given positions, as often as they occur",
    arity=3,
    accepts="numeric",
    numpy="multiply",
    wgsl={"any": "({0} * {1})"},
    identity={"any": 1},
)
SCATTER_MINIMUM = Op(
    "scatter_minimum",
    "accumulate",
    "a storage with the least of its and the given values at positions; NaN wins",
    arity=3,
    numpy="minimum",
    wgsl={
        "float": "minimum_f32({0}, {1})",
        "any": "min({0}, {1})",
        "bool": "({0} & {1})",
    },
    identity={"any": "highest"},
)
SCATTER_MAXIMUM = Op(
    "scatter_maximum",
    "accumulate",
    "a storage with the greatest of its and the given values at positions; NaN wins",
    arity=3,
    numpy="maximum",
    wgsl={
        "float": "maximum_f32({0}, {1})",
        "any": "max({0}, {1})",
        "bool": "({0} | {1})",
    },
    identity={"any": "lowest"},
)
SORT = Op("sort", "sort", "the last axis in order; equal values keep theirs, NaN last")
ARGSORT = Op(
    "argsort", "sort", "positions that sort the last axis, as sort does", result="index"
)
COMPRESS = Op("compress", "compress", "the positions where a mask holds", arity=2)
FOURIER = Op(
    "fourier",
    "fourier",
    "the Fourier transform of an axis; parts go in apart and come out as pairs",
    arity=-1,
)
MATMUL = Op("matmul", "matmul", "sums of products over axes", arity=2, weight=1000)


ENTRIES: tuple[Op, ...] = (
    IOTA,
    CAST,
    COPY,
    RESHAPE,
    PERMUTE,
    EXPAND,
    SLICE,
    UNFOLD,
    ALIAS,
    PAD,
    CONCAT,
    EMBED,
    GATHER,
    SCATTER,
    SCATTER_ADD,
    SCATTER_MULTIPLY,
    SCATTER_MINIMUM,
    SCATTER_MAXIMUM,
    SORT,
    ARGSORT,
    COMPRESS,
    FOURIER,
    MATMUL,
)
