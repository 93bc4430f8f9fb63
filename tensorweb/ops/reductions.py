"""Entries of reductions and scans: how two values combine and what changes nothing."""

from __future__ import annotations

from tensorweb.graph.op import Op


def _argument(name: str, doc: str, better: str, start: str) -> Op:
    return Op(
        name,
        "argreduce",
        doc,
        accepts="any",
        result="index",
        numpy=name,
        wgsl={"any": better},
        identity={"any": start},
    )


ENTRIES: tuple[Op, ...] = (
    Op(
        "sum",
        "reduce",
        "the sum along axes",
        result="sum",
        numpy="sum",
        wgsl={"any": "({0} + {1})"},
        identity={"any": 0},
    ),
    Op(
        "prod",
        "reduce",
        "the product along axes",
        result="sum",
        numpy="prod",
        wgsl={"any": "({0} * {1})"},
        identity={"any": 1},
    ),
    Op(
        "max",
        "reduce",
        "the largest value along axes; NaN wins",
        numpy="max",
        wgsl={
            "float": "maximum_f32({0}, {1})",
            "any": "max({0}, {1})",
            "bool": "({0} | {1})",
        },
        identity={"any": "lowest"},
    ),
    Op(
        "min",
        "reduce",
        "the smallest value along axes; NaN wins",
        numpy="min",
        wgsl={
            "float": "minimum_f32({0}, {1})",
            "any": "min({0}, {1})",
            "bool": "({0} & {1})",
        },
        identity={"any": "highest"},
    ),
    Op(
        "any",
        "reduce",
        "whether one is true along axes",
        result="logical",
        numpy="any",
        wgsl={"bool": "({0} | {1})"},
        identity={"bool": 0},
    ),
    Op(
        "all",
        "reduce",
        "whether all are true along axes",
        result="logical",
        numpy="all",
        wgsl={"bool": "({0} & {1})"},
        identity={"bool": 1},
    ),
    _argument("argmax", "where the largest value is; NaN wins", ">", "lowest"),
    _argument("argmin", "where the smallest value is; NaN wins", "<", "highest"),
    Op(
        "cumulative_sum",
        "scan",
        "running sums along the last axis",
        result="sum",
        numpy="cumsum",
        wgsl={"any": "({0} + {1})"},
        identity={"any": 0},
    ),
    Op(
        "cumulative_prod",
        "scan",
        "running products along the last axis",
        result="sum",
        numpy="cumprod",
        wgsl={"any": "({0} * {1})"},
        identity={"any": 1},
    ),
)
