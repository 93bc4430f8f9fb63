"""NaN and infinities survive sums whose sides share a value; other sums stay plain."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import reduce

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.codegen.compiler import compile_kernel
from tensorweb.codegen.expression import fences
from tensorweb.codegen.program import DEFAULT_TARGET
from tensorweb.graph.node import Node
from tensorweb.schedule.kernel import Step
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize
from tests.shader_corpus import value

POOL = np.array([np.nan, np.inf, -np.inf, 1, 2, -3, 5, 0.5, 0, -1], np.float32)
Build = Callable[[tw.Tensor, tw.Tensor, tw.Tensor], tw.Tensor]

SHARING: dict[str, Build] = {
    "infinity less a, plus a": lambda a, b, c: (tw.inf - a) + a,
    "a less itself": lambda a, b, c: a - a,
    "a less itself in a stack of one": lambda a, b, c: a - tw.stack([a]),
    "a less a rest": lambda a, b, c: a - (a - b),
    "b less a sum of it": lambda a, b, c: b - (0.5 + b),
    "a common infinity": lambda a, b, c: tw.diff(a + tw.inf),
    "a common NaN": lambda a, b, c: tw.diff(a + tw.nan),
    "a common factor": lambda a, b, c: a * c + b * c,
    "equal products": lambda a, b, c: a * b - b * a,
    "twice less once": lambda a, b, c: a * 2 - a,
    "negated": lambda a, b, c: -a + a,
    "a sum less its half": lambda a, b, c: (a + a) - a,
    "a product of a product": lambda a, b, c: (a * 1e30) * (a * 1e-30 * a),
    "a factor of bools": lambda a, b, c: (c > 0) * a,
    "a bool over a value": lambda a, b, c: tw.divide((c > 0).astype(a.dtype), a - a),
    "in a choice": lambda a, b, c: tw.where(c > 0, a - (a - b), b) == b,
    "broadcast": lambda a, b, c: (a[:16, None] - b[None, :16]) + b[None, :16],
    "below a sum": lambda a, b, c: tw.sum(tw.reshape((a - b) + b, (16, -1)), axis=0),
    "below a minimum": lambda a, b, c: tw.min(tw.reshape(tw.diff(a + c), (3, -1)), 1),
    "in a loop": lambda a, b, c: reduce(
        lambda z, _: (z - a * 0.5) + z * 0.25, range(40), a
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", SHARING)
def test_nan_and_infinities_survive(device: str, name: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    given = [rng.choice(POOL, 256).astype(dtype) for _ in range(3)]
    found = []
    for each in ("cpu", device):
        with tw.device(each), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            found.append(SHARING[name](*(tw.asarray(x) for x in given)).numpy())
    expected, got = found
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    np.testing.assert_array_equal(np.isposinf(got), np.isposinf(expected))
    np.testing.assert_array_equal(np.isneginf(got), np.isneginf(expected))


def texts(*nodes: Node) -> Iterator[str]:
    for planned in plan(linearize([node.base for node in nodes]), 6):
        for launch in compile_kernel(planned.kernel, DEFAULT_TARGET).launches:
            assert isinstance(launch.source, str)
            yield launch.source


def of(build: Build) -> str:
    tensors = (tw.Tensor(value(64)) for _ in range(3))
    return "".join(texts(build(*tensors).node))


@pytest.mark.parametrize("name", [n for n in SHARING if "common" not in n])
def test_the_texts_of_sharing_sums_have_a_fence(name: str) -> None:
    if name not in ("broadcast", "below a sum", "below a minimum"):
        assert "fenced_f32(" in of(SHARING[name])


@pytest.mark.parametrize(
    "build",
    [
        lambda a, b, c: a + b - c,
        lambda a, b, c: a + a,
        lambda a, b, c: a * b + c,
        lambda a, b, c: (a - b) * c + b,
        lambda a, b, c: (a * b + c) * b + a,
        lambda a, b, c: tw.exp(a - b) + b,
        lambda a, b, c: tw.maximum(a - b, b),
    ],
)
def test_other_sums_have_none(build: Build) -> None:
    assert "zero" not in of(build)


def test_no_sum_has_a_fenced_value_twice() -> None:
    """`(a + fence(a)) - fence(a)` would be `a`; the sum is behind the fence."""
    load = Step("load", "float32", slot=0, access=0)
    half = Step("map", "float32", "multiply", args=(0, 0))
    both = Step("map", "float32", "add", args=(1, 0))
    rest = Step("map", "float32", "subtract", args=(2, 0))
    assert fences((load, half, both, rest)) == {both: 1, rest: 0}


def test_a_product_of_a_product_is_computed_as_it_stands(device: str) -> None:
    """As `(x * x) * 1e-30` it would overflow."""
    with tw.device(device):
        x = tw.asarray([1e25, -2e25, 3.0])
        got = (x * (x * 1e-30)).numpy()
    np.testing.assert_allclose(got, [1e20, 4e20, 9e-30], rtol=1e-6)


def test_integer_sums_have_no_fence() -> None:
    load = Step("load", "int32", slot=0, access=0)
    rest = Step("map", "int32", "subtract", args=(0, 0))
    assert fences((load, rest)) == {}


@pytest.mark.parametrize("length", [1, 64, 65, 300, 4096])
def test_negated_integers_keep_their_extremes(device: str, length: int) -> None:
    """NVIDIA's compiler lost the negation in front of nested minima and maxima."""
    data = np.random.default_rng(0).integers(-3, 4, length).astype(np.int32)
    with tw.device(device):
        x = tw.asarray(data)
        assert tw.max(-x).item() == (-data).max()
        assert tw.min(-x).item() == (-data).min()
        assert tw.max(tw.abs(x)).item() == np.abs(data).max()
        assert tw.max(-tw.abs(x)).item() == (-np.abs(data)).max()


def test_compilers_see_no_negation_of_integers() -> None:
    """Written as `-x`, or any way that they know, it is lost (NVIDIA 580.159)."""
    for node in (tw.max(-tw.Tensor(value(64, dtype=tw.int32))).node,):
        (text,) = texts(node)
        assert "bitcast<i32>(parameters.zero) - x" in text
        assert "zero: u32" in text
