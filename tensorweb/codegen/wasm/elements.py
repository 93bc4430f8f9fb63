"""Load, store and cast elements of every dtype, and describe the values of expressions.

A value is a bool, an integer of 32 or 64 bits, or a float of 32 or 64 bits. Smaller
integers are held in 32 bits, within their own range; 16-bit floats compute in float32.
"""

from __future__ import annotations

from collections.abc import Collection, Set

from tensorweb import dtypes
from tensorweb.codegen.wasm import policy
from tensorweb.codegen.wasm.functions import expression
from tensorweb.codegen.wasm.translation import Translation
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Expression

KINDS = {
    "bool": "bool",
    "int8": "i32",
    "int16": "i32",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u32",
    "uint16": "u32",
    "uint32": "u32",
    "uint64": "u64",
    "float16": "f32",
    "bfloat16": "f32",
    "float32": "f32",
    "float64": "f64",
}
"""Type of a value, by dtype."""

_LOADS = {
    "bool": "i32.load8_u",
    "int8": "i32.load8_s",
    "int16": "i32.load16_s",
    "uint8": "i32.load8_u",
    "uint16": "i32.load16_u",
    "float16": "i32.load16_u",
    "bfloat16": "i32.load16_u",
}
FROM_HALF = {
    "float16": "f32_from_half_bits({0})",
    "bfloat16": "bitcast<f32>({0} << 16u)",
}
TO_HALF = {"float16": "half_bits_from_f32({0})", "bfloat16": "bfloat16_bits({0})"}
ROUNDED = {
    "float16": "rounded_to_half_f32({0})",
    "bfloat16": "rounded_to_bfloat16({0})",
}
"""WGSL forms between 16-bit floats, their bits and float32."""

SUMS = {
    "float16": "float32",
    "bfloat16": "float32",
    "int8": "int32",
    "int16": "int32",
    "uint8": "uint32",
    "uint16": "uint32",
}
"""The dtype in which elements are added and multiplied, if it is not their own."""

_STORES = {1: "i32.store8", 2: "i32.store16"}
_LANE_LOADS = {1: "v128.load8_lane", 2: "v128.load16_lane", 4: "v128.load32_lane"}
_WIDE = frozenset(("i64", "u64", "f64"))


def itemsize(dtype: str) -> int:
    """Return the number of bytes of an element."""
    return dtypes.BY_NAME[dtype].itemsize


def fits_lanes(dtype: str) -> bool:
    """Return whether values of a dtype fit in lanes of 32 bits.

    >>> fits_lanes("float16"), fits_lanes("float64")
    (True, False)
    """
    return KINDS[dtype] not in _WIDE


def load(values: Translation, dtype: str, offset: int = 0) -> None:
    """Emit the load of one element, whose address is on the stack."""
    kind = KINDS[dtype]
    plain = {"bool": "i32", "u32": "i32", "u64": "i64"}.get(kind, kind)
    values.f.memory(_LOADS.get(dtype, f"{plain}.load"), offset)
    if dtype in FROM_HALF:
        convert(values, FROM_HALF[dtype], "u32")


def load_neighbours(values: Translation, dtype: str, offset: int = 0) -> None:
    """Emit the load of four consecutive elements, whose address is on the stack."""
    f = values.f
    size = itemsize(dtype)
    if size == 4:
        f.memory("v128.load", offset)
        return
    f.memory("v128.load32_zero" if size == 1 else "v128.load64_zero", offset)
    widened(values, dtype)


def load_repeated(values: Translation, dtype: str) -> None:
    """Emit the load of one element into four lanes, whose address is on the stack."""
    bits = 8 * itemsize(dtype)
    values.f.memory(f"v128.load{bits}_splat")
    if bits < 32:
        widened(values, dtype)


def load_lane(values: Translation, dtype: str, lane: int) -> None:
    """Emit the load of an element into a lane; `widened` converts the lanes to values.

    The address and the vector are on the stack.
    """
    size = itemsize(dtype)
    values.f.memory(_LANE_LOADS[size], 0, lane)


def widened(values: Translation, dtype: str) -> None:
    """Emit code that converts four elements at the start of a vector to values."""
    f = values.f
    size = itemsize(dtype)
    sign = "s" if dtype in ("int8", "int16") else "u"
    if size == 1:
        f.op(f"i16x8.extend_low_i8x16_{sign}")
    if size < 4:
        f.op(f"i32x4.extend_low_i16x8_{sign}")
    if dtype == "bool":
        f.emit(f.constant("i32x4", 0), "i32x4.ne")
    if dtype in FROM_HALF:
        convert(values, FROM_HALF[dtype], "u32")


