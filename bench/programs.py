"""What each workload computes, in the Python that a user of tensorweb would write."""

from __future__ import annotations

from collections.abc import Callable

import tensorweb as tw
from tensorweb import Tensor

Program = Callable[..., Tensor]


def matmul(a: Tensor, b: Tensor) -> Tensor:
    return a @ b


def matmul_nt(a: Tensor, b: Tensor) -> Tensor:
    return a @ b.mT


def matmul_tn(a: Tensor, b: Tensor) -> Tensor:
    return a.mT @ b


def elem(x: Tensor) -> Tensor:
    return tw.exp(-x * x) * 2 + 1


def total(x: Tensor) -> Tensor:
    return tw.sum(x)


def row_sum(x: Tensor) -> Tensor:
    return tw.sum(x, axis=1)


def column_sum(x: Tensor) -> Tensor:
    return tw.sum(x, axis=0)


def softmax(x: Tensor) -> Tensor:
    e = tw.exp(x - tw.max(x, axis=1, keepdims=True))
    return e / tw.sum(e, axis=1, keepdims=True)


def layernorm(x: Tensor) -> Tensor:
    centred = x - tw.mean(x, axis=1, keepdims=True)
    variance = tw.mean(centred * centred, axis=1, keepdims=True)
    return centred / tw.sqrt(variance + 1e-5)


def cumsum(x: Tensor) -> Tensor:
    return tw.cumulative_sum(x)


def gather(table: Tensor, indices: Tensor) -> Tensor:
    return tw.take(table, indices, axis=0)


def scatter_add(table: Tensor, indices: Tensor, values: Tensor) -> Tensor:
    return table.at[indices].add(values)


def transpose_copy(x: Tensor) -> Tensor:
    return x.T.contiguous()


def sort(x: Tensor) -> Tensor:
    return tw.sort(x)


def argsort(x: Tensor) -> Tensor:
    return tw.argsort(x)


def argmax(x: Tensor) -> Tensor:
    return tw.argmax(x, axis=1)


def increment(x: Tensor) -> Tensor:
    return x + 1


def conv2d(images: Tensor, weights: Tensor) -> Tensor:
    return tw.conv2d(images, weights, padding=1)


def conv2d_7x7s2(images: Tensor, weights: Tensor) -> Tensor:
    return tw.conv2d(images, weights, stride=2, padding=3)


PROGRAMS: dict[str, Program] = {
    "matmul": matmul,
    "matmul_nt": matmul_nt,
    "matmul_tn": matmul_tn,
    "matvec": matmul,
    "elem": elem,
    "sum": total,
    "rowsum": row_sum,
    "colsum": column_sum,
    "softmax": softmax,
    "layernorm": layernorm,
    "cumsum": cumsum,
    "gather": gather,
    "scatter_add": scatter_add,
    "transpose_copy": transpose_copy,
    "sort": sort,
    "argsort": argsort,
    "argmax": argmax,
    "increment": increment,
    "conv2d": conv2d,
    "conv2d_7x7s2": conv2d_7x7s2,
}
