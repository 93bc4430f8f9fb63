"""PyTorch's habits: requires_grad, backward, grad, detach and no_grad."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.evaluate import DEEPEST
from tensorweb.graph import autograd
from tensorweb.graph.node import Node


def weights(*numbers: float) -> tw.Tensor:
    return tw.asarray(list(numbers), requires_grad=True)


def gradient_of(x: tw.Tensor) -> tw.Tensor:
    assert x.grad is not None
    return x.grad


def gradient_list(x: tw.Tensor) -> Any:
    return gradient_of(x).tolist()


def test_gradients_add_up_in_leaves(device: str) -> None:
    w = weights(1.0, 2.0)
    assert w.grad is None
    (w * w).sum().backward()
    assert gradient_list(w) == [2, 4]
    (w * 10).sum().backward()
    assert gradient_list(w) == [12, 14]
    assert not gradient_of(w).requires_grad
    w.grad = None
    (w * w).sum().backward(tw.asarray(2.0))
    assert gradient_list(w) == [4, 8]


def test_values_that_depend_on_a_leaf_require_gradients(device: str) -> None:
    w, x = weights(1.0, 2.0), tw.ones(2)
    assert (w.requires_grad, w.is_leaf) == (True, True)
    assert (x.requires_grad, x.is_leaf) == (False, True)
    y = (w * x)[0]
    assert (y.requires_grad, y.is_leaf, y.grad) == (True, False, None)
    assert not y.detach().requires_grad
    assert not (w > 1).requires_grad
    assert not w.astype(tw.int32).requires_grad
    with tw.no_grad():
        assert not (w * x).requires_grad
    x.requires_grad = True
    assert x.requires_grad
    assert not x.requires_grad_(False).requires_grad
    assert not (x * 2).requires_grad


def test_a_training_step_rebinds_its_leaf(device: str) -> None:
    w, rate = weights(1.0, 2.0), 0.25
    same = [w]
    for _ in range(3):
        (w * w).sum().backward()
        with tw.no_grad():
            w -= rate * gradient_of(w)
        assert w is same[0]
        assert w.requires_grad
        assert w.is_leaf
        assert gradient_list(w)
        w.grad = None
    assert w.tolist() == [0.125, 0.25]


def test_numbers_are_leaves_that_keep_their_identity(device: str) -> None:
    w = tw.asarray(3.0, requires_grad=True)
    same = w
    (w * w).backward()
    with tw.no_grad():
        w -= 0.5 * gradient_of(w)
    assert w is same
    assert (w.item(), w.requires_grad) == (0, True)
    with tw.no_grad():
        w[...] = 7.0
    assert (w.item(), w.requires_grad) == (7, True)


def test_reading_values_cuts_nothing(
    device: str, capsys: pytest.CaptureFixture[str]
) -> None:
    w = weights(1.0, 2.0)
    y = tw.exp(w * 0.5) * w
    print(y, y[0].item())
    loss = (y * y).sum()
    if loss > 1:
        loss = loss * 2
    assert loss.item() > 1
    loss.backward()

    def plain(w: tw.Tensor) -> tw.Tensor:
        return ((tw.exp(w * 0.5) * w) ** 2).sum() * 2

    assert gradient_list(w) == pytest.approx(
        tw.grad(plain)(w.detach()).tolist(), rel=1e-6
    )


def test_gradients_pass_through_updates_in_place(device: str) -> None:
    w = weights(1.0, 2.0)
    y = w * 3
    y[0] = w[1] * 10
    y += w
    y.sum().backward()
    assert gradient_list(w) == [1, 3 + 10 + 1]
    x = tw.zeros(2)
    x += w
    assert x.requires_grad


def test_views_and_depth_keep_their_way(device: str) -> None:
    w = tw.asarray([[1.0, 2.0, 3.0]], requires_grad=True)
    y = w * 2
    tw.realize(y)
    for _ in range(20):
        y = y.T
    for _ in range(2 * DEEPEST):
        y = y + w
    y.sum().backward()
    assert gradient_list(w) == [[2 + 2 * DEEPEST] * 3]


def test_constants_are_leaves_too(device: str) -> None:
    w = tw.ones(3).requires_grad_()
    other = tw.ones(3)
    w[tw.asarray([1, 1])].sum().backward()
    assert gradient_list(w) == [0, 2, 0]
    assert not other.requires_grad


def test_devices_meet(webgpu: str) -> None:
    w = tw.asarray([1.0, 2.0], device="cpu", requires_grad=True)
    y = w.to_device(webgpu) * tw.asarray([3.0, 4.0])
    (y.to_device("cpu") * w).sum().backward()
    assert gradient_list(w) == [6, 16]
    assert gradient_of(w).device == "cpu"

    def over(x: tw.Tensor) -> tw.Tensor:
        return (x.to_device("cpu") ** 2).sum().to_device(webgpu) * x[0]

    assert tw.grad(over)(tw.asarray([1.0, 2.0])).tolist() == [5 + 2, 4]


def test_transformations_inside_are_followed(device: str) -> None:
    z = weights(1.0, 2.0)
    gradient = tw.grad(lambda x: (x * x * z).sum())(tw.asarray([3.0, 4.0]))
    (gradient**2).sum().backward()
    assert gradient_list(z) == [72, 256]
    z.grad = None
    rows = tw.asarray([[1.0, 2.0], [3.0, 4.0]])
    tw.vmap(lambda row: (row * z).sum())(rows).sum().backward()
    tw.vmap(lambda one: one * 2)(z).sum().backward()
    assert gradient_list(z) == [4 + 2, 6 + 2]
    z.grad = None
    tw.jacrev(lambda x: x * z)(tw.asarray([3.0, 4.0])).sum().backward()
    assert gradient_list(z) == [1, 1]


def test_rules_of_ones_own_are_used(device: str) -> None:
    w = weights(1.0, -2.0)
    doubled = tw.custom_vjp(
        lambda x: x * x, lambda x: (x * x, x), lambda x, g: (4 * g * x,)
    )
    doubled(w).sum().backward()
    assert gradient_list(w) == [4, -8]
    w.grad = None
    tw.vmap(doubled)(w).sum().backward()
    assert gradient_list(w) == [4, -8]
    w.grad = None
    tripled = tw.custom_jvp(lambda x: x, lambda x, t: (x[0], 3 * t[0]))
    (tripled(w) * tw.stop_gradient(w)).sum().backward()
    assert gradient_list(w) == [3, -6]


def test_no_grad_makes_constants(device: str) -> None:
    w = weights(1.0, 2.0)

    @tw.no_grad()
    def scale(x: tw.Tensor) -> tw.Tensor:
        return x.sum() * 2

    (w * scale(w)).sum().backward()
    assert gradient_list(w) == [6, 6]

    def inside(x: tw.Tensor) -> tw.Tensor:
        with tw.no_grad():
            factor = x * 2
        return (factor * x).sum()

    assert tw.grad(inside)(w.detach()).tolist() == [2, 4]
    with tw.no_grad():
        assert tw.grad(inside)(w.detach()).tolist() == [2, 4]
        assert tw.grad(lambda x: (x * x).sum())(w).tolist() == [2, 4]
        assert not tw.grad(lambda x: (x * x).sum())(w).requires_grad


def test_retained_graphs_are_walked_again(device: str) -> None:
    w = weights(1.0, 2.0)
    loss = (w * w * w).sum()
    loss.backward(retain_graph=True)
    first = gradient_list(w)
    w.grad = None
    loss.backward()
    assert gradient_list(w) == first == [3, 12]
    with pytest.raises(tw.TransformError, match="retain_graph=True"):
        (loss * 2).backward()


def test_recorded_functions_run_where_gradients_are_followed(webgpu: str) -> None:
    w, x = weights(1.0, 2.0), tw.asarray([3.0, 4.0])
    loss = tw.jit(lambda w, x: (w * x).sum())
    loss(w, x).backward()
    assert gradient_list(w) == [3, 4]
    assert loss.recordings == 0
    with tw.no_grad():
        assert loss(w, x).item() == loss(w, x).item() == 11
    assert loss.recordings == 1
    captured = tw.jit(lambda x: (w * x).sum())
    with pytest.raises(tw.TraceError, match="Pass it as an argument"):
        captured(x)
    with tw.no_grad():
        assert captured(x).item() == 11


def test_copies_of_leaves_are_leaves(device: str) -> None:
    w = weights(1.0, 2.0)
    (w * w).sum().backward()
    for other in (copy.copy(w), copy.deepcopy(w), pickle.loads(pickle.dumps(w))):
        assert other.requires_grad
        assert other.is_leaf
        assert other is not w
        other.grad = None
        (other * 3).sum().backward()
        assert gradient_list(other) == [3, 3]
    assert gradient_list(w) == [2, 4]
    new = tw.asarray(w, requires_grad=True)
    assert new is not w
    assert new.grad is None


def test_a_freed_leaf_is_skipped(device: str) -> None:
    def make() -> tw.Tensor:
        return (weights(1.0, 2.0) * 2).sum()

    w = weights(1.0, 1.0)
    (make() * w.sum()).backward()
    assert gradient_list(w) == [6, 6]


REFUSED: dict[str, tuple[Callable[[tw.Tensor], Any], str]] = {
    "shape": (lambda w: (w * 2).backward(), r"shape \(2,\).*sum\(\).*gradient="),
    "gradient": (lambda w: (w * 2).backward(tw.ones(3)), r"\(3,\).*\(2,\)"),
    "no leaf": (lambda w: w.detach().sum().backward(), "requires_grad=True"),
    "integers": (lambda w: tw.asarray([1], requires_grad=True), r"int32.*astype"),
    "added": (lambda w: w.__iadd__(1.0), r"x\.at\[i\]\.set\(v\)"),
    "assigned": (lambda w: w.__setitem__(0, 1.0), r"with tw\.no_grad\(\)"),
    "result": (lambda w: (w * 2).requires_grad_(False), r"x\.detach\(\)"),
    "other gradient": (lambda w: setattr(w, "grad", tw.ones(3)), r"\(2,\).*\(3,\)"),
    "no gradient": (lambda w: setattr(w, "grad", 1.0), "None or a tensor"),
    "inside grad": (
        lambda w: tw.grad(lambda x: (x * w).sum().backward())(w),
        "inside of it, which nests",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors_advise_a_fix(name: str, device: str) -> None:
    call, message = REFUSED[name]
    w = weights(1.0, 2.0)
    with pytest.raises(tw.TransformError, match=message):
        call(w)
    (w * w).sum().backward()
    assert gradient_list(w) == [2, 4]


def test_a_step_before_backward_is_an_error(device: str) -> None:
    w = weights(1.0, 2.0)
    loss = (w * w).sum()
    with tw.no_grad():
        w -= 1.0
    with pytest.raises(tw.TransformError, match=r"was assigned since.*before the step"):
        loss.backward()


def test_traced_functions_refuse_backward(webgpu: str) -> None:
    w = weights(1.0, 2.0)

    def step(x: tw.Tensor) -> tw.Tensor:
        loss = (w * x).sum()
        loss.backward()
        return loss

    for transformed in (tw.jit(step), tw.vmap(step)):
        with pytest.raises(tw.TraceError, match=r"tw\.grad\(loss\)\(weights\)"):
            transformed(tw.ones((2, 2)))
    assert w.grad is None


def nodes_alive() -> int:
    gc.collect()
    return sum(type(each) is Node for each in gc.get_objects())


def test_nothing_is_retained(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = autograd.RetainedInputs()
    monkeypatch.setattr(autograd, "_retained", registry)
    w = weights(1.0, 2.0, 3.0)
    losses: list[tw.Tensor] = []
    norms: list[tw.Tensor] = []
    total = tw.zeros(())
    counts = []
    for _ in range(3):
        losses.clear()
        for _ in range(20):
            loss = (tw.exp(w) * w).sum()
            total = total + loss
            losses.append(loss)
            loss.backward()
            with tw.no_grad():
                w -= 0.01 * gradient_of(w)
            w.grad = None
            norms.append((w * w).sum())
        tw.realize(w, total, *losses, *norms)
        registry.prune()
        counts.append(nodes_alive() - len(norms))
    assert counts[2] <= counts[1]


def test_only_values_that_depend_on_leaves_are_retained(device: str) -> None:
    w, x = weights(1.0, 2.0), tw.realize(tw.ones(2) + tw.arange(2))
    apart, on_way = tw.exp(x), tw.exp(w)
    freed, retained = weakref.ref(apart.node), weakref.ref(on_way.node)
    y = tw.sin(on_way)
    tw.realize(y, on_way, apart)
    del apart, on_way
    gc.collect()
    assert freed() is None
    assert retained() is not None
    y.sum().backward()
    tw.realize(gradient_of(w))
    gc.collect()
    assert retained() is None
