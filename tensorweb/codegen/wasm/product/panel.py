"""The innermost loops of a product: rows of one matrix by a few columns of another.

             ▒▒ 8 columns: vectors of a depth, loaded one after another
    depth    ▒▒
   ┌──────┐  ▒▒      Of each row's number a vector is made of equal lanes; times the
5  │▒▒▒▒▒▒│  ██      columns it is added to the row's accumulators, which stay in
rows─────┘           registers until the depth ends.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from tensorweb.codegen.wasm import policy
from tensorweb.codegen.wasm.module import Function


class Numbers(NamedTuple):
    """Instructions that multiply numbers of a type.

    Attributes:
        type: the value type of the numbers that are computed at a time.
        shape: the beginning of the names of their instructions.
        size: bytes of a number.
        together: count of numbers that are computed at a time.
    """

    type: str
    shape: str
    size: int
    together: int

    @property
    def bytes(self) -> int:
        """Bytes of the numbers that are computed at a time."""
        return self.size * self.together

    @property
    def zero(self) -> str:
        """The kind of the constant that holds zeros."""
        return "i32x4" if self.together > 1 else self.type

    @property
    def load(self) -> str:
        """The instruction that loads neighbours."""
        return f"{self.type}.load"

    @property
    def load_repeated(self) -> str:
        """The instruction that loads one number for all lanes."""
        is_vector = self.together > 1
        return f"v128.load{8 * self.size}_splat" if is_vector else self.load


NUMBERS = {
    "f32": Numbers("v128", "f32x4", 4, 4),
    "i32": Numbers("v128", "i32x4", 4, 4),
    "f64": Numbers("v128", "f64x2", 8, 2),
    "i64": Numbers("i64", "i64", 8, 1),
}
"""By their type; 64-bit integers multiply faster one by one."""

(
    LEFT,
    RIGHT,
    RESULT,
    ROWS,
    DEPTH,
    LEFT_ROW,
    LEFT_STEP,
    RIGHT_STEP,
    RESULT_ROW,
    FIRST,
) = range(10)
"""Arguments of a panel: addresses, counts, distances in bytes, and whether sums begin.

They are: addresses of the left operand, the right one and the result; number of rows;
depth; from row to row and from depth to depth of the left operand; from depth to
depth of the right one; from row to row of the result; whether sums begin with this part
of the depth, not with the values in the result.
"""


@cache
def panel(
    kind: str, rows: int, vectors: int, is_fused: bool, is_strided: bool
) -> Function:
    """Return the function that multiplies any number of rows by some columns.

    A last, incomplete tile repeats the last row, and stores equal results.

    Args:
        kind: the type of the numbers, see `NUMBERS`.
        rows: rows of a tile.
        vectors: vectors of the columns.
        is_fused: whether multiplying and adding round once.
        is_strided: whether neighbours along the depth of the left operand lie apart.
    """
    return _Panel(kind, rows, vectors, is_fused, is_strided).written()


class _Panel:
    """Emits the function of a panel."""

    def __init__(
        self, kind: str, rows: int, vectors: int, is_fused: bool, is_strided: bool
    ) -> None:
        numbers = self.numbers = NUMBERS[kind]
        self.rows = range(rows)
        self.vectors = range(vectors)
        self.is_fused = is_fused and kind[0] == "f"
        self.is_strided = is_strided
        f = self.f = Function(("i32",) * 10)
        self.sums = [[f.local(numbers.type) for _ in self.vectors] for _ in self.rows]
        self.columns = [f.local(numbers.type) for _ in self.vectors]
        self.repeated = f.local(numbers.type)
        self.lefts = [f.local("i32") for _ in self.rows]
        self.right = f.local("i32")
        self.count = f.local("i32")
        self.results = [f.local("i32") for _ in self.rows]

    def written(self) -> Function:
        """Return the function."""
        f = self.f
        with f.block("loop"):
            self._row_addresses(self.lefts, LEFT, LEFT_ROW)
            self._row_addresses(self.results, RESULT, RESULT_ROW)
            self._begun()
            f.set(self.right, RIGHT)
            self._repeated(policy.UNROLLED_DEPTHS)
            self._repeated(1)
            self._stored()
            for pointer, step in ((LEFT, LEFT_ROW), (RESULT, RESULT_ROW)):
                f.set(
                    pointer,
                    pointer,
                    step,
                    ("i32", len(self.rows)),
                    "i32.mul",
                    "i32.add",
                )
            f.tee(ROWS, ROWS, ("i32", len(self.rows)), "i32.sub")
            f.br_if(0, ("i32", 0), "i32.gt_s")
        return f

    def _row_addresses(self, addresses: list[int], first: int, step: int) -> None:
        """Emit the address of each row; rows past the last one repeat its address."""
        f = self.f
        f.set(addresses[0], first)
        for row in self.rows[1:]:
            f.set(
                addresses[row],
                addresses[row - 1],
                step,
                ("i32", 0),
                ROWS,
                ("i32", row),
                "i32.gt_s",
                "select",
                "i32.add",
            )

    def _begun(self) -> None:
        """Emit the zeros with which sums begin."""
        f = self.f
        for row in self.sums:
            for number in row:
                f.set(number, (self.numbers.zero, 0))

    def _stored(self) -> None:
        """Emit the store of the sums, added to those of earlier parts of the depth."""
        f, numbers = self.f, self.numbers
        stores = [
            (result, vector * numbers.bytes, number)
            for result, row in zip(self.results, self.sums, strict=True)
            for vector, number in enumerate(row)
        ]
        with f.block("if", FIRST, "i32.eqz"):
            for result, offset, number in stores:
                f.set(
                    number,
                    result,
                    (numbers.load, offset),
                    number,
                    f"{numbers.shape}.add",
                )
        for result, offset, number in stores:
            f.emit(result, number, (f"{numbers.type}.store", offset))

    def _repeated(self, times: int) -> None:
        """Emit the loop over `times` depths per iteration, or over the last ones."""
        f = self.f
        f.get(DEPTH)
        if times > 1:
            f.emit(("i32", times.bit_length() - 1), "i32.shr_u")
        else:
            f.emit(("i32", policy.UNROLLED_DEPTHS - 1), "i32.and")
        f.tee(self.count)
        with f.block("if"), f.block("loop"):
            for step in range(times):
                self._step(0 if self.is_strided else step * self.numbers.size)
            if not self.is_strided:
                for left in self.lefts:
                    f.set(left, left, ("i32", times * self.numbers.size), "i32.add")
            f.tee(self.count, self.count, ("i32", 1), "i32.sub")
            f.br_if(0)

    def _step(self, offset: int) -> None:
        """Write one depth: each row's number times the columns."""
        f, shape = self.f, self.numbers.shape
        for vector, column in enumerate(self.columns):
            f.set(column, self.right, (self.numbers.load, vector * self.numbers.bytes))
        self._moved(self.right, RIGHT_STEP)
        for left, row in zip(self.lefts, self.sums, strict=True):
            f.set(self.repeated, left, (self.numbers.load_repeated, offset))
            for column, number in zip(self.columns, row, strict=True):
                f.emit(self.repeated, column)
                if self.is_fused:
                    f.emit(number, f"{shape}.relaxed_madd")
                else:
                    f.emit(f"{shape}.mul", number, f"{shape}.add")
                f.set(number)
            if self.is_strided:
                self._moved(left, LEFT_STEP)

    def _moved(self, pointer: int, step: int) -> None:
        f = self.f
        f.set(pointer, pointer, step, "i32.add")
