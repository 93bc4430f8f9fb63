"""Every rule of a derivative: rows against differences, structures by `check_grads`."""

from __future__ import annotations

import numpy as np
import pytest
from structure_cases import REDUCTIONS, STRUCTURES, Row, inputs_of

import tensorweb as tw
from e2e.bare.op_runner import evaluate
from tensorweb.graph.node import Node
from tensorweb.graph.op import FLAT, Op
from tensorweb.ops import OPS
from tensorweb.transforms.backward import RULES
from tensorweb.transforms.rules.rule import Cotangents, Rule, Step

MAPS = [op for op in OPS.values() if op.kind == "map" and op.derivative is not None]
SLOPES = [op for op in MAPS if op.derivative is not FLAT]

WITHOUT_INPUTS = {"leaf", "constant", "iota"}

LARGE = ("line", "tall", "wide", "left", "right")
"""Inputs of many elements: what is checked of them is checked of small ones."""

NO_SLOPE = {
    "xp.std(xp.broadcast_to(v, (3, 7)), axis=0)",
}
"""Where a root of zero stands: no derivative."""

JUMPS = {"nextafter", "copysign", "remainder"}
"""Rows that are compared where they do not jump."""


def test_every_operation_with_inputs_has_a_rule() -> None:
    assert set(RULES) == set(OPS) - WITHOUT_INPUTS


def test_every_elementwise_row_says_its_derivative() -> None:
    without = {op.name for op in OPS.values() if op.kind == "map" and not op.derivative}
    assert without == {"cast", "where"}


@pytest.mark.parametrize("op", SLOPES, ids=lambda op: op.name)
def test_local_derivatives_are_differences(op: Op) -> None:
    random = np.random.default_rng(len(op.name))
    domains = op.domain if len(op.domain) == op.arity else op.domain * op.arity
    points = []
    for low, high in domains:
        inner = 0.01 * (high - low)
        points.append(random.uniform(low + inner, high - inner, 500))
    if op.name in JUMPS:
        points[-1] = np.abs(points[-1]) + 30.0
    result = numpy_result(op, points)
    assert op.derivative is not None
    factors = op.derivative.local(np, result, *points)
    for index, factor in enumerate(factors):
        if factor is None:
            continue
        step = 1e-6 * np.maximum(1, np.abs(points[index]))
        step = np.minimum(step, 1e-3 * np.abs(points[index]) + 1e-12)
        moved = [list(points), list(points)]
        moved[0][index] = points[index] + step
        moved[1][index] = points[index] - step
        ahead, behind = (numpy_result(op, each) for each in moved)
        difference = (ahead - behind) / (moved[0][index] - moved[1][index])
        scale = np.maximum(1, np.abs(difference)) + np.abs(result) * 1e-3 / step * 1e-6
        assert np.max(np.abs(np.asarray(factor) - difference) / scale) < 2e-5, index


def numpy_result(op: Op, points: list[np.ndarray]) -> np.ndarray:
    if callable(op.numpy):
        return np.asarray(op.numpy(np, *points))
    return np.asarray(getattr(np, op.numpy)(*points))


def differentiable(row: Row) -> bool:
    """Whether a row of the structure table takes floats and gives some."""
    if any(row.uses(name) for name in LARGE):
        return False
    used = used_by(row)
    if not any(x.dtype.kind == "f" for x in used.values()) or row.uses("nans"):
        return False
    with tw.device("cpu"):
        tensors = {name: tw.asarray(x) for name, x in used.items()}
        try:
            return bool(evaluate(row.code, tw, tensors).dtype.kind == "float")
        except tw.DTypeError:
            return False


def used_by(row: Row) -> dict[str, np.ndarray]:
    inputs = inputs_of("float64")
    return {name: inputs[name] for name in inputs if row.uses(name)}


CASES = {
    row.code: row
    for row in (*REDUCTIONS, *STRUCTURES)
    if "dtype=" not in row.code and row.code not in NO_SLOPE and differentiable(row)
}


@pytest.mark.parametrize("code", CASES)
def test_structures_have_derivatives_of_both_orders(code: str) -> None:
    used = used_by(CASES[code])
    floats = [name for name, x in used.items() if x.dtype.kind == "f"]
    with tw.device("cpu"):
        tensors = {name: tw.asarray(x) for name, x in used.items()}

        def function(*values: tw.Tensor) -> tw.Tensor:
            given = {**tensors, **dict(zip(floats, values, strict=True))}
            result = evaluate(code, tw, given)
            assert isinstance(result, tw.Tensor)
            return result

        tw.check_grads(function, [tensors[name] for name in floats])


