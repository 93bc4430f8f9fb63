"""The instructions of WebAssembly that kernels use: names to codes.

Numbers are those of the WebAssembly core specification 2.0 (appendix "Index of
Instructions") and of its extension for relaxed SIMD.
"""

from __future__ import annotations

VECTOR_PREFIX = 0xFD
"""The byte before the number of a vector instruction."""

SATURATING_PREFIX = 0xFC
"""The byte before the number of a saturating conversion or of a bulk operation."""


def unsigned(value: int) -> bytes:
    """Return an unsigned LEB128 number.

    >>> unsigned(624485).hex()
    'e58e26'
    """
    if value < 0x80:
        return _ONE_BYTE[value]
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def signed(value: int) -> bytes:
    """Return a signed LEB128 number.

    >>> signed(-123456).hex()
    'c0bb78'
    """
    found = bytearray()
    while not -64 <= value < 64:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value & 0x7F)
    return bytes(found)


_ONE_BYTE = [bytes((value,)) for value in range(0x80)]

TYPES = {"i32": 0x7F, "i64": 0x7E, "f32": 0x7D, "f64": 0x7C, "v128": 0x7B}
"""Value types."""

NO_RESULT = 0x40
"""The type of a block that leaves nothing on the stack."""

_FROM = {
    # control
    0x00: "unreachable",
    0x01: "nop",
    0x02: "block",
    0x03: "loop",
    0x04: "if",
    0x05: "else",
    0x0B: "end",
    0x0C: "br",
    0x0D: "br_if",
    0x0F: "return",
    0x10: "call",
    0x1A: "drop",
    0x1B: "select",
    0x20: "local.get",
    0x21: "local.set",
    0x22: "local.tee",
    0x28: (
        "i32.load i64.load f32.load f64.load i32.load8_s i32.load8_u i32.load16_s "
        "i32.load16_u i64.load8_s i64.load8_u i64.load16_s i64.load16_u i64.load32_s "
        "i64.load32_u i32.store i64.store f32.store f64.store i32.store8 i32.store16 "
        "i64.store8 i64.store16 i64.store32 memory.size memory.grow"
    ),
    0x41: "i32.const i64.const f32.const f64.const",
    0x45: (
        "i32.eqz i32.eq i32.ne i32.lt_s i32.lt_u i32.gt_s i32.gt_u i32.le_s i32.le_u "
        "i32.ge_s i32.ge_u i64.eqz i64.eq i64.ne i64.lt_s i64.lt_u i64.gt_s i64.gt_u "
        "i64.le_s i64.le_u i64.ge_s i64.ge_u f32.eq f32.ne f32.lt f32.gt f32.le f32.ge "
        "f64.eq f64.ne f64.lt f64.gt f64.le f64.ge"
    ),
    0x67: (
        "i32.clz i32.ctz i32.popcnt i32.add i32.sub i32.mul i32.div_s i32.div_u "
        "i32.rem_s i32.rem_u i32.and i32.or i32.xor i32.shl i32.shr_s i32.shr_u "
        "i32.rotl i32.rotr i64.clz i64.ctz i64.popcnt i64.add i64.sub i64.mul "
        "i64.div_s i64.div_u i64.rem_s i64.rem_u i64.and i64.or i64.xor i64.shl "
        "i64.shr_s i64.shr_u i64.rotl i64.rotr f32.abs f32.neg f32.ceil f32.floor "
        "f32.trunc f32.nearest f32.sqrt f32.add f32.sub f32.mul f32.div f32.min "
        "f32.max f32.copysign f64.abs f64.neg f64.ceil f64.floor f64.trunc f64.nearest "
        "f64.sqrt f64.add f64.sub f64.mul f64.div f64.min f64.max f64.copysign "
        "i32.wrap_i64 i32.trunc_f32_s i32.trunc_f32_u i32.trunc_f64_s i32.trunc_f64_u "
        "i64.extend_i32_s i64.extend_i32_u i64.trunc_f32_s i64.trunc_f32_u "
        "i64.trunc_f64_s i64.trunc_f64_u f32.convert_i32_s f32.convert_i32_u "
        "f32.convert_i64_s f32.convert_i64_u f32.demote_f64 f64.convert_i32_s "
        "f64.convert_i32_u f64.convert_i64_s f64.convert_i64_u f64.promote_f32 "
        "i32.reinterpret_f32 i64.reinterpret_f64 f32.reinterpret_i32 "
        "f64.reinterpret_i64 i32.extend8_s i32.extend16_s i64.extend8_s i64.extend16_s "
        "i64.extend32_s"
    ),
}

