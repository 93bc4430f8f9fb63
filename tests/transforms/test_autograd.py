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
    with pytest.raises(AttributeError, match=r"'Variable'; write tw\.asarray"):
        _ = tw.autograd.Variable  # type: ignore[attr-defined]  # PyTorch's


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


class Scaled(tw.autograd.Function):
    """A product with a number, whose gradients are ten times what they should be."""

    @staticmethod
    def forward(ctx: Any, x: Any, factor: float, bias: Any = None) -> Any:
        ctx.factor = factor
        ctx.save_for_backward(x, bias)
        return x * factor if bias is None else x * factor + bias

    @staticmethod
    def backward(ctx: Any, given: Any) -> Any:
        x, bias = ctx.saved_tensors
        assert ctx.needs_input_grad[:2] == (True, False)
        assert given.shape == x.shape
        return 10 * ctx.factor * given, None, None if bias is None else given.sum()


class Both(tw.autograd.Function):
    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return x * y, x + y

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        assert len(output) == 2
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, first: Any, second: Any) -> Any:
        x, y = ctx.saved_tensors
        return first * y + 2 * second, first * x + second


def test_a_function_of_pytorch_has_its_own_gradients(device: str) -> None:
    x = tw.tensor([1.0, 2.0], requires_grad=True)
    bias = tw.tensor(3.0, requires_grad=True)
    result = Scaled.apply(x, 2.0, bias)
    assert result.tolist() == [5, 7]
    result.sum().backward()
    assert (x.grad.tolist(), bias.grad.item()) == ([20, 20], 2)
    y = tw.tensor([5.0, 7.0], requires_grad=True)
    x.grad = None
    product, total = Both.apply(x, y)
    (product * total).sum().backward()
    # d/dx: total * y + 2 * product, d/dy: total * x + product.
    assert (x.grad.tolist(), y.grad.tolist()) == ([40, 91], [11, 32])


def test_a_function_of_pytorch_is_transformed(device: str) -> None:
    def gradient(x: Any) -> Any:
        return tw.grad(lambda x: Scaled.apply(x, 3.0).sum())(x)

    x = tw.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert gradient(x).tolist() == [[30, 30], [30, 30]]
    assert tw.vmap(gradient)(x).tolist() == [[30, 30], [30, 30]]
    assert tw.jit(gradient)(x).tolist() == [[30, 30], [30, 30]]

    class Squared(tw.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, given: Any) -> Any:
            return given * ctx.saved_tensors[0] ** 2

    assert tw.grad(tw.grad(Squared.apply))(3.0) == 6
    with pytest.raises(tw.TransformError, match="a result is a float"):
        tw.autograd.Context().mark_non_differentiable(tw.ones(2))
