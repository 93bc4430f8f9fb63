"""The second table, the families: what programs do beyond the kernels of the first.

Like `workloads.py` it needs the standard library only. What computes the rows is in
`family_programs.py`, `torch_families.py` and `js/families/`; float64 references are in
`family_references.py`, sampled when the table is handed to JavaScript.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from bench.workloads import (
    COMPLEX,
    INT,
    Input,
    Shape,
    Workload,
    matching,
    matmul,
    moving,
    workloads,
)

STEPS = 48
"""Steps of the Mandelbrot set's row."""

FLOP_PER_STEP = 10
"""Of it: two squares, their difference and sum, a product, twice that, two additions of
the point, a comparison, a count."""


def families(*, tiny: bool = False) -> list[Workload]:
    """Return all rows, or the same rows at sizes that a software adapter can do."""
    return [
        *_reductions(128 if tiny else 4096),
        *_products(tiny=tiny),
        *_convolutions(*((2, 16, 14, 4) if tiny else (64, 64, 56, 8))),
        *_pictures(96 if tiny else 4096, 64 if tiny else 2048),
        *_orders(*((64, 64, 128, 32) if tiny else (4096, 4096, 65536, 256))),
        *_attention(*((2, 64, 16) if tiny else (16, 1024, 64))),
        *_transforms(*((1 << 10, 64) if tiny else (1 << 20, 4096))),
        *_factorizations(*((3, 24) if tiny else (64, 256))),
    ]


def _reductions(side: int) -> list[Workload]:
    """A result per row of a matrix; of a strided view whole lines of memory are read.

    GELU is here as well, `x Φ(x)` by the error function, which is the exact form.
    """
    square = (side, side)
    x = [Input(square, 23, 0, 1)]
    wide = [Input(square, 24, -3, 3)]
    return [
        replace(moving("argmax_rows", x, (side,), 0.0), dtype=INT),
        moving("var_rows", x, (side,), 1e-5),
        moving("logsumexp_rows", wide, (side,), 1e-5),
        moving("norm_rows", x, (side,), 1e-5),
        moving("sum_strided", x, (side,), 1e-5),
        moving("gelu", wide, square, 2e-6),
    ]


def _products(*, tiny: bool) -> list[Workload]:
    """Many small products, one of a matrix with few columns, one of complex numbers."""
    side, few, middle = (128, 8, 64) if tiny else (4096, 8, 1024)
    many = ((16, 64), (32, 64), (64, 32)) if tiny else SMALL_PRODUCTS
    columns = (Input((side, side), 11, -0.5, 0.5), Input((side, few), 12, -0.5, 0.5))
    pair = [Input((middle, middle), seed, -0.5, 0.5, COMPLEX) for seed in (11, 12)]
    return [
        *(matmul(f"bmm{n}", n, n, n, batch) for n, batch in many),
        moving("matmul_skinny", columns, (side, few), 2e-6, "matmul"),
        Workload(
            "matmul_complex",
            "matmul_complex",
            tuple(pair),
            (middle, middle),
            8 * middle**3,
            "GFLOP/s",
            2e-6,
            COMPLEX,
        ),
    ]


SMALL_PRODUCTS = ((16, 4096), (32, 4096), (64, 2048))
"""Rows and columns of both matrices, and how many pairs."""


