"""Write arithmetic on integers: lengths, places and numbers, divisions of vectors."""

from __future__ import annotations

from tensorweb.codegen.wasm.module import Function

_HIGH = [*range(8, 16), *range(8, 16)]
_LOW_HALVES = [*range(8), *range(16, 24)]


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


def divide_vectors(f: Function, sign: str, *, with_rest: bool) -> None:
    """Write a division of the two vectors of four integers on the stack, cut to zero.

    Two lanes at a time as floats of 64 bits, since there is no such instruction. That
    is exact: a quotient that is not whole is at least 1/y away from a whole number, and
    rounded by less than a millionth of that. No lane traps; of a division by 0 the
    result means nothing.

    Args:
        f: where to write.
        sign: `_s` for signed integers, `_u` for others.
        with_rest: whether what is left over is wanted, not the quotient.
    """
    by, number, quotient = (f.local("v128") for _ in range(3))
    f.set(by)
    f.set(number)
    for half in range(2):
        for each in (number, by):
            f.get(each)
            if half:
                f.get(each)
                f.shuffle(_HIGH)
            f.op(f"f64x2.convert_low_i32x4{sign}")
        f.ops("f64x2.div", f"i32x4.trunc_sat_f64x2{sign}_zero")
    f.shuffle(_LOW_HALVES)
    if with_rest:
        f.set(quotient)
        f.get(number)
        f.get(quotient)
        f.get(by)
        f.ops("i32x4.mul", "i32x4.sub")
    for each in (by, number, quotient):
        f.free(each)
