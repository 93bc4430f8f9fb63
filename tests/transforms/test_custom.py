"""Derivatives that a person gives, alone and inside other transformations."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import tensorweb as tw


def test_a_stopped_value_is_a_constant(device: str) -> None:
    assert tw.grad(lambda x: x * tw.stop_gradient(x))(3.0).item() == 3
    assert tw.stop_gradient(tw.asarray(2.0)).item() == 2
    second = tw.grad(tw.grad(lambda x: x * x * tw.stop_gradient(x)))
    assert second(3.0).item() == 6


doubled = tw.custom_vjp(
    lambda x, y: x * y,
    lambda x, y: (x * y, (x, y)),
    lambda xy, g: (2 * g * xy[1], 3 * g * xy[0]),
)
"""A product with a gradient that nobody would find otherwise."""


def test_the_given_way_back_is_used(device: str) -> None:
    assert doubled(tw.asarray(2.0), tw.asarray(5.0)).item() == 10
    found = tw.grad(lambda x, y: doubled(x, y) * 10, (0, 1))(2.0, 5.0)
    assert [each.item() for each in found] == [100, 60]
    second = tw.grad(tw.grad(doubled), 1)
    assert second(2.0, 5.0).item() == 2


def test_it_holds_for_tangents_batches_and_recordings(webgpu: str) -> None:
    _, tangent = tw.jvp(doubled, (2.0, 5.0), (1.0, 0.0))
    assert tangent.item() == 10
    xs = tw.asarray([1.0, 2.0, 3.0])

    def both(x: tw.Tensor, y: tw.Tensor) -> tw.Tensor:
        return tw.vmap(doubled, (0, None))(x, y).sum()

    by_x, by_y = tw.grad(both, (0, 1))(xs, tw.asarray(5.0))
    assert (by_x.tolist(), by_y.item()) == ([10, 10, 10], 18)
    each = tw.vmap(tw.grad(doubled, (0, 1)), (0, None))(xs, tw.asarray(5.0))
    assert [part.tolist() for part in each] == [[10, 10, 10], [3, 6, 9]]
    step = tw.jit(tw.grad(doubled))
    assert [step(xs[1], xs[2]).item() for _ in range(2)] == [6, 6]


def test_stopped_values_stay_so_in_a_batch(device: str) -> None:
    def function(x: tw.Tensor) -> tw.Tensor:
        return tw.vmap(lambda row: (row * tw.stop_gradient(row)).sum())(x).sum()

    x = tw.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert tw.grad(function)(x).tolist() == x.tolist()


def test_trees_go_through_given_rules(device: str) -> None:
    def forward(p: dict[str, tw.Tensor], n: int) -> Any:
        return {"sum": p["a"] + p["b"], "n": n}, None

    def backward(_: None, g: dict[str, Any]) -> Any:
        return {"a": g["sum"] * 2, "b": None}, None

    function = tw.custom_vjp(lambda p, n: forward(p, n)[0], forward, backward)
    p = {"a": tw.ones(2), "b": tw.ones(2)}
    found = tw.grad(lambda p: function(p, 3)["sum"].sum())(p)
    assert (found["a"].tolist(), found["b"].tolist()) == ([2, 2], [0, 0])


def test_a_given_tangent_has_its_way_back(device: str) -> None:
    cube = tw.custom_jvp(
        lambda x: x**3, lambda x, t: (x[0] ** 3, 3 * x[0] * x[0] * t[0])
    )
    assert cube(tw.asarray(2.0)).item() == 8
    assert tw.grad(cube)(2.0).item() == 12
    assert tw.grad(tw.grad(cube))(2.0).item() == 12
    assert tw.jvp(cube, (2.0,), (0.5,))[1].item() == 6
    tw.check_grads(cube, [tw.asarray([0.3, -0.7])])


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "count": (
        lambda: tw.grad(
            tw.custom_vjp(lambda x: x, lambda x: (x, None), lambda _, g: g)
        )(1.0),
        "backward returned a Tensor for 1 arguments",
    ),
    "shape": (
        lambda: tw.grad(
            lambda x: tw.custom_vjp(
                lambda x: x, lambda x: (x, None), lambda _, g: (tw.ones(2),)
            )(x)
        )(1.0),
        r"shape \(2,\)",
    ),
    "structure": (
        lambda: tw.grad(tw.custom_jvp(lambda x: x, lambda x, t: (x[0], (t[0], t[0]))))(
            1.0
        ),
        "same structure",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors_advise_a_fix(name: str, device: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(tw.TransformError, match=message):
        call()


def test_rules_call_their_own_function_as_in_the_guide_of_jax(device: str) -> None:
    @tw.custom_jvp
    def scaled(x: tw.Tensor, y: tw.Tensor) -> tw.Tensor:
        return x * y

    @scaled.defjvp  # type: ignore[attr-defined]  # a rule that comes later
    def rule(primals: Any, tangents: Any) -> tuple[tw.Tensor, tw.Tensor]:
        (x, y), (dx, dy) = primals, tangents
        result = scaled(x, y)
        return result, 5 * dx + 3 * dy * result

    assert rule is not None
    # d/dy = 3 x y; its derivatives are those of the rule again: by x 3 * 5.
    assert tw.grad(scaled, (0, 1))(2.0, 7.0) == (5, 42)
    assert tw.grad(tw.grad(scaled, 1), 0)(2.0, 7.0) == 15
    assert tw.grad(tw.grad(scaled, 1), 1)(2.0, 7.0) == 126
    assert tw.jvp(tw.grad(scaled, 1), (2.0, 7.0), (1.0, 0.0)) == (42, 15)

    @tw.custom_vjp
    def exponential(x: tw.Tensor) -> tw.Tensor:
        return tw.exp(x)

    def forward(x: tw.Tensor) -> tuple[tw.Tensor, tw.Tensor]:
        result = exponential(x)
        return result, result

    exponential.defvjp(forward, lambda result, given: (2 * result * given,))  # type: ignore[attr-defined]  # a rule that comes later
    x = tw.asarray([0.0, 1.0])
    by_row = tw.vmap(tw.grad(exponential))(x)
    assert by_row.tolist() == pytest.approx([2, 2 * math.e], rel=1e-6)
    third = tw.grad(tw.grad(tw.grad(exponential)))(0.0)
    assert third.item() == pytest.approx(8, rel=1e-6)


def test_arguments_without_derivative_come_first_in_rules(device: str) -> None:
    @partial(tw.custom_vjp, nondiff_argnums=(0, 2))
    def limited(function: Any, x: Any, most: float) -> Any:
        return function(x)

    def forward(function: Any, x: Any, most: float) -> Any:
        return limited(function, x, most), x

    def backward(function: Any, most: float, x: Any, given: Any) -> Any:
        (cotangent,) = tw.vjp(function, x)[1](given)
        return (tw.clip(cotangent, -most, most),)

    limited.defvjp(forward, backward)
    assert tw.grad(limited, 1)(tw.square, 5.0, 4.0) == 4
    assert tw.grad(limited, 1)(tw.square, 1.0, 4.0) == 2
    assert tw.jit(lambda x: tw.grad(limited, 1)(tw.square, x, 3.0))(5.0) == 3

    @partial(tw.custom_jvp, nondiff_argnums=(1,))
    def power(x: Any, n: int) -> Any:
        return x**n

    power.defjvp(lambda n, x, dx: (power(*x, n), 10 * n * dx[0]))
    assert tw.grad(power)(3.0, 2) == 20
    assert power(3.0, 2) == 9
    with pytest.raises(tw.TransformError, match=r"nondiff_argnums=\(1,\) of a call"):
        power(3.0)
