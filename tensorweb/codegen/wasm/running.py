"""Loops of scans over the values of a reader, one or four at a time."""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb.codegen.wasm.blocks import Block
from tensorweb.codegen.wasm.elements import (
    KINDS,
    itemsize,
    load_neighbours,
    store,
    store_neighbours,
)
from tensorweb.codegen.wasm.loops import Pointer, along
from tensorweb.codegen.wasm.module import Function
from tensorweb.codegen.wasm.reader import Reader
from tensorweb.codegen.wasm.terms import LANES, VALUE

_WIDER = {
    "float16": "float32",
    "int8": "int32",
    "int16": "int32",
    "uint8": "uint32",
    "uint16": "uint32",
}


@dataclass(frozen=True, slots=True)
class Combining:
    """How two totals of a dtype become one.

    Attributes:
        word: the instruction: `add` or `mul`.
        dtype: in what results are made: 32 or 64 bits.
        identity: what changes nothing.

    >>> combining("cumulative_sum", "float16").carried
    'f64'
    """

    word: str
    dtype: str
    identity: float

    @property
    def kind(self) -> str:
        """The value type of a result."""
        kind = KINDS[self.dtype]
        return VALUE.get(kind, kind)

    @property
    def carried(self) -> str:
        """The value type of a total: float32 is summed in float64."""
        is_sum_of_floats = self.kind == "f32" and self.word == "add"
        return "f64" if is_sum_of_floats else self.kind

    @property
    def is_in_order(self) -> bool:
        """Whether one element must be combined after another."""
        return self.word == "mul" and self.kind[0] == "f"

    @property
    def carried_size(self) -> int:
        """Bytes of a total."""
        return 8 if self.carried[1:] == "64" else 4


def combining(op: str, dtype: str) -> Combining:
    """Return how totals of an operation and a dtype are combined.

    A sum starts with -0, the identity even for the sign of zero.
    """
    wide = _WIDER.get(dtype, dtype)
    if op == "cumulative_prod":
        return Combining("mul", wide, 1.0)
    return Combining("add", wide, -0.0 if KINDS[wide][0] == "f" else 0.0)


