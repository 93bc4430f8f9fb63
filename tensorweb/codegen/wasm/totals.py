"""Totals of many blocks, in more digits than a block's.

Sums of float32 go on in float64; those of float64 keep beside the sum what rounding
lost (Neumaier, 1974). Other reductions do not depend on blocks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from tensorweb.codegen.wasm.folding import Fold
from tensorweb.codegen.wasm.translation import Translation

_UPPER_HALF = (8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15)
_LOWER_HALVES = (0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)


class Total(ABC):
    """A total while its blocks are added."""

    @abstractmethod
    def start(self) -> None:
        """Write the beginning: nothing was added."""

    @abstractmethod
    def add(self) -> None:
        """Add the block whose value is on the stack."""

    @abstractmethod
    def leave(self) -> None:
        """Leave the value on the stack."""


class _Plain(Total):
    """What combines as its values do."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self._running = fold.new()

    def start(self) -> None:
        self._fold.start(self._running)

    def add(self) -> None:
        self._fold.take(self._running)

    def leave(self) -> None:
        self._fold.leave(self._running)


class _Widened(Total):
    """A sum of float32 in float64, as two pairs for four lanes."""

    def __init__(self, values: Translation) -> None:
        self._f = values.f
        self._is_vector = values.is_vector
        kind, count = ("v128", 2) if self._is_vector else ("f64", 1)
        self._shape = "f64x2" if self._is_vector else "f64"
        self._parts = [self._f.local(kind) for _ in range(count)]

    def start(self) -> None:
        f = self._f
        for part in self._parts:
            if self._is_vector:
                f.get(f.constant("f32x4", 0))
            else:
                f.const("f64", 0)
            f.set(part)

    def add(self) -> None:
        f = self._f
        if not self._is_vector:
            f.op("f64.promote_f32")
            self._increase(self._parts[0])
            return
        vector = f.local("v128")
        f.tee(vector)
        f.op("f64x2.promote_low_f32x4")
        self._increase(self._parts[0])
        f.get(vector)
        f.get(vector)
        f.shuffle(_UPPER_HALF)
        f.op("f64x2.promote_low_f32x4")
        self._increase(self._parts[1])
        f.free(vector)

    def _increase(self, part: int) -> None:
        self._f.get(part)
        self._f.op(f"{self._shape}.add")
        self._f.set(part)

    def leave(self) -> None:
        f = self._f
        for part in self._parts:
            f.get(part)
            f.op("f32x4.demote_f64x2_zero" if self._is_vector else "f32.demote_f64")
        if self._is_vector:
            f.shuffle(_LOWER_HALVES)


class _Compensated(Total):
    """A sum of float64 and what rounding lost of it."""

    def __init__(self, values: Translation) -> None:
        self._f = values.f
        self._sum, self._lost = (self._f.local("f64") for _ in range(2))

    def start(self) -> None:
        for part in (self._sum, self._lost):
            self._f.const("f64", 0)
            self._f.set(part)

    def add(self) -> None:
        f = self._f
        addend, whole, back = (f.local("f64") for _ in range(3))
        f.tee(addend)
        f.get(self._sum)
        f.op("f64.add")
        f.tee(whole)
        f.get(self._sum)
        f.op("f64.sub")
        f.set(back)
        # lost += (sum - (whole - back)) + (addend - back)
        f.get(self._lost)
        f.get(self._sum)
        f.get(whole)
        f.get(back)
        f.ops("f64.sub", "f64.sub")
        f.get(addend)
        f.get(back)
        f.ops("f64.sub", "f64.add", "f64.add")
        f.set(self._lost)
        f.get(whole)
        f.set(self._sum)
        for local in (addend, whole, back):
            f.free(local)

    def leave(self) -> None:
        """Leave the sum; infinite ones lost nothing that could be told."""
        f = self._f
        f.get(self._sum)
        f.get(self._lost)
        f.const("f64", 0)
        f.get(self._lost)
        f.get(self._lost)
        f.ops("f64.eq", "select", "f64.add")


def total_of(fold: Fold) -> Total:
    """Return the total of a reduction, of one output or of four in lanes."""
    if not fold.adds_floats:
        return _Plain(fold)
    is_wide = fold.kind == "f64"
    return _Compensated(fold.values) if is_wide else _Widened(fold.values)
