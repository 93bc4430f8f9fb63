"""Entries of rounding, and of questions about single floats."""

from __future__ import annotations

from tensorweb.graph.op import FLAT, Op


def _round(name: str, summary: str, example: tuple[str, str] | None = None) -> Op:
    return Op(
        name,
        "map",
        summary,
        accepts="numeric",
        numpy=lambda np, x: getattr(np, name)(x) if x.dtype.kind == "f" else x,
        wgsl={"float": f"{name}_f32({{0}})", "any": "{0}"},
        derivative=FLAT,
        example=example,
    )


def _question(
    name: str, summary: str, of_integers: str, example: tuple[str, str]
) -> Op:
    return Op(
        name,
        "map",
        summary,
        result="bool",
        numpy=name,
        wgsl={"float": f"{name}_f32({{0}})", "any": of_integers},
        derivative=FLAT,
        example=example,
    )


ENTRIES: tuple[Op, ...] = (
    _round(
        "floor",
        "the largest whole number not above each element",
        ("tw.floor([1.5, -1.5])", "tensor([ 1., -2.])"),
    ),
    _round(
        "ceil",
        "the smallest whole number not below each element",
        ("tw.ceil([1.5, -1.5])", "tensor([ 2., -1.])"),
    ),
    _round(
        "trunc",
        "each element without its fraction",
        ("tw.trunc([1.5, -1.5])", "tensor([ 1., -1.])"),
    ),
    _round("round", "the nearest whole number, halves to even"),
    _question(
        "isnan",
        "whether each element is not a number",
        "false",
        ("tw.isnan([1.0, tw.nan])", "tensor([False,  True])"),
    ),
    _question(
        "isinf",
        "whether each element is infinite",
        "false",
        ("tw.isinf([1.0, -tw.inf])", "tensor([False,  True])"),
    ),
    _question(
        "isfinite",
        "whether each element is neither infinite nor NaN",
        "true",
        ("tw.isfinite([1.0, tw.inf, tw.nan])", "tensor([ True, False, False])"),
    ),
    Op(
        "signbit",
        "map",
        "whether the sign bit of each float is set, also of -0 and NaN",
        result="bool",
        accepts="floating",
        numpy="signbit",
        wgsl={"float": "signbit_f32({0})"},
        derivative=FLAT,
        example=("tw.signbit([-0.0, 0.0, -3.0])", "tensor([ True, False,  True])"),
    ),
)
