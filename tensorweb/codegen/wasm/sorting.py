"""Choose how rows are sorted, and write the kernel that sorts short rows by ranking.

Sorts are stable, with NaN last. In a short row each element is compared with all
others, which gives its index in the sorted row.
"""

from __future__ import annotations

from tensorweb.codegen.program import OUTPUT, Program, scratch
from tensorweb.codegen.wasm import policy
from tensorweb.codegen.wasm.elements import store
from tensorweb.codegen.wasm.evaluator import Evaluator
from tensorweb.codegen.wasm.frame import per_slice
from tensorweb.codegen.wasm.loops import (
    Mover,
    Pointer,
    along,
    each_block,
    in_rows,
    locate,
)
from tensorweb.codegen.wasm.policy import WasmTarget
from tensorweb.codegen.wasm.radix import radix_rows
from tensorweb.codegen.wasm.radix_blocks import radix_blocks
from tensorweb.codegen.wasm.sort_keys import SortLaunch, SortTask, raw_dtype
from tensorweb.schedule.kernel import Kernel

VECTOR = 16
"""Bytes of a vector."""


def rank_rows(task: SortTask) -> Program:
    """Return the program of one launch, whose units sort short rows."""
    cut = in_rows(task.rows, task.length, policy.RANK_UNIT)
    work = RankLaunch(task)
    work.write()
    each = cut.elements * (task.work + 8 + task.length // work.lanes)
    launch = work.frame.launch("sort_rows", cut.units, per_slice(each), "by ranks")
    return Program((launch,), (cut.units * work.region,))


class RankLaunch(SortLaunch):
    """Emits the launch.

    Attributes:
        lanes: keys of a vector.
        region: bytes of scratch storage of a unit: keys, and bits of elements.
    """

    def __init__(self, task: SortTask) -> None:
        """Prepare."""
        super().__init__(task, task.lanes)
        self.key_size = task.entry.key_size
        self.lanes = VECTOR // self.key_size
        self._shape = "i32x4" if self.lanes == 4 else "i64x2"
        self._word = "i32" if self.lanes == 4 else "i64"
        self._padded = -(-task.length // self.lanes) * VECTOR
        lot = -(-self._padded // 64) * 64
        self.region = lot if task.entry.carries else 2 * lot
        self._bits_at = lot
        self._sums = [self.f.own_local("v128") for _ in range(self.lanes)]
        self._own = [self.f.own_local("v128") for _ in range(self.lanes)]

    def write(self) -> None:
        """Emit the module."""
        f, task, frame = self.f, self.task, self.frame
        cut = in_rows(task.rows, task.length, policy.RANK_UNIT)
        evaluator = self.evaluator(task.lanes)
        region, length = frame.number(self.region), frame.number(task.length)
        padded, bits_at = frame.number(self._padded), frame.number(self._bits_at)
        keys = Pointer(f, f.own_local("i32"), self.key_size)
        bits = Pointer(f, f.own_local("i32"), self.key_size)
        first, end, result = (f.own_local("i32") for _ in range(3))
        with each_block(frame, cut) as block:
            f.emit(block.unit, region, "i32.mul")
            f.tee(first, frame.storage(scratch(0), "w"), "i32.add")
            f.tee(keys.local)
            f.set(bits.local, bits_at, "i32.add")
            f.tee(end, first, padded, "i32.add")
            f.emit(("i32", VECTOR), "i32.sub")
            f.emit(f.vector(_largest(self.key_size)), ("v128.store", 0))
            locate(evaluator, block)
            movers: list[Mover] = [evaluator, keys]
            if not task.entry.carries:
                movers.append(bits)
            with along(f, block.index, block.end, task.lanes, movers):
                self._encode(evaluator, keys, bits)
            f.set(result, block.row, length, "i32.mul")
            self.address(result, frame.storage(OUTPUT), result, task.result_size)
            self._store_results(first, end, bits_at, result, length)

    def _encode(self, evaluator: Evaluator, keys: Pointer, bits_to: Pointer) -> None:
        """Emit the store of keys as signed numbers, and of bits."""
        f, maker = self.f, self.keys
        bits = f.local(maker.word)
        self.bits(evaluator, maker)
        f.set(bits)
        if not self.task.entry.carries:
            f.emit(bits_to.local, bits, (f"{maker.word}.store", 0))
        f.get(keys.local)
        maker.key(bits)
        if maker.values.is_vector:
            f.emit(f.constant("i32x4", 1 << 31), "v128.xor")
        else:
            f.emit((self._word, 1 << (8 * self.key_size - 1)), f"{self._word}.xor")
        f.memory(f"{maker.word}.store")
        f.free(bits)

    def _store_results(
        self, first: int, end: int, bits_at: int, result: int, length: int
    ) -> None:
        """Emit the loop over vectors of keys, which stores each element's result.

        Args:
            first: local of the address of the keys.
            end: that of the address behind them.
            bits_at: local of the distance in bytes from keys to bits.
            result: local of the address of the row's results.
            length: local of the number of elements.
        """
        f = self.f
        at, number = f.local("i32"), f.local("i32")
        f.set(at, first)
        f.set(number, ("i32", 0))
        with f.block("loop"):
            self._own_vector(at)
            other, after = f.local("i32"), f.local("i32")
            self._compared(first, at, other, "gt_s", "add")
            f.set(after, at, ("i32", VECTOR), "i32.add")
            self._compared(after, end, other, "lt_s", "sub")
            self._summed()
            for lane in range(self.lanes):
                self._store(lane, at, number, bits_at, result, length)
            f.set(number, number, ("i32", self.lanes), "i32.add")
            f.tee(at, after)
            f.br_if(0, end, "i32.ne")
        f.free(at, number, other, after)

    def _own_vector(self, at: int) -> None:
        """Emit the comparisons of the keys of a vector with each other."""
        f, shape = self.f, self._shape
        vector = f.local("v128")
        f.set(vector, at, ("v128.load", 0))
        for lane, (own, total) in enumerate(zip(self._own, self._sums, strict=True)):
            f.set(
                own, at, (f"v128.load{8 * self.key_size}_splat", lane * self.key_size)
            )
            f.get(f.constant("i32x4", 0))
            for word, combine, lanes in (
                ("gt_s", "add", range(lane)),
                ("lt_s", "sub", range(lane + 1, self.lanes)),
            ):
                if not lanes:
                    continue
                f.emit(vector, own, f"{shape}.{word}")
                f.emit(self._mask(lanes), "v128.and", f"{shape}.{combine}")
            f.set(total)
        f.free(vector)

    def _mask(self, lanes: range) -> int:
        """Return a local of ones in some lanes."""
        size = self.key_size
        parts = (b"\xff" if n in lanes else b"\0" for n in range(self.lanes))
        return self.f.vector(b"".join(part * size for part in parts))

    def _compared(
        self, first: int, end: int, other: int, word: str, combine: str
    ) -> None:
        """Emit the loop that compares own keys with those of other vectors.

        Args:
            first: local of the address of the first of these.
            end: local of the address behind the last one.
            other: a local for the loop.
            word: how they compare.
            combine: instruction applied to the count and the mask.
        """
        f, shape = self.f, self._shape
        vector = f.local("v128")
        f.set(other, first)
        with f.block("block"), f.block("loop"):
            f.br_if(1, other, end, "i32.eq")
            f.set(vector, other, ("v128.load", 0))
            for own, total in zip(self._own, self._sums, strict=True):
                f.set(
                    total,
                    total,
                    vector,
                    own,
                    f"{shape}.{word}",
                    f"{shape}.{combine}",
                )
            f.set(other, other, ("i32", VECTOR), "i32.add")
            f.br(0)
        f.free(vector)

    def _summed(self) -> None:
        """Emit the sums of the distances by which own elements move, by lane."""
        sums = self._sums
        pairs = list(zip(sums[::2], sums[1::2], strict=True))
        if self.lanes == 4:
            for pair in pairs:
                self._joined(pair, "i32x4", 4)
            pairs = [(sums[0], sums[2])]
        self._joined(pairs[0], "i32x4" if self.lanes == 4 else "i64x2", 8)

    def _joined(self, pair: tuple[int, int], shape: str, size: int) -> None:
        """Emit the pairwise addition of the lanes of two vectors, into the first."""
        f = self.f
        for start in (0, 8):
            for vector in pair:
                f.get(vector)
            lanes = range(start, start + 8, size)
            order = [
                number
                for lane in lanes
                for vector in (0, 16)
                for number in range(vector + lane, vector + lane + size)
            ]
            f.shuffle(order)
        f.set(pair[0], f"{shape}.add")

    def _store(
        self, lane: int, at: int, number: int, bits_at: int, result: int, length: int
    ) -> None:
        """Emit the store of the result of one own element, if it exists."""
        f, task = self.f, self.task
        if lane:
            f.emit(number, ("i32", lane), "i32.add", length, "i32.lt_u")
            f.begin("if")
        f.get(self._sums[0])
        f.lane(f"{self._shape}.extract_lane", lane)
        if self.lanes == 2:
            f.op("i32.wrap_i64")
        f.emit(
            number,
            "i32.add",
            ("i32", lane),
            "i32.add",
            ("i32", task.result_size),
            "i32.mul",
            result,
            "i32.add",
        )
        if task.entry.carries:
            f.emit(number, ("i32", lane), "i32.add", ("i32.store", 0))
        else:
            f.emit(at, bits_at, "i32.add", (f"{self._word}.load", lane * self.key_size))
            store(self.single.values, raw_dtype(task.dtype))
        if lane:
            f.end()


def _largest(size: int) -> bytes:
    """Return a vector of the largest signed numbers of some bytes."""
    return (b"\xff" * (size - 1) + b"\x7f") * (VECTOR // size)


def sort(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program that sorts rows, or finds the positions that sort them."""
    task = SortTask(kernel, target)
    if task.length <= policy.LONGEST_RANKED[task.digits]:
        return rank_rows(task)
    longest = (
        policy.LONGEST_OF_MANY_ROWS
        if task.rows >= policy.MANY_SORTED_ROWS
        else policy.LONGEST_SORTED_ROW
    )
    if task.length <= longest:
        return radix_rows(task)
    return radix_blocks(task)
