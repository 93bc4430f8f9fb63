"""Each limit of `schedule/policy.py` decides kernels: just within it, and beyond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import pytest

import tensorweb as tw
from tensorweb.backends import policy as policy_of_backends
from tensorweb.schedule import joining, policy
from tensorweb.schedule.joining import Candidate, Group, Joining
from tensorweb.schedule.kernel import Rule
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import equal_constants, linearize
from tensorweb.tensor import Tensor
from tests.shader_corpus import value

MAX_INPUTS = 8

Results = Tensor | list[Tensor]


def stored(*shape: int) -> Tensor:
    return Tensor(value(*shape))


def kinds(results: Results, *, on_webassembly: bool = False) -> dict[str, int]:
    """Return how many kernels of each kind compute some tensors.

    WebAssembly binds many storages, and its loops are not re-rolled.
    """
    tensors = [results] if isinstance(results, Tensor) else results
    graph = linearize([each.node.base for each in tensors])
    most = policy_of_backends.WASM_MOST_INPUTS if on_webassembly else MAX_INPUTS
    kernels = plan(graph, most, equal_constants(graph), not on_webassembly)
    return dict(Counter(each.kernel.kind for each in kernels))


def sums(shared: Tensor, readers: int) -> list[Tensor]:
    """Return reductions that cannot be merged, each of which reads one value."""
    return [(shared * (0.5 + n)).sum(axis=n % 2) for n in range(readers)]


def added(count: int) -> Tensor:
    """Return a sum of matrices, which costs `5 * count - 1` multiply-adds."""
    total = stored(64, 32)
    for _ in range(count - 1):
        total = total + stored(64, 32)
    return total


def chain(length: int) -> Tensor:
    x = stored(64, 32)
    for step in range(length):
        x = tw.sin(x) if step % 3 else tw.abs(x)
    return x


def distinct(length: int) -> Tensor:
    """Return a chain of operations with constants that all differ."""
    x = stored(64, 32)
    for step in range(length):
        x = x * (1 + 0.1 * step) if step % 2 else x + 0.3 * step
    return x


def scanned(length: int) -> Tensor:
    x = stored(8, length)
    return tw.cumulative_sum(tw.exp(tw.sin(x) * x) * tw.cos(x), axis=1)


def softmaxes(rows: int, length: int, count: int = 1) -> Tensor:
    x = y = stored(rows, length)
    for _ in range(count):
        y = tw.nn.softmax(y, axis=1) * x
    return y


def row_results(count: int) -> list[Tensor]:
    """Return a value of rows, and results of the rows that it reads."""
    x = stored(64, 512)
    found = [(x + 0.5 * n).max(axis=1, keepdims=True) for n in range(count)]
    value = x
    for each in found:
        value = value * each
    return [value, *found]


def after_product(length: int) -> Tensor:
    x = stored(64, 32) @ stored(32, 64)
    for _ in range(length):
        x = tw.sin(x)
    return x


def interleaved(pairs: int) -> Tensor:
    """Return a sum that needs two axes for each pair, in no order with strides."""
    a, b = stored(*(2, 1) * pairs), stored(*(1, 2) * pairs)
    return (a * b).reshape((4**pairs,)) + stored(4**pairs)


def scaled(count: int) -> list[Tensor]:
    x = stored(64, 32)
    return [x * (2.0 + n) for n in range(count)]


def merged_heads(depth: int) -> Tensor:
    """Return a product of heads (batch, heads, time, depth) that a copy merged."""
    heads = stored(2, 4, 8, depth).permute_dims((0, 2, 1, 3))
    return heads.reshape(2, 8, 4 * depth) @ stored(4 * depth, 16)


def mandelbrot(steps: int) -> Tensor:
    x, y = stored(64, 32), stored(64, 32)
    real, imaginary, count = x * 0.0, y * 0.0, tw.zeros((64, 32), device="webgpu")
    for _ in range(steps):
        real, imaginary = (
            real * real - imaginary * imaginary + x,
            2 * real * imaginary + y,
        )
        count = count + (real * real + imaginary * imaginary < 4).astype(tw.float32)
    return count


class Case(NamedTuple):
    """Graphs on both sides of a limit.

    Attributes:
        limit: name of the limit.
        build: builds the graph of a size.
        within, beyond: two sizes.
        kernels: kernels of these graphs, by kind.
        other: a value of the limit with which the second graph has other kernels.
    """

    limit: str
    build: Callable[[int], Results]
    within: int
    beyond: int
    kernels: tuple[dict[str, int], dict[str, int]]
    other: int = 1 << 40


CASES = [
    Case(
        "RECOMPUTE_LIMIT",
        lambda n: sums(added(n), 2),
        *(6, 7),
        ({"reduce": 2}, {"elementwise": 1, "reduce": 2}),
    ),
    Case(
        "TOTAL_RECOMPUTE_LIMIT",
        lambda n: sums(added(5), n),
        *(4, 5),
        ({"reduce": 4}, {"elementwise": 1, "reduce": 5}),
    ),
    Case(
        "REPEAT_LIMIT",
        lambda n: tw.sort(added(n), axis=1),
        *(2, 3),
        ({"sort": 1}, {"elementwise": 1, "sort": 1}),
    ),
    Case(
        "OPERAND_LIMIT",
        lambda n: added(n) @ stored(32, 64),
        *(1, 2),
        ({"matmul": 1}, {"elementwise": 1, "matmul": 1}),
    ),
    Case(
        "LONGEST_SCAN",
        scanned,
        *(4096, 4097),
        ({"scan": 1}, {"elementwise": 1, "scan": 1}),
    ),
    Case(
        "LONGEST_CHAIN",
        lambda n: chain(n).sum(axis=0),
        *(48, 49),
        ({"reduce": 1}, {"elementwise": 1, "reduce": 1}),
    ),
    Case(
        "LONGEST_EPILOGUE",
        after_product,
        *(4, 5),
        ({"matmul": 1}, {"elementwise": 1, "matmul": 1}),
    ),
    Case(
        "LONGEST_ROW",
        lambda n: softmaxes(64, n),
        *(8192, 8193),
        ({"rows": 1}, {"reduce": 2, "elementwise": 1}),
    ),
    Case(
        "SHORT_ROW",
        lambda n: softmaxes(4, n),
        *(1024, 1025),
        ({"rows": 1}, {"reduce": 2, "elementwise": 1}),
    ),
    Case(
        "LEAST_ROWS",
        lambda n: softmaxes(n, 2000),
        *(16, 15),
        ({"rows": 1}, {"reduce": 2, "elementwise": 1}),
        other=1,
    ),
    Case(
        "MOST_ROW_REDUCTIONS",
        lambda n: softmaxes(64, 512, n),
        *(4, 5),
        ({"rows": 1}, {"rows": 2}),
    ),
    Case(
        "MOST_EXTRA_OUTPUTS",
        row_results,
        *(3, 4),
        ({"rows": 1}, {"rows": 1, "reduce": 1}),
    ),
    Case(
        "SHORTEST_DOT",
        lambda n: stored(4, n) @ stored(n, 4),
        *(63, 64),
        ({"matmul": 1}, {"reduce": 1}),
    ),
    Case(
        "FEW_OUTPUTS",
        lambda n: stored(16, 64) @ stored(64, n),
        *(16, 17),
        ({"reduce": 1}, {"matmul": 1}),
    ),
    Case(
        "EVEN_LENGTH",
        merged_heads,
        *(4, 5),
        ({"matmul": 1}, {"elementwise": 1, "matmul": 1}),
        other=1,
    ),
    Case(
        "SHORT_SORT",
        lambda n: tw.sort(stored(4, n) + 1, axis=1),
        *(2048, 2049),
        ({"sort": 1}, {"elementwise": 1, "sort": 1}),
    ),
    Case(
        "MOST_AXES",
        interleaved,
        *(5, 6),
        ({"elementwise": 1}, {"elementwise": 2}),
    ),
    Case(
        "MOST_SCALARS",
        distinct,
        *(32, 33),
        ({"elementwise": 1}, {"elementwise": 2}),
    ),
    Case(
        "OUTPUT_BINDINGS",
        scaled,
        *(9, 10),
        ({"elementwise": 1}, {"elementwise": 2}),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.limit)
def test_limit_decides_kernels(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    within, beyond = case.kernels
    assert kinds(case.build(case.within)) == within
    assert kinds(case.build(case.beyond)) == beyond
    monkeypatch.setattr(policy, case.limit, case.other)
    assert kinds(case.build(case.beyond)) != beyond


def test_a_merged_kernel_has_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kinds(chain(192), on_webassembly=True) == {"elementwise": 1}
    assert kinds(chain(230), on_webassembly=True) == {"elementwise": 2}
    monkeypatch.setattr(policy, "MOST_STEPS", 1 << 40)
    assert kinds(chain(230), on_webassembly=True) == {"elementwise": 1}


def test_two_newest_groups_are_considered(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one, a loop has more kernels; with all, planning is quadratic."""
    bars = joining.Joining._bars
    calls: list[Group] = []

    def counted(self: Joining, candidate: Candidate, group: Group) -> Rule | None:
        calls.append(group)
        return bars(self, candidate, group)

    monkeypatch.setattr(joining.Joining, "_bars", counted)

    def tries(kernels: int) -> int:
        calls.clear()
        kinds(scaled(kernels))
        return len(calls)

    assert tries(200) < 2.2 * tries(100)
    assert sum(kinds(mandelbrot(48), on_webassembly=True).values()) == 5
    monkeypatch.setattr(policy, "NEWEST_GROUPS", 1)
    assert sum(kinds(mandelbrot(48), on_webassembly=True).values()) > 5
    monkeypatch.setattr(policy, "NEWEST_GROUPS", 1 << 40)
    assert tries(200) > 2.5 * tries(100)
