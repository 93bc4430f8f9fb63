"""Functions of complex numbers agree with NumPy's: random points, edges, large numbers.

NumPy computes in double precision what we compute in single. At infinities and NaN both
follow Annex G of C, which leaves some signs open.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import tensorweb as tw

OURS = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}
"""Names that NumPy has differently as well."""

BASE = (
    *("exp", "expm1", "log", "log1p", "sqrt"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "acos"),
)
"""Functions with a formula of their own."""

OTHERS = (
    *("log2", "log10", "sin", "cos", "tan", "asin", "atan"),
    *("square", "reciprocal", "sign"),
)

ULP = 12.0
"""How far a result may lie from the exact one, in units of its size."""

OPEN = frozenset({"exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh"})
"""Functions of which C leaves signs open where a part is not finite."""

EDGES = (-math.inf, -2.0, -1.0, -0.0, 0.0, 1.0, 3.0, math.inf, math.nan)
SPECIAL = np.array([complex(*parts) for parts in itertools.product(EDGES, EDGES)])


def points() -> Any:
    random = np.random.default_rng(3)
    sizes = 10.0 ** random.uniform(-4, 1.7, (2, 300))
    parts = sizes * random.choice([-1.0, 1.0], (2, 300))
    return (parts[0] + 1j * parts[1]).astype(np.complex64)


POINTS = points()


def exact(name: str, z: Any) -> Any:
    """Return NumPy's values in double precision, where they are right."""
    wide = z.astype(np.complex128)
    with np.errstate(all="ignore"):
        if name == "reciprocal":  # NumPy's is NaN of 0
            return np.where(wide == 0, 1.0 / wide, np.reciprocal(wide))
        if name == "expm1":  # NumPy's is NaN at infinities, and -0 of -0
            found = np.where(np.isfinite(wide), np.expm1(wide), np.exp(wide) - 1.0)
            return np.where(wide == 0, found + 0.0, found)
        return getattr(np, OURS.get(name, name))(wide)


def check_near(name: str, got: Any, expected: Any) -> None:
    """Compare where single precision holds the value."""
    size = np.abs(expected)
    held = np.isfinite(size) & (size > 1e-36) & (size < 3e38)
    distance = np.abs(got - expected)[held] / size[held]
    assert distance.max() < ULP * 2.0**-24, name


def check_special(name: str, got: Any, expected: Any) -> None:
    """Compare NaN, infinities and the signs of zeros.

    An infinity that comes of a NaN has any sign (C, Annex G): a GPU may not negate NaN.
    """
    for part in ("real", "imag"):
        ours, numpys = getattr(got, part), getattr(expected, part)
        is_open = np.isnan(SPECIAL) & np.isinf(ours) | (name in OPEN)
        ours, numpys = (np.where(is_open, np.abs(x), x) for x in (ours, numpys))
        np.testing.assert_allclose(ours, numpys, 1e-5, 3e-7, err_msg=name)
        zero = (numpys == 0) & np.isfinite(SPECIAL)
        assert np.array_equal(np.signbit(ours[zero]), np.signbit(numpys[zero])), name


def check(names: tuple[str, ...]) -> None:
    """Compare functions with NumPy, all of them computed together."""
    data = tw.asarray(np.concatenate([POINTS, SPECIAL.astype(np.complex64)]))
    results = [getattr(tw, name)(data) for name in names]
    for name, result in zip(names, results, strict=True):
        assert result.dtype is tw.complex64
        got = result.numpy()
        check_near(name, got[: POINTS.size], exact(name, POINTS))
        check_special(name, got[POINTS.size :], exact(name, SPECIAL))


def test_functions(device: str) -> None:
    check((*BASE, *OTHERS) if device == "cpu" else BASE)


@pytest.mark.usefixtures("wasm")
def test_functions_on_webassembly() -> None:
    check(BASE)
    z = tw.asarray(POINTS, dtype=tw.complex128)
    for name in ("log", "sqrt", "asinh", "tanh"):
        got = getattr(tw, name)(z).numpy()
        np.testing.assert_allclose(got, exact(name, POINTS), 1e-13)


def test_powers(device: str) -> None:
    z = tw.asarray(POINTS[:50])
    wide = POINTS[:50].astype(np.complex128)
    for exponent in (2, 3, -1, -2, 0.5, 0, 1.5, 0.5 - 2j):
        got = (z**exponent).numpy()
        check_near(f"z**{exponent}", got, wide**exponent)
    for got in (2.0 ** (z / 20), tw.exp2(z / 20)):
        check_near("2**z", got.numpy(), 2.0 ** (wide / 20))
    zero = tw.asarray([0j, 0j, 0j, 0j]) ** tw.asarray([0, 2, 1 + 1j, -1])
    np.testing.assert_array_equal(zero.numpy(), [1, 0, 0, complex(math.nan, math.nan)])


LARGE = 3e38
OVERFLOWS = (
    ("abs", (LARGE + LARGE * 0.2j,), abs(LARGE + LARGE * 0.2j)),
    ("sqrt", (complex(LARGE, LARGE),), np.sqrt(complex(LARGE, LARGE))),
    ("log", (complex(LARGE, LARGE),), np.log(complex(LARGE, LARGE))),
    ("asinh", (complex(-LARGE, LARGE),), np.arcsinh(complex(-LARGE, LARGE))),
    ("acos", (complex(LARGE, 1),), np.arccos(complex(LARGE, 1))),
    ("atanh", (complex(1e30, 1),), np.arctanh(complex(1e30, 1))),
    ("sign", (complex(LARGE, -LARGE),), (1 - 1j) / math.sqrt(2)),
    ("divide", (complex(LARGE, LARGE), complex(LARGE, LARGE)), 1.0),
    ("divide", (complex(LARGE, LARGE), 1e38 + 0j), 3.0 + 3.0j),
    ("divide", (1 + 1j, complex(1e-30, 1e30)), 1e-30 - 1e-30j),
    ("exp", (89 + 0.78j,), np.exp(89 + 0.78j)),
    ("expm1", (89 + 0.78j,), np.expm1(89 + 0.78j)),
    ("sinh", (89.3 + 1.5j,), np.sinh(89.3 + 1.5j)),
    ("cosh", (-89.3 + 1.5j,), np.cosh(-89.3 + 1.5j)),
    ("tanh", (60 + 1.5j,), np.tanh(60 + 1.5j)),
)


def test_nothing_overflows_on_the_way(device: str) -> None:
    results = []
    for name, operands, _ in OVERFLOWS:
        given = [tw.asarray([each], dtype=tw.complex64) for each in operands]
        results.append(getattr(tw, name)(*given))
    for (name, operands, expected), result in zip(OVERFLOWS, results, strict=True):
        got = complex(result[0])
        assert abs(got - expected) <= 4e-6 * abs(expected), (name, operands, got)
    far = complex(tw.cosh(tw.asarray([100 + 1e-5j]))[0])
    assert far.real == math.inf
    assert far.imag == pytest.approx(np.cosh(100 + 1e-5j).imag, rel=4e-5)
    ends = [math.inf + 1j, math.inf + 2j, math.inf - 2j, -math.inf + 2j]
    signs = np.signbit(tw.tanh(tw.asarray(ends)).numpy().imag)
    assert signs.tolist() == [False, False, True, False]
