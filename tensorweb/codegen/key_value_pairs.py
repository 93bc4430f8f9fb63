"""Pairs of a key and a position, of which a reduction keeps the largest.

Keys are unsigned numbers in the order of the elements, as sorting has them: zeros are
equal, NaN comes first of all, and comparing takes one instruction.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tensorweb.codegen.expression import Declarations, Signature, function, kind_of
from tensorweb.codegen.vector import Joined, vector_function
from tensorweb.schedule.kernel import Expression

KEYS = {
    "float": "order_of_f32(bitcast<u32>({0}), {1})",
    "int": "order_of_i32(bitcast<u32>({0}), {1})",
    "uint": "order_of_u32({0}, {1})",
    "bool": "order_of_u32(select(0u, 1u, {0}), {1})",
}
"""The key of an element, by kind of its dtype; the second operand turns the order."""

TURNS = {"argmax": "0u", "argmin": "0xffffffffu"}
"""What turns the order so that the key of the wanted element is the largest."""

TYPES = """\
struct Value {
  key: u32,
  index: u32,
}
fn identity() -> Value {
  return Value(0u, 0xffffffffu);
}
fn combine(a: Value, b: Value) -> Value {
  let is_later = (b.key > a.key) | ((b.key == a.key) & (b.index < a.index));
  return Value(select(a.key, b.key, is_later), select(a.index, b.index, is_later));
}
fn follow(a: Value, b: Value) -> Value {
  let is_larger = b.key > a.key;
  return Value(select(a.key, b.key, is_larger), select(a.index, b.index, is_larger));
}
"""
"""The pair, one that any other replaces, and the choice of the larger, first one; where
the second stands behind the first, it takes half as much."""

FOUND = "select(i32(total.index), 0, total.key == 0u)"
"""The position; where the largest key is 0 they all are, and none replaced another."""

FOUR = (
    "follow(follow(Value({0}, at), Value({1}, at + 1u)), "
    "follow(Value({2}, at + 2u), Value({3}, at + 3u)))"
).replace("at", "position * 4u")


def term_function(
    declarations: Declarations,
    term: Expression,
    inputs: Sequence[str],
    op: str,
    vectors: Collection[int],
    calls: int,
) -> str:
    """Return `term`, the pair at a position, or the first of the best four pairs.

    Args:
        declarations: receives the sizes, strides, offsets and constants it needs.
        term: the elements.
        inputs: dtypes of the kernel's inputs.
        op: what is looked for, `argmax` or `argmin`.
        vectors: inputs that are read four elements at a time; empty if none can.
        calls: how many times the kernel's text calls it.
    """
    form = KEYS[kind_of(term.dtype)].format("{0}", TURNS[op])
    places = ("output", "position")
    if vectors:
        signature = Signature("term", places, "u32", form)
        four = Joined("Value", FOUR)
        return vector_function(declarations, signature, term, inputs, four, calls=calls)
    signature = Signature("term", places, "Value", f"Value({form}, position)")
    return function(declarations, signature, term, inputs)
