"""Write arithmetic on unsigned integers in locals: lengths, places and numbers."""

from __future__ import annotations

from tensorweb.codegen.wasm.module import Function


def divided(f: Function, number: int, by: int, quotient: int, rest: int) -> None:
    """Write a division by a local, and its remainder."""
    f.get(number)
    f.get(by)
    f.op("i32.div_u")
    f.set(quotient)
    f.get(number)
    f.get(quotient)
    f.get(by)
    f.ops("i32.mul", "i32.sub")
    f.set(rest)


def smaller(f: Function, value: int, limit: int) -> None:
    """Write what leaves the smaller of two locals, unsigned, on the stack."""
    f.get(value)
    f.get(limit)
    f.get(value)
    f.get(limit)
    f.ops("i32.lt_u", "select")
