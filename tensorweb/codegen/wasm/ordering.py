"""What all ways to sort rows share: the kernel, and how its elements become entries."""

from __future__ import annotations

from collections.abc import Callable

from tensorweb.codegen.wasm.blocks import Block
from tensorweb.codegen.wasm.elements import itemsize, store
from tensorweb.codegen.wasm.entries import Entry
from tensorweb.codegen.wasm.expressions import flops, is_vectorizable
from tensorweb.codegen.wasm.frame import Frame
from tensorweb.codegen.wasm.keys import Keys, as_bits, is_float, raw_dtype
from tensorweb.codegen.wasm.loops import Mover, Pointer, along, lanes_for
from tensorweb.codegen.wasm.reader import Reader
from tensorweb.codegen.wasm.target import WasmTarget
from tensorweb.codegen.wasm.terms import LANES
from tensorweb.schedule.kernel import Kernel


class Task:
    """A kernel that sorts rows, or finds the positions that sort them.

    Attributes:
        kernel, target: what is written, and for whom.
        rows, length: how many rows there are, and elements of each.
        flip: -1 for descending order, else 0.
        term: the elements, where it can be their bits.
        dtype: of the elements.
        entry: what is moved.
        lanes: how many elements are read at a time.
        loses_marks: whether results are made of keys that do not tell -0 from 0, nor
            one NaN from another.
        result_size: bytes of a result.
        work: about how many operations it takes to make an entry.
    """

    def __init__(self, kernel: Kernel, target: WasmTarget) -> None:
        """Take a kernel of the family."""
        self.kernel = kernel
        self.target = target
        self.rows, self.length, is_descending = kernel.sizes
        self.flip = -is_descending
        term = kernel.expression("term")
        self.dtype = term.dtype
        self.term = as_bits(term)
        carries = kernel.op == "argsort"
        self.entry = Entry(max(itemsize(self.dtype), 4), carries)
        self.lanes = lanes_for(self.length, is_vectorizable(self.term))
        self.loses_marks = is_float(self.dtype) and not carries
        self.result_size = itemsize(kernel.dtype)
        self.work = (flops(self.term) + 8) // self.lanes + 1

    @property
    def digits(self) -> int:
        """How many digits a key has."""
        return itemsize(self.dtype)


