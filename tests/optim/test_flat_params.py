"""A step takes a few kernels however many parameters there are."""

from __future__ import annotations

import pytest

import tensorweb as tw
from tensorweb import dtypes
from tensorweb.graph.node import leaf
from tensorweb.graph.tracing import Placeholder, tracing
from tensorweb.optim.state import FlatLayout
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize
from tensorweb.tensor import Tensor

BLOCK = [(128,), (128,), (384, 128), (384,), (128, 128), (128,)]
BLOCK += [(128,), (128,), (512, 128), (512,), (128, 512), (128,)]
SHAPES: list[tuple[int, ...]] = [(65, 128), (64, 128), *BLOCK * 4, (128,), (128,)]
SHAPES += [(65, 128)]
"""Parameters of a small GPT of four blocks."""


def given(*shape: int) -> Tensor:
    """Return an argument of a recorded function."""
    return Tensor(leaf(Placeholder(), shape, dtypes.float32, "webgpu"))


def launches(joined: bool) -> int:
    """Return how many kernels a step of Adam takes where ten storages are bound."""
    opt = tw.optim.Adam(lr=0.1)
    layout = FlatLayout([str(n) for n in range(len(SHAPES))], SHAPES)
    params = layout.parts(given(layout.size))
    grads = [given(*shape) for shape in SHAPES]
    outputs: list[Tensor] = []
    with tracing("step"):
        groups = [(params, grads)] if joined else zip(params, grads, strict=True)
        for tree, gradient in groups:
            found, state = opt.update(tree, gradient, opt.init(tree))
            outputs += tw.tree.leaves(found)
            outputs += [x for x in tw.tree.leaves(state) if isinstance(x, Tensor)]
    return len(plan(linearize([x.node for x in outputs]), 8))


def test_a_step_of_many_parameters_is_a_few_kernels(webgpu: str) -> None:
    assert len(SHAPES) == 53
    assert launches(joined=True) <= 13  # 11 of them join the gradients
    assert launches(joined=False) >= 53


def test_slices_of_a_joined_tensor_are_that_tensor(cpu: str) -> None:
    layout = FlatLayout(["a", "b", "c"], [(3, 2), (), (5,)])
    assert layout.starts == (0, 64, 128)
    tensors = [tw.ones((3, 2)), tw.asarray(2.0), tw.arange(5, dtype=tw.float32)]
    whole = layout.join(tensors)
    assert whole.shape == (133,)
    parts = layout.parts(whole)
    assert [part.tolist() for part in parts] == [x.tolist() for x in tensors]
    assert layout.join(parts).node is whole.node
    assert layout.join([*parts[:2], tensors[2]]).node is not whole.node
    assert layout.join([parts[0], parts[1], parts[2] + 0]).node is not whole.node
    assert whole[6:64].tolist() == [0.0] * 58


def test_a_step_of_training_is_few_kernels(webgpu: str) -> None:
    x, y = tw.ones((6, 5)), tw.zeros((6, 2))
    params = [tw.ones((4, 5)), tw.zeros(4), tw.ones((2, 4)), tw.zeros(2)]
    opt = tw.optim.Adam(lr=0.1)
    state = opt.init(params)

    def loss(p: list[Tensor]) -> Tensor:
        hidden = tw.maximum(x @ p[0].T + p[1], 0.0)
        return ((hidden @ p[2].T + p[3] - y) ** 2).mean()

    @tw.jit
    def step(params: list[Tensor], state: tw.optim.State) -> object:
        return opt.update(params, tw.grad(loss)(params), state)

    step(params, state)
    with tw.record_kernels() as records:
        step(params, state)
    # Three products forward and back, two sums of columns, gradients joined, Adam,
    # its numbers, and the results of the loss.
    assert len(records) <= 10


@pytest.mark.parametrize("shape", [(8, 7), (2, 3, 7)])
def test_a_weights_gradient_is_laid_out_as_the_weight(
    shape: tuple[int, ...], cpu: str
) -> None:
    weight = tw.linspace(-1.0, 1.0, 35).reshape((5, 7))
    x = tw.linspace(0.0, 2.0, int(tw.ones(shape).sum())).reshape(shape)

    def transposed(w: Tensor) -> Tensor:
        return tw.tanh(x @ w.T).sum()

    def straight(w: Tensor) -> Tensor:
        return tw.tanh(x @ w).sum()

    found = tw.grad(transposed)(weight)
    assert found.node.view.is_contiguous
    expected = tw.grad(straight)(weight.T + 0).T
    assert found.tolist() == [pytest.approx(row) for row in expected.tolist()]