def _convolutions(images: int, channels: int, side: int, groups: int) -> list[Workload]:
    """Images of `side`² in groups of channels, of one channel each, and 1 by 1."""
    given = (images, channels, side, side)
    weights = {
        "conv2d_grouped": (channels, channels // groups, 3, 3),
        "conv2d_depthwise": (channels, 1, 3, 3),
        "conv2d_1x1": (4 * channels, channels, 1, 1),
    }
    return [_convolution(name, given, shape) for name, shape in weights.items()]


def _convolution(name: str, images: Shape, weights: Shape) -> Workload:
    """As many rows and columns come out as go in."""
    inputs = (Input(images, 51, -0.5, 0.5), Input(weights, 52, -0.5, 0.5))
    output = (images[0], weights[0], *images[2:])
    work = 2 * math.prod(output) * math.prod(weights[1:])
    return Workload(name, name, inputs, output, work, "GFLOP/s", 2e-6)


def _pictures(side: int, half: int) -> list[Workload]:
    """Steps on grids, the Mandelbrot set, and distances between points of space."""
    square = (side, side)
    cells = [Input(square, 71, 0, 2, INT)]
    fields = [Input(square, 73, 0, 1), Input(square, 74, 0, 1)]
    points = [Input((half, 1, 3), 75, -1, 1), Input((1, half, 3), 76, -1, 1)]
    plane = (Input((half,), 77, -2, 0.6), Input((half, 1), 78, -1.2, 1.2))
    work = FLOP_PER_STEP * STEPS * half * half
    return [
        moving("pairwise", points, (half, half), 2e-6),
        replace(moving("life", cells, square, 0.0), dtype=INT),
        moving("heat", [Input(square, 72, 0, 1)], square, 2e-6),
        moving("gray_scott", fields, (2, side - 2, side - 2), 2e-6),
        Workload(
            "mandelbrot", "mandelbrot", plane, (half, half), work, "GFLOP/s", 1e-6
        ),
    ]


def _orders(*sides: int) -> list[Workload]:
    """Rows in order: of a square matrix, and many short ones."""
    shapes = (sides[:2], sides[2:])
    return [
        moving(name, [Input(shape, 41, -1, 1)], shape, 0.0, "sort_rows")
        for name, shape in zip(("sort_rows", "sort_short"), shapes, strict=True)
    ]


def _attention(heads: int, length: int, width: int) -> list[Workload]:
    """Scores, softmax and product; of causal attention only what is seen counts."""
    shape = (heads, length, width)
    inputs = tuple(Input(shape, seed, -1, 1) for seed in (81, 82, 83))
    seen = {
        "attention": length * length,
        "attention_causal": length * (length + 1) // 2,
    }
    return [
        Workload(name, name, inputs, shape, 4 * heads * width * pairs, "GFLOP/s", 1e-5)
        for name, pairs in seen.items()
    ]


def _transforms(length: int, side: int) -> list[Workload]:
    """Of complex numbers; `5 n log2 n` operations is the convention for n of them.

    Peers may take the square of n: they do shorter ones first.
    """
    shorter = (_transform("fft", (length >> 6,)), _transform("fft", (length >> 3,)))
    smaller = (_transform("fft2", (side >> 2, side >> 2)),)
    return [
        replace(_transform("fft", (length,)), smaller=shorter),
        replace(_transform("fft2", (side, side)), smaller=smaller),
    ]


def _transform(name: str, shape: Shape) -> Workload:
    count = math.prod(shape)
    work = 5 * count * (count.bit_length() - 1)
    inputs = (Input(shape, 91, -1, 1, COMPLEX),)
    return Workload(name, name, inputs, shape, work, "GFLOP/s", 1e-5, COMPLEX)


def _factorizations(count: int, side: int) -> list[Workload]:
    """A stack of matrices; operations by G. Golub and C. Van Loan's counts.

    `svd` and `eigh` return the product of their factors, which has need of all vectors
    and values, and is the operand again.
    """
    sizes = (side // 8, side // 4, side // 2, side)
    rows = [[_factorization(*row, count, n) for n in sizes] for row in FACTORIZATIONS]
    return [replace(row, smaller=tuple(smaller)) for *smaller, row in rows]


FACTORIZATIONS: tuple[tuple[str, str, Callable[[int], int], float], ...] = (
    ("cholesky", "positive", lambda n: n**3 // 3, 2e-6),
    ("solve", "", lambda n: 2 * n**3 // 3 + 2 * n * n, 2e-6),
    ("svd", "", lambda n: 22 * n**3, 2e-5),
    ("eigh", "symmetric", lambda n: 9 * n**3, 2e-5),
)
"""Name, form of the operand, operations of one matrix, tolerance."""


def _factorization(
    name: str,
    form: str,
    operations: Callable[[int], int],
    tolerance: float,
    count: int,
    side: int,
) -> Workload:
    inputs = [Input((count, side, side), 95, -0.5, 0.5, form=form)]
    if name == "solve":
        inputs.append(Input((count, side, 1), 96, -0.5, 0.5))
    work = count * operations(side)
    output = inputs[-1].shape
    return Workload(name, name, tuple(inputs), output, work, "GFLOP/s", tolerance)


TABLES: dict[str, Callable[..., list[Workload]]] = {
    "kernels": workloads,
    "families": families,
}
"""What `--table` names."""


def of_table(table: str, pattern: str | None, *, tiny: bool) -> list[Workload]:
    """Return the rows of a table whose names match a regular expression, None all.

    Raises:
        ValueError: the pattern fits no row.
    """
    return matching(pattern, TABLES[table](tiny=tiny))
