"""The workloads: shapes, data, work per operation, tolerance, by table.

Python, JavaScript and the report read these entries; `programs.py` and `js/` compute
them. Needs the standard library only, because it also runs in Pyodide.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

Shape = tuple[int, ...]

FLOAT_BYTES = 4
INT = "int32"
COMPLEX = "complex64"

GROUP = 64  # operations that share a submit when a tensorweb flush has several outputs
GROUP_BYTES = 1 << 31  # most bytes of the results of one flush

JITTED = frozenset(
    (
        *("matmul", "matvec", "elem", "sum", "rowsum", "colsum", "softmax"),
        *("layernorm", "increment", "argmax_rows", "var_rows", "logsumexp_rows"),
        *("norm_rows", "sum_strided", "gelu", "matmul_complex", "conv2d_grouped"),
        *("conv2d_depthwise", "conv2d_1x1", "pairwise", "life", "heat", "gray_scott"),
        *("mandelbrot", "attention", "attention_causal", "fft", "fft2"),
        *("cholesky", "solve"),
    )
)
"""Programs that are short, or of many nodes: also timed through `tw.jit`."""

SLOW = frozenset(("cholesky", "solve", "svd", "eigh"))
"""Programs of which a group of results would take seconds."""

CHAINED = frozenset({"increment"})
"""Programs whose result is the next operand: none may be omitted or overlap."""

MANDELBROT_STEPS = 48
MANDELBROT_FLOP = 10  # per step: 4 products, 4 sums, a comparison, a count


@dataclass(frozen=True, slots=True)
class Input:
    """One operand: uniform floats from `low` to `high`, or integers below `high`.

    Attributes:
        form: of a stack of matrices: `symmetric` mirrors the lower triangle, `positive`
            adds the number of columns to the diagonal as well.
        name: of a network's parameter.
    """

    shape: Shape
    seed: int
    low: float
    high: float
    dtype: str = "float32"
    form: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Workload:
    """One entry of a table.

    Attributes:
        name: in results.
        program: what is computed, a name in `programs.py`.
        inputs: the operands.
        output: shape of the result.
        work: floating-point operations, or bytes that must be moved at least.
        unit: of the rate, `GFLOP/s`, `GB/s` or `launches/ms`.
        tolerance: largest accepted error relative to the reference's scale.
        dtype: of the result.
    """

    name: str
    program: str
    inputs: tuple[Input, ...]
    output: Shape
    work: int
    unit: str
    tolerance: float
    dtype: str = "float32"

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
        return self.program in JITTED

    @property
    def numbers(self) -> int:
        """Real numbers in the result; a complex one has two."""
        return math.prod(self.output) * (2 if self.dtype == COMPLEX else 1)

    def as_json(self) -> dict[str, Any]:
        """Return the entry for JavaScript."""
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
    dtype: str = "float32",
) -> Workload:
    """Bound by memory: every operand is read once and the result written once."""
    given = tuple(inputs)
    elements = sum(math.prod(each.shape) for each in given) + math.prod(output)
    work = elements * FLOAT_BYTES
    return Workload(
        name, program or name, given, output, work, "GB/s", tolerance, dtype
    )


def _matvec(n: int) -> Workload:
    inputs = (Input((n, n), 11, -0.5, 0.5), Input((n,), 12, -0.5, 0.5))
    return moving("matvec", inputs, (n,), 2e-6)


def _gather(name: str, rows: int, width: int, count: int) -> Workload:
    """`count` random rows of a `(rows, width)` table; only those rows are read."""
    table = (rows, width) if width > 1 else (rows,)
    inputs = (Input(table, 31, -1, 1), Input((count,), 32, 0, rows, INT))
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


def _sort(name: str, count: int, dtype: str = "float32") -> Workload:
    return moving(name, [Input((count,), 41, -1, 1)], (count,), 0.0, name, dtype)


def _convolution(name: str, images: Shape, weights: Shape, side: int) -> Workload:
    """`images` is `(n, c, h, w)`, `weights` `(o, c, kh, kw)`; results have `side`²."""
    inputs = (Input(images, 51, -0.5, 0.5), Input(weights, 52, -0.5, 0.5))
    output = (images[0], weights[0], side, side)
    work = 2 * math.prod(output) * math.prod(weights[1:])
    return Workload(name, name, inputs, output, work, "GFLOP/s", 2e-6)


def _convolutions(images: int, channels: int, side: int, photo: int) -> list[Workload]:
    return [
        _convolution(
            "conv2d",
            (images, channels, side, side),
            (channels, channels, 3, 3),
            side,
        ),
        _convolution(
            "conv2d_7x7s2", (images, 3, photo, photo), (channels, 3, 7, 7), photo // 2
        ),
    ]


def _cumsum(elements: int) -> Workload:
    return moving("cumsum", [Input((elements,), 26, 0, 1)], (elements,), 2e-5)


def _rows(side: int) -> list[Workload]:
    """Reductions and normalisations along the rows of a square matrix."""
    square = (side, side)
    return [
        moving("rowsum", [Input(square, 23, 0, 1)], (side,), 1e-5),
        moving("colsum", [Input(square, 23, 0, 1)], (side,), 1e-5),
        moving("softmax", [Input(square, 24, -3, 3)], square, 1e-5),
        moving("layernorm", [Input(square, 25, -2, 4)], square, 1e-5),
    ]


def workloads(*, tiny: bool = False) -> list[Workload]:
    """Return the kernels, or the same at sizes for a software adapter."""
    sizes = (64, 128) if tiny else (256, 512, 1024, 2048, 4096)
    big, vector = (128, 256) if tiny else (4096, 8192)
    elements = 1 << 14 if tiny else 1 << 24
    batch, block = (4, 64) if tiny else (64, 256)
    odd = (63, 63, 63) if tiny else (1000, 1000, 1000)
    odder = (65, 67, 61) if tiny else (1001, 1003, 997)
    line, wide = (elements,), (vector, vector)
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
        *_rows(big),
        _cumsum(elements),
        _gather("gather", elements, 1, elements),
        _gather("gather_rows", elements // 256, 256, elements // 256),
        _scatter_add("scatter_add", elements // 16, 1, elements),
        _scatter_add("scatter_add_rows", elements // 256, 64, elements // 64),
        moving("transpose_copy", [Input(wide, 27, -1, 1)], wide, 0.0),
        _sort("sort", elements),
        _sort("argsort", 1 << 12 if tiny else 1 << 20, INT),
        *_convolutions(*((2, 8, 14, 30) if tiny else (64, 64, 56, 224))),
    ]


def cpu_workloads(*, tiny: bool = False) -> list[Workload]:
    """Return the kernels at sizes that take a CPU 1 to 100 ms, or tiny ones."""
    sizes = (32, 64) if tiny else (256, 512, 1024)
    middle, batch, block = (32, 2, 16) if tiny else (512, 16, 128)
    odd = (13, 11, 17) if tiny else (499, 501, 503)
    few, many, side = (1 << 10, 1 << 12, 32) if tiny else (1 << 20, 1 << 24, 2048)
    rows, width = (64, 16) if tiny else (32768, 256)
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
        *_rows(side),
        _cumsum(few),
        moving("argmax", [Input(square, 28, -1, 1)], (side,), 0.0, dtype=INT),
        _gather("gather", few, 1, few),
        _gather("gather_rows", rows, width, rows // 4),
        _scatter_add("scatter_add", few // 16, 1, few),
        _scatter_add("scatter_add_rows", rows // 8, width // 4, rows // 2),
        moving("transpose_copy", [Input(square, 27, -1, 1)], square, 0.0),
        _sort("sort", few),
        _sort("argsort", few, INT),
        *_convolutions(*((1, 8, 6, 14) if tiny else (4, 64, 56, 224))),
        # 16 elements incremented: the cost of one small operation that is forced.
        Workload(
            "launch",
            "increment",
            (Input((16,), 61, -1, 1),),
            (16,),
            10**6,
            "launches/ms",
            2e-7,
        ),
    ]


def families(*, tiny: bool = False) -> list[Workload]:
    """Return the table of families of programs, optionally at small sizes."""
    return [
        *_reductions(128 if tiny else 4096),
        *_products(tiny=tiny),
        *_channels(*((2, 16, 14, 4) if tiny else (64, 64, 56, 8))),
        *_grids(96 if tiny else 4096, 64 if tiny else 2048),
        *_sorted_rows(*((64, 64, 128, 32) if tiny else (4096, 4096, 65536, 256))),
        *_attention(*((2, 64, 16) if tiny else (16, 1024, 64))),
        _transform("fft", (1 << 10,) if tiny else (1 << 20,)),
        _transform("fft2", (64, 64) if tiny else (4096, 4096)),
        *(_factorization(name, *((3, 24) if tiny else (64, 256))) for name in FACTORED),
    ]


def _reductions(side: int) -> list[Workload]:
    """One result per row; of a strided view all bytes count, memory reads lines."""
    square = (side, side)
    x, wide = [Input(square, 23, 0, 1)], [Input(square, 24, -3, 3)]
    return [
        moving("argmax_rows", x, (side,), 0.0, dtype=INT),
        moving("var_rows", x, (side,), 1e-5),
        moving("logsumexp_rows", wide, (side,), 1e-5),
        moving("norm_rows", x, (side,), 1e-5),
        moving("sum_strided", x, (side,), 1e-5),
        moving("gelu", wide, square, 2e-6),  # the exact one, by the error function
    ]


def _products(*, tiny: bool) -> list[Workload]:
    """Many small products, one of a matrix with few columns, one of complex numbers."""
    side, few, middle = (128, 8, 64) if tiny else (4096, 8, 1024)
    full = ((16, 4096), (32, 4096), (64, 2048))
    many = ((16, 64), (32, 64), (64, 32)) if tiny else full
    columns = (Input((side, side), 11, -0.5, 0.5), Input((side, few), 12, -0.5, 0.5))
    pair = (Input((middle, middle), seed, -0.5, 0.5, COMPLEX) for seed in (11, 12))
    square = (middle, middle)
    name, work = "matmul_complex", 8 * middle**3
    return [
        *(matmul(f"bmm{n}", n, n, n, batch) for n, batch in many),
        moving("matmul_skinny", columns, (side, few), 2e-6, "matmul"),
        Workload(name, name, tuple(pair), square, work, "GFLOP/s", 2e-6, COMPLEX),
    ]


def _channels(images: int, channels: int, side: int, groups: int) -> list[Workload]:
    """Convolutions in groups of channels, of one channel each, and 1 by 1."""
    weights = {
        "conv2d_grouped": (channels, channels // groups, 3, 3),
        "conv2d_depthwise": (channels, 1, 3, 3),
        "conv2d_1x1": (4 * channels, channels, 1, 1),
    }
    given = (images, channels, side, side)
    return [_convolution(name, given, shape, side) for name, shape in weights.items()]


def _grids(side: int, half: int) -> list[Workload]:
    """Steps on grids, the Mandelbrot set, and distances between points of space."""
    square, small = (side, side), (half, half)
    fields = [Input(square, 73, 0, 1), Input(square, 74, 0, 1)]
    points = [Input((half, 1, 3), 75, -1, 1), Input((1, half, 3), 76, -1, 1)]
    plane = (Input((half,), 77, -2, 0.6), Input((half, 1), 78, -1.2, 1.2))
    name, work = "mandelbrot", MANDELBROT_FLOP * MANDELBROT_STEPS * half * half
    return [
        moving("pairwise", points, small, 2e-6),
        moving("life", [Input(square, 71, 0, 2, INT)], square, 0.0, dtype=INT),
        moving("heat", [Input(square, 72, 0, 1)], square, 2e-6),
        moving("gray_scott", fields, (2, side - 2, side - 2), 2e-6),
        Workload(name, name, plane, small, work, "GFLOP/s", 1e-6),
    ]


def _sorted_rows(*sides: int) -> list[Workload]:
    return [
        moving(name, [Input(shape, 41, -1, 1)], shape, 0.0, "sort_rows")
        for name, shape in (("sort_rows", sides[:2]), ("sort_short", sides[2:]))
    ]


def _attention(heads: int, length: int, width: int) -> list[Workload]:
    """Scores, softmax and product; causal attention counts the visible pairs only."""
    shape = (heads, length, width)
    inputs = tuple(Input(shape, seed, -1, 1) for seed in (81, 82, 83))
    pairs = {
        "attention": length * length,
        "attention_causal": length * (length + 1) // 2,
    }
    return [
        Workload(name, name, inputs, shape, 4 * heads * width * n, "GFLOP/s", 1e-5)
        for name, n in pairs.items()
    ]


def _transform(name: str, shape: Shape) -> Workload:
    """Transforms of n complex numbers; `5 n log2 n` operations by convention."""
    count = math.prod(shape)
    work = 5 * count * (count.bit_length() - 1)
    inputs = (Input(shape, 91, -1, 1, COMPLEX),)
    return Workload(name, name, inputs, shape, work, "GFLOP/s", 1e-5, COMPLEX)


FACTORED: dict[str, tuple[str, Callable[[int], int], float]] = {
    "cholesky": ("positive", lambda n: n**3 // 3, 2e-6),
    "solve": ("", lambda n: 2 * n**3 // 3 + 2 * n * n, 2e-6),
    "svd": ("", lambda n: 22 * n**3, 2e-5),
    "eigh": ("symmetric", lambda n: 9 * n**3, 2e-5),
}
"""Form of the operand, operations of one matrix, tolerance."""


def _factorization(name: str, count: int, side: int) -> Workload:
    """A stack of matrices; operations by G. Golub and C. Van Loan's counts.

    `svd` and `eigh` return the product of their factors, which needs all vectors and
    values, and equals the operand.
    """
    form, operations, tolerance = FACTORED[name]
    inputs = [Input((count, side, side), 95, -0.5, 0.5, form=form)]
    if name == "solve":
        inputs.append(Input((count, side, 1), 96, -0.5, 0.5))
    work = count * operations(side)
    output = inputs[-1].shape
    return Workload(name, name, tuple(inputs), output, work, "GFLOP/s", tolerance)


TABLES: dict[str, Callable[..., list[Workload]]] = {
    "kernels": workloads,
    "families": families,
    "cpu": cpu_workloads,
}


def chosen(table: str, pattern: str | None, *, tiny: bool = False) -> list[Workload]:
    """Return the entries of a table whose names match a regular expression, None all.

    Raises:
        ValueError: the pattern matches no name.
    """
    entries = TABLES[table](tiny=tiny)
    selected = [
        each for each in entries if pattern is None or re.search(pattern, each.name)
    ]
    if not selected:
        names = ", ".join(each.name for each in entries)
        raise ValueError(f"no workload matches {pattern!r}; there are {names}")
    return selected
