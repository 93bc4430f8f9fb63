"""Changing shapes compile few pipelines: sizes are parameters, only structure counts.

Each family is planned for many sizes, even and odd, on a large GPU that is not there.
The bounds are what the classes of structure allow: layouts of threads for short and
long rows, vectors or single elements, tiles with and without guards at their edges, and
the window of a convolution, whose size is part of the text.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest
from pretend_driver import PretendDriver

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.nodes.ranges import promise_interval
from tensorweb.performance.warming import given, prepare

LENGTHS = (1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32, 33, 63, 64, 100, 127, 128, 255, 256)
LENGTHS += (257, 300, 500, 511, 512, 513, 777, 1000, 1024, 1025, 1500, 2000, 2047)
LENGTHS += (2048, 2049, 3000, 4095, 4096, 4097, 5000, 8191, 8192, 9999, 10_000, 16_384)
LENGTHS += (20_000, 33_333, 50_000, 65_536, 65_537, 99_999, 100_000, 200_000, 262_144)
LENGTHS += (300_001, 500_000, 777_777, 1_000_000, 1_048_576, 2_000_003, 4_194_304)

Make = Callable[[], tw.Tensor]


def lengths(program: Callable[[tw.Tensor], tw.Tensor]) -> Iterator[Make]:
    """Yield a program over vectors."""
    return (lambda n=n: program(given(n)) for n in LENGTHS)


def matrices(program: Callable[[tw.Tensor], tw.Tensor]) -> Iterator[Make]:
    """Yield a program over matrices of any shape and of multiples of 64."""
    numbers = random.Random(1)
    for largest, step in ((3000, 1), (32, 64)):
        for _ in range(40):
            rows, columns = (numbers.randint(1, largest) * step for _ in range(2))
            yield lambda r=rows, c=columns: program(given(r, c))


def softmax(x: tw.Tensor) -> tw.Tensor:
    e = tw.exp(x - tw.max(x, axis=1, keepdims=True))
    return e / tw.sum(e, axis=1, keepdims=True)


def heat(x: tw.Tensor) -> tw.Tensor:
    rolled = [tw.roll(x, shift, axis=axis) for axis in (0, 1) for shift in (1, -1)]
    return rolled[0] + rolled[1] + rolled[2] + rolled[3] - 4 * x


def gathered(x: tw.Tensor) -> tw.Tensor:
    positions = given(x.shape[1], dtype=tw.int32)
    promise_interval(positions.node, 0, 0)
    return tw.take(x, positions, axis=0)


def products() -> Iterator[Make]:
    numbers = random.Random(2)
    for largest, step in ((2000, 1), (500, 4), (32, 64)):
        for _ in range(30):
            m, k, n = (numbers.randint(1, largest) * step for _ in range(3))
            yield lambda m=m, k=k, n=n: given(m, k) @ given(k, n)


def small_products() -> Iterator[Make]:
    """Yield batches of small matrices of any size and of multiples of four."""
    numbers = random.Random(5)
    for largest, step in ((48, 1), (12, 4)):
        for _ in range(40):
            m, k, n = (numbers.randint(1, largest) * step for _ in range(3))
            yield lambda m=m, k=k, n=n: given(999, m, k) @ given(999, k, n)


def pairs() -> Iterator[Make]:
    """Yield squared distances between rows of any number and length."""
    numbers = random.Random(6)
    for largest, step in ((999, 1), (99, 4)):
        for _ in range(40):
            rows, columns = (numbers.randint(4, largest) * step for _ in range(2))
            depth = numbers.randint(2, 99)
            yield lambda r=rows, c=columns, d=depth: tw.sum(
                (given(r, 1, d) - given(c, d)) ** 2, axis=-1
            )


def convolutions(windows: tuple[int, ...]) -> Iterator[Make]:
    """Yield images of any size and number, with any number of channels."""
    numbers = random.Random(3)
    for size in windows:
        for _ in range(60):
            count, channels, outputs = (numbers.randint(1, n) for n in (8, 64, 64))
            images = (count, channels, *(numbers.randint(8, 108) for _ in range(2)))
            weights = (outputs, channels, size, size)
            yield lambda i=images, w=weights: tw.conv2d(given(*i), given(*w), padding=1)


def strided_convolutions() -> Iterator[Make]:
    numbers = random.Random(4)
    for _ in range(60):
        side, step, border = (
            numbers.randint(*ends) for ends in ((8, 99), (1, 4), (0, 2))
        )
        yield lambda n=side, s=step, p=border: tw.conv2d(
            given(4, 16, n, n), given(32, 16, 3, 3), stride=s, padding=p
        )


def pools() -> Iterator[Make]:
    numbers = random.Random(5)
    for _ in range(60):
        shape = [numbers.randint(2, n) for n in (8, 16, 200, 200)]
        yield lambda s=shape: tw.max_pool2d(given(*s), 2)


FAMILIES: dict[str, tuple[Callable[[], Iterator[Make]], int]] = {
    "elementwise": (lambda: lengths(lambda x: x * 2 + x), 4),
    "broadcast": (lambda: matrices(lambda x: x * 2 + given(x.shape[1])), 4),
    "sum": (lambda: lengths(tw.sum), 32),
    "row sums": (lambda: matrices(lambda x: tw.sum(x, axis=1)), 16),
    "column sums": (lambda: matrices(lambda x: tw.sum(x, axis=0)), 20),
    "argmax": (lambda: matrices(lambda x: tw.argmax(x, axis=1)), 12),
    "softmax": (lambda: matrices(softmax), 36),
    "cumulative_sum": (lambda: lengths(tw.cumulative_sum), 10),
    "column scans": (
        lambda: matrices(lambda x: tw.cumulative_sum(x, axis=0)),
        8,
    ),
    "sort": (lambda: lengths(tw.sort), 12),
    "argsort": (lambda: lengths(tw.argsort), 15),
    "transpose": (lambda: matrices(lambda x: x.T.contiguous()), 4),
    "gather": (lambda: matrices(gathered), 4),
    "stencils": (lambda: matrices(heat), 8),
    "concat": (lambda: matrices(lambda x: tw.concat([x, given(3, x.shape[1])])), 4),
    "matmul": (products, 40),
    "small products": (small_products, 60),
    "pairs": (pairs, 24),
    "matvec": (lambda: matrices(lambda x: x @ given(x.shape[1])), 16),
    "conv2d": (lambda: convolutions((3,)), 28),
    "conv2d of four windows": (lambda: convolutions((1, 3, 5, 7)), 112),
    "strided conv2d": (strided_convolutions, 28),
    "max_pool2d": (pools, 8),
}
"""Graphs of each family, and how many pipelines all of them may compile together."""


@pytest.mark.parametrize("family", FAMILIES)
def test_many_shapes_compile_few_pipelines(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = PretendDriver()
    monkeypatch.setitem(devices._backends, "webgpu", WebGpuBackend(driver))
    make, most = FAMILIES[family]
    shapes = 0
    with devices.device("webgpu"):
        for graph in make():
            prepare(graph)
            shapes += 1
    assert shapes >= 60
    assert len(driver.sources) <= most
    assert len(driver.sources) == len(set(driver.sources))
