"""Rows of logic, of bits and of choosing between two values."""

from __future__ import annotations

from tensorweb.graph.op import FLAT, Op

_BITS = "integer or bool"


def _logical(name: str, doc: str, form: str, arity: int = 2) -> Op:
    return Op(
        name,
        "map",
        doc,
        arity=arity,
        result="logical",
        numpy=name,
        wgsl={"bool": form},
        derivative=FLAT,
    )


def _bits(name: str, symbol: str, bool_form: str) -> Op:
    return Op(
        name,
        "map",
        f"a {symbol} b, bit by bit",
        arity=2,
        accepts=_BITS,
        numpy=name,
        wgsl={"any": f"({{0}} {symbol} {{1}})", "bool": bool_form},
        derivative=FLAT,
    )


def _shift(numpy: str, name: str, doc: str) -> Op:
    return Op(
        name,
        "map",
        doc,
        arity=2,
        accepts="integer",
        numpy=numpy,
        wgsl={
            "int": f"{numpy}_i32({{0}}, {{1}})",
            "uint": f"{numpy}_u32({{0}}, {{1}})",
        },
        weight=2,
        derivative=FLAT,
    )


ROWS: tuple[Op, ...] = (
    _logical("logical_and", "whether both are true", "({0} & {1})"),
    _logical("logical_or", "whether one is true", "({0} | {1})"),
    _logical("logical_xor", "whether exactly one is true", "({0} != {1})"),
    _logical("logical_not", "whether it is false", "(!{0})", arity=1),
    _bits("bitwise_and", "&", "({0} & {1})"),
    _bits("bitwise_or", "|", "({0} | {1})"),
    _bits("bitwise_xor", "^", "({0} != {1})"),
    Op(
        "bitwise_invert",
        "map",
        "every bit inverted",
        accepts=_BITS,
        numpy="invert",
        wgsl={"any": "(~{0})", "bool": "(!{0})"},
        derivative=FLAT,
    ),
    _shift("left_shift", "bitwise_left_shift", "a moved b bits up, zeros follow"),
    _shift("right_shift", "bitwise_right_shift", "a moved b bits down, sign kept"),
    Op(
        "where",
        "map",
        "a where the condition holds, else b",
        arity=3,
        result="where",
        numpy="where",
        wgsl={"any": "select({2}, {1}, {0})"},
    ),
)
