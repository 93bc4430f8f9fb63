"""`autograd.grad` gives PyTorch's derivatives of results, of every order."""

from __future__ import annotations

from typing import Any

import pytest

import tensorweb as tw
from tensorweb import nn


def test_derivatives_have_derivatives(device: str) -> None:
    x = tw.tensor([1.0, 2.0], requires_grad=True)
    y = x**4
    assert y.tolist() == [1, 16]  # computed before
    one = tw.ones(2)
    (first,) = tw.autograd.grad(y, x, one, create_graph=True)
    (second,) = tw.autograd.grad(first, x, one, create_graph=True)
    (third,) = tw.autograd.grad(second, [x], [one])
    assert [d.tolist() for d in (first, second, third)] == [
        [4, 32],
        [12, 48],
        [24, 48],
    ]
    assert x.grad is None
    assert not third.requires_grad
    (first.sum() + second.sum()).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [12 + 24, 48 + 48]


def test_a_physics_informed_network_learns(device: str) -> None:
    with tw.device(device):
        net = nn.Sequential(nn.Linear(1, 8, rng=0), nn.Tanh(), nn.Linear(8, 1, rng=1))
        opt = tw.optim.Adam(net.parameters(), lr=0.01)
        t = tw.linspace(0.0, 1.0, 8).reshape((-1, 1)).requires_grad_()

        def residual() -> Any:
            u = net(t)
            (du,) = tw.autograd.grad(u, t, tw.ones_like(u), create_graph=True)
            (d2u,) = tw.autograd.grad(du, t, tw.ones_like(du), create_graph=True)
            return ((d2u + 4 * du + 4 * u - 1) ** 2).mean()

        losses = []
        for _ in range(12):
            opt.zero_grad()
            loss = residual()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        assert losses[-1] < 0.7 * losses[0]

        def loss_of(model: Any) -> Any:
            def u(t: Any) -> Any:
                return model(t.reshape((1, 1)))[0, 0]

            du = tw.grad(u)
            d2u = tw.vmap(tw.grad(du))(t[:, 0])
            at = t[:, 0]
            return ((d2u + 4 * tw.vmap(du)(at) + 4 * tw.vmap(u)(at) - 1) ** 2).mean()

        opt.zero_grad()
        t.grad = None
        residual().backward()
        found = tw.grad(loss_of)(net)[0].weight
        expected = net[0].weight.grad.ravel().tolist()
        assert found.ravel().tolist() == pytest.approx(expected, rel=1e-3, abs=1e-4)


def test_results_of_results_and_what_cannot_be(cpu: str) -> None:
    x = tw.tensor([1.0, 2.0], requires_grad=True)
    other = tw.ones(3).requires_grad_()
    y = x * x
    z = (y * y).sum()
    found = tw.autograd.grad([z, y.sum()], [y, other, x])
    assert [d.tolist() for d in found] == [[3, 9], [0, 0, 0], [6, 36]]
    with pytest.raises(tw.TransformError, match=r"shape \(2,\); take sum\(\)"):
        tw.autograd.grad(y, x)
    with pytest.raises(tw.TransformError, match="computed from none that requires"):
        tw.autograd.grad(tw.ones(()), x)
    z.backward()
    with pytest.raises(tw.TransformError, match=r"backward\(\) has already used"):
        tw.autograd.grad(z, x)
    with pytest.raises(AttributeError, match=r"'Function'; write tw\.custom_vjp"):
        _ = tw.autograd.Function  # type: ignore[attr-defined]  # PyTorch's


@pytest.mark.parametrize("is_computed", [False, True])
def test_derivatives_by_complex_results(is_computed: bool, device: str) -> None:
    with tw.device(device):
        x = tw.tensor([1 + 2j], requires_grad=True)
        u = x * x
        if is_computed:
            assert u.tolist() == [-3 + 4j]
        by_x, by_u = tw.autograd.grad((u.real**2).sum(), [x, u])
        assert by_x.tolist() == [-12 + 24j]
        assert by_u.tolist() == [-6 + 0j]
        row = (x * x).reshape((1, 1))
        assert tw.autograd.grad((row.imag**2).sum(), row)[0].tolist() == [[8j]]
        other = u.conj()  # whose real part is that of u
        loss = (other.real**2).sum() + (u.real * u.imag).sum()
        assert tw.autograd.grad(loss, other)[0].tolist() == [-6 + 0j]