_SATURATING = (
    "i32.trunc_sat_f32_s i32.trunc_sat_f32_u i32.trunc_sat_f64_s i32.trunc_sat_f64_u "
    "i64.trunc_sat_f32_s i64.trunc_sat_f32_u i64.trunc_sat_f64_s i64.trunc_sat_f64_u"
)

_VECTORS = {
    0: (
        "v128.load v128.load8x8_s v128.load8x8_u v128.load16x4_s v128.load16x4_u "
        "v128.load32x2_s v128.load32x2_u v128.load8_splat v128.load16_splat "
        "v128.load32_splat v128.load64_splat v128.store v128.const i8x16.shuffle "
        "i8x16.swizzle i8x16.splat i16x8.splat i32x4.splat i64x2.splat f32x4.splat "
        "f64x2.splat i8x16.extract_lane_s i8x16.extract_lane_u i8x16.replace_lane "
        "i16x8.extract_lane_s i16x8.extract_lane_u i16x8.replace_lane "
        "i32x4.extract_lane i32x4.replace_lane i64x2.extract_lane i64x2.replace_lane "
        "f32x4.extract_lane f32x4.replace_lane f64x2.extract_lane f64x2.replace_lane "
        "i8x16.eq i8x16.ne i8x16.lt_s i8x16.lt_u i8x16.gt_s i8x16.gt_u i8x16.le_s "
        "i8x16.le_u i8x16.ge_s i8x16.ge_u i16x8.eq i16x8.ne i16x8.lt_s i16x8.lt_u "
        "i16x8.gt_s i16x8.gt_u i16x8.le_s i16x8.le_u i16x8.ge_s i16x8.ge_u i32x4.eq "
        "i32x4.ne i32x4.lt_s i32x4.lt_u i32x4.gt_s i32x4.gt_u i32x4.le_s i32x4.le_u "
        "i32x4.ge_s i32x4.ge_u f32x4.eq f32x4.ne f32x4.lt f32x4.gt f32x4.le f32x4.ge "
        "f64x2.eq f64x2.ne f64x2.lt f64x2.gt f64x2.le f64x2.ge v128.not v128.and "
        "v128.andnot v128.or v128.xor v128.bitselect v128.any_true v128.load8_lane "
        "v128.load16_lane v128.load32_lane v128.load64_lane v128.store8_lane "
        "v128.store16_lane v128.store32_lane v128.store64_lane v128.load32_zero "
        "v128.load64_zero f32x4.demote_f64x2_zero f64x2.promote_low_f32x4 i8x16.abs "
        "i8x16.neg i8x16.popcnt i8x16.all_true i8x16.bitmask i8x16.narrow_i16x8_s "
        "i8x16.narrow_i16x8_u f32x4.ceil f32x4.floor f32x4.trunc f32x4.nearest "
        "i8x16.shl i8x16.shr_s i8x16.shr_u i8x16.add"
    ),
    0x71: "i8x16.sub",
    0x74: "f64x2.ceil f64x2.floor i8x16.min_s i8x16.min_u i8x16.max_s i8x16.max_u",
    0x7A: "f64x2.trunc",
    0x7C: (
        "i16x8.extadd_pairwise_i8x16_s i16x8.extadd_pairwise_i8x16_u "
        "i32x4.extadd_pairwise_i16x8_s i32x4.extadd_pairwise_i16x8_u i16x8.abs "
        "i16x8.neg i16x8.q15mulr_sat_s i16x8.all_true i16x8.bitmask "
        "i16x8.narrow_i32x4_s i16x8.narrow_i32x4_u i16x8.extend_low_i8x16_s "
        "i16x8.extend_high_i8x16_s i16x8.extend_low_i8x16_u i16x8.extend_high_i8x16_u "
        "i16x8.shl i16x8.shr_s i16x8.shr_u i16x8.add"
    ),
    0x91: "i16x8.sub",
    0x94: "f64x2.nearest i16x8.mul i16x8.min_s i16x8.min_u i16x8.max_s i16x8.max_u",
    0xA0: "i32x4.abs i32x4.neg",
    0xA3: "i32x4.all_true i32x4.bitmask",
    0xA7: (
        "i32x4.extend_low_i16x8_s i32x4.extend_high_i16x8_s i32x4.extend_low_i16x8_u "
        "i32x4.extend_high_i16x8_u i32x4.shl i32x4.shr_s i32x4.shr_u i32x4.add"
    ),
    0xB1: "i32x4.sub",
    0xB5: "i32x4.mul i32x4.min_s i32x4.min_u i32x4.max_s i32x4.max_u",
    0xC0: "i64x2.abs i64x2.neg",
    0xC3: "i64x2.all_true i64x2.bitmask",
    0xC7: (
        "i64x2.extend_low_i32x4_s i64x2.extend_high_i32x4_s i64x2.extend_low_i32x4_u "
        "i64x2.extend_high_i32x4_u i64x2.shl i64x2.shr_s i64x2.shr_u i64x2.add"
    ),
    0xD1: "i64x2.sub",
    0xD5: (
        "i64x2.mul i64x2.eq i64x2.ne i64x2.lt_s i64x2.gt_s i64x2.le_s i64x2.ge_s "
        "i64x2.extmul_low_i32x4_s i64x2.extmul_high_i32x4_s i64x2.extmul_low_i32x4_u "
        "i64x2.extmul_high_i32x4_u f32x4.abs f32x4.neg"
    ),
    0xE3: (
        "f32x4.sqrt f32x4.add f32x4.sub f32x4.mul f32x4.div f32x4.min f32x4.max "
        "f32x4.pmin f32x4.pmax f64x2.abs f64x2.neg"
    ),
    0xEF: (
        "f64x2.sqrt f64x2.add f64x2.sub f64x2.mul f64x2.div f64x2.min f64x2.max "
        "f64x2.pmin f64x2.pmax i32x4.trunc_sat_f32x4_s i32x4.trunc_sat_f32x4_u "
        "f32x4.convert_i32x4_s f32x4.convert_i32x4_u i32x4.trunc_sat_f64x2_s_zero "
        "i32x4.trunc_sat_f64x2_u_zero f64x2.convert_low_i32x4_s "
        "f64x2.convert_low_i32x4_u"
    ),
    0x105: (
        "f32x4.relaxed_madd f32x4.relaxed_nmadd f64x2.relaxed_madd f64x2.relaxed_nmadd "
        "i8x16.relaxed_laneselect i16x8.relaxed_laneselect i32x4.relaxed_laneselect"
    ),
}


def _codes() -> dict[str, bytes]:
    """Return the bytes of every instruction before its immediates, by name."""
    found: dict[str, bytes] = {}
    for start, names in _FROM.items():
        for code, name in enumerate(names.split(), start):
            found[name] = bytes((code,))
    for code, name in enumerate(_SATURATING.split()):
        found[name] = bytes((SATURATING_PREFIX, code))
    for start, names in _VECTORS.items():
        for code, name in enumerate(names.split(), start):
            found[name] = bytes((VECTOR_PREFIX,)) + unsigned(code)
    return found


CODES: dict[str, bytes] = _codes()
"""The bytes of every instruction before its immediates, by name."""