class Launching:
    """The module of one launch of a task while it is written.

    Attributes:
        task: what is sorted.
        frame, f: of the launch.
        keys: makes keys, as many at a time as are read.
        single: makes single keys.
    """

    def __init__(self, task: Task, lanes: int, notes_zeros: bool = False) -> None:
        """Begin.

        Args:
            task: what is sorted.
            lanes: how many elements are read at a time.
            notes_zeros: whether it is noted that some are 0 or NaN.
        """
        self.task = task
        self.frame = Frame(task.kernel, task.target)
        self.f = self.frame.f
        flip = self.frame.number(task.flip)
        self.keys = Keys(self.frame, task.dtype, flip, lanes)
        self.single = self.keys if lanes == 1 else Keys(self.frame, task.dtype, flip, 1)
        self._any, self._all = (self.f.own_local(self.keys.word) for _ in range(2))
        self._marks: list[tuple[int, Callable[[int], None]]] = []
        if task.loses_marks:
            tests = [self.keys.is_marked, self.keys.is_zero][: 1 + notes_zeros]
            kind = "v128" if lanes > 1 else "i32"
            self._marks = [(self.f.own_local(kind), test) for test in tests]

    @property
    def _is_vector(self) -> bool:
        return self.keys.values.is_vector

    def begin(self) -> None:
        """Write what forgets the elements noted so far."""
        f = self.f
        for local, start in ((self._any, 0), (self._all, -1)):
            f.const(self.single.word, start)
            if self._is_vector:
                f.op("i32x4.splat")
            f.set(local)
        for local, _ in self._marks:
            f.const("i32", 0)
            if self._is_vector:
                f.op("i32x4.splat")
            f.set(local)

    def _note(self, bits: int, key: int) -> None:
        """Write what notes elements by bits and keys, any of them once or twice."""
        f = self.f
        kind = "v128" if self._is_vector else self.keys.word
        for local, word in ((self._any, "or"), (self._all, "and")):
            f.get(local)
            f.get(key)
            f.op(f"{kind}.{word}")
            f.set(local)
        for local, test in self._marks:
            test(bits)
            f.get(local)
            f.op("v128.or" if self._is_vector else "i32.or")
            f.set(local)

    def facts(self) -> None:
        """Write what leaves the bits that any key has and those that all have."""
        f = self.f
        for local, word in ((self._any, "or"), (self._all, "and")):
            if not self._is_vector:
                f.get(local)
                continue
            for lane in range(LANES):
                f.get(local)
                f.lane("i32x4.extract_lane", lane)
                if lane:
                    f.op(f"i32.{word}")

    def is_marked(self) -> None:
        """Write whether keys have lost something of any element."""
        self._has_mark(0)

    def has_zeros(self) -> None:
        """Write whether any element is 0 or -0, where that is noted."""
        self._has_mark(1)

    def _has_mark(self, number: int) -> None:
        self.f.get(self._marks[number][0])
        if self._is_vector:
            self.f.op("v128.any_true")

    def reader(self, lanes: int) -> Reader:
        """Return a reader of the elements."""
        return Reader(self.frame, self.task.term, lanes)

    def bits(self, reader: Reader, keys: Keys) -> None:
        """Write what leaves the bits of the reader's elements on the stack."""
        reader.value()
        keys.bits(reader.result.dtype)

    def encode(
        self,
        reader: Reader,
        block: Block,
        entries: Pointer,
        bits_to: Pointer | None = None,
    ) -> None:
        """Write the loop that makes entries of a block's elements, and notes them.

        Args:
            reader: stands at the block's first element.
            block: where the elements are; its place moves.
            entries: where the entries go.
            bits_to: where the bits go as well, as words of the size of keys.
        """
        f, keys, entry = self.f, self.keys, self.task.entry
        bits, key = f.local(keys.word), f.local(keys.word)
        movers: list[Mover] = [reader, entries, *([] if bits_to is None else [bits_to])]
        with along(f, block.place, block.end, self.task.lanes, movers):
            self.bits(reader, keys)
            f.set(bits)
            if bits_to is not None:
                f.get(bits_to.local)
                f.get(bits)
                f.memory(f"{keys.word}.store")
            keys.key(bits)
            f.set(key)
            entry.write(keys, entries.local, key, block.place)
            self._note(bits, key)
        f.free(bits)
        f.free(key)

    def decode(self, block: Block, entries: Pointer, results: Pointer) -> None:
        """Write the loop that makes a block's results of its sorted entries."""
        task = self.task
        with along(self.f, block.place, block.end, task.lanes, [entries, results]):
            task.entry.finish(self.keys, entries.local, results.local)

    def restore(self, bits: int, zero: int, nan: int, nowhere: int) -> None:
        """Write what stores the bits of an element where a key has lost them.

        No jump depends on the element.

        Args:
            bits: the local with them.
            zero: the local with the address for the next 0 or -0, after which it moves.
            nan: likewise for NaN.
            nowhere: the local with the address where other elements may be written.
        """
        f, keys = self.f, self.single
        tests = [f.local("i32"), f.local("i32")]
        keys.is_zero(bits)
        f.set(tests[0])
        keys.is_nan(bits)
        f.set(tests[1])
        for local in (zero, nan, nowhere, tests[1]):
            f.get(local)
        f.op("select")
        f.get(tests[0])
        f.op("select")
        f.get(bits)
        store(keys.values, raw_dtype(keys.dtype))
        for pointer, test in zip((zero, nan), tests, strict=True):
            f.get(pointer)
            f.get(test)
            f.const("i32", keys.size)
            f.ops("i32.mul", "i32.add")
            f.set(pointer)
            f.free(test)

    def address(self, result: int, base: int, number: int, size: int) -> None:
        """Write the address of one of a row of things into a local.

        Args:
            result: the local that takes the address.
            base: the local with the address of the first.
            number: the local with the number of the one.
            size: bytes of each.
        """
        f = self.f
        f.get(number)
        f.const("i32", size)
        f.op("i32.mul")
        f.get(base)
        f.op("i32.add")
        f.set(result)
