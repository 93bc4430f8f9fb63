"""Each rule that keeps operations in different kernels has a graph that shows it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from test_planning import drawn

import tensorweb as tw
from tensorweb.events import record_kernels, splits
from tensorweb.nodes.ranges import promise_interval
from tensorweb.schedule.kernel import Planned, Rule
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import LinearGraph, linearize
from tensorweb.tensor import Tensor
from tests.shader_corpus import value

MAX_INPUTS = 8

Results = Tensor | list[Tensor]


def stored(*shape: int, dtype: tw.DType = tw.float32) -> Tensor:
    return Tensor(value(*shape, dtype=dtype))


def repeated(operation: Callable[[Tensor], Tensor], times: int, x: Tensor) -> Tensor:
    for _ in range(times):
        x = operation(x)
    return x


def costly(x: Tensor) -> Tensor:
    """Return a value of more multiply-adds than any limit allows."""
    return repeated(tw.tanh, 4, x)


def softmaxes(count: int) -> Tensor:
    x = y = stored(64, 512)
    for _ in range(count):
        y = tw.nn.softmax(y, axis=1) * x
    return y


def logsumexp(x: Tensor) -> Tensor:
    largest = x.max(axis=1)
    return tw.log(tw.exp(x - largest[:, None]).sum(axis=1)) + largest


def across() -> Tensor:
    """Return rows divided by their sums, plus the sums of other rows."""
    x = stored(64, 32)
    sums = x.sum(axis=1)
    return x / sums[:, None] + sums[:32]


def addressed() -> Tensor:
    """Return rows times their sums, and elements at indices that are sums as well."""
    x = stored(20, 16)
    at = stored(20, 16, dtype=tw.int32).sum(axis=1, keepdims=True)
    promise_interval(at.node, 0, 15)
    return tw.take_along_axis(x, at, axis=1) * x.sum(axis=1, keepdims=True) * x


def interleaved() -> Tensor:
    """Return a sum of more axes than an index space is split into."""
    a, b = stored(*(2, 1) * 6), stored(*(1, 2) * 6)
    return (a * b).reshape(4**6) + stored(4**6)


def added(count: int) -> list[Tensor]:
    """Return a value and sums with it, too many for one kernel."""
    x = doubled()
    return [x, *(x + stored(64, 32) for _ in range(count))]


def kept(value: Tensor, *readers: Tensor) -> list[Tensor]:
    return [value, *readers]


def doubled() -> Tensor:
    return stored(64, 32) * 2


def between() -> list[Tensor]:
    """Return values of one shape, between which a reduction must run."""
    x = doubled()
    return [x, x.sum(axis=0) + x]


EXAMPLES: dict[Rule, Callable[[], Results]] = {
    Rule.OWN_KERNEL: lambda: tw.sort(stored(8, 32)) + 1,
    Rule.READERS: lambda: [
        (y := stored(64, 32) @ stored(32, 64)).sum(axis=0),
        y.sum(axis=1),
    ],
    Rule.SECOND_CORE: lambda: stored(64, 32).sum(axis=0).max(),
    Rule.MOVED_CORE: lambda: (stored(64, 32) @ stored(32, 64)).T + stored(64, 64),
    Rule.LONG_EPILOGUE: lambda: repeated(tw.sin, 5, stored(64, 32) @ stored(32, 64)),
    Rule.LONG_ROWS: lambda: tw.nn.softmax(stored(64, 8193), axis=1),
    Rule.FULL_ROW: lambda: softmaxes(10),
    Rule.ROW_RESULT: lambda: logsumexp(stored(64, 32)).mean(),
    Rule.OTHER_ROWS: across,
    Rule.ROW_ADDRESS: addressed,
    Rule.RECOMPUTED: lambda: [
        (y := costly(stored(64, 32))).sum(axis=0),
        y.sum(axis=1),
    ],
    Rule.AFTER_CORE: lambda: [
        (y := tw.exp(stored(64, 32) @ stored(32, 64))).sum(axis=0),
        y.sum(axis=1),
    ],
    Rule.SHIFTED: lambda: (y := costly(stored(64, 32))) + y.flip(axis=0),
    Rule.OPERAND: lambda: costly(stored(64, 32)) @ stored(32, 64),
    Rule.REPEATED: lambda: costly(stored(32)) + stored(64, 32),
    Rule.LONG_SCAN: lambda: tw.cumulative_sum(costly(stored(8, 4097)), axis=1),
    Rule.LONG_SORT: lambda: tw.sort(stored(4096) + 1),
    Rule.LONG_CHAIN: lambda: repeated(tw.sin, 60, stored(64, 32)).sum(axis=0),
    Rule.GATHERED: lambda: doubled()[tw.arange(5, device="webgpu") * 2],
    Rule.SCAN_COPY: lambda: tw.cumulative_sum(stored(4096, 256), axis=0),
    Rule.OWN_INPUT: lambda: tw.kernel(
        "out[global_id.x] = x[global_id.x];",
        inputs={"x": tw.float32},
        outputs={"out": tw.float32},
    )(doubled()),
    Rule.RESHAPED: interleaved,
    Rule.BINDINGS: lambda: sum((stored(64, 32) for _ in range(12)), stored(64, 32)),
    Rule.KEPT_CORE: lambda: kept(y := doubled(), y.sum(axis=0)),
    Rule.KEPT_SHAPE: lambda: kept(y := doubled(), y[:3] + 1),
    Rule.KEPT_MOVED: lambda: kept(y := doubled(), y.flip(axis=0) + 1),
    Rule.KEPT_ACROSS: lambda: kept(y := doubled(), y + stored(32, 64).T),
    Rule.KEPT_BETWEEN: between,
    Rule.KEPT_FULL: lambda: added(12),
    Rule.KEPT_OTHER: lambda: added(24),
}


def planned(results: Results) -> tuple[LinearGraph, list[Planned]]:
    tensors = [results] if isinstance(results, Tensor) else results
    graph = linearize([each.node.base for each in tensors])
    return graph, plan(graph, MAX_INPUTS)


OTHERS = {Rule.LAUNCHES, Rule.FLUSHED}
"""Tested below, and with the page's record of a run."""