def store(values: Translation, dtype: str, offset: int = 0) -> None:
    """Emit the store of one value; the address and the value are on the stack."""
    if dtype in TO_HALF:
        convert(values, TO_HALF[dtype], "f32")
    size = itemsize(dtype)
    kind = KINDS[dtype]
    plain = {"bool": "i32", "u32": "i32", "u64": "i64"}.get(kind, kind)
    values.f.memory(_STORES.get(size, f"{plain}.store"), offset)


def store_neighbours(values: Translation, dtype: str, offset: int = 0) -> None:
    """Emit the store of four values; the address and the vector are on the stack."""
    f = values.f
    size = itemsize(dtype)
    if dtype in TO_HALF:
        convert(values, TO_HALF[dtype], "f32")
    if size == 4:
        f.memory("v128.store", offset)
        return
    if dtype == "bool":
        f.emit(f.constant("i32x4", 1), "v128.and")
    elif size < 4:
        f.emit(f.constant("i32x4", (1 << 8 * size) - 1), "v128.and")
    vector = f.local("v128")
    f.set(vector)
    f.emit(vector, vector, "i16x8.narrow_i32x4_u")
    if size == 1:
        f.set(vector)
        f.emit(vector, vector, "i8x16.narrow_i16x8_u")
    name = "v128.store32_lane" if size == 1 else "v128.store64_lane"
    f.memory(name, offset, 0)
    f.free(vector)


def convert(values: Translation, form: str, kind: str) -> None:
    """Emit a WGSL form applied to the value on the stack, which has type `kind`."""
    local = values.f.local(values.value_type(kind))
    values.f.set(local)
    values.term(expression(form, (kind,)), {"operand0": (local,)})
    values.f.free(local)


def within(values: Translation, dtype: str) -> None:
    """Emit code that wraps a 32-bit integer to the range of a smaller dtype."""
    size = itemsize(dtype)
    kind = KINDS[dtype]
    if size >= 4 or kind not in ("i32", "u32"):
        return
    f = values.f
    if kind == "u32":
        mask = (1 << 8 * size) - 1
        if values.is_vector:
            f.emit(f.constant("i32x4", mask), "v128.and")
        else:
            f.emit(("i32", mask), "i32.and")
    elif values.is_vector:
        for name in ("i32x4.shl", "i32x4.shr_s"):
            f.emit(("i32", 32 - 8 * size), name)
    else:
        f.op(f"i32.extend{8 * size}_s")


_FLOATS = ("f32", "f64")


def cast(values: Translation, source: str, target: str) -> None:
    """Emit a cast of the value on the stack to another dtype.

    Floats outside an integer's range are clamped to it; NaN becomes 0.
    """
    if source == target:
        return
    before, after = KINDS[source], KINDS[target]
    if after == "bool":
        _to_bool(values, before)
    elif before == "bool":
        _from_bool(values, after)
    elif before in _FLOATS and after not in _FLOATS:
        _to_integer(values, before, target)
    elif after in _FLOATS:
        _to_float(values, before, target)
    else:
        _between_integers(values, before, after)
        within(values, target)


def _to_bool(values: Translation, before: str) -> None:
    f, shape = values.f, values.shape(before)
    if values.is_vector:
        f.get(f.constant(shape, 0))
    else:
        f.const(shape, 0)
    f.op(f"{shape}.ne")


def _from_bool(values: Translation, after: str) -> None:
    f = values.f
    if values.is_vector:
        f.emit(f.constant("f32x4" if after == "f32" else "i32x4", 1), "v128.and")
    elif after in ("i64", "u64"):
        f.op("i64.extend_i32_u")
    elif after in _FLOATS:
        f.op(f"{after}.convert_i32_u")


def _to_integer(values: Translation, before: str, target: str) -> None:
    f, after = values.f, KINDS[target]
    sign = "s" if after[0] == "i" else "u"
    if values.is_vector:
        f.op(f"i32x4.trunc_sat_f32x4_{sign}")
    else:
        plain = "i64" if after in ("i64", "u64") else "i32"
        f.op(f"{plain}.trunc_sat_{before}_{sign}")
    if itemsize(target) < 4:
        low, high = dtypes.integer_range(dtypes.BY_NAME[target])
        convert(values, f"clamp({{0}}, {_literal(low)}, {_literal(high)})", after)


def _literal(value: int) -> str:
    return f"({value})" if value < 0 else str(value)


def _to_float(values: Translation, before: str, target: str) -> None:
    f, after = values.f, KINDS[target]
    if before in _FLOATS:
        if before != after:
            if target in ROUNDED:
                _to_odd(values)
            else:
                f.op("f64.promote_f32" if after == "f64" else "f32.demote_f64")
    elif target == "bfloat16" and before in ("i32", "u32"):
        convert(values, f"bfloat16_from_{before}({{0}})", before)
        return
    elif values.is_vector:
        f.op(f"f32x4.convert_i32x4_{'s' if before == 'i32' else 'u'}")
    elif target == "bfloat16":
        _to_odd_float(values, "s" if before == "i64" else "u")
        _to_odd(values)
    else:
        plain = "i64" if before in ("i64", "u64") else "i32"
        f.op(f"{after}.convert_{plain}_{'s' if before[0] == 'i' else 'u'}")
    if target in ROUNDED:
        convert(values, ROUNDED[target], "f32")


