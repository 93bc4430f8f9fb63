"""Programs of matrix factorizations: one template per operation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from tensorweb.codegen import policy
from tensorweb.codegen.expression import Declarations, Signature, function
from tensorweb.codegen.launches import input_bindings, launch
from tensorweb.codegen.program import OUTPUT, Launch, Program, scratch
from tensorweb.codegen.target import Target
from tensorweb.codegen.template import shader_folder
from tensorweb.schedule.kernel import Kernel

MAKING_NAN = """fn nan_if(is_bad: bool, value: f32) -> f32 {
  return nan_where_f32(is_bad, value);
}
"""

FINDING_NAN = """fn is_nan(value: f32) -> bool {
  return isnan_f32(value);
}
"""


@dataclass(frozen=True, slots=True)
class Routine:
    """How one factorization is computed.

    Attributes:
        template: name of the template in `shaders/`.
        parameters: values of its parameters by name, after the three of every routine:
            the number of groups, and the first and the end step of a launch.
        groups: workgroups, or units of work.
        steps: number of sequential steps.
        iterations: loop iterations of a thread in one step.
        work: multiply-adds of a step of one group.
        scratch: elements of the scratch buffer.
        functions: WGSL functions that the template calls, apart from its inputs.
        reduces: whether it calls the reductions of `shaders/workgroup/`.
        marks_last: whether the first parameter marks the last launch.
        ending: number of steps of a second kind, and the loop iterations in each.
    """

    template: str
    parameters: dict[str, int]
    groups: int
    steps: int
    iterations: int
    work: int
    scratch: int = 0
    functions: str = ""
    reduces: bool = False
    marks_last: bool = False
    ending: tuple[int, int] = (0, 0)

    @property
    def end(self) -> int:
        """Number of steps, of both kinds."""
        return self.steps + self.ending[0]

    def ranges(self) -> list[tuple[int, int]]:
        """Return the first and the end step of each launch."""
        found: list[tuple[int, int]] = []
        begin = 0
        for steps, iterations in ((self.steps, self.iterations), self.ending):
            count = max(policy.LONGEST_LAUNCH // max(iterations, 1), 1)
            end = begin + steps
            starts = range(begin, end, count)
            found += [(start, min(start + count, end)) for start in starts]
            begin = end
        return found


@cache
def _workgroup_code(name: str) -> str:
    """Return the code of a file of `shaders/workgroup/`, without its header comment."""
    path = shader_folder() / "workgroup" / f"{name}.wgsl"
    return path.read_text(encoding="utf-8").split("\n\n", 1)[1]


def number_constants(is_complex: bool) -> str:
    """Return the constants of templates that serve real and complex numbers."""
    flag, words = ("true", 2) if is_complex else ("false", 1)
    return f"const IS_COMPLEX: bool = {flag};\nconst WORDS: u32 = {words}u;\n"


def _per_lane(length: int, threads: int) -> int:
    """Return the largest number of elements per thread."""
    return -(-length // threads)


def _cholesky(kernel: Kernel) -> Routine:
    count, n, *_ = kernel.sizes
    iterations = _per_lane(n, policy.FACTOR_COLUMNS) * (
        _per_lane(n, policy.FACTOR_COLUMNS) + 1
    ) + _per_lane(n, policy.WORKGROUP)
    sizes = {"size": n}
    made = MAKING_NAN
    return Routine("cholesky", sizes, count, n, iterations, n * n // 3, functions=made)


def _lu(kernel: Kernel) -> Routine:
    count, rows, columns, *_ = kernel.sizes
    iterations = _per_lane(rows, policy.FACTOR_COLUMNS) * (
        _per_lane(columns, policy.FACTOR_COLUMNS) + 1
    )
    iterations += (
        2 * _per_lane(rows, policy.WORKGROUP) + _per_lane(columns, policy.WORKGROUP) + 8
    )
    sizes = {"rows": rows, "columns": columns}
    return Routine(
        "lu", sizes, count, min(rows, columns), iterations, rows * columns // 2
    )


def _triangular_solve(kernel: Kernel) -> Routine:
    count, n, _, width, is_upper, is_unit, _ = kernel.sizes
    blocks = _per_lane(width, policy.SOLVE_COLUMNS)
    sizes = {
        "size": n,
        "width": width,
        "blocks": blocks,
        "block": policy.SOLVE_COLUMNS,
        "is_upper": is_upper,
        "is_unit": is_unit,
    }
    own = min(width, policy.SOLVE_COLUMNS)
    iterations = _per_lane(n, policy.FACTOR_COLUMNS) * (
        _per_lane(own, policy.FACTOR_COLUMNS) + 1
    )
    groups, work = count * blocks, n * own // 2
    return Routine("triangular_solve", sizes, groups, n, iterations, work)


def _qr(kernel: Kernel) -> Routine:
    count, rows, columns, width, _, _, is_packed = kernel.sizes
    is_complex = kernel.op.startswith("complex")
    least = min(rows, columns)
    # The second part of a complex matrix has a width in either mode.
    is_complete = width == rows
    width = 0 if is_packed else rows if is_complete else least
    words = 2 if is_complex else 1
    most = max(columns, width)
    parameters = {
        "is_last": 1,
        "rows": rows,
        "columns": columns,
        "width": width,
        # Q is stored by rows for complex matrices, by columns for real ones.
        "row_stride": width if is_complex else 1,
        "column_stride": 1 if is_complex else rows,
        "is_packed": is_packed,
    }
    iterations = _per_lane(most, policy.FACTOR_COLUMNS) * (
        2 * _per_lane(rows, policy.FACTOR_COLUMNS) + 6
    )
    return Routine(
        "qr",
        parameters,
        count,
        least if is_packed else 2 * least,
        iterations + (2 * words + 1) * _per_lane(rows, policy.WORKGROUP) + 20,
        2 * words * words * rows * most,
        words * count * (rows + 1) * (columns + width),
        number_constants(is_complex),
        reduces=True,
        marks_last=True,
    )


def _rounds(n: int) -> int:
    """Return the number of rounds of disjoint pairs that cover all pairs of `n`."""
    return max(n + n % 2, 1) - 1


def _eigh(kernel: Kernel) -> Routine:
    count, n, *_ = kernel.sizes
    pairs = _per_lane(n, 2)
    iterations = _per_lane(pairs, policy.FACTOR_COLUMNS) * (
        3 * _per_lane(n, policy.FACTOR_COLUMNS) + 2
    )
    return Routine(
        "eigh",
        {"is_last": 1, "size": n},
        count,
        policy.MOST_SWEEPS * _rounds(n),
        iterations + _per_lane(pairs, policy.WORKGROUP) + 1,
        9 * n * n,
        count * (2 * n * n + 2 * n + 6),
        MAKING_NAN + FINDING_NAN,
        reduces=True,
        marks_last=True,
    )


def _schur(kernel: Kernel) -> Routine:
    count, n, *_ = kernel.sizes
    rotations = 6 * n * n + 100 * n  # n² / 2 to Hessenberg form, the others in sweeps
    return Routine(
        "schur",
        {"size": n, "rotations": rotations},
        count,
        rotations,
        3 * _per_lane(n, policy.WORKGROUP) + 8,
        40 * n,
        count * 12,
        MAKING_NAN,
        ending=(n, 2 * n * _per_lane(n, policy.WORKGROUP)),
    )


def _svd(kernel: Kernel) -> Routine:
    count, rows, columns, *_ = kernel.sizes
    is_complex = kernel.op.startswith("complex")
    words = 2 if is_complex else 1
    one = (
        2 * _per_lane(rows, policy.FACTOR_COLUMNS)
        + _per_lane(columns, policy.FACTOR_COLUMNS)
        + 5
    )
    return Routine(
        "svd",
        {"is_last": 1, "rows": rows, "columns": columns},
        count,
        policy.MOST_SWEEPS * _rounds(columns),
        _per_lane(_per_lane(columns, 2), policy.FACTOR_COLUMNS) * one + 1,
        5 * words * words * rows * columns,
        count * (words * (rows + columns) * columns + 2 * columns + 4),
        number_constants(is_complex) + MAKING_NAN + FINDING_NAN,
        reduces=True,
        marks_last=True,
    )


ROUTINES: dict[str, Callable[[Kernel], Routine]] = {
    "cholesky": _cholesky,
    "lu": _lu,
    "triangular_solve": _triangular_solve,
    "qr": _qr,
    "eigh": _eigh,
    "schur": _schur,
    "svd": _svd,
    "complex_qr": _qr,
    "complex_eigh": _schur,
    "complex_svd": _svd,
}
"""The function that describes each operation."""


def factor(kernel: Kernel, _: Target) -> Program:
    """Return the program of a matrix factorization."""
    routine = ROUTINES[kernel.op](kernel)
    declarations = Declarations(kernel.scalar_dtypes)
    first = {"matrices": routine.groups, "begin": 0, "end": 0}
    for name, value in (first | routine.parameters).items():
        declarations.parameter(name, "u32", value)
    text = routine.functions + _workgroup_code("matrices")
    if routine.reduces:
        text += _workgroup_code("reductions")
    for name, expression in kernel.expressions:
        signature = Signature(name, ("index",), "f32")
        text += function(declarations, signature, expression, kernel.input_dtypes)
    read = [expression for _, expression in kernel.expressions]
    bindings = input_bindings(kernel, read)
    bindings.append(("result", "w", "f32", OUTPUT))
    if routine.scratch:
        bindings.append(("work", "w", "f32", scratch(0)))
    full = launch(
        routine.template,
        declarations,
        bindings,
        text,
        routine.groups,
        team=_team(max(kernel.sizes[1:4]) <= policy.SMALL_MATRIX),
    )
    sizes = (4 * routine.scratch,) if routine.scratch else ()
    return Program(tuple(_steps(full, routine)), sizes)


def _team(is_small: bool) -> str:
    """Return the constants of a small or a large workgroup."""
    columns, lanes = (
        (policy.SMALL_FACTOR_COLUMNS, policy.SMALL_FACTOR_LANES)
        if is_small
        else (policy.FACTOR_COLUMNS, policy.WORKGROUP)
    )
    return f"const LANES: u32 = {lanes}u;\nconst COLUMNS: u32 = {columns}u;\n"


def _steps(full: Launch, routine: Routine) -> Iterator[Launch]:
    """Yield a launch for each range of steps."""
    for begin, end in routine.ranges():
        words = [*full.words]
        words[1:3] = begin, end
        if routine.marks_last:
            words[3] = int(end == routine.end)
        yield replace(full, words=tuple(words))
