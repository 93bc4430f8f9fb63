"""The second table's rows in PyTorch: what is ready, and the eager composition."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bench.families import STEPS

Torch = Any
"""The module `torch`; it is not installed where this project is checked."""

Program = Callable[..., Any]
Ways = dict[str, dict[str, Program]]


def programs(torch: Torch) -> Ways:
    """Return the ways to say each program, as `torch_reference.programs` does."""
    return {
        **_reductions(torch),
        **_convolutions(torch),
        **_pictures(torch),
        **_attention(torch),
        **_factorizations(torch),
        "matmul_complex": {"": torch.matmul},
        "sort_rows": {"": lambda x: torch.sort(x, 1).values},
        "fft": {"": torch.fft.fft},
        "fft2": {"": torch.fft.fft2},
    }


def _reductions(torch: Torch) -> Ways:
    def logsumexp(x: Any) -> Any:
        top = x.max(1, keepdim=True).values
        return torch.log(torch.exp(x - top).sum(1)) + top[:, 0]

    def var(x: Any) -> Any:
        centred = x - x.mean(1, keepdim=True)
        return (centred * centred).mean(1)

    return {
        "argmax_rows": {"": partial(torch.argmax, dim=1)},
        "var_rows": {"var": partial(torch.var, dim=1, correction=0), "eager": var},
        "logsumexp_rows": {
            "logsumexp": partial(torch.logsumexp, dim=1),
            "eager": logsumexp,
        },
        "norm_rows": {
            "vector_norm": partial(torch.linalg.vector_norm, dim=1),
            "eager": lambda x: torch.sqrt((x * x).sum(1)),
        },
        "sum_strided": {"eager": lambda x: x[:, ::2].sum(1)},
        "gelu": {"eager": torch.nn.functional.gelu},
    }


def _convolutions(torch: Torch) -> Ways:
    def grouped(images: Any, weights: Any) -> Any:
        groups = images.shape[1] // weights.shape[1]
        return torch.nn.functional.conv2d(images, weights, padding=1, groups=groups)

    return {
        "conv2d_grouped": {"": grouped},
        "conv2d_depthwise": {"": grouped},
        "conv2d_1x1": {"": torch.nn.functional.conv2d},
    }


def _pictures(torch: Torch) -> Ways:
    def pairwise(a: Any, b: Any) -> Any:
        return ((a - b) ** 2).sum(-1)

    def life(x: Any) -> Any:
        around = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
        count = sum(torch.roll(x, shift, (0, 1)) for shift in around)
        return ((count == 3) | ((x == 1) & (count == 2))).to(torch.int32)

    def heat(x: Any) -> Any:
        around = torch.roll(x, 1, 0) + torch.roll(x, -1, 0)
        around = around + torch.roll(x, 1, 1) + torch.roll(x, -1, 1)
        return x + 0.1 * (around - 4 * x)

    def mandelbrot(x: Any, y: Any) -> Any:
        real, imaginary = torch.zeros_like(x), torch.zeros_like(y)
        count = torch.zeros((y.shape[0], x.shape[0]), device=x.device)
        for _ in range(STEPS):
            real, imaginary = (
                real * real - imaginary * imaginary + x,
                2 * real * imaginary + y,
            )
            size = real * real + imaginary * imaginary
            count = count + (size < 4).to(torch.float32)
        return count

    return {
        "pairwise": {"eager": pairwise},
        "life": {"eager": life},
        "heat": {"eager": heat},
        "gray_scott": {"eager": _gray_scott},
        "mandelbrot": {"eager": mandelbrot},
    }


def _gray_scott(u: Any, v: Any) -> tuple[Any, Any]:
    def spread(x: Any) -> Any:
        around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
        return around - 4 * x[1:-1, 1:-1]

    inner_u, inner_v = u[1:-1, 1:-1], v[1:-1, 1:-1]
    reaction = inner_u * inner_v * inner_v
    new_u = inner_u + 0.16 * spread(u) - reaction + 0.035 * (1 - inner_u)
    new_v = inner_v + 0.08 * spread(v) + reaction - 0.1 * inner_v
    return new_u, new_v


def _attention(torch: Torch) -> Ways:
    def composed(q: Any, k: Any, v: Any, *, is_causal: bool = False) -> Any:
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if is_causal:
            seen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device)
            scores = scores.masked_fill(~seen.tril(), float("-inf"))
        return torch.softmax(scores, -1) @ v

    def causal(q: Any, k: Any, v: Any) -> Any:
        return composed(q, k, v, is_causal=True)

    def ready(q: Any, k: Any, v: Any, *, is_causal: bool = False) -> Any:
        """Fused kernels want four axes."""
        function = torch.nn.functional.scaled_dot_product_attention
        return function(q[None], k[None], v[None], is_causal=is_causal)[0]

    return {
        "attention": {"sdpa": ready, "eager": composed},
        "attention_causal": {"sdpa": partial(ready, is_causal=True), "eager": causal},
    }


def _factorizations(torch: Torch) -> Ways:
    """Those that end in `_ex` do not wait to hear of singular matrices, as ours."""

    def svd(a: Any) -> Any:
        u, s, vh = torch.linalg.svd(a, full_matrices=False)
        return (u * s[:, None, :]) @ vh

    def eigh(a: Any) -> Any:
        values, vectors = torch.linalg.eigh(a)
        return (vectors * values[:, None, :]) @ vectors.mT

    return {
        "cholesky": {
            "": torch.linalg.cholesky,
            "cholesky_ex": lambda a: torch.linalg.cholesky_ex(a).L,
        },
        "solve": {
            "": torch.linalg.solve,
            "solve_ex": lambda a, b: torch.linalg.solve_ex(a, b).result,
        },
        "svd": {"": svd},
        "eigh": {"": eigh},
    }
