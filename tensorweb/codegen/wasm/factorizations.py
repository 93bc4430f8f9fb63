"""Write kernels of factorizations: each matrix is a unit, computed by one thread.

The algorithm is read from the WGSL template that a workgroup runs on a GPU, and written
for one thread.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tensorweb.codegen.factorizations import (
    ROUTINES,
    Routine,
    number_constants,
    triangular_solve,
)
from tensorweb.codegen.launch_builder import constants
from tensorweb.codegen.program import OUTPUT, Launch, Program, scratch
from tensorweb.codegen.template import apply_marks, shader_folder
from tensorweb.codegen.wasm.elements import KINDS, itemsize, load, store
from tensorweb.codegen.wasm.elementwise import map_launch
from tensorweb.codegen.wasm.frame import Frame, per_slice
from tensorweb.codegen.wasm.functions import text_of
from tensorweb.codegen.wasm.loops import units
from tensorweb.codegen.wasm.module import Function
from tensorweb.codegen.wasm.policy import WasmTarget
from tensorweb.codegen.wasm.translation import Scope, Translation, Writer
from tensorweb.codegen.wgsl import Parser, Statement, Term, typed
from tensorweb.schedule.kernel import Expression, Kernel

SOLVE_COLUMNS = 64
"""Columns for which a unit solves; each unit copies the triangle."""

AHEAD = 4
"""Elements that are loaded before any is stored: inv of 512 rows 42 ms, singly 50."""

BARRIERS = ("storageBarrier", "workgroupBarrier")

TOGETHER = {"sum_of_lanes": 1, "max_of_lanes": 1, "index_of_largest": 2}
"""Functions of a workgroup, and the argument that is their result for one thread."""

READ = ("first", "second")
"""Functions that give the operands' elements, which are arrays here."""

ALONE = {
    "LANES": "1u",
    "COLUMNS": "1u",
    "ROWS": "1u",
    "SPAN": "1u",
    "AHEAD": f"{AHEAD}u",
    "BLOCK": f"{SOLVE_COLUMNS}u",
    "lane": "0u",
    "nan_if": "nan_where_f32",
    "is_nan": "isnan_f32",
}
"""Meaning of names of the templates for one thread."""

NUMBERS = {
    "f32": {"EPSILON": "5.9604644775390625e-8", "SMALLEST": "1.1754943508222875e-38"},
    "f64": {"EPSILON": "1.1102230246251565e-16", "SMALLEST": "2.2250738585072014e-308"},
}
"""Constants of the templates, by type."""

_WORD = re.compile(r"\b[A-Za-z_]\w*\b")


def routine_text(template: str, kind: str, *, is_complex: bool) -> str:
    """Return the body of a template's `fn factor`, computing with `f32` or `f64`."""
    text = (shader_folder() / f"{template}.wgsl").read_text(encoding="utf-8")
    body = text.split("\nfn factor(matrix: u32, lane: u32) ", 1)[1].split("\n}\n")[0]
    ahead = constants({"AHEAD": AHEAD})
    body = apply_marks(number_constants(is_complex) + ahead + body)
    if not is_complex:
        body = body.replace("WORDS * ", "")
    body = body.replace("parameters.", "parameters_")
    names = {**ALONE, **NUMBERS[kind], "WORDS": "2u" if is_complex else "1u"}
    body = _WORD.sub(lambda match: names.get(match[0], match[0]), body)
    if kind == "f64":
        body = body.replace("_f32(", "_f64(")
        body = re.sub(r"\bf32\b", "f64", body)
    return body[body.index("{") :] + "\n}"


class RoutineParser(Parser):
    """Reads the body of a routine."""

    def __init__(self, text: str, types: Mapping[str, str], kind: str) -> None:
        """Begin at the body's brace; `types` are the types of parameters."""
        super().__init__(text, dict(types), text_of)
        self.kind = kind

    def settled(self, term: Term) -> Term:
        """Return a term whose open number is of the type that the routine has."""
        return typed(term, self.kind) if term.type == "float" else super().settled(term)

    def statements(self) -> tuple[Statement, ...]:
        """Return all statements."""
        return self.block("")

    def statement(self, result: str) -> list[Statement]:
        """Return one statement; a barrier is none."""
        if self.peek() in BARRIERS:
            self.next()
            self.take("(", ")", ";")
            return []
        return super().statement(result)

    def call(self, name: str) -> Term:
        """Return a call; functions of a workgroup are replaced by their argument."""
        if name in TOGETHER:
            return self.settled(self.arguments()[TOGETHER[name]])
        if name in READ:
            (index,) = self.arguments()
            array = Term("name", "", name)
            return Term("index", self.kind, parts=(array, self.settled(index)))
        if name == "f64":
            return Term("convert", name, parts=tuple(self.arguments()))
        return super().call(name)


