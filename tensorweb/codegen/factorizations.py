"""Programs of matrix factorizations: one template per operation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from tensorweb.codegen.expression import Declarations, Signature, function
from tensorweb.codegen.launches import input_storages, launch
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

BLOCK = 64
"""Right-hand side columns per workgroup; each workgroup reads the triangle again."""

MOST_SWEEPS = 16
"""Largest number of sweeps of a Jacobi method, which takes about 5 to 10."""

LONGEST_LAUNCH = 40_000
"""Largest number of loop iterations of a thread in one launch.

Browsers abort work that takes a GPU seconds, and llvmpipe, a software adapter, ends
loops after 65,535 iterations.
"""

TEAM, THREADS = 16, 256
"""Threads along a row, and threads of a workgroup."""

SMALL = 16
"""Largest number of rows and columns for the small workgroup.

Most threads of a large workgroup would idle, and a batch of small matrices has many
workgroups.
"""

SMALL_TEAM, SMALL_THREADS = 8, 32
"""Threads along a row, and threads of a workgroup, for small matrices."""


@dataclass(frozen=True, slots=True)
class Routine:
    """How one factorization is computed.

    Attributes:
        template: name of the template in `shaders/`.
        parameters: values of its parameters by name, after the three of every routine:
            the number of groups, and the first and the end step of a launch.
        groups: workgroups, or units of work.
        steps: number of sequential steps.
        turns: loop iterations of a thread in one step.
        work: multiply-adds of a step of one group.
        scratch: elements of the scratch buffer.
        functions: WGSL functions that the template calls besides its inputs.
        says_last: whether the first parameter marks the last launch.
        ending: number of steps of a second kind, and the loop iterations in each.
        meets: whether the threads of a workgroup reduce values together.
    """

    template: str
    parameters: dict[str, int]
    groups: int
    steps: int
    turns: int
    work: int
    scratch: int = 0
    functions: str = ""
    says_last: bool = False
    ending: tuple[int, int] = (0, 0)
    meets: bool = False

    @property
    def end(self) -> int:
        """Number of steps, of both kinds."""
        return self.steps + self.ending[0]

    def ranges(self) -> list[tuple[int, int]]:
        """Return the first and the end step of each launch."""
        found: list[tuple[int, int]] = []
        begin = 0
        for steps, turns in ((self.steps, self.turns), self.ending):
            count, end = max(LONGEST_LAUNCH // max(turns, 1), 1), begin + steps
            starts = range(begin, end, count)
            found += [(start, min(start + count, end)) for start in starts]
            begin = end
        return found


@cache
def _shared(name: str) -> str:
    """Return the code of a file of `shaders/workgroup/`, without its header comment."""
    path = shader_folder() / "workgroup" / f"{name}.wgsl"
    return path.read_text(encoding="utf-8").split("\n\n", 1)[1]


def _shares(length: int, threads: int) -> int:
    """Return the largest number of elements per thread."""
    return -(-length // threads)


def _cholesky(kernel: Kernel) -> Routine:
    count, n, *_ = kernel.sizes
    turns = _shares(n, TEAM) * (_shares(n, TEAM) + 1) + _shares(n, THREADS)
    sizes = {"size": n}
    made = MAKING_NAN
    return Routine("cholesky", sizes, count, n, turns, n * n // 3, functions=made)


def _lu(kernel: Kernel) -> Routine:
    count, rows, columns, *_ = kernel.sizes
    turns = _shares(rows, TEAM) * (_shares(columns, TEAM) + 1)
    turns += 2 * _shares(rows, THREADS) + _shares(columns, THREADS) + 8
    sizes = {"rows": rows, "columns": columns}
    return Routine("lu", sizes, count, min(rows, columns), turns, rows * columns // 2)


def _triangular_solve(kernel: Kernel) -> Routine:
    count, n, _, width, is_upper, is_unit, _ = kernel.sizes
    blocks = _shares(width, BLOCK)
    sizes = {
        "size": n,
        "width": width,
        "blocks": blocks,
        "block": BLOCK,
        "is_upper": is_upper,
        "is_unit": is_unit,
    }
    own = min(width, BLOCK)
    turns = _shares(n, TEAM) * (_shares(own, TEAM) + 1)
    groups, work = count * blocks, n * own // 2
    return Routine("triangular_solve", sizes, groups, n, turns, work)


def _qr(kernel: Kernel) -> Routine:
    count, rows, columns, width, _, _, is_packed = kernel.sizes
    least = min(rows, columns)
    # The second part of a complex matrix has a width in either mode.
    is_complete = width == rows
    width = 0 if is_packed else rows if is_complete else least
    sizes = {"rows": rows, "columns": columns, "width": width, "is_packed": is_packed}
    most = max(columns, width)
    turns = _shares(most, TEAM) * (2 * _shares(rows, TEAM) + 6)
    return Routine(
        "qr",
        {"is_last": 1} | sizes,
        count,
        least if is_packed else 2 * least,
        turns + 3 * _shares(rows, THREADS) + 20,
        2 * rows * most,
        count * (rows + 1) * (columns + width),
        says_last=True,
        meets=True,
    )


def _rounds(n: int) -> int:
    """Return the number of rounds of disjoint pairs that cover all pairs of `n`."""
    return max(n + n % 2, 1) - 1


def _eigh(kernel: Kernel) -> Routine:
    count, n, *_ = kernel.sizes
    pairs = _shares(n, 2)
    turns = _shares(pairs, TEAM) * (3 * _shares(n, TEAM) + 2) + _shares(pairs, THREADS)
    return Routine(
        "eigh",
        {"is_last": 1, "size": n},
        count,
        MOST_SWEEPS * _rounds(n),
        turns + 1,
        9 * n * n,
        count * (2 * n * n + 2 * n + 6),
        MAKING_NAN + FINDING_NAN,
        says_last=True,
        meets=True,
    )


def _schur(kernel: Kernel) -> Routine:
    count, n, *_ = kernel.sizes
    turns = 6 * n * n + 100 * n  # n² / 2 first, then sweeps
    return Routine(
        "schur",
        {"size": n, "turns": turns},
        count,
        turns,
        3 * _shares(n, THREADS) + 8,
        40 * n,
        count * 12,
        MAKING_NAN,
        ending=(n, 2 * n * _shares(n, THREADS)),
    )


def _complex_qr(kernel: Kernel) -> Routine:
    real = _qr(kernel)
    parameters = {**real.parameters}
    del parameters["is_packed"]
    return replace(
        real,
        template="complex_qr",
        parameters=parameters,
        turns=real.turns + 2 * _shares(kernel.sizes[1], THREADS),
        work=4 * real.work,
        scratch=2 * real.scratch,
    )


def _svd(kernel: Kernel) -> Routine:
    count, rows, columns, *_ = kernel.sizes
    one = 2 * _shares(rows, TEAM) + _shares(columns, TEAM) + 5
    return Routine(
        "svd",
        {"is_last": 1, "rows": rows, "columns": columns},
        count,
        MOST_SWEEPS * _rounds(columns),
        _shares(_shares(columns, 2), TEAM) * one + 1,
        5 * rows * columns,
        count * ((rows + columns + 2) * columns + 4),
        MAKING_NAN + FINDING_NAN,
        says_last=True,
        meets=True,
    )


def _complex_svd(kernel: Kernel) -> Routine:
    count, rows, columns, *_ = kernel.sizes
    real = _svd(kernel)
    words = count * (2 * (rows + columns + 1) * columns + 4)
    return replace(real, template="complex_svd", work=4 * real.work, scratch=words)


ROUTINES: dict[str, Callable[[Kernel], Routine]] = {
    "cholesky": _cholesky,
    "lu": _lu,
    "triangular_solve": _triangular_solve,
    "qr": _qr,
    "eigh": _eigh,
    "schur": _schur,
    "svd": _svd,
    "complex_qr": _complex_qr,
    "complex_eigh": _schur,
    "complex_svd": _complex_svd,
}
"""The function that describes each operation."""


def factor(kernel: Kernel, _: Target) -> Program:
    """Return the program of a matrix factorization."""
    routine = ROUTINES[kernel.op](kernel)
    declarations = Declarations(kernel.scalar_dtypes)
    first = {"matrices": routine.groups, "begin": 0, "end": 0}
    for name, value in (first | routine.parameters).items():
        declarations.parameter(name, "u32", value)
    text = routine.functions + _shared("matrices")
    if routine.meets:
        text += _shared("together")
    for name, expression in kernel.expressions:
        signature = Signature(name, ("index",), "f32")
        text += function(declarations, signature, expression, kernel.input_dtypes)
    read = [expression for _, expression in kernel.expressions]
    storages, places = input_storages(kernel, read)
    storages.append(("result", "w", "f32"))
    places.append(OUTPUT)
    if routine.scratch:
        storages.append(("work", "w", "f32"))
        places.append(scratch(0))
    whole = launch(
        routine.template,
        declarations,
        storages,
        places,
        text,
        routine.groups,
        team=_team(max(kernel.sizes[1:4]) <= SMALL),
    )
    sizes = (4 * routine.scratch,) if routine.scratch else ()
    return Program(tuple(_steps(whole, routine)), sizes)


def _team(is_small: bool) -> str:
    """Return the constants of a small or a large workgroup."""
    row, all_of_it = (SMALL_TEAM, SMALL_THREADS) if is_small else (TEAM, THREADS)
    return f"const LANES: u32 = {all_of_it}u;\nconst COLUMNS: u32 = {row}u;\n"


def _steps(whole: Launch, routine: Routine) -> Iterator[Launch]:
    """Yield a launch for each range of steps."""
    for begin, end in routine.ranges():
        words = [*whole.words]
        words[1:3] = begin, end
        if routine.says_last:
            words[3] = int(end == routine.end)
        yield replace(whole, words=tuple(words))
