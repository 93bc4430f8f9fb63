"""Rows of comparisons; each is false for NaN, except `not_equal`."""

from __future__ import annotations

from tensorweb.graph.op import FLAT, Op


def _compare(name: str, symbol: str, bool_form: str) -> Op:
    return Op(
        name,
        "map",
        f"a {symbol} b",
        arity=2,
        result="bool",
        numpy=name,
        wgsl={
            "float": f"{name}_f32({{0}}, {{1}})",
            "any": f"({{0}} {symbol} {{1}})",
            "bool": bool_form,
        },
        derivative=FLAT,
    )


ROWS: tuple[Op, ...] = (
    _compare("equal", "==", "({0} == {1})"),
    _compare("not_equal", "!=", "({0} != {1})"),
    _compare("less", "<", "(!{0} & {1})"),
    _compare("less_equal", "<=", "(!{0} | {1})"),
    _compare("greater", ">", "({0} & !{1})"),
    _compare("greater_equal", ">=", "({0} | !{1})"),
)
