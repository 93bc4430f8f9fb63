"""Describe a sort: its kernel, the keys of its elements and the entries that it moves.

A key is an unsigned integer in the order of the elements, computed from their bits. An
entry is a key and, where the sort returns indices, the index of the element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tensorweb.codegen.wasm.elements import (
    KINDS,
    TO_HALF,
    convert,
    flops,
    is_vectorizable,
    itemsize,
    store,
    store_neighbours,
)
from tensorweb.codegen.wasm.evaluator import Evaluator
from tensorweb.codegen.wasm.frame import Frame
from tensorweb.codegen.wasm.functions import expression
from tensorweb.codegen.wasm.loops import Block, Mover, Pointer, along, lanes_for
from tensorweb.codegen.wasm.module import Function
from tensorweb.codegen.wasm.policy import WasmTarget
from tensorweb.codegen.wasm.translation import LANES, VALUE, Translation
from tensorweb.schedule.kernel import Expression, Kernel

_FLOATS = {
    "float16": (0x8000, 0x7C00),
    "bfloat16": (0x8000, 0x7F80),
    "float32": (0x8000_0000, 0x7F80_0000),
    "float64": (1 << 63, 0x7FF0_0000_0000_0000),
}
"""The bits of -0 and of infinity."""

_TO_KEY = {
    "float16": "order_of_half({0}, {1})",
    "bfloat16": "(order_of_f32({0} << 16u, {1}) >> 16u)",
    "float32": "order_of_f32({0}, {1})",
    "float64": "order_of_f64({0}, {1})",
    "int64": "order_of_i64({0}, {1})",
    "uint64": "order_of_u64({0}, {1})",
}
_TO_BITS = {
    "float16": "half_of_order({0}, {1})",
    "bfloat16": "(bitcast<u32>(f32_of_order(({0} << 16u) | 0xffffu, {1})) >> 16u)",
    "float32": "bitcast<u32>(f32_of_order({0}, {1}))",
    "float64": "f64_of_order({0}, {1})",
}


def raw_dtype(dtype: str) -> str:
    """Return the unsigned dtype with the size of a dtype.

    >>> raw_dtype("float16")
    'uint16'
    """
    return f"uint{8 * itemsize(dtype)}"


def _integer_form(dtype: str) -> str:
    """Return the form from integers of up to 32 bits to keys, its own inverse."""
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
    """Emits the conversion of elements to keys and back.

    Attributes:
        dtype: of the elements.
        size: bytes of an element, which is the number of digits of a key.
        kind: of a key: `u32` or `u64`.
        values: the translation, which determines the number of lanes.
    """

    def __init__(self, frame: Frame, dtype: str, flip: int, lanes: int) -> None:
        """Prepare.

        Args:
            frame: frame of the launch.
            dtype: of the elements.
            flip: local of 0 for ascending order, -1 for descending order.
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
                f.set(
                    self._flip, flip, "i32x4.splat" if lanes > 1 else "i64.extend_i32_s"
                )

    @property
    def word(self) -> str:
        """The value type that holds bits and keys."""
        return self.values.value_type(self.kind)

    def _write(self, form: str, *operands: int) -> None:
        kinds = (self.kind,) * len(operands)
        scope = {f"operand{n}": (local,) for n, local in enumerate(operands)}
        self.values.term(expression(form, kinds), scope)

    def bits(self, read: str) -> None:
        """Emit the conversion of the value on the stack, of dtype `read`, to bits."""
        f = self.values.f
        if read != self.dtype:
            return
        if read == "bool":
            if self.values.is_vector:
                f.emit(f.constant("i32x4", 1), "v128.and")
        elif read in TO_HALF:
            convert(self.values, TO_HALF[read], "f32")
        elif is_float(read):
            self.values.bitcast(KINDS[read], self.kind)

    def key(self, bits: int) -> None:
        """Push the key of bits in a local on the stack."""
        form = _TO_KEY.get(self.dtype) or _integer_form(self.dtype)
        self._write(form, bits, self._flip)

    def bits_of(self, key: int) -> None:
        """Push the bits of a key in a local on the stack."""
        form = (
            _TO_BITS.get(self.dtype)
            or _TO_KEY.get(self.dtype)
            or _integer_form(self.dtype)
        )
        self._write(form, key, self._flip)

    def is_marked(self, bits: int) -> None:
        """Push whether bits in a local are lost in a key: bits of -0 and of NaN."""
        minus, infinity = _FLOATS[self.dtype]
        form = f"({{0}} == {minus}u) | (({{0}} & {minus - 1}u) > {infinity}u)"
        self._write(form, bits)

    def is_nan(self, bits: int) -> None:
        """Push whether bits in a local are NaN."""
        minus, infinity = _FLOATS[self.dtype]
        self._write(f"({{0}} & {minus - 1}u) > {infinity}u", bits)

    def is_zero(self, bits: int) -> None:
        """Push whether bits in a local are 0 or -0."""
        self._write(f"({{0}} & {_FLOATS[self.dtype][0] - 1}u) == 0u", bits)

    def zero(self) -> int:
        """Return a local of the key of 0, a single one."""
        local = self._once(0)
        with self._frame.at_head() as f:
            self.key(local)
            f.set(local)
        return local

    def nan(self) -> int:
        """Return a local of the key of NaN, a single one."""
        return self._once((1 << 8 * self.size) - 1)

    def _once(self, value: int) -> int:
        local = self._frame.f.own_local(VALUE[self.kind])
        with self._frame.at_head() as f:
            f.set(local, (VALUE[self.kind], value))
        return local


