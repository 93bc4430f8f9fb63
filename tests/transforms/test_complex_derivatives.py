"""Transformations of functions of complex numbers: derivatives, jit, vmap, training.

The gradient of a real number is its derivative by the real part, plus i times that by
the imaginary part, as in PyTorch; differences in double precision are the judge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.errors import TransformError

DATA = [0.5 + 1.2j, -0.7 - 0.3j, 1.4 - 0.9j, -1.1 + 0.6j]

FUNCTIONS = (
    *("exp", "expm1", "log", "log1p", "sqrt", "sin", "cos", "tan", "sinh", "cosh"),
    *("tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh"),
    *("square", "reciprocal", "sign", "abs", "real", "imag", "conj", "negative"),
)

CODES: tuple[Callable[[Any, Any], Any], ...] = (
    lambda z, w: z * w + w / z - 2.0 * z + z * w.real,
    lambda z, w: 1 / w + z**3 + z**-2 + (z + 3) ** w + 2.0**z,
    lambda z, w: tw.where(tw.real(z) > 0, z, w),
    lambda z, w: tw.prod(z) + tw.sum(w * w) + tw.mean(z) * tw.var(w),
    lambda z, w: tw.cumulative_prod(z) + tw.cumulative_sum(w),
    lambda z, w: z.reshape(2, 2) @ w.reshape(2, 2).T,
    lambda z, w: tw.vecdot(z, w) + tw.einsum("i,i->", z, w.imag),
    lambda z, w: tw.concat([z[::-1], tw.stack([w, z], axis=1)[1]]),
    lambda z, w: z[tw.asarray([1, 1, 0])] * tw.roll(w, 1)[1:],
    lambda z, w: z.at[tw.asarray([0, 0])].add(w[:2]).at[1].set(w[3]),
)


@pytest.mark.usefixtures("cpu")
def test_derivatives_agree_with_differences() -> None:
    z = tw.asarray(DATA, dtype=tw.complex128)
    w = tw.flip(z) * (1 - 0.5j)
    for name in FUNCTIONS:
        tw.check_grads(getattr(tw, name), [z])
    for code in CODES:
        tw.check_grads(code, [z, w])
    tw.check_grads(lambda x: tw.abs(tw.exp(1j * x) * x), [tw.real(z)], order=2)


def test_gradients(device: str) -> None:
    z = tw.asarray(DATA, dtype=tw.complex64)
    host = np.array(DATA, np.complex64)

    def size(p: dict[str, Any]) -> Any:
        return (abs(p["z"] * p["r"]) ** 2).sum()

    found = tw.grad(size)({"z": z, "r": tw.ones(4)})
    np.testing.assert_allclose(found["z"].numpy(), 2 * host, 1e-6)
    np.testing.assert_allclose(found["r"].numpy(), 2 * abs(host) ** 2, 1e-6)
    y, pullback = tw.vjp(lambda z: z * z, z)
    np.testing.assert_allclose(y.numpy(), host * host, 1e-6)
    (back,) = pullback(tw.ones(4, dtype=tw.complex64))
    np.testing.assert_allclose(back.numpy(), np.conj(2 * host), 1e-6)
    _, ahead = tw.jvp(lambda z: z * z, (z,), (z,))
    np.testing.assert_allclose(ahead.numpy(), 2 * host * host, 1e-6)
    square = tw.custom_vjp(
        lambda z: z * z, lambda z: (z * z, z), lambda z, g: (2 * g * z.conj(),)
    )
    again = tw.grad(lambda z: tw.checkpoint(square)(z).real.sum())(z)
    np.testing.assert_allclose(again.numpy(), np.conj(2 * host), 1e-6)


def test_leaves(device: str) -> None:
    w = tw.asarray(DATA, dtype=tw.complex64, requires_grad=True)
    assert w.requires_grad
    assert w.is_leaf
    loss = (abs(w * 2) ** 2).sum()
    assert loss.requires_grad
    loss.backward()
    assert w.grad is not None
    np.testing.assert_allclose(w.grad.numpy(), 8 * np.array(DATA), 1e-6)
    with tw.no_grad():
        w -= 0.125 * w.grad
    assert w.requires_grad
    assert np.abs(w.detach().numpy()).max() < 1e-6
    with pytest.raises(TransformError, match="this tensor is complex"):
        (w * 2).sum().backward()
    with pytest.raises(TransformError, match="inside of `with tw"):
        w *= 2


def test_training_under_jit(device: str) -> None:
    w = tw.asarray(DATA, dtype=tw.complex64, requires_grad=True)
    opt = tw.optim.SGD([w], lr=0.25)

    @tw.jit(updates=(w, opt))
    def step(x: Any) -> Any:
        loss = (abs(w - x) ** 2).sum()
        loss.backward()
        opt.step()
        opt.zero_grad()
        return loss

    target = tw.asarray([1j, 2, 3 - 1j, 0])
    first, _, last = (step(target).item() for _ in range(3))
    assert last == pytest.approx(first / 16, rel=1e-5)
    clipped = tw.optim.clip_by_global_norm([tw.asarray([3j, 4]), tw.zeros(2)], 2.5)
    np.testing.assert_allclose(clipped[0].numpy(), [1.5j, 2], 1e-5)


def test_jit_and_vmap(device: str) -> None:
    @tw.jit
    def both(a: Any, b: Any) -> Any:
        a[0] = 5j
        return a * b + 1j, abs(a)

    host = np.array(DATA, np.complex64)
    for stretch in (1, 2):
        x = tw.asarray(host * stretch)
        product, size = both(x, x[::-1].copy())
        expected = host * stretch
        expected[0] = 5j
        np.testing.assert_allclose(x.numpy(), expected, 1e-6)
        np.testing.assert_allclose(size.numpy(), abs(expected), 1e-6)
        np.testing.assert_allclose(
            product.numpy(), expected * host[::-1] * stretch + 1j, 1e-6
        )
    rows = tw.stack([x, 2 * x])
    mapped = tw.vmap(lambda row: row * row.sum())(rows)
    wide = rows.numpy()
    np.testing.assert_allclose(mapped.numpy(), wide * wide.sum(1)[:, None], 2e-6)


@pytest.mark.usefixtures("cpu")
def test_non_holomorphic_functions_raise() -> None:
    z = tw.asarray(DATA)
    with pytest.raises(TransformError, match="returned a complex number"):
        tw.grad(lambda z: z.sum())(z)
    for whole in (tw.jacrev, tw.jacfwd):
        with pytest.raises(TransformError, match=r"holomorphic=True.*vjp or jvp"):
            whole(lambda z: z * z)(z)
        with pytest.raises(TransformError, match="one is real here"):
            whole(abs, holomorphic=True)(z)


@pytest.mark.usefixtures("cpu")
def test_all_derivatives_of_complex_numbers() -> None:
    z = tw.asarray(DATA, dtype=tw.complex128)
    c = np.array([[2 + 1j, -1j], [0.5, 3], [1j, 1 - 1j]])
    weights = tw.asarray(np.concatenate([c, c[:1]]))
    host = np.array(DATA)

    def cubes(z: Any) -> Any:
        return {"cubes": (z[:, None] * z[:, None] * z[:, None] * weights).sum(0)}

    x = tw.asarray([0.5, -2.0], dtype=tw.float64)
    for whole in (tw.jacrev, tw.jacfwd):
        found = whole(cubes, holomorphic=True)(z)["cubes"].numpy()
        np.testing.assert_allclose(found, 3 * weights.numpy().T * host**2, 1e-12)
        by_both = whole(lambda z, x: (z * x[0]).sum() * x, (0,), holomorphic=False)
        with pytest.raises(TransformError, match="vjp"):
            by_both(z, x)
        sizes = whole(lambda z: abs(z) ** 2)(z).numpy()
        np.testing.assert_allclose(sizes, np.diag(2 * host), 1e-12)
        rotations = whole(lambda x: tw.exp(1j * x) * tw.asarray([1j, 2]))(x).numpy()
        expected = np.diag(1j * np.exp(1j * x.numpy()) * [1j, 2])
        np.testing.assert_allclose(rotations, expected, 1e-12)
    second = tw.hessian(lambda z: (z**3).sum(), holomorphic=True)(z).numpy()
    np.testing.assert_allclose(second, np.diag(6 * host), 1e-12)
