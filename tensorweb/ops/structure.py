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
        summary,
        "reduce",
        result=result,
        wgsl=wgsl,
        identity=identity,
    )


def _argument(name: str, summary: str, is_better: str, identity: str) -> Op:
    return Op(
        name,
        summary,
        "argreduce",
        result="index",
        wgsl={"any": is_better},
        identity=identity,
    )


def _scan(
    name: str, numpy: str, summary: str, wgsl: dict[str, str], identity: float
) -> Op:
    return Op(
        name,
        summary,
        "scan",
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
        summary,
        "accumulate",
        arity=3,
        accepts=accepts,
        numpy=numpy,
        wgsl=wgsl,
        identity=identity,
    )


IOTA = Op("iota", "0, 1, 2, … along one axis", "iota", arity=0, numpy="arange")
CAST = Op("cast", "the same values in another dtype", result="given", numpy="astype")
COPY = Op("copy", "a contiguous copy, where no strides can express a view", "copy")

RESHAPE = Op("reshape", "the same elements in row-major order, new shape", "movement")
PERMUTE = Op("permute", "the axes in another order", "movement")
EXPAND = Op("expand", "axes of length 1 repeated, by stride 0", "movement")
SLICE = Op("slice", "start, length and step of each axis; flips too", "movement")
ALIAS = Op("alias", "the same elements as a node of their own", "movement")
UNFOLD = Op("unfold", "windows of one axis, which may overlap", "movement")

PAD = Op("pad", "the tensor with padding around it", "pad", arity=2)
CONCAT = Op("concat", "tensors one after another along an axis", "concat", arity=-1)
EMBED = Op("embed", "a tensor written over a box of another", "embed", arity=2)
GATHER = Op(
    "gather", "elements, or slices of full axes, at indices", "gather", arity=-1
)
SCATTER = Op(
    "scatter",
    "a copy with values written at indices; the last wins",
    "scatter",
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
SORT = Op("sort", "the last axis sorted, equal values in their order, NaN last", "sort")
ARGSORT = Op(
    "argsort", "indices that sort the last axis, as sort does", "sort", result="index"
)
COMPRESS = Op("compress", "the indices where a mask is true", "compress", arity=2)
FOURIER = Op(
    "fourier",
    "the Fourier transform of an axis, from real and imaginary parts to pairs",
    "fourier",
    arity=-1,
)
CUSTOM = Op("custom", "an output of a program's own kernel", "custom", arity=-1)
MATMUL = Op("matmul", "sums of products over axes", "matmul", arity=2, weight=1000)


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