_LOW, _HIGH, _LAST = range(3)
_SHUFFLES = {
    _LOW: (0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23),
    _HIGH: (8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31),
    _LAST: (4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31),
}
"""Shuffles of two vectors: interleave their low or high lanes, or keep odd lanes."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Layout of an entry in scratch: the key, followed by the index.

    Attributes:
        key_size: bytes of a key.
        carries: whether an index is carried along.
    """

    key_size: int
    carries: bool

    @property
    def size(self) -> int:
        """Number of bytes of an entry."""
        return self.key_size * 2 if self.carries else self.key_size

    @property
    def key_type(self) -> str:
        """The value type of a key."""
        return "i32" if self.key_size == 4 else "i64"

    def write(self, keys: Keys, address: int, key: int, index: int) -> None:
        """Emit the store of entries.

        Args:
            keys: determines the number of entries stored at a time.
            address: local of the address of the first.
            key: local of the keys.
            index: local of the first index.
        """
        f = keys.values.f
        if keys.values.is_vector and self.carries:
            positions = f.local("v128")
            f.set(positions, f.counting(), index, "i32x4.splat", "i32x4.add")
            for part, offset in ((_LOW, 0), (_HIGH, 16)):
                f.emit(address, key, positions)
                f.shuffle(_SHUFFLES[part])
                f.memory("v128.store", offset)
            f.free(positions)
            return
        f.emit(
            address,
            key,
            ("v128.store" if keys.values.is_vector else f"{self.key_type}.store", 0),
        )
        if self.carries:
            f.emit(address, index, ("i32.store", self.key_size))

    def copy(self, f: Function, source: int, offset: int, target: int) -> None:
        """Emit the copy of an entry from one address to another."""
        kind = {4: "i32", 8: "i64", 16: "v128"}[self.size]
        f.emit(target, source, (f"{kind}.load", offset), (f"{kind}.store", 0))

    def finish(self, keys: Keys, source: int, target: int) -> None:
        """Emit the store of results of entries: the indices, or the elements.

        Args:
            keys: determines the number of entries at a time.
            source: local of the address of the first entry.
            target: local of the address of the first result.
        """
        f = keys.values.f
        f.get(target)
        if self.carries:
            self._positions(keys, source)
            return
        key = f.local(keys.word)
        f.set(
            key,
            source,
            ("v128.load" if keys.values.is_vector else f"{self.key_type}.load", 0),
        )
        keys.bits_of(key)
        f.free(key)
        store_bits(keys)

    def _positions(self, keys: Keys, source: int) -> None:
        f = keys.values.f
        f.get(source)
        if keys.values.is_vector:
            f.emit(("v128.load", 0), source, ("v128.load", 16))
            f.shuffle(_SHUFFLES[_LAST])
            f.memory("v128.store")
        else:
            f.emit(("i32.load", self.key_size), ("i32.store", 0))


def store_bits(keys: Keys) -> None:
    """Emit the store of elements by their bits; address and bits are on the stack."""
    dtype = raw_dtype(keys.dtype)
    (store_neighbours if keys.values.is_vector else store)(keys.values, dtype)


def in_fours(
    f: Function,
    end: int,
    pointers: Sequence[int],
    size: int,
    body: Callable[[int], None],
) -> None:
    """Emit a loop over items in memory, unrolled by four while four are left.

    Args:
        f: the function.
        end: local of the address at which the first pointer ends.
        pointers: locals of addresses, which advance together.
        size: bytes of an item, a power of two.
        body: emits the code for the item at a byte offset from the pointers.
    """
    end_of_fours = f.local("i32")
    f.set(
        end_of_fours,
        pointers[0],
        end,
        pointers[0],
        "i32.sub",
        ("i32", -LANES * size),
        "i32.and",
        "i32.add",
    )
    for limit, count in ((end_of_fours, LANES), (end, 1)):
        with f.block("block"), f.block("loop"):
            f.br_if(1, pointers[0], limit, "i32.eq")
            for number in range(count):
                body(number * size)
            for pointer in pointers:
                f.set(pointer, pointer, ("i32", count * size), "i32.add")
            f.br(0)
    f.free(end_of_fours)


