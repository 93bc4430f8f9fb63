"""Hooks of gradients, and gradients of results, as in PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import tensorweb as tw


def test_a_hook_sees_and_changes_what_goes_on(device: str) -> None:
    x = tw.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    z = 3 * y + y  # made before the hook
    seen: list[Any] = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    handle = y.register_hook(lambda g: -g)
    removed = y.register_hook(lambda g: 100 * g)
    removed.remove()
    removed.remove()
    z.sum().backward(retain_graph=True)
    assert (seen, x.grad.tolist()) == ([[4.0, 4.0]], [-8, -16])
    handle.remove()
    x.grad = None
    z.sum().backward()
    assert x.grad.tolist() == [8, 16]


def test_a_hook_of_a_leaf_outlives_steps_and_recordings(device: str) -> None:
    with tw.device(device):
        w = tw.ones(2).requires_grad_()
        w.register_hook(lambda g: g / 2)
        opt = tw.optim.SGD([w], lr=1.0)

        def step(x: tw.Tensor) -> tw.Tensor:
            opt.zero_grad()
            loss = (w * x).sum()
            loss.backward()
            opt.step()
            return loss

        losses = [step(tw.asarray([2.0, 4.0])).item() for _ in range(2)]
        recorded = tw.jit(step, updates=(w, opt))
        losses += [recorded(tw.asarray([2.0, 4.0])).item() for _ in range(3)]
        assert losses == [6, -4, -14, -24, -34]
        assert w.grad is not None
        assert w.grad.tolist() == [1, 2]


def test_results_retain_their_gradient(device: str) -> None:
    x = tw.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x.T @ x
    y.retain_grad()
    x.retain_grad()
    (y * tw.tensor([[1.0, 0.0], [0.0, 2.0]])).sum().backward()
    assert y.grad.tolist() == [[1, 0], [0, 2]]
    assert x.grad.tolist() == [[2, 8], [6, 16]]


def test_derivatives_of_functions_call_hooks(device: str) -> None:
    def f(x: tw.Tensor) -> tw.Tensor:
        y = tw.sin(x)
        y.register_hook(lambda g: 10 * g)
        return y * y

    with tw.device(device):
        x = tw.asarray([0.5, 1.0])
        expected = (10 * 2 * tw.sin(x) * tw.cos(x)).tolist()
        assert tw.vmap(tw.grad(f))(x).tolist() == pytest.approx(expected, rel=1e-6)
        z = tw.tensor([1.0 + 2.0j], requires_grad=True)
        square = z * z
        square.register_hook(lambda g: g * 1j)
        square.real.sum().backward()
        plain = tw.tensor([1.0 + 2.0j], requires_grad=True)
        (plain * plain * -1j).real.sum().backward()
        assert z.grad.tolist() == plain.grad.tolist()


def test_hooks_that_cannot_be(cpu: str) -> None:
    with pytest.raises(tw.TransformError, match=r"call requires_grad_\(\)"):
        tw.ones(2).register_hook(lambda g: g)
    x = tw.ones(2).requires_grad_()
    (x * 1).register_hook(lambda g: g)
    y = x + 1
    y.register_hook(lambda g: g.sum())
    with pytest.raises(tw.TransformError, match=r"returned float32 of shape \(\)"):
        y.sum().backward()