def _to_odd_float(values: Translation, sign: str) -> None:
    """Emit a conversion of i64 to f64 that makes a second rounding exact.

    In numbers beyond 2^53 one bit stands for the lowest twelve.
    """
    f = values.f
    whole = f.local("i64")
    f.set(whole)
    f.emit(whole, ("i64", -4096), "i64.and")
    f.emit(whole, ("i64", 4095), "i64.and", ("i64", 0), "i64.ne", "i64.extend_i32_u")
    f.emit(("i64", 12), "i64.shl", "i64.or", whole)
    f.emit(whole, ("i64", 63), f"i64.shr_{sign}", whole, "i64.xor")
    f.emit(("i64", 2**53), "i64.gt_u", "select", f"f64.convert_i64_{sign}")
    f.free(whole)


def _to_odd(values: Translation) -> None:
    """Emit a conversion of f64 to f32 that makes a second rounding exact.

    An inexact result gets an odd last bit (round to odd; Boldo and Melquiond, 2008).
    """
    f = values.f
    wide, near, bits = f.local("f64"), f.local("f32"), f.local("i32")
    f.tee(wide)
    f.tee(near, "f32.demote_f64")
    f.set(bits, "i32.reinterpret_f32")
    # If it was rounded away from zero, go one step back; then set the last bit.
    f.emit(
        bits,
        near,
        "f64.promote_f32",
        "f64.abs",
        wide,
        "f64.abs",
        "f64.gt",
        "i32.sub",
        near,
        "f64.promote_f32",
        wide,
        "f64.ne",
        wide,
        wide,
        "f64.eq",
        "i32.and",
        "i32.or",
        "f32.reinterpret_i32",
    )
    f.free(wide, near, bits)


def _between_integers(values: Translation, before: str, after: str) -> None:
    is_wide, becomes_wide = before in ("i64", "u64"), after in ("i64", "u64")
    if is_wide and not becomes_wide:
        values.f.op("i32.wrap_i64")
    elif becomes_wide and not is_wide:
        values.f.op(f"i64.extend_i32_{'s' if before == 'i32' else 'u'}")


def needed_steps(expression: Expression, ends: Collection[int] = ()) -> list[int]:
    """Return the indices of the steps that the results depend on, in order.

    Args:
        expression: the expression that is computed.
        ends: steps whose arguments are not followed.
    """
    needed = set(expression.results)
    for number in range(max(needed), -1, -1):
        if number in needed:
            step = expression.steps[number]
            if number not in ends:
                needed.update(step.args)
            if step.guard >= 0:
                needed.add(step.guard)
    return sorted(needed)


def is_vectorizable(expression: Expression) -> bool:
    """Whether all values of an expression are lanes of 32 bits."""
    steps = expression.steps
    return all(fits_lanes(steps[number].dtype) for number in needed_steps(expression))


def flops(expression: Expression) -> int:
    """Return the approximate number of operations per element."""
    steps = (expression.steps[number] for number in needed_steps(expression))
    return 2 + sum(OPS[s.name].weight if s.kind == "map" else 1 for s in steps)


def looks_ahead(expression: Expression) -> bool:
    """Whether elements ahead along the last axis need no other addresses.

    True if all moving loads are contiguous and unguarded.
    """
    for number in needed_steps(expression):
        step = expression.steps[number]
        if step.kind not in ("load", "ramp"):
            continue
        strides = expression.accesses[step.access].strides
        if strides and strides[-1] and strides[-1][-1] not in (0, 1):
            return False
        if step.guard >= 0:
            return False
    return True


def drift(expression: Expression, number: int, moving: Set[int]) -> int | None:
    """Return the stride of a position along the last axis, None if unknown.

    Args:
        expression: the expression that is computed.
        number: the step of the position.
        moving: steps that change along the last axis.
    """
    step = expression.steps[number]
    if number not in moving:
        return 0
    if step.kind == "ramp":
        strides = expression.accesses[step.access].strides
        return strides[-1][-1] if strides and strides[-1] else 0
    if step.name == "add":
        drifts = [drift(expression, arg, moving) for arg in step.args]
        known = [each for each in drifts if each is not None]
        return sum(known) if len(known) == len(drifts) else None
    return None


def side_by_side(work: int) -> int:
    """Return the number of values of `work` operations that are interleaved.

    >>> side_by_side(3), side_by_side(20), side_by_side(100)
    (4, 2, 1)
    """
    if work <= policy.MOST_INTERLEAVED_WORK // 4:
        return 4
    return 2 if work <= policy.MOST_INTERLEAVED_WORK // 2 else 1
