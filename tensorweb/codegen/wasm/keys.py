"""Keys for sorting: unsigned numbers in the order of elements, made from their bits.

All NaN have the largest key in both orders, and -0 that of 0. A key is a word of 32
bits, of 64 for elements that have them; digits are the bytes of an element's size.
"""

from __future__ import annotations

from dataclasses import replace

from tensorweb.codegen.wasm.elements import KINDS, convert, itemsize
from tensorweb.codegen.wasm.frame import Frame
from tensorweb.codegen.wasm.functions import expression
from tensorweb.codegen.wasm.terms import VALUE
from tensorweb.codegen.wasm.translation import Translation
from tensorweb.schedule.kernel import Expression

_FLOATS = {
    "float16": (0x8000, 0x7C00),
    "float32": (0x8000_0000, 0x7F80_0000),
    "float64": (1 << 63, 0x7FF0_0000_0000_0000),
}
"""The bits of -0 and of infinity."""

_TO_KEY = {
    "float16": "order_of_half({0}, {1})",
    "float32": "order_of_f32({0}, {1})",
    "float64": "order_of_f64({0}, {1})",
    "int64": "order_of_i64({0}, {1})",
    "uint64": "order_of_u64({0}, {1})",
}
_TO_BITS = {
    "float16": "half_of_order({0}, {1})",
    "float32": "bitcast<u32>(f32_of_order({0}, {1}))",
    "float64": "f64_of_order({0}, {1})",
}


def raw_dtype(dtype: str) -> str:
    """Return the unsigned dtype of the same size.

    >>> raw_dtype("float16")
    'uint16'
    """
    return f"uint{8 * itemsize(dtype)}"


def _integer_form(dtype: str) -> str:
    """Return what makes keys of integers up to 32 bits, and makes them bits again."""
    sign = "i" if KINDS[dtype] == "i32" else "u"
    above = 32 - 8 * itemsize(dtype)
    if not above:
        return f"order_of_{sign}32({{0}}, {{1}})"
    return f"(order_of_{sign}32({{0}} << {above}u, {{1}}) >> {above}u)"


def is_float(dtype: str) -> bool:
    """Whether elements may be NaN, or zeros of two signs."""
    return dtype in _FLOATS


def as_bits(term: Expression) -> Expression:
    """Return an expression of the bits, where the term is only loaded."""
    step = term.steps[term.result]
    if step.kind not in ("load", "gather"):
        return term
    steps = list(term.steps)
    steps[term.result] = replace(step, dtype=raw_dtype(step.dtype))
    return replace(term, steps=tuple(steps))


class Keys:
    """Writes what turns elements into keys and back.

    Attributes:
        dtype: of the elements.
        size: their bytes, which is how many digits a key has.
        kind: of a key: `u32` or `u64`.
        values: the translation, which knows how many lanes there are.
    """

    def __init__(self, frame: Frame, dtype: str, flip: int, lanes: int) -> None:
        """Begin.

        Args:
            frame: of the launch.
            dtype: of the elements.
            flip: the local with 0 for ascending order, -1 for descending order.
            lanes: 4 for vectors, else 1.
        """
        self.dtype = dtype
        self.size = itemsize(dtype)
        self.kind = "u64" if self.size == 8 else "u32"
        self.values = Translation(frame.writer, frame.f, lanes)
        self._frame = frame
        self._flip = flip
        if lanes > 1 or self.size == 8:
            self._flip = frame.f.own_local(self.word)
            with frame.at_head() as f:
                f.get(flip)
                f.op("i32x4.splat" if lanes > 1 else "i64.extend_i32_s")
                f.set(self._flip)

    @property
    def word(self) -> str:
        """The value type that holds bits and keys."""
        return self.values.value_type(self.kind)

    def _write(self, form: str, *operands: int) -> None:
        kinds = (self.kind,) * len(operands)
        places = {f"operand{n}": (local,) for n, local in enumerate(operands)}
        self.values.term(expression(form, kinds), places)

    def bits(self, read: str) -> None:
        """Write what makes bits of a value on the stack that was read as a dtype."""
        f = self.values.f
        if read != self.dtype:
            return
        if read == "bool":
            if self.values.is_vector:
                f.get(f.constant("i32x4", 1))
                f.op("v128.and")
        elif read == "float16":
            convert(self.values, "half_bits_from_f32({0})", "f32")
        elif is_float(read):
            self.values.bitcast(KINDS[read], self.kind)

    def key(self, bits: int) -> None:
        """Write what leaves the key of bits in a local on the stack."""
        form = _TO_KEY.get(self.dtype) or _integer_form(self.dtype)
        self._write(form, bits, self._flip)

    def bits_of(self, key: int) -> None:
        """Write what leaves the bits of a key in a local on the stack."""
        form = (
            _TO_BITS.get(self.dtype)
            or _TO_KEY.get(self.dtype)
            or _integer_form(self.dtype)
        )
        self._write(form, key, self._flip)

    def is_marked(self, bits: int) -> None:
        """Write whether bits in a local get lost in a key: those of -0 and of NaN."""
        minus, infinity = _FLOATS[self.dtype]
        form = f"({{0}} == {minus}u) | (({{0}} & {minus - 1}u) > {infinity}u)"
        self._write(form, bits)

    def is_nan(self, bits: int) -> None:
        """Write whether bits in a local are those of NaN."""
        minus, infinity = _FLOATS[self.dtype]
        self._write(f"({{0}} & {minus - 1}u) > {infinity}u", bits)

    def is_zero(self, bits: int) -> None:
        """Write whether bits in a local are those of 0 or -0."""
        self._write(f"({{0}} & {_FLOATS[self.dtype][0] - 1}u) == 0u", bits)

    def zero(self) -> int:
        """Return a local with the key of 0, a single one."""
        local = self._once(0)
        with self._frame.at_head() as f:
            self.key(local)
            f.set(local)
        return local

    def nan(self) -> int:
        """Return a local with the key of NaN, a single one."""
        return self._once((1 << 8 * self.size) - 1)

    def _once(self, value: int) -> int:
        local = self._frame.f.own_local(VALUE[self.kind])
        with self._frame.at_head() as f:
            f.const(VALUE[self.kind], value)
            f.set(local)
        return local
