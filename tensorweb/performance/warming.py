"""Compile the kernels of common operations before a program asks for them.

A table of small graphs, one for each kernel and class of shapes that programs begin
with. They are planned on placeholders: nothing is computed and no memory is taken.

First calls of eight common operations (matmul, softmax, sum, sort, cumsum, conv2d, exp,
multiply-add) took 870 to 1340 ms in a new process, and 94 to 103 ms after `warm_up()`,
which itself took 7 s (H100, wgpu-py, three runs, 2026-11-25).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from tensorweb import devices, dtypes
from tensorweb.dtypes import DType
from tensorweb.errors import DataError
from tensorweb.functions.creation import arange, linspace
from tensorweb.functions.elementwise import (
    add,
    divide,
    exp,
    maximum,
    multiply,
    sqrt,
    subtract,
)
from tensorweb.functions.linear_algebra import matmul
from tensorweb.functions.manipulation import flip
from tensorweb.functions.reductions import cumulative_sum, max, mean, min, sum
from tensorweb.functions.searching import argmax, argsort, sort, take
from tensorweb.functions.windows import conv2d
from tensorweb.graph.node import leaf
from tensorweb.graph.tracing import Placeholder
from tensorweb.nodes.ranges import promise_interval
from tensorweb.tensor import Tensor
from tensorweb.waits import Steps, run_async, run_blocking

Graph = Callable[[], Tensor]

LONG = 1 << 22
"""Elements of a tensor that keeps every core of a large GPU busy."""

ROWS = 4096
"""Rows of a matrix that does."""


MOST_PENDING = 8
"""Kernels that compile side by side; drivers gain nothing from more."""


def given(*shape: int, dtype: DType = dtypes.float32) -> Tensor:
    """Return a tensor on the default device that stands for any of its shape."""
    return Tensor(leaf(Placeholder(), shape, dtype, devices.default_device()))


def _positions(length: int) -> Tensor:
    """Return indices that need no check."""
    positions = given(length, dtype=dtypes.int32)
    promise_interval(positions.node, 0, 0)
    return positions


def _softmax(columns: int) -> Tensor:
    x = given(ROWS, columns)
    e = exp(x - max(x, axis=1, keepdims=True))
    return e / sum(e, axis=1, keepdims=True)


def _layernorm(columns: int) -> Tensor:
    x = given(ROWS, columns)
    centred = x - mean(x, axis=1, keepdims=True)
    variance = mean(centred * centred, axis=1, keepdims=True)
    return centred / sqrt(variance + 1e-5)


def _multiply_add(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    return x * y + z


def _relu(x: Tensor) -> Tensor:
    return maximum(x, 0)


def _copied(x: Tensor) -> Tensor:
    return x.contiguous()


def _accumulated(count: int, *shape: int) -> Tensor:
    values = given(count, *shape[1:])
    return given(*shape).at[_positions(count)].add(values)


def _matmul(rows: int, depth: int, columns: int) -> Tensor:
    return given(rows, depth) @ given(depth, columns)


def _conv2d(images: Sequence[int], weights: Sequence[int], stride: int) -> Tensor:
    padding = weights[-1] // 2
    return conv2d(given(*images), given(*weights), stride=stride, padding=padding)


def _elementwise() -> Iterator[Graph]:
    for length in (4096, 4095):
        x, y, z = given(length), given(length), given(length)
        for binary in (add, subtract, multiply, divide):
            yield partial(binary, x, y)
        yield partial(add, x, 1)
        yield partial(multiply, x, 2)
        yield partial(exp, x)
        yield partial(_multiply_add, x, y, z)
        yield partial(_relu, x)


def _creation() -> Iterator[Graph]:
    yield partial(arange, 4096)
    yield partial(arange, 4096, dtype=dtypes.float32)
    yield partial(linspace, 0.0, 1.0, 1 << 19)


def _reduction() -> Iterator[Graph]:
    reductions: tuple[Callable[..., Tensor], ...] = (sum, mean, max, min)
    for reduce in reductions:
        yield partial(reduce, given(LONG))
        yield partial(reduce, given(100))
        yield partial(reduce, given(ROWS, ROWS), axis=1)
        yield partial(reduce, given(ROWS, ROWS), axis=0)
        yield partial(reduce, given(ROWS, 10), axis=1)
    for extreme in (max, min):
        yield partial(extreme, given(LONG, dtype=dtypes.int32))
    yield partial(argmax, given(ROWS, ROWS), axis=1)
    yield partial(argmax, given(ROWS, 10), axis=1)


def _softmaxes() -> Iterator[Graph]:
    return (partial(_softmax, columns) for columns in (ROWS, 1024, 128, 10))


def _layernorms() -> Iterator[Graph]:
    return (partial(_layernorm, columns) for columns in (ROWS, 1024, 128))


def _products() -> Iterator[Graph]:
    for size in (64, 256, 512, 1024, 2048, ROWS, 63, 1000, 1001):
        yield partial(_matmul, size, size, size)
    yield partial(_matmul, 64, 8192, 64)
    yield partial(_matmul, 128, 784, 100)
    pairs = [(given(64, 256, 256), given(64, 256, 256))]
    for size in (128, 2048, ROWS):
        square = given(size, size)
        pairs += [(square, given(size, size).mT), (square.mT, given(size, size))]
    pairs += [(given(ROWS, ROWS), given(ROWS)), (given(ROWS), given(ROWS, ROWS))]
    for left, right in pairs:
        yield partial(matmul, left, right)


def _convolutions() -> Iterator[Graph]:
    for images in (16, 64):
        yield partial(_conv2d, (images, 64, 56, 56), (64, 64, 3, 3), 1)
    yield partial(_conv2d, (16, 3, 224, 224), (64, 3, 7, 7), 2)
    yield partial(_conv2d, (1, 1, 64, 64), (8, 1, 3, 3), 1)


def _scans() -> Iterator[Graph]:
    yield partial(cumulative_sum, given(LONG))
    yield partial(cumulative_sum, given(LONG // 4))
    yield partial(cumulative_sum, given(1000))
    yield partial(cumulative_sum, given(ROWS, 64), axis=1)


def _sorts() -> Iterator[Graph]:
    orders: tuple[Callable[..., Tensor], ...] = (sort, argsort)
    for order in orders:
        for length in (LONG, LONG // 4, 1 << 14, 4000, 1000):
            yield partial(order, given(length))


def _movements() -> Iterator[Graph]:
    yield partial(_copied, given(ROWS, ROWS).T)
    yield partial(_copied, flip(given(ROWS)))
    yield partial(take, given(ROWS), _positions(64))
    yield partial(take, given(ROWS, 256), _positions(64), axis=0)
    yield partial(_accumulated, LONG * 2, ROWS)
    yield partial(_accumulated, LONG * 2, LONG // 4)
    yield partial(_accumulated, LONG // 16, LONG // 64, 64)


FAMILIES: dict[str, Callable[[], Iterator[Graph]]] = {
    "matmul": _products,
    "softmax": _softmaxes,
    "layernorm": _layernorms,
    "reduction": _reduction,
    "conv2d": _convolutions,
    "sort": _sorts,
    "scan": _scans,
    "movement": _movements,
    "elementwise": _elementwise,
    "creation": _creation,
}
"""Common graphs by family; the slowest to compile and most used families first."""


def graphs(families: Sequence[str] = ()) -> Iterator[Graph]:
    """Yield the graphs of families, or of all; each is built when it is called.

    They are of the device that is the default when they are taken and called.

    Raises:
        DataError: there is no such family.

    >>> len(list(graphs(["layernorm"])))
    3
    """
    for family in families:
        if family not in FAMILIES:
            raise DataError(
                f"warm_up: unknown family {family!r}; families are "
                f"{', '.join(FAMILIES)}."
            )
    for family in families or FAMILIES:
        yield from FAMILIES[family]()


def prepare(graph: Graph) -> int:
    """Begin to compile what one graph needs; how many kernels are being compiled."""
    node = graph().node
    preparer = devices.backend(node.device).preparer
    return 0 if preparer is None else preparer.prepare([node])


def warm_up(*families: str) -> None:
    """Compile the kernels of common operations, so that their first calls are fast.

    Without arguments every family is compiled: matmul, softmax, layernorm, reduction,
    conv2d, sort, scan, movement, elementwise, creation. Nothing is computed and no
    memory is taken. In the browser kernels compile side by side while this waits;
    natively one after another. On a default device that compiles nothing ahead, as the
    cpu, there is nothing to do.

    Raises:
        DataError: there is no such family.
        BlockingError: Python cannot wait here; await `warm_up_async`.

    >>> tw.warm_up("softmax", "sort")
    """
    run_blocking(_warm_up(families))


async def warm_up_async(*families: str) -> None:
    """Do the same by awaiting, where Python cannot block.

    The event loop goes on while kernels compile, and a program that needs one of them
    sooner compiles it at once.

    Raises:
        DataError: there is no such family.

    >>> import asyncio
    >>> asyncio.run(tw.warm_up_async("scan"))
    """
    await run_async(_warm_up(families))


def _warm_up(families: Sequence[str]) -> Steps[None]:
    chosen = list(graphs(families))
    preparer = devices.backend(devices.default_device()).preparer
    if preparer is None:
        return
    for graph in chosen:
        if prepare(graph) > MOST_PENDING:
            yield from preparer.finish_preparing()
    yield from preparer.finish_preparing()
