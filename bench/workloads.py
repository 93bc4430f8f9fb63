"""The tables of workloads: shapes, data, work per operation, tolerance.

Python, JavaScript and the report read these rows; what computes them is in
`programs.py` for tensorweb and in `js/` for its peers. Needs the standard library only,
because it also runs on machines that have nothing else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

Shape = tuple[int, ...]

FLOAT_BYTES = 4
INT = "int32"
COMPLEX = "complex64"

GROUP = 64
"""Operations that share a submit when a tensorweb flush has several outputs."""

GROUP_BYTES = 1 << 31
"""Results of one flush may take so many bytes together."""

JITTED = frozenset(
    ("matmul", "matvec", "elem", "sum", "rowsum", "colsum", "softmax", "layernorm")
) | {"increment"}
"""Programs so short that Python's time shows: also timed through `tw.jit`."""

JITTED_FAMILIES = frozenset(
    ("argmax_rows", "var_rows", "logsumexp_rows", "norm_rows", "sum_strided", "gelu")
) | frozenset(
    (
        *("matmul_complex", "conv2d_grouped", "conv2d_depthwise", "conv2d_1x1"),
        *("pairwise", "life", "heat", "gray_scott", "mandelbrot", "attention"),
        *("attention_causal", "fft", "fft2", "cholesky", "solve"),
    )
)
"""The same of the second table, with those of many nodes."""

SLOW = frozenset(("cholesky", "solve", "svd", "eigh"))
"""Programs of which a group of results would take seconds."""

CHAINED = frozenset({"increment"})
"""Programs whose result is the next operand: none may be left out or overlap."""


@dataclass(frozen=True, slots=True)
class Input:
    """One operand: uniform floats from `low` to `high`, or indices below `high`.

    Attributes:
        form: of a stack of matrices: `symmetric` mirrors what is below the diagonal,
            `positive` adds the number of columns to it as well.
    """

    shape: Shape
    seed: int
    low: float
    high: float
    dtype: str = "float32"
    form: str = ""


