"""Entries of reductions and scans: how two values combine, and the identity element."""

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


ENTRIES: tuple[Op, ...] = (
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