@pytest.mark.parametrize("rule", [rule for rule in Rule if rule not in OTHERS])
def test_every_rule_has_an_example(rule: Rule) -> None:
    _, kernels = planned(EXAMPLES[rule]())
    assert rule in {rule for each in kernels for rule in each.rules}


@pytest.mark.parametrize("number", range(12))
def test_every_value_between_kernels_has_a_rule(number: int) -> None:
    graph = drawn(number)
    for each in plan(graph, MAX_INPUTS):
        is_made = [graph.nodes[number].storage is None for number in each.inputs]
        assert is_made == [rule is not None for rule in each.rules]


def test_parts_of_a_kernel_are_launched_one_after_another(webgpu: str) -> None:
    with record_kernels() as launches:
        tw.realize(tw.linspace(0.0, 1.0, 100_003, device=webgpu).sum())
    (split,) = splits(launches)
    assert (split.writer, split.reader) == (0, 1)
    assert split.read.why == Rule.LAUNCHES.value
    assert split.written.nbytes == split.read.nbytes == launches[0].stored


def test_values_between_kernels_are_reported_also_of_a_cached_plan(webgpu: str) -> None:
    x = tw.realize(tw.linspace(0.0, 1.0, 35, device=webgpu).reshape(7, 5))
    for _ in range(2):
        with record_kernels() as launches:
            tw.realize(tw.sort(x @ x.T + 1, axis=1)[:2] * 2)
        first, second = splits(launches)
        assert (first.writer, first.reader) == (0, 1)
        assert (first.written.nbytes, first.read.nbytes) == (4 * 49, 4 * 49)
        assert first.read.why == Rule.SECOND_CORE.value
        assert (second.written.nbytes, second.read.nbytes) == (4 * 49, 4 * 14)
        assert second.read.why == Rule.OWN_KERNEL.value


def test_an_explanation_says_why_there_are_several_kernels(webgpu: str) -> None:
    x = tw.realize(tw.linspace(0.0, 1.0, 35, device=webgpu).reshape(7, 5))
    text = str(tw.explain(tw.sort(x @ x.T, axis=1)))
    reason = f"196 bytes written, 196 read. {Rule.SECOND_CORE.value}\n"
    assert f"Between kernels\n  1 to 2, %3: {reason}" in text
    assert "Between kernels" not in str(tw.explain(x + 1))
