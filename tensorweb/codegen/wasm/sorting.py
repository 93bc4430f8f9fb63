"""Programs that sort rows, or find the positions that sort them: stable, NaN last."""

from __future__ import annotations

from tensorweb.codegen.program import Program
from tensorweb.codegen.wasm.ordering import Task
from tensorweb.codegen.wasm.radix import radix_rows
from tensorweb.codegen.wasm.radix_blocks import radix_blocks
from tensorweb.codegen.wasm.ranking import rank_rows
from tensorweb.codegen.wasm.target import WasmTarget
from tensorweb.schedule.kernel import Kernel

LONGEST_RANKED = {1: 96, 2: 160, 4: 280, 8: 224}
"""Elements of the longest row whose elements are all compared with each other, by their
bytes: then comparing takes as long as sorting by so many digits (Chromium, EPYC)."""

LONGEST_ROW = 1 << 17
"""Elements of the longest row that one unit sorts: a millisecond or two."""

MANY_ROWS = 16
"""Rows that are enough for all threads without cutting them."""

LONGEST_OF_MANY = 1 << 19
"""Elements of the longest of so many rows that one unit sorts."""


def sort(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program that sorts rows, or finds the positions that sort them."""
    task = Task(kernel, target)
    if task.length <= LONGEST_RANKED[task.digits]:
        return rank_rows(task)
    longest = LONGEST_OF_MANY if task.rows >= MANY_ROWS else LONGEST_ROW
    if task.length <= longest:
        return radix_rows(task)
    return radix_blocks(task)
