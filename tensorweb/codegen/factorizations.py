"""Programs of matrix factorizations: one template per operation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from tensorweb.codegen import policy
from tensorweb.codegen.launch_builder import LaunchBuilder, ShaderFunction, constants
from tensorweb.codegen.program import (
    OUTPUT,
    Launch,
    Program,
    Target,
    ceil_divide,
    scratch,
)
from tensorweb.codegen.template import alternative, shader_folder
from tensorweb.schedule.kernel import Kernel


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
        shared: names and elements of its arrays in workgroup memory.
        constants: names and values of constants of its template.
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
    shared: tuple[tuple[str, int], ...] = ()
    constants: tuple[tuple[str, int], ...] = ()

    @property
    def end(self) -> int:
        """Number of steps, of both kinds."""
        return self.steps + self.ending[0]

    def ranges(self) -> list[tuple[int, int]]:
        """Return the first and the end step of each launch."""
        ranges: list[tuple[int, int]] = []
        begin = 0
        for steps, iterations in ((self.steps, self.iterations), self.ending):
            count = max(policy.LONGEST_LAUNCH // max(iterations, 1), 1)
            end = begin + steps
            starts = range(begin, end, count)
            ranges += [(start, min(start + count, end)) for start in starts]
            begin = end
        return ranges


@cache
def _workgroup_code(name: str) -> str:
    """Return the code of a file of `shaders/workgroup/`, without its header comment."""
    path = shader_folder() / "workgroup" / f"{name}.wgsl"
    return path.read_text(encoding="utf-8").split("\n\n", 1)[1]


def number_constants(is_complex: bool) -> str:
    """Return the constants of templates that serve real and complex numbers."""
    return constants({"IS_COMPLEX": is_complex, "WORDS": 2 if is_complex else 1})


def _functions(*names: str) -> str:
    """Return WGSL functions of `shaders/alternatives/factorizations.wgsl`."""
    return "".join(alternative("factorizations", name) for name in names)


def _along(length: int) -> int:
    """Return the elements of a lane of a row or column of a matrix, at most."""
    return ceil_divide(length, policy.FACTOR_COLUMNS)


def _of_all(length: int) -> int:
    """Return the elements of a lane if all lanes of a workgroup share them."""
    return ceil_divide(length, policy.WORKGROUP)


def _cholesky(kernel: Kernel) -> Routine:
    count, n, *_ = kernel.sizes
    return Routine(
        "cholesky",
        {"size": n},
        count,
        steps=1,
        iterations=n * _along(n) * (_along(n) + 1),
        work=n * n * n // 3,
        functions=_functions("nan_if"),
        shared=(("triangle", _triangle(n)),),
    )


def _lu(kernel: Kernel) -> Routine:
    count, rows, columns, *_ = kernel.sizes
    iterations = _along(rows) * (_along(columns) + 1)
    return Routine(
        "lu",
        {"rows": rows, "columns": columns},
        count,
        steps=min(rows, columns),
        iterations=iterations + 2 * _of_all(rows) + _of_all(columns) + 8,
        work=rows * columns // 2,
        constants=(("AHEAD", policy.ELEMENTS_AHEAD),),
    )


def _lu_panel(kernel: Kernel, lanes: int, cores: int) -> Routine:
    """Return the routine that factors tall matrices in registers, block by block."""
    count, rows, columns, *_ = kernel.sizes
    block = policy.LU_BLOCK
    rows_per_lane = 1 << (ceil_divide(rows, lanes) - 1).bit_length()
    # With a matrix per core or more, a core computes on one matrix while another waits
    # for memory, and a lane need not load ahead.
    ahead = 1 if count >= cores else policy.ELEMENTS_AHEAD
    blocks = _along(rows) * (_along(columns) + 1)
    return Routine(
        "lu_panel",
        {"rows": rows, "columns": columns},
        count,
        steps=min(rows, columns),
        iterations=ceil_divide(blocks, block) + block,
        work=rows * columns // 2,
        shared=(("moved", 2 * block * (columns + 1)),),
        constants=(
            ("BLOCK", block),
            ("HELD", rows_per_lane),
            ("SPREAD", _along(columns)),
            ("AHEAD", ahead),
        ),
    )


def triangular_solve(kernel: Kernel, block: int = policy.SOLVE_COLUMNS) -> Routine:
    """Return the routine that solves for `block` columns in each group."""
    count, n, _, width, is_upper, is_unit, *_ = kernel.sizes
    blocks = ceil_divide(width, block)
    columns = min(width, block)
    parameters = {
        "size": n,
        "width": width,
        "blocks": blocks,
        "is_upper": is_upper,
        "is_unit": is_unit,
    }
    return Routine(
        "triangular_solve",
        parameters,
        count * blocks,
        steps=1,
        iterations=n * (_along(n) + 1) * _along(columns),
        work=n * n * columns // 2,
        constants=(("BLOCK", block), ("AHEAD", 1)),
        shared=(
            ("triangle", _triangle(n)),
            ("values", n * columns),
        ),
    )


def _qr(kernel: Kernel) -> Routine:
    count, rows, columns, width, _, _, is_packed, _ = kernel.sizes
    is_complex = kernel.op.startswith("complex")
    words = 2 if is_complex else 1
    least = min(rows, columns)
    # The second part of a complex matrix has a width in either mode.
    width = 0 if is_packed else rows if width == rows else least
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
    iterations = _along(most) * (2 * _along(rows) + 6)
    return Routine(
        "qr",
        parameters,
        count,
        steps=least if is_packed else 2 * least,
        iterations=iterations + (2 * words + 1) * _of_all(rows) + 20,
        work=2 * words * words * rows * most,
        scratch=words * count * (rows + 1) * (columns + width),
        functions=number_constants(is_complex),
        reduces=True,
        marks_last=True,
    )


def _rounds(n: int) -> int:
    """Return the number of rounds of disjoint pairs that cover all pairs of `n`."""
    return max(n + n % 2, 1) - 1


JACOBI_PAIR = ("first_rows", "second_rows", "sines", "tilts")
"""What `eigh.wgsl` keeps of each pair of rows: the rows and their rotation."""


def _span(n: int) -> int:
    """Return the lanes of a vector of `n` elements: the next power of two."""
    return 1 << (n - 1).bit_length()


def _triangle(n: int) -> int:
    """Return the elements of a triangle with its diagonal."""
    return n * (n + 1) // 2


def _reserved(name: str, count: int) -> int:
    """Return the elements of a workgroup array: few sizes, so that texts are shared."""
    if name == "moved":
        return 2 * policy.LU_BLOCK * (policy.WIDEST_LU_PANEL + 1)
    if name == "triangle":
        return min(x for x in map(_triangle, policy.TRIANGLE_ROWS) if x >= count)
    return 1 << (count - 1).bit_length()


def largest_triangle(target: Target) -> int:
    """Return the largest length of matrices whose triangle fits workgroup memory."""
    lanes = 2 * policy.WORKGROUP
    pairs = len(JACOBI_PAIR) * policy.MOST_JACOBI_PAIRS
    words = target.workgroup_bytes // 4 - lanes - pairs
    return max(rows for rows in policy.TRIANGLE_ROWS if _triangle(rows) <= words)


def _eigh(kernel: Kernel) -> Routine:
    count, n, *_, sweeps = kernel.sizes
    pairs = ceil_divide(n, 2)
    return Routine(
        "eigh",
        {"is_last": 1, "size": n},
        count,
        steps=(sweeps or policy.MOST_SWEEPS) * _rounds(n),
        iterations=_along(pairs) * (_along(pairs) + 1)
        + 2 * ceil_divide(pairs * _span(n), policy.WORKGROUP)
        + _of_all(pairs)
        + 1,
        work=5 * n * n,
        scratch=count * (n * n + _triangle(n) + 4),
        functions=_functions("nan_if", "is_nan"),
        reduces=True,
        marks_last=True,
        constants=(("SPAN", _span(n)), ("AHEAD", policy.ELEMENTS_AHEAD)),
        shared=(
            ("triangle", _triangle(n + n % 2)),
            *((name, pairs) for name in JACOBI_PAIR),
        ),
    )


def _schur(kernel: Kernel) -> Routine:
    count, n, *_ = kernel.sizes
    rotations = 6 * n * n + 100 * n  # n² / 2 to Hessenberg form, the others in sweeps
    return Routine(
        "schur",
        {"size": n, "rotations": rotations},
        count,
        steps=rotations,
        iterations=3 * _of_all(n) + 8,
        work=40 * n,
        scratch=count * 12,
        functions=_functions("nan_if"),
        ending=(n, 2 * n * _of_all(n)),
    )


def _svd(kernel: Kernel) -> Routine:
    count, rows, columns, *_ = kernel.sizes
    is_complex = kernel.op.startswith("complex")
    words = 2 if is_complex else 1
    iterations = 2 * _along(rows) + _along(columns) + 5
    return Routine(
        "svd",
        {"is_last": 1, "rows": rows, "columns": columns},
        count,
        steps=policy.MOST_SWEEPS * _rounds(columns),
        iterations=_along(ceil_divide(columns, 2)) * iterations + 1,
        work=5 * words * words * rows * columns,
        scratch=count * (words * (rows + columns) * columns + 2 * columns + 4),
        functions=number_constants(is_complex) + _functions("nan_if", "is_nan"),
        reduces=True,
        marks_last=True,
    )


ROUTINES: dict[str, Callable[[Kernel], Routine]] = {
    "cholesky": _cholesky,
    "lu": _lu,
    "triangular_solve": triangular_solve,
    "qr": _qr,
    "eigh": _eigh,
    "schur": _schur,
    "svd": _svd,
    "complex_qr": _qr,
    "complex_eigh": _schur,
    "complex_svd": _svd,
}
"""The function that describes each operation."""


def _fits_lu_panel(kernel: Kernel, target: Target) -> bool:
    """Whether `_lu_panel` factors the matrices, rather than `_lu`."""
    _, rows, columns, *_ = kernel.sizes
    if target.is_software or target.is_slow_to_compile:
        return False
    least, most = policy.LU_PANEL_ROWS
    return least <= rows <= most and columns <= policy.WIDEST_LU_PANEL


def factor(kernel: Kernel, target: Target) -> Program:
    """Return the program of a matrix factorization."""
    lanes, columns = policy.WORKGROUP, policy.FACTOR_COLUMNS
    if max(kernel.sizes[1:4]) <= policy.SMALL_MATRIX:
        lanes, columns = policy.SMALL_FACTOR_LANES, policy.SMALL_FACTOR_COLUMNS
    if kernel.op == "lu" and _fits_lu_panel(kernel, target):
        if kernel.sizes[1] > lanes and target.threads >= 2 * lanes:
            lanes *= 2
        routine = _lu_panel(kernel, lanes, target.cores)
    else:
        routine = ROUTINES[kernel.op](kernel)
    builder = LaunchBuilder(kernel)
    builder.add_sizes(matrices=routine.groups, begin=0, end=0, **routine.parameters)
    builder.text = routine.functions + _workgroup_code("matrices")
    if routine.reduces:
        builder.text += _workgroup_code("reductions")
    for name, expression in kernel.expressions:
        builder.add_function(ShaderFunction(name, ("index",), "f32"), expression)
    builder.add_buffer("result", "w", "f32", OUTPUT)
    if routine.scratch:
        builder.add_buffer("work", "w", "f32", scratch(0))
    shared = sum(count for _, count in routine.shared)
    is_wide = shared > policy.MOST_SHARED_OF_FEW_LANES
    if is_wide and target.threads >= 2 * lanes:
        lanes *= 2
    team = constants({"LANES": lanes, "COLUMNS": columns})
    slots = {"team": team}
    if routine.constants or routine.shared:
        slots["shared"] = constants(dict(routine.constants)) + "".join(
            f"var<workgroup> {name}: array<f32, {_reserved(name, count)}>;\n"
            for name, count in routine.shared
        )
    full = builder.launch(routine.template, routine.groups, **slots)
    sizes = (4 * routine.scratch,) if routine.scratch else ()
    return Program(tuple(_steps(full, routine)), sizes)


def _steps(full: Launch, routine: Routine) -> Iterator[Launch]:
    """Yield a launch for each range of steps."""
    for begin, end in routine.ranges():
        words = [*full.words]
        words[1:3] = begin, end
        if routine.marks_last:
            words[3] = int(end == routine.end)
        yield replace(full, words=tuple(words))
