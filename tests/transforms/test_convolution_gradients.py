"""Gradients of convolutions: one convolution for images, one product for weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.events import record_kernels

CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "plain": ((2, 3, 5, 6), (4, 3, 3, 2), {}),
    "same": ((2, 2, 5, 4), (3, 2, 3, 3), {"padding": "same"}),
    "wider border": ((1, 2, 3, 4), (2, 2, 2, 3), {"padding": 3}),
    "uneven border": ((1, 2, 4, 5), (2, 2, 3, 2), {"padding": ((0, 2), (3, 1))}),
    "step": ((2, 2, 7, 6), (2, 2, 3, 3), {"stride": (2, 3), "padding": 1}),
    "step over the end": ((1, 1, 8, 9), (2, 1, 2, 3), {"stride": 3}),
    "dilated": ((1, 2, 8, 9), (2, 2, 3, 2), {"dilation": (2, 3), "padding": 1}),
    "all at once": (
        (2, 4, 9, 8),
        (6, 2, 3, 2),
        {"stride": 2, "dilation": 2, "padding": (1, 2), "groups": 2},
    ),
    "depthwise": ((2, 3, 5, 5), (6, 1, 3, 3), {"padding": 1, "groups": 3}),
}


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape)


@pytest.mark.parametrize("name", CASES)
def test_both_ways_agree_with_differences(cpu: str, name: str) -> None:
    shape, weights, how = CASES[name]
    x, w = tw.asarray(numbers(*shape)), tw.asarray(numbers(*weights))
    tw.check_grads(lambda x, w: tw.conv2d(x, w, **how), (x, w), order=1)


def test_second_derivatives_and_batches(cpu: str) -> None:
    x, w = tw.asarray(numbers(1, 2, 4, 5)), tw.asarray(numbers(4, 1, 2, 3))

    def program(x: tw.Tensor, w: tw.Tensor) -> tw.Tensor:
        return tw.tanh(tw.conv2d(x, w, padding=1, groups=2))

    tw.check_grads(program, (x, w), order=2)
    many = tw.asarray(numbers(3, 1, 2, 4, 5))
    found = tw.vmap(tw.grad(lambda x: program(x, w).sum()))(many)
    want = [tw.grad(lambda x: program(x, w).sum())(each) for each in many]
    np.testing.assert_allclose(found.numpy(), tw.stack(want).numpy(), rtol=1e-12)


@pytest.mark.parametrize("name", ["all at once", "wider border", "depthwise"])
def test_devices_agree(webgpu: str, name: str) -> None:
    shape, weights, how = CASES[name]
    x, w = (numbers(*each).astype(np.float32) for each in (shape, weights))

    def gradients(device: str) -> list[np.ndarray]:
        with tw.device(device):
            found = tw.grad(
                lambda x, w: (tw.conv2d(x, w, **how) ** 2).sum(), argnums=(0, 1)
            )(tw.asarray(x), tw.asarray(w))
            return [each.numpy() for each in found]

    for got, want in zip(gradients(webgpu), gradients("cpu"), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-4)


def test_no_window_is_laid_out(webgpu: str) -> None:
    x, w = (
        tw.asarray(numbers(2, 4, 9, 9), "float32"),
        tw.asarray(numbers(8, 4, 3, 3), "float32"),
    )
    gradients = tw.grad(lambda x, w: tw.conv2d(x, w, padding=1).sum(), argnums=(0, 1))
    with record_kernels() as records:
        tw.realize(*gradients(x, w))
    assert max(record.stored for record in records) <= 4 * x.size
