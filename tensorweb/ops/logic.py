"""Entries of comparisons, logic and bits, and of the choice between two values.

Each comparison is false for NaN, except `not_equal`.
"""

from __future__ import annotations

from tensorweb.graph.op import FLAT, Op

_BITS = "integer or bool"


def _compare(name: str, symbol: str, bool_form: str, operand: str, printed: str) -> Op:
    return Op(
        name,
        f"whether `x1 {symbol} x2`, element by element",
        arity=2,
        result="bool",
        wgsl={
            "float": f"{name}_f32({{0}}, {{1}})",
            "any": f"({{0}} {symbol} {{1}})",
            "bool": bool_form,
        },
        derivative=FLAT,
        example=(f"tw.{name}([1, 2, 3], {operand})", printed),
    )


def _logical(
    name: str, summary: str, form: str, example: tuple[str, str], arity: int = 2
) -> Op:
    return Op(
        name,
        summary,
        arity=arity,
        result="logical",
        wgsl={"bool": form},
        derivative=FLAT,
        example=example,
    )


def _bits(name: str, symbol: str, bool_form: str, printed: str) -> Op:
    return Op(
        name,
        f"`x1 {symbol} x2`, bit by bit, for integers and bool",
        arity=2,
        accepts=_BITS,
        wgsl={"any": f"({{0}} {symbol} {{1}})", "bool": bool_form},
        derivative=FLAT,
        example=(f"tw.{name}([12, 10], 6)", printed),
    )


def _shift(numpy: str, name: str, summary: str, example: tuple[str, str]) -> Op:
    return Op(
        name,
        summary,
        arity=2,
        accepts="integer",
        numpy=numpy,
        wgsl={
            "int": f"{numpy}_i32({{0}}, {{1}})",
            "uint": f"{numpy}_u32({{0}}, {{1}})",
        },
        weight=2,
        derivative=FLAT,
        example=example,
    )


LOGIC: tuple[Op, ...] = (
    _compare(
        "equal", "==", "({0} == {1})", "[1, 0, 3]", "tensor([ True, False,  True])"
    ),
    _compare(
        "not_equal", "!=", "({0} != {1})", "[1, 0, 3]", "tensor([False,  True, False])"
    ),
    _compare("less", "<", "(!{0} & {1})", "2", "tensor([ True, False, False])"),
    _compare("less_equal", "<=", "(!{0} | {1})", "2", "tensor([ True,  True, False])"),
    _compare("greater", ">", "({0} & !{1})", "2", "tensor([False, False,  True])"),
    _compare(
        "greater_equal", ">=", "({0} | !{1})", "2", "tensor([False,  True,  True])"
    ),
    _logical(
        "logical_and",
        "whether both elements are true (not zero)",
        "({0} & {1})",
        ("tw.logical_and([True, True], [True, False])", "tensor([ True, False])"),
    ),
    _logical(
        "logical_or",
        "whether one of two elements is true (not zero)",
        "({0} | {1})",
        ("tw.logical_or([True, False], [False, False])", "tensor([ True, False])"),
    ),
    _logical(
        "logical_xor",
        "whether exactly one of two elements is true (not zero)",
        "({0} != {1})",
        ("tw.logical_xor([True, True], [True, False])", "tensor([False,  True])"),
    ),
    _logical(
        "logical_not",
        "whether each element is false (zero)",
        "(!{0})",
        ("tw.logical_not([True, False])", "tensor([False,  True])"),
        arity=1,
    ),
    _bits("bitwise_and", "&", "({0} & {1})", "tensor([4, 2])"),
    _bits("bitwise_or", "|", "({0} | {1})", "tensor([14, 14])"),
    _bits("bitwise_xor", "^", "({0} != {1})", "tensor([10, 12])"),
    Op(
        "bitwise_invert",
        "`~x`, every bit inverted, for integers and bool",
        accepts=_BITS,
        numpy="invert",
        wgsl={"any": "(~{0})", "bool": "(!{0})"},
        derivative=FLAT,
        example=("tw.bitwise_invert([0, 5])", "tensor([-1, -6])"),
    ),
    _shift(
        "left_shift",
        "bitwise_left_shift",
        "`x1 << x2`: bits moved up, zeros follow",
        ("tw.bitwise_left_shift([1, 3], 2)", "tensor([ 4, 12])"),
    ),
    _shift(
        "right_shift",
        "bitwise_right_shift",
        "`x1 >> x2`: bits moved down, with the sign of `x1`",
        ("tw.bitwise_right_shift([8, -8], 2)", "tensor([ 2, -2])"),
    ),
    Op(
        "where",
        "`x1` where the condition holds, else `x2`",
        arity=3,
        result="where",
        wgsl={"any": "select({2}, {1}, {0})"},
    ),
)
