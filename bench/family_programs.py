"""What each row of the second table computes, as a user of tensorweb would write it."""

from __future__ import annotations

from collections.abc import Callable

import tensorweb as tw
from bench.families import STEPS
from bench.programs import matmul
from tensorweb import Tensor

FamilyProgram = Callable[..., Tensor | tuple[Tensor, ...]]


def argmax_rows(x: Tensor) -> Tensor:
    return tw.argmax(x, axis=1)


def var_rows(x: Tensor) -> Tensor:
    return tw.var(x, axis=1)


def logsumexp_rows(x: Tensor) -> Tensor:
    return tw.nn.logsumexp(x, axis=1)


def norm_rows(x: Tensor) -> Tensor:
    return tw.linalg.vector_norm(x, axis=1)


def sum_strided(x: Tensor) -> Tensor:
    return tw.sum(x[:, ::2], axis=1)


def gelu(x: Tensor) -> Tensor:
    return tw.nn.gelu(x)


def conv2d_grouped(images: Tensor, weights: Tensor) -> Tensor:
    groups = images.shape[1] // weights.shape[1]
    return tw.conv2d(images, weights, padding=1, groups=groups)


def conv2d_1x1(images: Tensor, weights: Tensor) -> Tensor:
    return tw.conv2d(images, weights)


def pairwise(a: Tensor, b: Tensor) -> Tensor:
    return tw.sum((a - b) ** 2, axis=-1)


def life(x: Tensor) -> Tensor:
    around = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    count = sum(tw.roll(x, shift, axis=(0, 1)) for shift in around)
    return ((count == 3) | ((x == 1) & (count == 2))).astype(tw.int32)


def heat(x: Tensor) -> Tensor:
    around = tw.roll(x, 1, axis=0) + tw.roll(x, -1, axis=0)
    around += tw.roll(x, 1, axis=1) + tw.roll(x, -1, axis=1)
    return x + 0.1 * (around - 4 * x)


def _spread(x: Tensor) -> Tensor:
    """Return the Laplacian of what has neighbours on every side."""
    around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    return around - 4 * x[1:-1, 1:-1]


def gray_scott(u: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    inner_u, inner_v = u[1:-1, 1:-1], v[1:-1, 1:-1]
    reaction = inner_u * inner_v * inner_v
    new_u = inner_u + 0.16 * _spread(u) - reaction + 0.035 * (1 - inner_u)
    new_v = inner_v + 0.08 * _spread(v) + reaction - 0.1 * inner_v
    return new_u, new_v


def mandelbrot(x: Tensor, y: Tensor) -> Tensor:
    real, imaginary = tw.zeros_like(x), tw.zeros_like(y)
    count = tw.zeros((y.shape[0], x.shape[0]))
    for _ in range(STEPS):
        real, imaginary = (
            real * real - imaginary * imaginary + x,
            2 * real * imaginary + y,
        )
        size = real * real + imaginary * imaginary
        count = count + (size < 4).astype(tw.float32)
    return count


def sort_rows(x: Tensor) -> Tensor:
    return tw.sort(x, axis=1)


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return tw.nn.attention(q, k, v)


def attention_causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return tw.nn.attention(q, k, v, causal=True)


def fft(x: Tensor) -> Tensor:
    return tw.fft.fft(x)


def fft2(x: Tensor) -> Tensor:
    return tw.fft.fftn(x)


def cholesky(a: Tensor) -> Tensor:
    return tw.linalg.cholesky(a)


def solve(a: Tensor, b: Tensor) -> Tensor:
    return tw.linalg.solve(a, b)


def svd(a: Tensor) -> Tensor:
    u, s, vh = tw.linalg.svd(a, full_matrices=False)
    return (u * s[:, None, :]) @ vh


def eigh(a: Tensor) -> Tensor:
    values, vectors = tw.linalg.eigh(a)
    return (vectors * values[:, None, :]) @ vectors.mT


FAMILY_PROGRAMS: dict[str, FamilyProgram] = {
    "argmax_rows": argmax_rows,
    "var_rows": var_rows,
    "logsumexp_rows": logsumexp_rows,
    "norm_rows": norm_rows,
    "sum_strided": sum_strided,
    "gelu": gelu,
    "matmul_complex": matmul,
    "conv2d_grouped": conv2d_grouped,
    "conv2d_depthwise": conv2d_grouped,
    "conv2d_1x1": conv2d_1x1,
    "pairwise": pairwise,
    "life": life,
    "heat": heat,
    "gray_scott": gray_scott,
    "mandelbrot": mandelbrot,
    "sort_rows": sort_rows,
    "attention": attention,
    "attention_causal": attention_causal,
    "fft": fft,
    "fft2": fft2,
    "cholesky": cholesky,
    "solve": solve,
    "svd": svd,
    "eigh": eigh,
}
"""By program; `matmul` is in `programs.py`. Some return several results."""