class RoutineTranslation(Translation):
    """Emits the statements of a routine.

    Attributes:
        arrays: local of the address of each array.
        dtype: of their elements.
    """

    def __init__(
        self, writer: Writer, f: Function, arrays: Mapping[str, int], dtype: str
    ) -> None:
        """Begin to write into a function."""
        super().__init__(writer, f)
        self.arrays = arrays
        self.dtype = dtype

    def term(self, term: Term, scope: Scope) -> None:
        """Push a term's value on the stack."""
        if term.kind != "index":
            super().term(term, scope)
            return
        self._address(term, scope)
        load(self, self.dtype)

    def store(self, target: Term, value: Term, scope: Scope) -> None:
        """Store an element."""
        self._address(target, scope)
        self.term(value, scope)
        store(self, self.dtype)

    def _address(self, element: Term, scope: Scope) -> None:
        array, index = element.parts
        self.f.get(self.arrays[array.word])
        self.term(index, scope)
        self.f.emit(("i32", itemsize(self.dtype)), "i32.mul", "i32.add")


SHARED = tuple(
    (name, 1)
    for name in (
        *("owns", "others", "products", "imaginary_products"),
        *("partial", "imaginary_partial"),
    )
)
"""Arrays with an element for each lane, of which there is one here."""


def factor(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program of a factorization.

    Operands that are computed or strided are copied first.
    """
    if kernel.op == "triangular_solve":
        routine = triangular_solve(kernel, SOLVE_COLUMNS)
    else:
        routine = ROUTINES[kernel.op](kernel)
    launches: list[Launch] = []
    sizes: list[int] = []
    arrays = {"result": OUTPUT}
    size = itemsize(kernel.dtype)
    for name, value in kernel.expressions:
        reference = _in_order(value)
        if reference is None:
            reference = scratch(len(sizes))
            count = _length(value, kernel, name)
            sizes.append(count * size)
            made = map_launch(kernel, target, value, "factor_copy", count, (reference,))
            launches.append(made)
        arrays[name] = reference
    arrays["work"] = scratch(len(sizes))
    sizes.append(max(routine.scratch, 1) * size)
    shared = scratch(len(sizes))
    sizes.append(routine.groups * _shared_elements(routine) * size)
    launches.append(_launch(kernel, target, routine, arrays, shared))
    return Program(tuple(launches), tuple(sizes))


def _shared_elements(routine: Routine) -> int:
    """Return the elements of the arrays that lanes of a workgroup share."""
    return sum(count for _, count in (*SHARED, *routine.shared))


def _length(value: Expression, kernel: Kernel, name: str) -> int:
    """Return the number of elements of an operand."""
    count, rows, columns, width, *_ = kernel.sizes
    is_right = kernel.op == "triangular_solve" and name != READ[0]
    return count * rows * (width if is_right else columns)


def _in_order(value: Expression) -> int | None:
    """Return the slot of an operand that is a contiguous input, else None."""
    (step, *more), axes = value.steps, value.groups[0]
    if more or step.kind != "load":
        return None
    access = value.accesses[step.access]
    is_plain = access.offset == 0 and len(axes) < 2 and set(access.strides[0]) <= {1}
    return step.slot if is_plain else None


def _launch(
    kernel: Kernel,
    target: WasmTarget,
    routine: Routine,
    arrays: dict[str, int],
    shared: int,
) -> Launch:
    """Return the launch of the routine itself, all of its steps at once."""
    frame = Frame(kernel, target)
    f, kind = frame.f, KINDS[kernel.dtype]
    scope = {
        f"parameters_{name}": (frame.number(value),)
        for name, value in {
            "begin": 0,
            "end": routine.end,
            **routine.parameters,
        }.items()
    }
    locals_ = {
        name: frame.storage(reference, "r" if name in READ else "w")
        for name, reference in arrays.items()
    }
    own = frame.storage(shared, "w")
    size = itemsize(kernel.dtype)
    for name, _ in (*SHARED, *routine.shared):
        locals_[name] = f.own_local("i32")
    is_complex = kernel.op.startswith("complex")
    text = routine_text(routine.template, kind, is_complex=is_complex)
    types = {"matrix": "u32", **dict.fromkeys(scope, "u32")}
    types |= dict.fromkeys(locals_, f"array<{kind}>")
    body = RoutineParser(text, types, kind).statements()
    with units(frame) as unit:
        offset = 0
        for name, count in (*SHARED, *routine.shared):
            f.set(
                locals_[name],
                unit,
                ("i32", _shared_elements(routine) * size),
                "i32.mul",
                own,
                ("i32", offset * size),
                "i32.add",
                "i32.add",
            )
            offset += count
        translation = RoutineTranslation(frame.writer, f, locals_, kernel.dtype)
        translation.body(body, {**scope, "matrix": (unit,)})
    slices = per_slice(routine.end * routine.work)
    return frame.launch(routine.template, routine.groups, slices)
