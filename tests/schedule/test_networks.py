"""How many launches a network takes, and what it stores, planned without a device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
import transformers
from pretend_driver import PretendDriver

import tensorweb as tw
from tensorweb import devices, evaluate
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.schedule.kernel import Planned
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize

MOST_INPUTS = 9


@pytest.fixture(autouse=True)
def pretended(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A GPU that is not there; graphs may be as deep as they are."""
    monkeypatch.setitem(devices._backends, "webgpu", WebGpuBackend(PretendDriver()))
    monkeypatch.setattr(evaluate, "DEEPEST", 10_000)
    with devices.device("webgpu"):
        yield


def filled(*shape: int) -> tw.Tensor:
    return tw.realize(tw.full(shape, 0.5) * 1.0)


def planned(tensors: object) -> tuple[list[Planned], int, int]:
    """Return the kernels of tensors, and how many elements they read and store."""
    graph = linearize([each.node.base for each in tw.tree.leaves(tensors)])
    kernels = plan(graph, MOST_INPUTS)
    sizes = [node.size for node in graph.nodes]
    reads = sum(sizes[n] for each in kernels for n in each.inputs)
    return kernels, reads, sum(sizes[n] for each in kernels for n in each.outputs)


def kinds(kernels: list[Planned]) -> dict[str, int]:
    return Counter(each.kernel.kind for each in kernels)


def test_a_sum_of_a_product_and_more_is_stored_as_it_is_read() -> None:
    """Not the product, with all that is added to it read again by each reader."""
    x, a, w, b = filled(64, 32), filled(64, 16), filled(16, 32), filled(32)
    stream = x + (a @ w + b)
    kernels, reads, stores = planned((tw.exp(stream), stream.T.contiguous()))
    assert kinds(kernels) == {"matmul": 1, "elementwise": 2}
    assert stores == 3 * stream.size
    assert reads == a.size + w.size + b.size + x.size + 2 * stream.size


def test_a_product_with_other_readers_is_stored() -> None:
    a, w = filled(64, 16), filled(16, 32)
    product = a @ w
    kernels, _, stores = planned((tw.exp(product), tw.sin(product) * product.T.sum()))
    assert stores <= 3 * product.size + 1
    assert kinds(kernels)["matmul"] == 1


def test_a_number_is_computed_where_it_is_used() -> None:
    x, rate, step = filled(4096), filled(), filled()
    kernels, _, _ = planned(x * (rate / (1 - step) + step / (2 - rate)))
    assert kinds(kernels) == {"elementwise": 1}


def test_a_norm_and_its_gradients() -> None:
    x, weight, bias, w = filled(64, 128), filled(128), filled(128), filled(128, 32)

    def loss(x: tw.Tensor, pair: tuple[tw.Tensor, tw.Tensor]) -> tw.Tensor:
        return (transformers.norm(x, pair) @ w).sum()

    found = tw.value_and_grad(loss, argnums=(0, 1))(x, (weight, bias))
    kernels, _, _ = planned(found)
    assert (
        kinds(kernels)["rows"] == 2
    )  # its value with mean and deviation, its gradient
    assert "elementwise" not in kinds(kernels)
    (first, *_) = (each for each in kernels if each.kernel.kind == "rows")
    assert len(first.outputs) == 3


def test_launches_of_a_transformer() -> None:
    model = tw.tree.map(
        lambda each: filled(*each.shape), transformers.parameters(1, 128, 64, 65)
    )
    tokens = tw.realize(tw.arange(2048).reshape((32, 64)) % 65)
    forward, _, _ = planned(transformers.loss_of(model, tokens, tokens))
    assert len(forward) <= 14
    found = tw.value_and_grad(lambda m: transformers.loss_of(m, tokens, tokens))(model)
    kernels, reads, stores = planned(found)
    assert len(kernels) <= 49
    assert kinds(kernels)["rows"] <= 10
    assert kinds(kernels)["elementwise"] <= 4
    assert (reads * 4, stores * 4) <= (127e6, 56e6)


@pytest.mark.parametrize("most", [4, 5, 6, 7])
def test_devices_that_bind_few_storages(most: int) -> None:
    model = tw.tree.map(
        lambda each: filled(*each.shape), transformers.parameters(1, 32, 8, 11)
    )
    tokens = tw.realize(tw.arange(16).reshape((2, 8)) % 11)
    found = tw.value_and_grad(lambda m: transformers.loss_of(m, tokens, tokens))(model)
    graph = linearize([each.node.base for each in tw.tree.leaves(found)])
    for each in plan(graph, most):
        assert len(each.inputs) + len(each.outputs) <= most + 2
