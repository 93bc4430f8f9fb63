"""`vmap` against a loop: every structure, every operand batched or not; Jacobians."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from structure_cases import REDUCTIONS, STRUCTURES, Row, inputs_of

import tensorweb as tw
import tensorweb.numpy as twnp
from e2e.bare.op_runner import evaluate
from tensorweb.graph.op import KINDS
from tensorweb.transforms.rules.batch import BATCH

BATCH_SIZE = 3

LARGE = ("line", "tall", "wide", "left", "right", "nans")

UNKNOWN_LENGTHS = ("mask", "some", "nonzero", "unique", "m[m >")
"""What decides how many elements there are: no batch has one answer."""


def used_by(row: Row) -> dict[str, np.ndarray]:
    inputs = inputs_of("float32")
    return {name: inputs[name] for name in inputs if row.uses(name)}


CASES = {
    row.code: used_by(row)
    for row in (*REDUCTIONS, *STRUCTURES)
    if used_by(row)
    and not any(row.uses(name) for name in LARGE)
    and not any(word in row.code for word in UNKNOWN_LENGTHS)
    and row.dtypes[:1] in ((), ("float32",))
}


def examples(x: np.ndarray) -> list[np.ndarray]:
    """Return different values of one shape; positions stay within their bounds."""
    if x.dtype.kind == "f":
        return [x * (index + 1) / 2 + index for index in range(BATCH_SIZE)]
    return [np.roll(x, index) for index in range(BATCH_SIZE)]


def test_every_kind_that_reads_has_a_rule() -> None:
    assert set(BATCH) == set(KINDS) - {"leaf", "constant", "iota", "compress"}


@pytest.mark.parametrize("code", CASES)
def test_a_batch_agrees_with_a_loop(code: str, cpu: str) -> None:
    inputs = CASES[code]
    names = list(inputs)
    choices = [(name,) for name in names] if len(names) > 1 else []
    for position, chosen in enumerate([tuple(names), *choices]):
        given = {name: examples(x) for name, x in inputs.items()}

        def function(*values: tw.Tensor) -> Any:
            found = evaluate(code, tw, dict(zip(names, values, strict=True)))
            assert isinstance(found, tw.Tensor)
            return found

        expected = [
            function(
                *[
                    tw.asarray(given[name][index if name in chosen else 0])
                    for name in names
                ]
            )
            for index in range(BATCH_SIZE)
        ]
        axes = tuple(
            min(position, inputs[name].ndim) if name in chosen else None
            for name in names
        )
        arguments = [
            tw.asarray(
                given[name][0] if axis is None else np.stack(given[name], axis=axis)
            )
            for name, axis in zip(names, axes, strict=True)
        ]
        out = -1 if position else 0
        found = tw.vmap(function, axes, out)(*arguments)
        assert found.dtype is expected[0].dtype
        np.testing.assert_allclose(
            found.numpy(),
            np.stack([each.numpy() for each in expected], axis=out),
            rtol=2e-4,
            atol=1e-4,
        )


def model(w: tw.Tensor, x: tw.Tensor) -> tw.Tensor:
    return (tw.tanh(x @ w) ** 2).sum()


def test_nested_in_any_order(device: str) -> None:
    w = tw.linspace(-1.0, 1.0, 6).reshape(3, 2)
    xs = tw.linspace(-2.0, 2.0, 12).reshape(4, 3)
    each = tw.vmap(tw.grad(model), (None, 0))(w, xs)
    assert each.shape == (4, 3, 2)
    for index in range(4):
        one = tw.grad(model)(w, xs[index])
        assert each[index].reshape(-1).tolist() == pytest.approx(
            one.reshape(-1).tolist(), abs=1e-5
        )
    whole = tw.grad(lambda w: tw.vmap(model, (None, 0))(w, xs).sum())(w)
    assert whole.reshape(-1).tolist() == pytest.approx(
        each.sum(axis=0).reshape(-1).tolist(), abs=1e-5
    )
    table = tw.vmap(tw.vmap(lambda a, b: a * b + 1, (None, 0)), (0, None))
    a, b = tw.arange(3.0), tw.arange(4.0)
    assert table(a, b).tolist() == (a[:, None] * b + 1).tolist()


def test_a_batch_is_recorded(webgpu: str) -> None:
    w = tw.linspace(-1.0, 1.0, 6).reshape(3, 2)
    xs = tw.linspace(-2.0, 2.0, 12).reshape(4, 3)
    step = tw.jit(tw.vmap(tw.grad(model), (None, 0)))
    plain = tw.vmap(tw.grad(model), (None, 0))(w, xs)
    for _ in range(2):
        assert step(w, xs).reshape(-1).tolist() == pytest.approx(
            plain.reshape(-1).tolist(), abs=1e-6
        )


def test_trees_and_unbatched_arguments(device: str) -> None:
    def function(p: dict[str, tw.Tensor], x: tw.Tensor, *, scale: float) -> Any:
        return {"y": p["w"] * x * scale, "all": p["b"] + 1, "text": "t"}

    p = {"w": tw.arange(3.0), "b": tw.asarray(5.0)}
    mapped = tw.vmap(function, ({"w": 0, "b": None}, None))
    found = mapped(p, tw.asarray(2.0), scale=3.0)
    assert found["y"].tolist() == [0, 6, 12]
    assert found["all"].tolist() == [6, 6, 6]
    assert found["text"] == "t"


def test_jacobians_of_trees(device: str) -> None:
    def function(a: tw.Tensor, b: tw.Tensor) -> Any:
        return {"product": a[:, None] * b, "sum": a.sum() * b.sum()}

    a, b = tw.asarray([1.0, 2.0]), tw.asarray([3.0, 4.0, 5.0])
    for jacobian in (tw.jacrev, tw.jacfwd):
        found = jacobian(function, (0, 1))(a, b)
        by_a, by_b = found["product"]
        assert (by_a.shape, by_b.shape) == ((2, 3, 2), (2, 3, 3))
        assert by_a[0].tolist() == [[3, 0], [4, 0], [5, 0]]
        assert by_b[1].tolist() == [[2, 0, 0], [0, 2, 0], [0, 0, 2]]
        assert [each.tolist() for each in found["sum"]] == [[12, 12], [3, 3, 3]]


def test_values_are_known_inside_jacobians(device: str) -> None:
    def function(x: tw.Tensor) -> tw.Tensor:
        return x * x if x.sum() > 0 else -x

    assert tw.jacrev(function)(tw.asarray([1.0, 2.0])).tolist() == [[2, 0], [0, 4]]
    assert tw.jacfwd(function)(tw.asarray([-1.0, -2.0])).tolist() == [[-1, 0], [0, -1]]


def test_hessians_are_symmetric_and_right(device: str) -> None:
    def rosenbrock(x: tw.Tensor) -> tw.Tensor:
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    x = tw.asarray([-1.2, 1.0, 0.5])
    found = tw.hessian(rosenbrock)(x)
    a, b, _ = (-1.2, 1.0, 0.5)
    assert found[0, 0].item() == pytest.approx(1200 * a * a - 400 * b + 2, rel=1e-5)
    assert found[0, 1].item() == pytest.approx(-400 * a, rel=1e-5)
    difference = (found - found.T).abs().max().item()
    assert difference < 1e-3


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "value": (
        lambda: tw.vmap(lambda x: x if x > 0 else -x)(tw.ones(3)),
        tw.TraceError,
        "vmap: .* use where",
    ),
    "mask": (
        lambda: tw.vmap(lambda x: x[x > 0])(tw.ones((2, 3))),
        tw.TraceError,
        "vmap",
    ),
    "lengths": (
        lambda: tw.vmap(lambda a, b: a + b)(tw.ones(3), tw.ones(4)),
        tw.TransformError,
        "length 4.*3 long",
    ),
    "nothing": (
        lambda: tw.vmap(lambda x: x, None)(tw.ones(3)),
        tw.TransformError,
        "no tensor",
    ),
    "axis": (lambda: tw.vmap(lambda x: x, 2)(tw.ones(3)), tw.TransformError, "axis 2"),
    "entries": (
        lambda: tw.vmap(lambda x: x, (0, 0))(tw.ones(3)),
        tw.TransformError,
        "2 entries for 1",
    ),
    "out": (
        lambda: tw.vmap(lambda x: x, 0, 1)(tw.ones(3)),
        tw.TransformError,
        "out_axes names axis 1",
    ),
    "tree": (
        lambda: tw.vmap(lambda x: x[0] + x[1], ((0,),))((tw.ones(3), tw.ones(3))),
        tw.TransformError,
        "in_axes does not fit",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors_advise_a_fix(name: str, device: str) -> None:
    call, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        call()
    assert tw.vmap(lambda x: x + 1)(tw.ones(2)).tolist() == [2, 2]


def test_functions_that_look_at_values_where_they_are_known(cpu: str) -> None:
    data = np.random.default_rng(0).normal(size=(3, 5, 2))
    right = np.random.default_rng(1).normal(size=(3, 5))
    found = tw.vmap(lambda a, b: twnp.linalg.lstsq(a, b))(
        tw.asarray(data, device=cpu), tw.asarray(right, device=cpu)
    )
    for number in range(3):
        expected = np.linalg.lstsq(data[number], right[number], rcond=None)
        for got, want in zip(found, expected, strict=True):
            np.testing.assert_allclose(got[number].numpy(), want, rtol=1e-9)
    rows = data.reshape(3, 10).copy()
    rows[0, 1] = rows[2, 3] = rows[2, 4] = math.nan
    x = tw.asarray(rows, device=cpu)
    shares = [0.1, 0.5, 0.7]
    for method in ("linear", "hazen", "averaged_inverted_cdf", "lower"):
        mapped = tw.vmap(lambda row, m=method: twnp.nanquantile(row, shares, method=m))(
            x
        )
        want = np.nanquantile(rows, shares, axis=1, method=method).T  # type: ignore[call-overload]  # a method's name
        np.testing.assert_allclose(mapped.numpy(), want, rtol=1e-9)
    np.testing.assert_allclose(
        tw.vmap(twnp.nanmedian)(x).numpy(), np.nanmedian(rows, axis=1), rtol=1e-12
    )
