"""checkpoint: the same values and derivatives, and less that is kept for them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.backends import kernel_backend, numpy_backend
from tensorweb.graph import autograd
from tensorweb.graph.node import Node
from tensorweb.graph.storage import Storage

X = [0.3, -0.7, 1.1]


def layer(x: tw.Tensor) -> tw.Tensor:
    return tw.sin(x * 1.5) * tw.exp(x)


def both(
    transform: Callable[[Callable[..., Any]], Callable[..., Any]], *arguments: Any
) -> list[Any]:
    """Return what a transformation gives with and without checkpoints."""
    found = []
    for wrap in (lambda f: f, tw.checkpoint):

        def loss(x: tw.Tensor, wrap: Any = wrap) -> tw.Tensor:
            f = wrap(layer)
            total: tw.Tensor = (f(f(x)) * x).sum()
            return total

        result = transform(loss)(*arguments)
        found.append(result.tolist())
    return found


TRANSFORMS: dict[str, Any] = {
    "value": lambda f: f,
    "grad": tw.grad,
    "second derivatives": tw.hessian,
    "third": lambda f: tw.grad(lambda x: tw.grad(tw.grad(f))(x) * x),
    "jacfwd": tw.jacfwd,
    "jvp": lambda f: lambda x: tw.jvp(f, (x,), (x,))[1],
    "jit": lambda f: tw.jit(tw.grad(f)),
    "grad of jit": lambda f: tw.grad(tw.jit(f)),
    "vmap of grad": lambda f: lambda x: tw.vmap(tw.grad(f))(tw.stack([x, 2 * x])),
    "grad of vmap": lambda f: tw.grad(
        lambda x: tw.vmap(f)(tw.stack([x, 2 * x, x * x])).sum()
    ),
    "checkpoint": lambda f: tw.grad(tw.checkpoint(f)),
}


@pytest.mark.parametrize(
    ("device", "name"),
    [("cpu", name) for name in TRANSFORMS]
    + [("webgpu", name) for name in ("grad", "jit", "vmap of grad")],
    indirect=["device"],
)
def test_values_and_derivatives_stay(name: str, device: str) -> None:
    x = tw.asarray(0.4) if name == "third" else tw.asarray(X)
    plain, again = both(TRANSFORMS[name], x)
    assert tw.asarray(again).reshape(-1).tolist() == pytest.approx(
        tw.asarray(plain).reshape(-1).tolist(), rel=1e-5
    )


def test_tensors_from_outside_have_their_derivatives(device: str) -> None:
    def loss(w: tw.Tensor, x: tw.Tensor, wrap: Any) -> Any:
        u = tw.tanh(w * 2)

        def outer(x: tw.Tensor) -> Any:
            v = x * w
            inner = wrap(lambda y: tw.sin(y * u) * v * x)
            return inner(x * u) + inner(v)

        return wrap(outer)(x).sum() + wrap(outer)(w).sum()

    w, x = tw.asarray(X), tw.asarray([0.5, 0.2, -0.4])

    def all_of(wrap: Any) -> list[Any]:
        first = tw.grad(loss, (0, 1))(w, x, wrap)
        second = tw.grad(lambda w: tw.grad(loss)(w, x, wrap).sum())(w)
        each = tw.vmap(tw.grad(loss), (None, 0, None))(w, tw.stack([x, w]), wrap)
        parameter = w.detach().requires_grad_()
        loss(parameter, x, wrap).backward()
        assert parameter.grad is not None
        found = [*first, second, *each, parameter.grad]
        return [number for part in found for number in part.tolist()]

    assert all_of(tw.checkpoint) == pytest.approx(all_of(lambda f: f), rel=1e-5)


def test_trees_and_integers_pass_through(device: str) -> None:
    @tw.checkpoint
    def step(state: dict[str, Any], scale: int, *, shift: tw.Tensor) -> Any:
        i = tw.asarray([1, 0])
        moved = state["x"][i] * scale + shift
        return {"x": moved, "mask": moved > 0, "n": scale}, (moved * moved).sum()

    def loss(x: tw.Tensor, shift: tw.Tensor) -> Any:
        state, total = step({"x": x, "k": state_number}, 3, shift=shift)
        assert state["n"] == 3
        return total + tw.where(state["mask"], state["x"], 0.0).sum()

    state_number = tw.asarray([1, 2])
    by_x, by_shift = tw.grad(loss, (0, 1))(tw.ones(2), tw.asarray([1.0, -9.0]))
    # moved is [4, -6]; its cotangent 2 · moved + mask is [9, -12].
    assert by_shift.tolist() == [9, -12]
    assert by_x.tolist() == [-36, 27]


def test_reading_inside_and_twice_running_are_fine(device: str) -> None:
    runs = []

    @tw.checkpoint
    def function(x: tw.Tensor) -> tw.Tensor:
        y = tw.exp(x)
        runs.append(y.sum().detach().item())
        return y * x if y[0] > 1 else x

    x = tw.asarray(X)
    found = tw.grad(lambda x: function(x).sum())(x)
    want = tw.grad(lambda x: (tw.exp(x) * x).sum())(x)
    assert found.tolist() == pytest.approx(want.tolist(), rel=1e-5)
    assert len(runs) == 2
    assert function(x).tolist() == pytest.approx((tw.exp(x) * x).tolist(), rel=1e-5)


def test_another_result_the_second_time_is_an_error(device: str) -> None:
    counts = iter([1, 2])
    function = tw.checkpoint(lambda x: (x * 2,) * next(counts))
    with pytest.raises(tw.TransformError, match=r"tuple\(\*\) at first, and tuple"):
        tw.grad(lambda x: function(x)[0])(1.0)


def by_grad(loss: Callable[..., Any], x: tw.Tensor) -> None:
    tw.grad(loss)(x).tolist()


def by_backward(loss: Callable[..., Any], x: tw.Tensor) -> None:
    x.requires_grad_()
    loss(x).backward()
    assert x.grad is not None
    x.grad.tolist()


@pytest.mark.parametrize("walk", [by_grad, by_backward])
def test_fewer_values_are_retained(
    walk: Callable[..., Any], device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    size, settle = 997, autograd.settle
    alive: weakref.WeakSet[Storage] = weakref.WeakSet()
    most = 0

    def counted(node: Node, storage: Storage) -> None:
        nonlocal most
        settle(node, storage)
        if node.size == size:
            alive.add(storage)
            most = max(most, len(alive))

    for backend in (kernel_backend, numpy_backend):
        monkeypatch.setattr(backend, "settle", counted)

    def block(x: tw.Tensor) -> tw.Tensor:
        for _ in range(8):
            x = tw.sin(tw.cumulative_sum(x) / size)
        return x

    def kept_and_most(wrap: Callable[..., Any]) -> tuple[int, int]:
        nonlocal most
        before = 0

        def loss(x: tw.Tensor) -> tw.Tensor:
            nonlocal before
            for _ in range(4):
                x = wrap(block)(x)
            total = (x * x).sum()
            tw.realize(total)
            assert total == total
            before = len(alive)
            return total

        alive.clear()
        most = 0
        walk(loss, tw.asarray(tw.linspace(-1.0, 1.0, size).tolist()))
        return before, most

    (kept, peak), (kept_less, peak_less) = map(
        kept_and_most, (lambda f: f, tw.checkpoint)
    )
    assert kept >= 4 * 8
    assert kept_less <= 4 + 1
    assert peak_less < 0.4 * peak