class SortTask:
    """A kernel that sorts rows, or finds the positions that sort them.

    Attributes:
        kernel, target: the kernel, and the engine that runs it.
        rows, length: number of rows, and elements of each.
        flip: -1 for descending order, else 0.
        term: expression of the elements, or of their bits if it is a load.
        dtype: of the elements.
        entry: layout of the entries that are moved.
        lanes: number of elements that are read at a time.
        loses_marks: whether results are made from keys, which are equal for -0 and 0
            and for all NaN.
        result_size: bytes of a result.
        work: approximate number of operations per entry.
    """

    def __init__(self, kernel: Kernel, target: WasmTarget) -> None:
        """Prepare the sort of a kernel."""
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
        """Number of digits of a key."""
        return itemsize(self.dtype)


class SortLaunch:
    """The module under construction of one launch of a sort.

    Attributes:
        task: the kernel that sorts.
        frame, f: frame and function of the launch.
        keys: makes keys of all lanes that are read.
        single: makes single keys.
    """

    def __init__(self, task: SortTask, lanes: int, notes_zeros: bool = False) -> None:
        """Prepare.

        Args:
            task: the kernel that sorts.
            lanes: number of elements that are read at a time.
            notes_zeros: whether to record that some are 0 or NaN.
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
        """Emit the reset of the recorded facts."""
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
        """Emit the recording of facts about elements; repetition is harmless."""
        f = self.f
        kind = "v128" if self._is_vector else self.keys.word
        for local, word in ((self._any, "or"), (self._all, "and")):
            f.set(local, local, key, f"{kind}.{word}")
        for local, test in self._marks:
            test(bits)
            f.set(local, local, "v128.or" if self._is_vector else "i32.or")

    def facts(self) -> None:
        """Push the bits set in any key, and the bits set in all keys."""
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
        """Push whether keys have lost something of any element."""
        self._has_mark(0)

    def has_zeros(self) -> None:
        """Push whether any element is 0 or -0, where that is noted."""
        self._has_mark(1)

    def _has_mark(self, number: int) -> None:
        self.f.get(self._marks[number][0])
        if self._is_vector:
            self.f.op("v128.any_true")

    def evaluator(self, lanes: int) -> Evaluator:
        """Return an evaluator of the elements."""
        return Evaluator(self.frame, self.task.term, lanes)

    def bits(self, evaluator: Evaluator, keys: Keys) -> None:
        """Push the bits of the evaluator's elements on the stack."""
        evaluator.value()
        keys.bits(evaluator.result.dtype)

    def encode(
        self,
        evaluator: Evaluator,
        block: Block,
        entries: Pointer,
        bits_to: Pointer | None = None,
    ) -> None:
        """Emit the loop that makes entries of a block's elements, and notes them.

        Args:
            evaluator: evaluator at the block's first element.
            block: where the elements are; its index advances.
            entries: where the entries go.
            bits_to: where the bits go as well, as words of the size of keys.
        """
        f, keys, entry = self.f, self.keys, self.task.entry
        bits, key = f.local(keys.word), f.local(keys.word)
        movers: list[Mover] = [
            evaluator,
            entries,
            *([] if bits_to is None else [bits_to]),
        ]
        with along(f, block.index, block.end, self.task.lanes, movers):
            self.bits(evaluator, keys)
            f.set(bits)
            if bits_to is not None:
                f.emit(bits_to.local, bits, (f"{keys.word}.store", 0))
            keys.key(bits)
            f.set(key)
            entry.write(keys, entries.local, key, block.index)
            self._note(bits, key)
        f.free(bits, key)

    def decode(self, block: Block, entries: Pointer, results: Pointer) -> None:
        """Emit the loop that makes a block's results of its sorted entries."""
        task = self.task
        with along(self.f, block.index, block.end, task.lanes, [entries, results]):
            task.entry.finish(self.keys, entries.local, results.local)

    def restore(self, bits: int, zero: int, nan: int, nowhere: int) -> None:
        """Emit the store of the bits of an element that its key has lost.

        No jump depends on the element.

        Args:
            bits: local of them.
            zero: local of the address for the next 0 or -0, after which it moves.
            nan: local of the address for the next NaN, after which it moves.
            nowhere: local of the address where other elements may be written.
        """
        f, keys = self.f, self.single
        tests = [f.local("i32"), f.local("i32")]
        keys.is_zero(bits)
        f.set(tests[0])
        keys.is_nan(bits)
        f.set(tests[1])
        for local in (zero, nan, nowhere, tests[1]):
            f.get(local)
        f.emit("select", tests[0], "select", bits)
        store(keys.values, raw_dtype(keys.dtype))
        for pointer, test in zip((zero, nan), tests, strict=True):
            f.set(pointer, pointer, test, ("i32", keys.size), "i32.mul", "i32.add")
            f.free(test)

    def address(self, result: int, base: int, number: int, size: int) -> None:
        """Emit the address of one of several contiguous items into a local.

        Args:
            result: the local that takes the address.
            base: local of the address of the first.
            number: local of the index of the item.
            size: bytes of each.
        """
        f = self.f
        f.set(result, number, ("i32", size), "i32.mul", base, "i32.add")
