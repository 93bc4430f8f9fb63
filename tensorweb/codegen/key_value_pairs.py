"""Pairs of a key and an index, which argmax and argmin reduce to the largest key.

Keys are unsigned integers in the order of the elements, as in sorting: zeros of both
signs are equal, NaN is above all other keys, and a comparison takes one instruction.
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
"""Key of an element, by kind of its dtype; the second operand flips the order."""

TURNS = {"argmax": "0u", "argmin": "0xffffffffu"}
"""Mask that flips the order so that the element looked for has the largest key."""

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
"""The pair, its identity element, and the choice of the larger key, first index wins.

`follow` assumes that `b` is after `a` and takes half the instructions.
"""

FOUND = "select(i32(total.index), 0, total.key == 0u)"
"""The resulting index; 0 if the largest key is 0, since no pair replaced the identity.
"""

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
    """Return the function `term`: the pair at an index, or the best of four pairs.

    Args:
        declarations: receives the sizes, strides, offsets and constants it uses.
        term: the elements.
        inputs: dtypes of the kernel's inputs.
        op: `argmax` or `argmin`.
        vectors: inputs that are read as vectors of four; empty if none can.
        calls: number of calls of `term` in the kernel's text.
    """
    form = KEYS[kind_of(term.dtype)].format("{0}", TURNS[op])
    places = ("output", "position")
    if vectors:
        signature = Signature("term", places, "u32", form)
        four = Joined("Value", FOUR)
        return vector_function(declarations, signature, term, inputs, four, calls=calls)
    signature = Signature("term", places, "Value", f"Value({form}, position)")
    return function(declarations, signature, term, inputs)