class Running:
    """Generates the scan loop over a block.

    Attributes:
        how: how totals are combined.
        reader: reader of the terms, set to the first.
        pointer: address of the first result.
        dtype: dtype of the stored results.
        carry: local of the total before the block, and after it in the end.
    """

    def __init__(
        self, how: Combining, reader: Reader, pointer: Pointer, dtype: str
    ) -> None:
        """Begin."""
        self.how = how
        self.reader = reader
        self.pointer = pointer
        self.dtype = dtype
        self.carry = self._f.own_local(how.carried)

    @property
    def _f(self) -> Function:
        return self.reader.frame.f

    def write(self, block: Block) -> None:
        """Emit the loop over a block."""
        if self.reader.values.is_vector:
            self._vectors(block)
        elif self.how.kind == "f64" and self.how.word == "add":
            self._fours(block)
        else:
            self._singles(block)

    def _singles(self, block: Block) -> None:
        """Emit the loop that combines one element after another."""
        f, how = self._f, self.how
        with along(f, block.place, block.end, 1, [self.reader, self.pointer]):
            f.get(self.pointer.local)
            self.reader.value()
            if how.carried != how.kind:
                f.op("f64.promote_f32")
            f.get(self.carry)
            f.op(f"{how.carried}.{how.word}")
            f.tee(self.carry)
            if how.carried != how.kind:
                f.op("f32.demote_f64")
            store(self.reader.values, self.dtype)

    def _fours(self, block: Block) -> None:
        """Emit the loop that adds four elements before it uses the last sum."""
        f, how, reader = self._f, self.how, self.reader
        whole, sums = f.local("i32"), [f.local(how.kind) for _ in range(LANES)]
        f.get(block.end)
        f.get(block.end)
        f.get(block.place)
        f.op("i32.sub")
        f.const("i32", LANES - 1)
        f.ops("i32.and", "i32.sub")
        f.set(whole)
        f.get(block.place)
        f.get(whole)
        f.op("i32.lt_u")
        f.begin("if")
        movers = [self.pointer]
        with along(f, block.place, whole, LANES, movers, is_whole=True):
            for total in sums:
                reader.value()
                f.set(total)
                reader.move(1)
            first, second, third, fourth = sums
            for total, other in ((fourth, third), (second, first)):
                self._added(total, other)
            self._added(third, second)
            self._added(fourth, second)
            for number, total in enumerate(sums):
                f.get(self.pointer.local)
                f.get(total)
                f.get(self.carry)
                f.op(f"{how.kind}.add")
                if number == LANES - 1:
                    f.tee(self.carry)
                f.memory(f"{how.kind}.store", number * itemsize(self.dtype))
        f.end()
        for local in (whole, *sums):
            f.free(local)
        f.get(block.place)
        f.get(block.end)
        f.op("i32.lt_u")
        f.begin("if")
        self._singles(block)
        f.end()

    def _added(self, total: int, other: int) -> None:
        f = self._f
        f.get(total)
        f.get(other)
        f.op(f"{self.how.kind}.add")
        f.set(total)

    def _vectors(self, block: Block) -> None:
        """Emit the loop that computes four totals per iteration.

        The last vector may overlap elements that are done: these are unchanged.
        """
        f, reader, pointer = self._f, self.reader, self.pointer
        shape = "f32x4" if self.how.kind == "f32" else "i32x4"
        combine = f"{shape}.{self.how.word}"
        nothing = f.constant(shape, self.how.identity)
        four, mask = f.local("v128"), f.local("v128")
        expected, done = f.local("i32"), f.local("i32")
        f.get(block.place)
        f.set(expected)
        with along(f, block.place, block.end, LANES, [reader, pointer]):
            reader.value()
            f.set(four)
            f.get(expected)
            f.get(block.place)
            f.op("i32.sub")
            f.tee(done)
            f.begin("if")
            f.get(f.counting())
            f.get(done)
            f.ops("i32x4.splat", "i32x4.ge_s")
            f.set(mask)
            self._chosen(four, nothing, mask)
            f.end()
            for shift in (1, 2):
                f.get(four)
                f.get(nothing)
                f.get(four)
                f.shuffle(range(16 - 4 * shift, 32 - 4 * shift))
                f.op(combine)
                f.set(four)
            self._carried(four, shape)
            f.get(done)
            f.begin("if")
            old = f.local("v128")
            f.get(pointer.local)
            load_neighbours(reader.values, self.dtype)
            f.set(old)
            self._chosen(four, old, mask)
            f.free(old)
            f.end()
            f.get(pointer.local)
            f.get(four)
            store_neighbours(reader.values, self.dtype)
            f.get(block.place)
            f.const("i32", LANES)
            f.op("i32.add")
            f.set(expected)

    def _carried(self, four: int, shape: str) -> None:
        """Emit code that combines four totals with the carry and updates the carry."""
        f, how = self._f, self.how
        is_wider = how.carried != how.kind
        f.get(four)
        f.get(self.carry)
        if is_wider:
            f.op("f32.demote_f64")
        f.ops(f"{shape}.splat", f"{shape}.{how.word}")
        f.get(four)
        f.lane(f"{shape}.extract_lane", LANES - 1)
        if is_wider:
            f.op("f64.promote_f32")
        f.get(self.carry)
        f.op(f"{how.carried}.{how.word}")
        f.set(self.carry)
        f.set(four)

    def _chosen(self, four: int, others: int, mask: int) -> None:
        """Emit code that selects lanes of a vector by a mask."""
        f = self._f
        f.get(four)
        f.get(others)
        f.get(mask)
        f.op("v128.bitselect")
        f.set(four)
