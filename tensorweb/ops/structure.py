"""Entries that move, join, select and contract, and of reductions and scans.

Attributes are in the builders.
"""

from __future__ import annotations

from tensorweb.graph.op import Op
from tensorweb.ops.arithmetic import MAXIMUM_WGSL, MINIMUM_WGSL

_SUM = {"any": "({0} + {1})"}
_PRODUCT = {"any": "({0} * {1})"}


def _reduction(
    name: str,
    summary: str,
    wgsl: dict[str, str],
    identity: float | str,
    result: str = "same",
) -> Op:
    return Op(
        name,
        "reduce",
        summary,
        result=result,
        numpy=name,
        wgsl=wgsl,
        identity=identity,
    )


def _argument(name: str, summary: str, is_better: str, identity: str) -> Op:
    return Op(
        name,
        "argreduce",
        summary,
        result="index",
        numpy=name,
        wgsl={"any": is_better},
        identity=identity,
    )


def _scan(
    name: str, numpy: str, summary: str, wgsl: dict[str, str], identity: float
) -> Op:
    return Op(
        name,
        "scan",
        summary,
        result="sum",
        numpy=numpy,
        wgsl=wgsl,
        identity=identity,
    )


REDUCTIONS: tuple[Op, ...] = (
    _reduction("sum", "the sum along axes", _SUM, 0, "sum"),
    _reduction("prod", "the product along axes", _PRODUCT, 1, "sum"),
    _reduction("max", "the largest value along axes; NaN wins", MAXIMUM_WGSL, "lowest"),
    _reduction(
        "min", "the smallest value along axes; NaN wins", MINIMUM_WGSL, "highest"
    ),
    _reduction(
        "any", "whether one is true along axes", {"bool": "({0} | {1})"}, 0, "logical"
    ),
    _reduction(
        "all", "whether all are true along axes", {"bool": "({0} & {1})"}, 1, "logical"
    ),
    _argument("argmax", "the index of the largest value; NaN wins", ">", "lowest"),
    _argument("argmin", "the index of the smallest value; NaN wins", "<", "highest"),
    _scan("cumulative_sum", "cumsum", "cumulative sums of the last axis", _SUM, 0),
    _scan(
        "cumulative_prod",
        "cumprod",
        "cumulative products of the last axis",
        _PRODUCT,
        1,
    ),
)


def _scatter(
    name: str,
    summary: str,
    numpy: str,
    wgsl: dict[str, str],
    identity: float | str,
    accepts: str = "any",
) -> Op:
    return Op(
        name,
        "accumulate",
        summary,
        arity=3,
        accepts=accepts,
        numpy=numpy,
        wgsl=wgsl,
        identity=identity,
    )


IOTA = Op("iota", "iota", "0, 1, 2, … along one axis", arity=0, numpy="arange")
CAST = Op("cast", "map", "the same values in another dtype", result="given")
COPY = Op("copy", "copy", "a contiguous copy, where no strides can express a view")

RESHAPE = Op("reshape", "movement", "the same elements in row-major order, new shape")
PERMUTE = Op("permute", "movement", "the axes in another order")
EXPAND = Op("expand", "movement", "axes of length 1 repeated, by stride 0")
SLICE = Op("slice", "movement", "start, length and step of each axis; flips too")
ALIAS = Op("alias", "movement", "the same elements as a node of their own")
UNFOLD = Op("unfold", "movement", "windows of one axis, which may overlap")

PAD = Op("pad", "pad", "the tensor with padding around it", arity=2)
CONCAT = Op("concat", "concat", "tensors one after another along an axis", arity=-1)
EMBED = Op("embed", "embed", "a tensor written over a box of another", arity=2)
GATHER = Op(
    "gather", "gather", "elements, or slices of full axes, at indices", arity=-1
)
SCATTER = Op(
    "scatter",
    "scatter",
    "a copy with values written at indices; the last wins",
    arity=-1,
)
SCATTER_ADD = _scatter(
    "scatter_add",
    "a storage with values added at indices; equal indices add up",
    "add",
    {"any": "({0} + {1})"},
    -0.0,
)
SCATTER_MULTIPLY = _scatter(
    "scatter_multiply",
    "a storage multiplied by values at indices, once for each occurrence",
    "multiply",
    {"any": "({0} * {1})"},
    1,
    accepts="numeric",
)
SCATTER_MINIMUM = _scatter(
    "scatter_minimum",
    "a storage with the minimum of its values and others at indices; NaN wins",
    "minimum",
    MINIMUM_WGSL,
    "highest",
)
SCATTER_MAXIMUM = _scatter(
    "scatter_maximum",
    "a storage with the maximum of its values and others at indices; NaN wins",
    "maximum",
    MAXIMUM_WGSL,
    "lowest",
)
SORT = Op("sort", "sort", "the last axis sorted, equal values in their order, NaN last")
ARGSORT = Op(
    "argsort", "sort", "indices that sort the last axis, as sort does", result="index"
)
COMPRESS = Op("compress", "compress", "the indices where a mask is true", arity=2)
FOURIER = Op(
    "fourier",
    "fourier",
    "the Fourier transform of an axis, from real and imaginary parts to pairs",
    arity=-1,
)
CUSTOM = Op("custom", "custom", "an output of a program's own kernel", arity=-1)
MATMUL = Op("matmul", "matmul", "sums of products over axes", arity=2, weight=1000)


STRUCTURE: tuple[Op, ...] = (
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
    CUSTOM,
    MATMUL,
)
