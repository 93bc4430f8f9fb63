"""Rows of rounding and of questions about single numbers."""

from __future__ import annotations

from tensorweb.graph.op import FLAT, Op


def _round(name: str, doc: str) -> Op:
    return Op(
        name,
        "map",
        doc,
        accepts="numeric",
        numpy=lambda np, x: getattr(np, name)(x) if x.dtype.kind == "f" else x,
        wgsl={"float": f"{name}_f32({{0}})", "any": "{0}"},
        derivative=FLAT,
    )


def _question(name: str, doc: str, otherwise: str) -> Op:
    return Op(
        name,
        "map",
        doc,
        result="bool",
        numpy=name,
        wgsl={"float": f"{name}_f32({{0}})", "any": otherwise},
        derivative=FLAT,
    )


ROWS: tuple[Op, ...] = (
    _round("floor", "the largest whole number not above x"),
    _round("ceil", "the smallest whole number not below x"),
    _round("trunc", "x without its fraction"),
    _round("round", "the nearest whole number, halves to even"),
    _question("isnan", "whether x is not a number", "false"),
    _question("isinf", "whether x is infinite", "false"),
    _question("isfinite", "whether x is neither NaN nor infinite", "true"),
    Op(
        "signbit",
        "map",
        "whether the sign bit is set, also of -0 and NaN",
        result="bool",
        accepts="floating",
        numpy="signbit",
        wgsl={"float": "signbit_f32({0})"},
        derivative=FLAT,
    ),
)