def test_the_structures_use_every_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    used: set[str] = set()
    for name, rule in [*RULES.items()]:

        def noted(
            step: Step, cotangent: Node, name: str = name, rule: Rule = rule
        ) -> Cotangents:
            used.add(name)
            return rule(step, cotangent)

        monkeypatch.setitem(RULES, name, noted)
    for code in CASES:
        test_structures_have_derivatives_of_both_orders(code)
    maps = {op.name for op in MAPS}
    without_slope = {"all", "any", "argmax", "argmin", "argsort", "compress", "cast"}
    without_slope.add("custom")  # raises, as only programs know it
    assert set(RULES) - used - maps == without_slope


@pytest.mark.parametrize("op", SLOPES, ids=lambda op: op.name)
def test_rows_have_derivatives_of_both_orders(op: Op) -> None:
    random = np.random.default_rng(7)
    domains = op.domain if len(op.domain) == op.arity else op.domain * op.arity
    shapes = [(3, 1, 5), (2, 1)][: op.arity]
    points = [
        random.uniform(low + 0.1 * (high - low), high - 0.1 * (high - low), shape)
        for (low, high), shape in zip(domains, shapes, strict=True)
    ]
    if op.name in JUMPS:
        points[-1] = np.abs(points[-1]) + 30.0
    with tw.device("cpu"):
        tw.check_grads(getattr(tw, op.name), [tw.asarray(x) for x in points])


@pytest.mark.parametrize("op", SLOPES, ids=lambda op: op.name)
def test_gradients_on_the_gpu_agree_with_the_cpu(op: Op, webgpu: str) -> None:
    random = np.random.default_rng(9)
    domains = op.domain if len(op.domain) == op.arity else op.domain * op.arity
    points = [
        random.uniform(low + 0.1 * (high - low), high - 0.1 * (high - low), 37)
        for low, high in domains
    ]
    function = getattr(tw, op.name)

    def gradients(device: str, dtype: str) -> list[tw.Tensor]:
        given = [tw.asarray(x, dtype=dtype, device=device) for x in points]
        argnums = tuple(range(op.arity))
        found = tw.grad(lambda *x: function(*x).sum(), argnums)(*given)
        return list(found)

    for got, want in zip(
        gradients("webgpu", "float32"), gradients("cpu", "float64"), strict=True
    ):
        exact = want.numpy()
        assert np.max(np.abs(got.numpy() - exact) / (1 + np.abs(exact))) < 3e-5


PRODUCTS = (
    ((2, 3, 4), (4, 5)),
    ((4,), (2, 4, 5)),
    ((3, 4), (2, 6, 4, 5)),
    ((2, 1, 3, 4), (6, 4, 5)),
    ((1, 1, 3, 4), (2, 6, 4, 1)),
    ((2, 0, 4), (4, 5)),
    ((4,), (4,)),
)
"""Operands that the batch repeats, on either side or on both."""


@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_gradients_of_repeated_operands_are_added_up(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], device: str
) -> None:
    a, b = (np.random.default_rng(5).normal(size=shape) for shape in shapes)
    with tw.device("cpu"):
        tw.check_grads(tw.matmul, [tw.asarray(a), tw.asarray(b)])
    x, y = (tw.asarray(each, dtype=tw.float32) for each in (a, b))
    found = tw.grad(lambda a, b: (a @ b).sum(), (0, 1))(x, y)
    assert [each.shape for each in found] == [*shapes]


def test_a_layer_s_weights_get_one_product(webgpu: str) -> None:
    x, w = tw.linspace(-1.0, 1.0, 512).reshape(8, 16, 4), tw.ones((4, 3)) * 0.5
    tw.realize(x, w)
    gradient = tw.grad(lambda w: ((x @ w) ** 2).sum())(w)
    with tw.record_kernels() as records:
        tw.realize(gradient)
    assert len(records) == 2
    flat = x.reshape(128, 4)
    expected = (flat.T @ (2 * (flat @ w))).reshape(-1).tolist()
    assert gradient.reshape(-1).tolist() == pytest.approx(expected, rel=1e-4)
