"""Keep the best of the values seen so far and the place of the first one.

NaN is better than any number.
"""

from __future__ import annotations

from tensorweb.codegen.wasm.elements import KINDS
from tensorweb.codegen.wasm.folding import identity_of
from tensorweb.codegen.wasm.translation import Translation
from tensorweb.ops import OPS

EXTREME_OF = {"argmax": "max", "argmin": "min"}
"""The reduction whose result lies at the place."""

_NO_BETTER = {"argmax": "<=", "argmin": ">="}


class Best:
    """The best value and its place, of one output or in lanes.

    Attributes:
        kind: the type of a value.
    """

    def __init__(self, values: Translation, op: str, dtype: str) -> None:
        """Prepare."""
        self._values = values
        self._f = values.f
        self._op = op
        self.kind = KINDS[dtype]
        self._is_float = self.kind[0] == "f"
        self._identity = identity_of(OPS[op], dtype)
        self._value = self._f.local(values.value_type(self.kind))
        self._place = self._f.local(values.value_type("i32"))

    def start(self, places: int) -> None:
        """Write the beginning: the worst value at the first place."""
        self._values.number(self.kind, self._identity)
        self._f.set(self._value)
        self._f.get(places)
        self._f.set(self._place)

    def take(self, places: int) -> None:
        """Write what keeps the value on the stack where it is better.

        Args:
            places: the local with its place.
        """
        f, values = self._f, self._values
        value = f.local(values.value_type(self.kind))
        mask = f.local(values.value_type("i32"))
        f.set(value)
        self._better(value)
        f.set(mask)
        for new, kept in ((value, self._value), (places, self._place)):
            f.get(new)
            f.get(kept)
            f.get(mask)
            values.choose()
            f.set(kept)
        f.free(value)
        f.free(mask)

    def _better(self, value: int) -> None:
        """Leave whether a value is better than the best."""
        f, values = self._f, self._values
        if self._is_float:
            # Not NaN yet, and not "no better", which is false beside NaN.
            f.get(self._value)
            f.get(self._value)
            values.operator("==", self.kind)
        f.get(value)
        f.get(self._value)
        kind = self.kind
        if kind == "bool":
            # In lanes true is -1, the largest of unsigned numbers.
            kind = "u32"
        if not self._is_float:
            values.operator(">" if self._op == "argmax" else "<", kind)
            return
        values.operator(_NO_BETTER[self._op], kind)
        if values.is_vector:
            f.op("v128.andnot")
        else:
            f.ops("i32.eqz", "i32.and")

    def equals(self, values: Translation, wanted: int) -> None:
        """Leave whether the value on the stack equals the best or is NaN.

        Args:
            values: how many lanes there are.
            wanted: the local with the best value, in every lane.
        """
        f = self._f
        value = f.local(values.value_type(self.kind))
        f.tee(value)
        f.get(wanted)
        values.operator("==", self.kind)
        if self._is_float:
            f.get(value)
            f.get(value)
            values.operator("!=", self.kind)
            f.op("v128.or" if values.is_vector else "i32.or")
        f.free(value)

    def leave_value(self) -> None:
        """Leave the best value on the stack."""
        self._f.get(self._value)

    def leave_place(self) -> None:
        """Leave its place on the stack."""
        self._f.get(self._place)
