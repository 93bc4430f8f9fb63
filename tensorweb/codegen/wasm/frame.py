"""The entry of a module: its parameters, constants and storages, each read once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tensorweb.codegen.program import OUTPUT, Launch, Word
from tensorweb.codegen.wasm import policy
from tensorweb.codegen.wasm.elements import KINDS, itemsize
from tensorweb.codegen.wasm.module import CODES, Function, signed, unsigned
from tensorweb.codegen.wasm.policy import WasmTarget
from tensorweb.codegen.wasm.translation import VALUE, Writer
from tensorweb.schedule.kernel import Kernel

MOST_WORDS = 64
"""Words of a launch's parameter block."""

PARAMETERS, BUFFERS, FIRST, LAST = range(4)
"""The arguments of the entry."""

_PARAMETER = CODES["local.get"] + unsigned(PARAMETERS) + CODES["i32.load"] + unsigned(0)
"""The code that loads a parameter, up to its offset."""


class Frame:
    """The entry function `run` of a module under construction.

    Attributes:
        kernel: the kernel of the module.
        writer: of the module.
        f: the function.
    """

    def __init__(self, kernel: Kernel, target: WasmTarget) -> None:
        """Begin an entry without instructions."""
        self.kernel = kernel
        self.writer = Writer(target)
        self.f = Function(("i32",) * 4)
        self._words: list[Word] = []
        self._numbers: dict[int, int] = {}
        self._storages: dict[int, int] = {}
        self._access: dict[int, str] = {}
        self._scalars: dict[int, int] = {}
        self._room = MOST_WORDS - sum(
            -(-itemsize(dtype) // 4) for dtype in kernel.scalar_dtypes
        )

    @contextmanager
    def at_head(self) -> Iterator[Function]:
        """Emit into the head of the function, before all other code."""
        code, self.f.code = self.f.code, bytearray()
        try:
            yield self.f
        finally:
            self.f.head += self.f.code
            self.f.code = code

    def number(self, value: int) -> int:
        """Return a local that holds a parameter; past the block's end a constant."""
        local = self.f.own_local("i32")
        if self._room > 0:
            self._room -= 1
            self._numbers[local] = len(self._words)
            made = _PARAMETER + unsigned(4 * len(self._words))
            self._words.append(value)
        else:
            made = CODES["i32.const"] + signed(
                (value + (1 << 31)) % (1 << 32) - (1 << 31)
            )
        self.f.head += made + CODES["local.set"] + unsigned(local)
        return local

    def word(self, local: int) -> int:
        """Return the index of the block's word that a parameter's local was read from.

        The parameter must be one of the first, which fit in the block.
        """
        return self._numbers[local]

    def scalar(self, slot: int) -> int:
        """Return a local that holds one of the kernel's constants."""
        constant = self._scalars.get(slot)
        if constant is None:
            dtype = self.kernel.scalar_dtypes[slot]
            kind = VALUE.get(KINDS[dtype], KINDS[dtype])
            constant = self._scalars[slot] = self.f.own_local(kind)
            with self.at_head() as f:
                f.set(constant, PARAMETERS, (f"{kind}.load", 4 * len(self._words)))
            self._words.append((slot, dtype))
            if kind in ("i64", "f64"):
                self._words.append(0)
        return constant

    def storage(self, reference: int, access: str = "r") -> int:
        """Return a local that holds the address of a storage.

        Args:
            reference: an input's slot, `output(n)` or `scratch(n)`.
            access: `r`, or `w` if it is written.
        """
        base = self._storages.get(reference)
        if base is None:
            base = self._storages[reference] = self.f.own_local("i32")
            with self.at_head() as f:
                f.set(base, BUFFERS, ("i32.load", 4 * (len(self._storages) - 1)))
        if reference == OUTPUT or access == "w":
            self._access[reference] = "w"
        return base

    def launch(
        self,
        template: str,
        units: int,
        per_slice: int,
        note: str = "",
        is_in_order: bool = False,
    ) -> Launch:
        """Return the finished launch.

        Args:
            template: name of the launch.
            units: number of units.
            per_slice: units between two checks whether Stop was pressed.
            note: variant, for reports.
            is_in_order: whether one thread computes the units in order.
        """
        return Launch(
            template,
            self.writer.finished(self.f),
            "".join(self._access.get(each, "r") for each in self._storages),
            tuple(self._storages),
            (units, max(min(per_slice, units), 1)),
            tuple(self._words),
            note,
            is_in_order,
        )


def per_slice(work: int) -> int:
    """Return the number of units of a slice, by the work of a unit."""
    return max(policy.SLICE_WORK // max(work, 1), 1)