@dataclass(frozen=True, slots=True)
class Workload:
    """One row.

    Attributes:
        name: the row's name in results.
        program: what is computed, a name of `programs.PROGRAMS`.
        inputs: the operands.
        output: shape of the result.
        work: floating-point operations, or bytes that must be moved at least.
        unit: of the rate, `GFLOP/s`, `GB/s` or `launches/ms`.
        tolerance: largest accepted error relative to the reference's scale.
        dtype: of the result.
        smaller: the same at growing sizes, which peers do first: one of them takes a
            minute for the whole.
    """

    name: str
    program: str
    inputs: tuple[Input, ...]
    output: Shape
    work: int
    unit: str
    tolerance: float
    dtype: str = "float32"
    smaller: tuple[Workload, ...] = ()

    @property
    def group(self) -> int:
        """Operations whose results are computed by one flush."""
        if self.program in SLOW:
            return 1
        nbytes = max(self.numbers * FLOAT_BYTES, 1)
        return max(1, min(GROUP, GROUP_BYTES // nbytes))

    @property
    def is_chained(self) -> bool:
        """Whether an operation's operand is the result of the one before."""
        return self.program in CHAINED

    @property
    def is_jitted(self) -> bool:
        """Whether a row through `tw.jit` is measured as well."""
        return self.program in JITTED | JITTED_FAMILIES

    @property
    def numbers(self) -> int:
        """Real numbers in the result; a complex one has two."""
        return math.prod(self.output) * (2 if self.dtype == COMPLEX else 1)

    def as_json(self) -> dict[str, Any]:
        """Return the row for JavaScript."""
        flags = {"is_jitted": self.is_jitted, "is_chained": self.is_chained}
        sizes = {"group": self.group, "numbers": self.numbers}
        return {**asdict(self), **sizes, **flags}


def matmul(
    name: str, m: int, k: int, n: int, batch: int = 1, program: str = "matmul"
) -> Workload:
    """`(m, k)·(k, n) → (m, n)`, batched; nt and tn hold an operand transposed."""
    lead = (batch,) if batch > 1 else ()
    left = (k, m) if program == "matmul_tn" else (m, k)
    right = (n, k) if program == "matmul_nt" else (k, n)
    inputs = (
        Input((*lead, *left), 11, -0.5, 0.5),
        Input((*lead, *right), 12, -0.5, 0.5),
    )
    work = 2 * batch * m * k * n
    return Workload(name, program, inputs, (*lead, m, n), work, "GFLOP/s", 2e-6)


def moving(
    name: str,
    inputs: Iterable[Input],
    output: Shape,
    tolerance: float,
    program: str = "",
) -> Workload:
    """Bound by memory: every operand is read once and the result written once."""
    rows = tuple(inputs)
    elements = sum(math.prod(row.shape) for row in rows) + math.prod(output)
    work = elements * FLOAT_BYTES
    return Workload(name, program or name, rows, output, work, "GB/s", tolerance)


def _matvec(n: int) -> Workload:
    inputs = (Input((n, n), 11, -0.5, 0.5), Input((n,), 12, -0.5, 0.5))
    return moving("matvec", inputs, (n,), 2e-6)


def _gather(name: str, rows: int, width: int, count: int) -> Workload:
    """`count` random rows of a `(rows, width)` table; only those rows are read."""
    table = (rows, width) if width > 1 else (rows,)
    inputs = (
        Input(table, 31, -1, 1),
        Input((count,), 32, 0, rows, INT),
    )
    output = (count, *table[1:])
    work = (2 * math.prod(output) + count) * FLOAT_BYTES
    return Workload(name, "gather", inputs, output, work, "GB/s", 0.0)


def _scatter_add(name: str, rows: int, width: int, count: int) -> Workload:
    """`count` rows added to random rows of a `(rows, width)` table, here a new one."""
    table, values = ((n, width) if width > 1 else (n,) for n in (rows, count))
    inputs = (
        Input(table, 33, -1, 1),
        Input((count,), 34, 0, rows, INT),
        Input(values, 35, -1, 1),
    )
    elements = 2 * math.prod(table) + math.prod(values) + count
    work = elements * FLOAT_BYTES
    return Workload(name, "scatter_add", inputs, table, work, "GB/s", 2e-6)


def _order(name: str, count: int, dtype: str) -> Workload:
    """Values or positions of `count` numbers in order; read and written once."""
    inputs = (Input((count,), 41, -1, 1),)
    work = 2 * count * FLOAT_BYTES
    return Workload(name, name, inputs, (count,), work, "GB/s", 0.0, dtype)


def _convolution(name: str, images: Shape, weights: Shape, side: int) -> Workload:
    """`images` is `(n, c, h, w)`, `weights` `(o, c, kh, kw)`; results have `side`²."""
    inputs = (Input(images, 51, -0.5, 0.5), Input(weights, 52, -0.5, 0.5))
    output = (images[0], weights[0], side, side)
    work = 2 * math.prod(output) * math.prod(weights[1:])
    return Workload(name, name, inputs, output, work, "GFLOP/s", 2e-6)


def _cumsum(elements: int) -> Workload:
    return moving("cumsum", [Input((elements,), 26, 0, 1)], (elements,), 2e-5)


def workloads(*, tiny: bool = False) -> list[Workload]:
    """Return all rows, or the same rows at sizes that a software adapter can do."""
    sizes = (64, 128) if tiny else (256, 512, 1024, 2048, 4096)
    big, side, vector = (128, 128, 256) if tiny else (4096, 4096, 8192)
    elements = 1 << 14 if tiny else 1 << 24
    batch, block = (4, 64) if tiny else (64, 256)
    odd = (63, 63, 63) if tiny else (1000, 1000, 1000)
    odder = (65, 67, 61) if tiny else (1001, 1003, 997)
    few = 1 << 12 if tiny else 1 << 20
    images, channels, place, photo = (2, 8, 14, 30) if tiny else (64, 64, 56, 224)
    line, square, wide = (elements,), (side, side), (vector, vector)
    return [
        *(matmul(f"matmul{n}", n, n, n) for n in sizes),
        matmul("bmm", block, block, block, batch),
        matmul("matmul_odd", *odd),
        matmul("matmul_odd2", *odder),
        matmul("matmul_nt", big, big, big, program="matmul_nt"),
        matmul("matmul_tn", big, big, big, program="matmul_tn"),
        _matvec(vector),
        moving("elem", [Input(line, 21, -2, 2)], line, 2e-6),
        moving("sum", [Input(line, 22, 0, 1)], (), 2e-5),
        moving("rowsum", [Input(square, 23, 0, 1)], (side,), 1e-5),
        moving("colsum", [Input(square, 23, 0, 1)], (side,), 1e-5),
        moving("softmax", [Input(square, 24, -3, 3)], square, 1e-5),
        moving("layernorm", [Input(square, 25, -2, 4)], square, 1e-5),
        replace(
            _cumsum(elements), smaller=(_cumsum(elements // 64), _cumsum(elements // 8))
        ),
        _gather("gather", elements, 1, elements),
        _gather("gather_rows", elements // 256, 256, elements // 256),
        _scatter_add("scatter_add", elements // 16, 1, elements),
        _scatter_add("scatter_add_rows", elements // 256, 64, elements // 64),
        moving("transpose_copy", [Input(wide, 27, -1, 1)], wide, 0.0),
        _order("sort", elements, "float32"),
        _order("argsort", few, INT),
        _convolution(
            "conv2d",
            (images, channels, place, place),
            (channels, channels, 3, 3),
            place,
        ),
        _convolution(
            "conv2d_7x7s2", (images, 3, photo, photo), (channels, 3, 7, 7), photo // 2
        ),
    ]


def cpu_workloads(*, tiny: bool = False) -> list[Workload]:
    """Return the rows at sizes that take a CPU 1 to 100 ms, or tiny ones for tests."""
    sizes = (32, 64) if tiny else (256, 512, 1024)
    middle, batch, block = (32, 2, 16) if tiny else (512, 16, 128)
    odd = (13, 11, 17) if tiny else (499, 501, 503)
    few, many, side = (1 << 10, 1 << 12, 32) if tiny else (1 << 20, 1 << 24, 2048)
    rows, width = (64, 16) if tiny else (32768, 256)
    images, channels, place, photo = (1, 8, 6, 14) if tiny else (4, 64, 56, 224)
    line, long, square = (few,), (many,), (side, side)
    return [
        *(matmul(f"matmul{n}", n, n, n) for n in sizes),
        matmul("bmm", block, block, block, batch),
        matmul("matmul_odd", *odd),
        matmul("matmul_nt", middle, middle, middle, program="matmul_nt"),
        matmul("matmul_tn", middle, middle, middle, program="matmul_tn"),
        _matvec(side),
        moving("elem", [Input(line, 21, -2, 2)], line, 2e-6),
        moving("sum1M", [Input(line, 22, 0, 1)], (), 2e-5, "sum"),
        moving("sum16M", [Input(long, 22, 0, 1)], (), 2e-5, "sum"),
        moving("rowsum", [Input(square, 23, 0, 1)], (side,), 1e-5),
        moving("colsum", [Input(square, 23, 0, 1)], (side,), 1e-5),
        moving("softmax", [Input(square, 24, -3, 3)], square, 1e-5),
        moving("layernorm", [Input(square, 25, -2, 4)], square, 1e-5),
        _cumsum(few),
        replace(moving("argmax", [Input(square, 28, -1, 1)], (side,), 0.0), dtype=INT),
        _gather("gather", few, 1, few),
        _gather("gather_rows", rows, width, rows // 4),
        _scatter_add("scatter_add", few // 16, 1, few),
        _scatter_add("scatter_add_rows", rows // 8, width // 4, rows // 2),
        moving("transpose_copy", [Input(square, 27, -1, 1)], square, 0.0),
        _order("sort", few, "float32"),
        _order("argsort", few, INT),
        _convolution(
            "conv2d",
            (images, channels, place, place),
            (channels, channels, 3, 3),
            place,
        ),
        _convolution(
            "conv2d_7x7s2", (images, 3, photo, photo), (channels, 3, 7, 7), photo // 2
        ),
        _launch(),
    ]


def _launch() -> Workload:
    """16 numbers that grow by one: the cost of one small operation that is forced."""
    inputs = (Input((16,), 61, -1, 1),)
    return Workload("launch", "increment", inputs, (16,), 10**6, "launches/ms", 2e-7)


def chosen(
    pattern: str | None, *, tiny: bool = False, cpu: bool = False
) -> list[Workload]:
    """Return the rows whose names match a regular expression; None takes all.

    Raises:
        ValueError: the pattern fits no row.
    """
    return matching(pattern, (cpu_workloads if cpu else workloads)(tiny=tiny))


def matching(pattern: str | None, rows: list[Workload]) -> list[Workload]:
    """Return the rows of a list whose names match; see `chosen`."""
    found = [row for row in rows if pattern is None or re.search(pattern, row.name)]
    if not found:
        names = ", ".join(row.name for row in rows)
        raise ValueError(f"no workload matches {pattern!r}; there are {names}")
    return found
