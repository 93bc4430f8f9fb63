"""Which steps vary along a row, and which steps each result depends on."""

from __future__ import annotations

from collections.abc import Iterable

from tensorweb.codegen.subexpressions import reached
from tensorweb.codegen.vector import (
    WIDTH,
    line_gathers,
    moves_in_vectors,
)
from tensorweb.schedule.kernel import Expression, Step

READS = frozenset({"load", "gather"})
"""Kinds of steps that read a buffer; they compute their own address."""


class RowSteps:
    """The steps of a kernel of rows, shared by all its reductions and results.

    Attributes:
        space: an expression with these steps.
        varying: steps whose values vary along the row.
        reads: steps that read a buffer and whose value a result uses.
        ramps: index ramps whose value a result uses.
        lines: gathers that read vectors of neighbouring elements.
        kept: steps of reductions whose values are already in registers.
    """

    def __init__(self, space: Expression, results: Iterable[int]) -> None:
        """Find the steps that the given results depend on."""
        self.space = space
        self.varying: set[int] = set()
        for number, step in enumerate(space.steps):
            moves = step.kind in ("load", "ramp") and bool(self.stride(step))
            before = any(arg in self.varying for arg in (*step.args, step.guard))
            if moves or before:
                self.varying.add(number)
        self.kept: set[int] = set()
        self._done: set[int] = set()
        needed: set[int] = set()
        for result in results:
            needed.update(self.needed(result))
        self.reads = sorted(n for n in needed if space.steps[n].kind in READS)
        self.ramps = sorted(n for n in needed if space.steps[n].kind == "ramp")
        self.lines = line_gathers(space) & set(self.reads) & self.varying

    def stride(self, step: Step) -> int:
        """Return the stride of a step's access along the row."""
        last = self.space.accesses[step.access].strides[-1]
        return last[-1] if last else 0

    def vector_slots(self) -> set[int]:
        """Return the inputs to read as vectors; empty if a read cannot be one."""
        *_, last = self.space.groups
        if not last or last[-1] % WIDTH:
            return set()
        steps = self.space.steps
        wide, alone = set(), set()
        for number in self.reads:
            step = steps[number]
            is_plain = step.kind == "load" and step.guard < 0
            if number in self.lines and step.guard < 0:
                wide.add(step.slot)
            elif is_plain and number in self.varying:
                if not moves_in_vectors(self.space.accesses[step.access]):
                    return set()
                wide.add(step.slot)
            elif not step.is_whole:
                alone.add(step.slot)
            for inner in reached(self.space, number) - {number}:
                if steps[inner].kind in READS and not steps[inner].is_whole:
                    alone.add(steps[inner].slot)
        return set() if wide & alone else wide

    def is_new(self, result: int) -> bool:
        """Return whether a step varies along the row and is not in registers yet."""
        is_known = result in self.kept or self.space.steps[result].kind in READS
        return result in self.varying and not is_known

    def needed(self, result: int) -> list[int]:
        """Return the steps that a result is computed from, in order.

        Excludes the dependencies of steps in registers, and those of reads, which
        compute their own address.
        """
        needed = {result}
        for number in range(result, -1, -1):
            is_ready = number in self.kept or self.space.steps[number].kind in READS
            if number in needed and not is_ready:
                needed.update(self.space.steps[number].args)
        return sorted(needed)

    def arguments(self, result: int) -> list[int]:
        """Return the parameters of an element's function: reads and row values."""
        needed = self.needed(result)
        taken = []
        for number in needed:
            step = self.space.steps[number]
            if number in self.varying:
                is_taken = step.kind in ("ramp", *READS) or number in self.kept
            else:
                is_taken = number == result or any(
                    number in self.space.steps[user].args and self._computes(user)
                    for user in needed
                )
                is_taken = is_taken and step.kind != "scalar"
            if is_taken:
                taken.append(number)
        return taken

    def _computes(self, number: int) -> bool:
        """Return whether an element's function computes a step itself."""
        is_ready = number in self.kept
        kind = self.space.steps[number].kind
        return number in self.varying and not is_ready and kind not in ("ramp", *READS)

    def inner(self, result: int) -> set[int]:
        """Return the steps that an element's function computes itself."""
        return {
            number
            for number in self.needed(result)
            if self.space.steps[number].kind == "scalar" or self._computes(number)
        }

    def know(self, numbers: Iterable[int]) -> None:
        """Mark steps constant along the row as already computed."""
        self._done.update(numbers)

    def new_row_values(self, result: int) -> list[int]:
        """Return the steps constant along the row to compute before a result.

        Marks them as computed.
        """
        found = [
            number
            for number in self.needed(result)
            if number not in self.varying | self._done
            and self.space.steps[number].kind != "scalar"
        ]
        self._done.update(found)
        return found
