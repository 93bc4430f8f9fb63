"""The gradient of a cell by all values that it was computed from."""

from __future__ import annotations

import numpy as np

import tensorweb as tw
from tensorweb.graph.node import Node
from tensorweb.graph.provenance import Provenance
from tensorweb.inspection.gradients import difference_quotient, gradients
from tensorweb.waits import run_blocking


def by_node(found: list[tuple[Node, Node, Node]]) -> dict[Node, list[float]]:
    return {node: tw.Tensor(each).tolist() for node, _, each in found}


def test_gradients_are_those_of_grad(device: str) -> None:
    def layers(x: tw.Tensor, w: tw.Tensor) -> tuple[tw.Tensor, tw.Tensor]:
        hidden = tw.tanh(x @ w)
        return hidden, (hidden * hidden).sum()

    x = tw.asarray([[0.5, -1.0], [2.0, 0.25]])
    w = tw.asarray([[0.1, 0.2, -0.3], [0.4, -0.5, 0.6]])
    with Provenance().open() as provenance:
        hidden, loss = layers(x, w)
        loss.tolist()
        hidden.tolist()
    other = tw.ones(2)
    with provenance.retaining():
        found = by_node(
            gradients(loss.node, (), [x.node, w.node, hidden.node, other.node])
        )
    by_x, by_w = tw.grad(lambda x, w: layers(x, w)[1], argnums=(0, 1))(x, w)
    assert set(found) == {x.node, w.node, hidden.node}
    np.testing.assert_allclose(found[x.node], by_x.tolist(), rtol=1e-5)
    np.testing.assert_allclose(found[w.node], by_w.tolist(), rtol=1e-5)
    np.testing.assert_allclose(found[hidden.node], (2 * hidden).tolist(), rtol=1e-6)


def test_values_that_are_made_of_integers_have_gradients(device: str) -> None:
    with Provenance().open() as provenance:
        ramp = tw.linspace(0.0, 1.0, 3)
        whole = tw.arange(3)
        noise = tw.random.normal(tw.random.key(0), (3,)) + whole.astype(tw.float32)
        ones = tw.ones(3)
        y = (ramp * noise * ones).sum()
        y.tolist()
        values = [(ramp * noise).tolist(), (noise * ones).tolist()]
    asked = [ones.node, ramp.node]
    with provenance.retaining():
        found = by_node(gradients(y.node, (), [*asked, whole.node]))
    assert set(found) == {*asked}
    assert [found[node] for node in asked] == values


def test_differences_agree_with_gradients(device: str) -> None:
    x = tw.asarray([[0.5, -1.0, 0.3], [2.0, 0.25, 1.5]])
    w = tw.random.normal(tw.random.key(1), (3, 4))
    with Provenance().open() as provenance:
        hidden = tw.sort(tw.tanh((x @ w)[:, ::2]), axis=0).realize()
        rows = tw.concat([hidden.mT, tw.cumulative_sum(hidden, axis=1)], axis=0)
        loss = tw.std(rows[tw.asarray([0, 2, 3])] ** 2)
        loss.tolist()
        hidden.tolist()
    with provenance.retaining():
        for by, at in ((x, (1, 2)), (w, (0, 2)), (hidden, (1, 1))):
            ((_, _, gradient),) = gradients(loss.node, (), [by.node])
            steps = difference_quotient(provenance, loss.node, (), by.node, at)
            quotient, _ = run_blocking(steps)
            expected = tw.Tensor(gradient)[at].item()
            assert abs(quotient - expected) <= 2e-3 * max(1e-2, abs(expected))


def test_differences_near_a_pole_take_a_finer_step(device: str) -> None:
    x = tw.asarray([0.01, 1.0])
    with Provenance().open() as provenance:
        y = tw.log(x)
        y.tolist()
    with provenance.retaining():
        steps = difference_quotient(provenance, y.node, (0,), x.node, (0,))
        quotient, step = run_blocking(steps)
    assert abs(quotient - 100) < 0.5
    assert step < 0.001


def test_a_detached_value_has_no_gradient() -> None:
    with Provenance().open() as provenance:
        x = tw.asarray([1.0, 2.0])
        y = (tw.stop_gradient(x * 3) * x).sum()
        y.tolist()
    with provenance.retaining():
        assert by_node(gradients(y.node, (), [x.node])) == {x.node: [3, 6]}


def test_gradients_inside_a_recorded_program_are_unchanged() -> None:
    x = tw.asarray([1.0, 2.0])
    with Provenance().open():
        y = tw.exp(x).realize()
        found = tw.grad(lambda v: (v * y).sum())(x)
    assert found.tolist() == y.tolist()
