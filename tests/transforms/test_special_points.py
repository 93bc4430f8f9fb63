"""Derivatives at ties, zeros and joints of formulas, up to the third."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import tensorweb as tw
import tensorweb.numpy as np

Function = Callable[[Any], Any]

LOG2 = math.log(2)

VALUES: dict[str, tuple[Function, float, int, float]] = {
    "logaddexp at a tie": (lambda x: tw.logaddexp(x, 1.0), 1.0, 2, 0.25),
    "softplus by logaddexp": (lambda x: tw.logaddexp(x, 0.0), 0.0, 2, 0.25),
    "logaddexp2 at a tie": (lambda x: np.logaddexp2(1.0, x), 1.0, 2, LOG2 / 4),
    "i0 at 0": (np.i0, 0.0, 2, 0.5),
    "i0 where series meet": (np.i0, 8.0, 1, 399.87313678),
    "sinc at 0": (np.sinc, 0.0, 2, -(math.pi**2) / 3),
    "mish at 0": (tw.nn.mish, 0.0, 3, -0.096),
    "hypot at the origin": (lambda x: tw.hypot(x, x), 0.0, 2, 0.0),
    "atan2 at the origin": (lambda x: tw.atan2(x, x * 2), 0.0, 2, 0.0),
    "cbrt at 0": (np.cbrt, 0.0, 1, math.inf),
    "cbrt of infinity": (np.cbrt, math.inf, 1, 0.0),
    "cbrt": (np.cbrt, 8.0, 2, -2 / 9 / 32),
    "cbrt at 0, left out": (
        lambda x: tw.where(x > 1, np.cbrt(x - 1), x),
        1.0,
        1,
        1.0,
    ),
    "huber at 0": (lambda x: tw.nn.huber(x, 1.0), 1.0, 2, 1.0),
    "smooth_l1 at 0": (lambda x: tw.nn.smooth_l1(x, 1.0), 1.0, 2, 1.0),
    "fmod at 0": (lambda x: np.fmod(x, 3.0), 0.0, 1, 1.0),
    "fmod at -0": (lambda x: np.fmod(x, 3.0), -0.0, 1, 1.0),
    "x to the x": (lambda x: x**x, 1.0, 3, 3.0),
    "0 to the 0": (lambda x: x**0.0, 0.0, 1, 0.0),
    "np.std of equal values": (lambda x: np.std(x * np.ones(3)), 2.0, 1, 0.0),
    "np.nanstd": (lambda x: np.nanstd(x * np.ones(3), ddof=1), 2.0, 1, 0.0),
    "quantile by q": (lambda q: np.quantile([0.0, 10.0], q), 0.5, 1, 10.0),
    "quantile by q at a value": (lambda q: np.quantile([0.0, 9.0], q), 0.0, 1, 9.0),
    "percentile by q": (lambda q: np.percentile([0.0, 10.0], q), 50.0, 1, 0.1),
    "nanquantile by q": (
        lambda q: np.nanquantile([0.0, math.nan, 10.0], q),
        0.25,
        1,
        10.0,
    ),
    "quantiles by q": (
        lambda q: np.quantile([0.0, 10.0, 30.0], tw.stack([q, q / 2])).sum(),
        0.75,
        1,
        40.0 + 10.0,
    ),
}
"""A function, a point, which derivative, and what it is there."""


@pytest.mark.parametrize("name", VALUES)
def test_derivatives_at_special_points(name: str, device: str) -> None:
    function, point, order, expected = VALUES[name]
    for _ in range(order):
        function = tw.grad(function)
    assert function(point).item() == pytest.approx(expected, rel=2e-5, abs=1e-6)


UP_TO_THE_THIRD = (
    *(tw.nn.gelu, tw.nn.silu, tw.nn.softplus, tw.nn.logsigmoid, tw.nn.mish),
    *(tw.sigmoid, tw.tanh, tw.asinh, np.sinc, np.i0, tw.expm1),
    lambda x: tw.logaddexp(x, x * 0.0),
    lambda x: np.logaddexp2(x * 0.0, x),
    lambda x: tw.nn.logsumexp(tw.stack([x, x * 0.0])),
    lambda x: tw.nn.log_softmax(tw.stack([x, x * 0.0]))[0],
    lambda x: tw.nn.binary_cross_entropy_with_logits(x, 0.3),
)


@pytest.mark.parametrize("point", [-1.0, 0.0, 2.0, 8.0])
@pytest.mark.parametrize("function", UP_TO_THE_THIRD)
def test_smooth_functions_have_no_other_derivative_at_a_point(
    function: Function, point: float, cpu: str
) -> None:
    def at(x: float) -> Any:
        return function(tw.asarray(x, dtype=tw.float64, device=cpu))

    step = 1e-4
    for _ in range(3):
        function = tw.grad(function)
        around = (at(point - step) + at(point + step)).item() / 2
        assert at(point).item() == pytest.approx(around, rel=1e-5, abs=1e-6)
