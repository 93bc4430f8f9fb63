"""Special functions are SciPy's within the bounds that they state, with derivatives."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from special_cases import CASES, arguments

import tensorweb as tw
from tensorweb.scipy import special

FILE = Path(__file__).parents[1] / "references" / "special.json"
RECORDED: dict[str, list[float]] = json.loads(FILE.read_text("utf-8"))["values"]


@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_scipy(case: str, device: str) -> None:
    function = getattr(special, case.partition(" ")[0].strip(","))
    bound = CASES[case][1]
    for dtype in ("float32", "float64") if device == "cpu" else ("float32",):
        limits = tw.finfo(dtype)
        operands = [tw.asarray(x, dtype, device=device) for x in arguments(case)]
        found = function(*operands)
        assert str(found.dtype) == dtype
        for at, (got, value) in enumerate(
            zip(found.tolist(), RECORDED[case], strict=True)
        ):
            if limits.smallest_normal < abs(value) < limits.max or value == 0:
                size = abs(value) if bound > 0 else max(1.0, abs(value))
                point = [x[at].item() for x in operands]
                assert abs(got - value) <= abs(bound) * limits.eps * size, point


POINTS: dict[str, list[list[float]]] = {
    "gammaln": [[-1.5, -1.3, 0.3, 2.0, 2.7, 9.5]],
    "gamma": [[-1.5, -1.3, 0.3, 2.0, 2.7, 5.0]],
    "digamma": [[-1.5, 0.3, 1.0, 2.7, 9.5]],
    "zeta": [[1.5, 3.0, 4.0], [0.4, 2.0, 9.0]],
    "betaln": [[0.3, 1.5, 12.0], [9.0, 0.7, 20.0]],
    "beta": [[0.3, 1.5, 2.0], [2.0, 0.7, 3.0]],
    "comb": [[5.3, 9.2, 6.0, 2.0], [2.1, 4.4, 3.0, 3.5]],
    "factorial": [[0.3, 2.0, 2.7]],
    "polygamma": [[0.5, 2.0, 9.5]],
    "erf": [[-1.3, 0.0, 0.2, 1.0]],
    "erfinv": [[-0.6, 0.0, 0.1, 0.75]],
    "erfc": [[-2.0, -1.3, 0.0, 0.2, 0.5, 1.0, 1.7]],
    "ndtr": [[-2.3, -1.5, 0.0, 0.2, 1.0, 1.7]],
    "log_ndtr": [[-2.3, -1.0, 0.0, 0.2, 1.0, 1.7]],
    "ndtri": [[0.06, 0.25, 0.4, 0.5, 0.9]],
    "i0": [[-2.0, 0.0, 0.5, 9.0]],
    "i0e": [[-2.0, 0.5, 8.5, 9.0]],
    "i1": [[-2.0, 0.0, 0.5, 9.0]],
    "i1e": [[-2.0, 0.5, 9.0]],
    "xlogy": [[0.5, 2.0], [0.3, 4.0]],
    "xlog1py": [[0.5, 2.0], [0.3, 4.0]],
    "entr": [[0.3, 2.0]],
    "rel_entr": [[0.5, 2.0, 2.1], [0.3, 4.0, 2.0]],
    "kl_div": [[0.5, 2.0, 2.1], [0.3, 4.0, 2.0]],
    "expit": [[-2.0, 0.0, 0.5]],
    "logit": [[0.1, 0.45, 0.5]],
    "softmax": [[0.3, 1.0, -2.0]],
    "log_softmax": [[0.3, 1.0, -2.0]],
    "logsumexp": [[0.3, 1.0, -2.0]],
    "sinc": [[0.0, 0.3, 1.5]],
    "gammainc": [[0.3, 1.2, 2.7, 9.5], [0.1, 2.0, 1.5, 12.0]],
    "gammaincc": [[0.3, 1.2, 2.7, 9.5], [0.1, 2.0, 1.5, 12.0]],
    "betainc": [[0.3, 1.2, 9.5], [2.0, 0.4, 5.0], [0.1, 0.5, 0.6]],
}


def test_every_function_has_points() -> None:
    assert sorted(POINTS) == sorted(special.__all__)


@pytest.mark.parametrize("name", POINTS)
def test_derivatives_are_those_of_the_values(name: str) -> None:
    """Compare first and second derivatives, also at multiples of 1/16."""
    function = getattr(special, name)
    if name == "polygamma":
        function = partial(function, 2.0)
    operands = [tw.asarray(x, "float64", device="cpu") for x in POINTS[name]]
    tw.check_grads(function, tuple(operands))


@pytest.mark.parametrize("name", ["gammaln", "ndtri"])
def test_functions_are_mapped_and_compiled(name: str, device: str) -> None:
    function = getattr(special, name)
    operands = [tw.asarray(x, "float32", device=device) for x in POINTS[name]]
    expected = function(*operands)

    def first(*x: tw.Tensor) -> Any:
        return function(*x).sum()

    for found in (tw.vmap(function)(*operands), tw.jit(function)(*operands)):
        assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-5)
    gradient = tw.grad(first)(*operands).tolist()
    assert tw.jit(tw.grad(first))(*operands).tolist() == pytest.approx(
        gradient, rel=1e-4
    )


def test_values_at_the_ends(device: str) -> None:
    inf, nan = math.inf, math.nan
    ends = {
        "gammaln": ([0.0, -2.0, inf, nan], [inf, inf, inf, nan]),
        "gamma": ([0.0, -2.0, inf, nan], [inf, nan, inf, nan]),
        "digamma": ([0.0, -2.0, inf, nan], [-inf, nan, inf, nan]),
        "erfc": ([-inf, 0.0, inf, nan], [2.0, 1.0, 0.0, nan]),
        "log_ndtr": ([-inf, inf, nan], [-inf, 0.0, nan]),
        "ndtri": ([-1.0, 0.0, 0.5, 1.0, nan], [nan, -inf, 0.0, inf, nan]),
        "logit": ([0.0, 1.0, 2.0], [-inf, inf, nan]),
        "entr": ([-1.0, 0.0, inf], [-inf, 0.0, -inf]),
        "i0": ([-inf, 0.0], [inf, 1.0]),
        "factorial": ([-1.0, 0.0], [0.0, 1.0]),
    }
    for name, (points, expected) in ends.items():
        found = getattr(special, name)(tw.asarray(points, device=device))
        assert found.tolist() == pytest.approx(expected, nan_ok=True), name
    a = tw.asarray([0.0, 0.0, 1.0, 1.0, inf, -1.0, 1.0], device=device)
    x = tw.asarray([0.0, 1.0, 0.0, inf, 1.0, 1.0, nan], device=device)
    below = [nan, 1.0, 0.0, 1.0, 0.0, nan, nan]
    assert special.gammainc(a, x).tolist() == pytest.approx(below, nan_ok=True)
    above = [1.0 - each for each in below]
    assert special.gammaincc(a, x).tolist() == pytest.approx(above, nan_ok=True)
    at = tw.asarray([0.0, 1.0, 1.5], device=device)
    found = special.betainc(2.0, 3.0, at).tolist()
    assert found == pytest.approx([0.0, 1.0, nan], nan_ok=True)


def test_bessel_functions_have_all_derivatives_at_0(device: str) -> None:
    f: Any = tw.scipy.special.i0
    found = []
    for _ in range(7):
        found.append(f(0.0).item())
        f = tw.grad(f)
    # i0(x) = 1 + x²/4 + x⁴/64 + x⁶/2304 + ...
    assert found == pytest.approx([1, 0, 0.5, 0, 0.375, 0, 0.3125], abs=1e-6)


def test_limits_of_logarithms_have_the_derivatives_of_jax(device: str) -> None:
    with tw.device(device):
        zero, two = tw.asarray(0.0), tw.asarray(2.0)
        by_x, by_y = tw.grad(special.xlogy, (0, 1))(zero, two)
        assert (by_x.item(), by_y.item()) == (pytest.approx(math.log(2)), 0.0)
        assert tw.grad(special.xlogy)(zero, zero).item() == -math.inf
        assert special.xlogy(zero, math.nan).item() != 0


def test_numbers_integers_and_float16_are_operands() -> None:
    assert special.gammaln(5).dtype == tw.float32
    assert special.beta(tw.asarray([1, 2]), 2).tolist() == pytest.approx([1 / 2, 1 / 6])
    half = special.erfc(tw.asarray([0.5], "float16", device="cpu"))
    assert (str(half.dtype), half.item()) == (
        "float16",
        pytest.approx(0.4795, rel=1e-3),
    )
    precise = special.gammainc(0.1, tw.asarray([0.7], "float64", device="cpu"))
    assert precise.item() == pytest.approx(0.959_944_796_430_6, rel=1e-12)
    with pytest.raises(tw.DTypeError, match="real numbers"):
        special.erfc(1j)
    with pytest.raises(AttributeError):
        special.airy  # noqa: B018


def test_functions_whose_powers_or_quotients_overflow(device: str) -> None:
    with tw.device(device):
        values = {
            "i0": ([89.5], 3.1258248e37),
            "i1": ([-89.5], -3.1083127e37),
            "comb": ([130.0, 65.0], 9.5067625e37),
            "rel_entr": ([1e20, 1e-20], 9.2103404e21),
            "kl_div": ([1e-30, 1e20], 1e20),
        }
        for name, (operands, expected) in values.items():
            found = getattr(special, name)(*map(tw.asarray, operands)).item()
            assert found == pytest.approx(expected, rel=1e-4), name
        found = special.comb([24.0, 1e20], [12.0, 1.0]).tolist()
        assert found == [2704156.0, tw.asarray(1e20).item()]
        assert special.rel_entr(1e-30, 1e20).item() == pytest.approx(-1.1512925e-28)
        gradients = tw.grad(special.rel_entr, (0, 1))(1e20, 1e-20)
        assert gradients[0].item() == pytest.approx(93.1034)
        assert tw.grad(special.i0)(89.5).item() == pytest.approx(3.1083e37, rel=1e-4)
        assert tw.grad(special.entr)(0.0).item() == math.inf
        assert math.isnan(special.ndtri(-1e-10).item())


def test_sums_of_exponentials_of_nothing_and_with_factors_of_0() -> None:
    minus = [-math.inf] * 2
    assert (
        special.logsumexp(tw.zeros((0, 3)), axis=0, b=2.0).tolist() == [-math.inf] * 3
    )
    assert special.logsumexp([-1e3], return_sign=True)[1].item() == 1.0
    for b in (None, [1.0, 2.0]):
        value, sign = special.logsumexp(minus, b=b, return_sign=True)
        assert (value.item(), sign.item()) == (-math.inf, 0.0)
    assert special.logsumexp([math.nan, 1.0], b=[0.0, 1.0]).item() == 1.0
    assert special.logsumexp([1e6, 1.0], b=[0.0, 1.0]).item() == 1.0

    def by_factors(b: tw.Tensor) -> Any:
        return special.logsumexp([2.0, 1.0], b=b)

    found = tw.grad(by_factors)(tw.asarray([0.0, 1.0])).tolist()
    assert found == pytest.approx([math.e, 1.0])


def test_sums_of_exponentials_have_factors_and_signs(device: str) -> None:
    with tw.device(device):
        x = tw.asarray([[1000.0, 1000.0], [-1000.0, 0.0]])
        assert special.logsumexp(x).item() == pytest.approx(1000.6931)
        rows = special.logsumexp(x, axis=1, keepdims=True)
        assert rows.shape == (2, 1)
        value, sign = special.logsumexp(x, 1, [[1.0, -3.0], [0.0, 2.0]], False, True)
        assert value.tolist() == pytest.approx([1000.6931, math.log(2)])
        assert sign.tolist() == [-1.0, 1.0]
        assert math.isnan(special.logsumexp([0.0, 0.0], b=[1.0, -2.0]).item())
        assert special.softmax(x).sum().item() == pytest.approx(1)
        assert special.log_softmax(x, 1)[1].tolist() == [-1000.0, 0.0]
