"""What derivatives mean: values inside, nesting, ties and edges, errors, bounds."""

from __future__ import annotations

import dataclasses
import gc
from typing import Any, NamedTuple

import pytest

import tensorweb as tw
from tensorweb.graph.autograd import is_differentiating
from tensorweb.graph.node import Node


def test_a_power_and_its_derivatives(device: str) -> None:
    first = tw.grad(lambda x: x**3)
    second, third = tw.grad(first), tw.grad(tw.grad(first))
    assert [f(2.0).item() for f in (first, second, third)] == [12, 12, 6]


def test_nested_functions_do_not_mix_their_variables(device: str) -> None:
    found = tw.grad(lambda x: x * tw.grad(lambda y: x * y)(3.0))(3.0)
    assert found.item() == 6


def test_values_are_known_inside(
    device: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def loss(x: tw.Tensor) -> tw.Tensor:
        y = (x * x).sum()
        print(y, f"{y:.1f}", y.detach().item(), round(y))
        if y > 10:
            y = y * 2
        return y + float(x.detach()[0])

    x = tw.asarray([1.0, 2.0, 3.0])
    assert tw.grad(loss)(x).tolist() == [4, 8, 12]
    assert capsys.readouterr().out == "14.0 14.0 14.0 14\n"


def test_reading_cuts_nothing(device: str) -> None:
    def read(x: tw.Tensor) -> tw.Tensor:
        for _ in range(3):
            x = tw.tanh(x * 1.5)
            tw.realize(x)
            repr(x[0])
        return x.sum()

    def unread(x: tw.Tensor) -> tw.Tensor:
        for _ in range(3):
            x = tw.tanh(x * 1.5)
        return x.sum()

    x = tw.linspace(-1.0, 1.0, 5)
    got, want = tw.grad(read)(x).tolist(), tw.grad(unread)(x).tolist()
    assert got == pytest.approx(want, rel=1e-6)


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclasses.dataclass
class Layer:
    weight: Any
    name: str


def test_arguments_are_trees(device: str) -> None:
    parameters = {
        "first": Pair(tw.asarray([1.0, 2.0]), [3.0, tw.asarray([1, 2])]),
        "layer": Layer(tw.asarray([[2.0]]), "dense"),
    }

    def loss(p: Any) -> tw.Tensor:
        first = p["first"]
        total = (first.a * first.b[0] * first.b[1]).sum()
        return total * p["layer"].weight.sum()

    found = tw.grad(loss)(parameters)
    assert found["first"].a.tolist() == [6, 12]
    assert found["first"].b[0].item() == 10
    assert found["first"].b[1] is None
    assert found["layer"].weight.tolist() == [[15]]
    assert found["layer"].name is None


def test_several_arguments_and_auxiliary_results(device: str) -> None:
    def loss(x: tw.Tensor, n: int, y: tw.Tensor) -> Any:
        return (x * y).sum() * n, {"x": x}

    x, y = tw.asarray([1.0, 2.0]), tw.asarray([3.0, 4.0])
    (value, along), (dx, dy) = tw.value_and_grad(loss, (0, -1), has_aux=True)(x, 2, y)
    assert (value.item(), along["x"].tolist()) == (22, [1, 2])
    assert (dx.tolist(), dy.tolist()) == ([6, 8], [2, 4])


def test_an_argument_that_is_not_used_has_zeros(device: str) -> None:
    found = tw.grad(lambda x, y: x.sum(), (0, 1))(tw.ones(2), tw.ones((2, 3)))
    assert [each.tolist() for each in found] == [[1, 1], [[0, 0, 0], [0, 0, 0]]]


def test_one_result_twice_counts_twice(device: str) -> None:
    def both(x: tw.Tensor) -> Any:
        y = x * 3
        return y, y

    one = tw.asarray([1.0])
    _, pullback = tw.vjp(both, one)
    assert pullback((one, one * 10))[0].tolist() == [33]
    _, tangent = tw.jvp(lambda x: (x, x, 2 * x), (one,), (one,))
    assert [each.tolist() for each in tangent] == [[1], [1], [2]]


EDGES: dict[str, tuple[Any, list[float], list[float]]] = {
    "what where left out": (
        lambda x: tw.where(x > 0, tw.sqrt(x), 0.0),
        [-1.0, 0.0, 4.0],
        [0, 0, 0.25],
    ),
    "logarithm left out": (
        lambda x: tw.where(x > 0, tw.log(x), 0.0),
        [-1.0, 0.0, 4.0],
        [0, 0, 0.25],
    ),
    "abs at 0": (abs, [-2.0, 0.0, 2.0], [-1, 0, 1]),
    "maximum of equals": (lambda x: tw.maximum(x, 1.0), [0.0, 1.0, 2.0], [0, 0.5, 1]),
    "minimum of equals": (lambda x: tw.minimum(x, 1.0), [0.0, 1.0, 2.0], [1, 0.5, 0]),
    "max shares": (tw.max, [3.0, 1.0, 3.0], [0.5, 0, 0.5]),
    "hypot at the origin": (lambda x: tw.hypot(x, 0.0), [0.0, 2.0], [0, 1]),
    "atan2 at the origin": (lambda x: tw.atan2(x, 0.0 * x), [0.0, 2.0], [0, 0]),
    "power 0": (lambda x: x ** tw.zeros(2), [0.0, 2.0], [0, 0]),
    "power 1": (lambda x: x ** tw.ones(2), [0.0, 2.0], [1, 1]),
    "product of zeros": (tw.prod, [0.0, 2.0, 3.0], [6, 0, 0]),
    "product of nothing": (lambda x: tw.prod(x[:0]) + x.sum(), [2.0, 3.0], [1, 1]),
    "product of two zeros": (tw.prod, [0.0, 0.0, 3.0], [0, 0, 0]),
    "floor is flat": (lambda x: tw.floor(x) * x, [1.5, 2.5], [1, 2]),
    "comparison is flat": (lambda x: (x > 1) * x, [0.5, 2.5], [0, 1]),
    "sorted": (lambda x: tw.sort(x) * tw.arange(3), [3.0, 1.0, 2.0], [2, 0, 1]),
    "taken twice": (lambda x: x[tw.asarray([0, 0, 1])], [5.0, 6.0, 7.0], [2, 1, 0]),
    "written over": (
        lambda x: x.at[tw.asarray([0, 0])].set(x[1:] * 2),
        [5.0, 6.0, 7.0],
        [0, 1, 3],
    ),
    "added at": (
        lambda x: x.at[tw.asarray([0, 0])].add(x[1:] * 2),
        [5.0, 6.0, 7.0],
        [1, 3, 3],
    ),
    "multiplied at, zeros": (
        lambda x: tw.ones(1).at[tw.asarray([0, 0, 0])].multiply(x),
        [0.0, 2.0, 3.0],
        [6, 0, 0],
    ),
    "largest at": (
        lambda x: tw.zeros(1).at[tw.asarray([0, 0, 0])].max(x),
        [3.0, 1.0, 3.0],
        [0.5, 0, 0.5],
    ),
}
"""Functions, where, and gradients of sums, as in docs/guide/derivative_rules.md."""


@pytest.mark.parametrize("name", EDGES)
def test_edges(name: str, device: str) -> None:
    function, at, expected = EDGES[name]
    found = tw.grad(lambda x: function(x).sum())(tw.asarray(at))
    assert found.tolist() == pytest.approx(expected)


def test_assignment_inside_is_followed(device: str) -> None:
    def loss(x: tw.Tensor) -> tw.Tensor:
        y = x * 2
        y[1] = x[0] * 10
        y += x
        return (y * tw.asarray([1.0, 2.0, 3.0])).sum()

    assert tw.grad(loss)(tw.ones(3)).tolist() == [3 + 20, 2, 9]


def test_ones_as_an_argument_are_followed_through_indices(device: str) -> None:
    found = tw.grad(lambda x: x[tw.asarray([1, 1])].sum())(tw.ones(3))
    assert found.tolist() == [0, 2, 0]


def test_recorded_functions_and_gradients_nest(webgpu: str) -> None:
    def loss(w: tw.Tensor, x: tw.Tensor) -> tw.Tensor:
        return (tw.tanh(x @ w) ** 2).sum()

    w, x = tw.linspace(-1.0, 1.0, 6).reshape(3, 2), tw.ones((4, 3))
    plain = pytest.approx(tw.grad(loss)(w, x).reshape(-1).tolist(), abs=1e-6)
    step = tw.jit(tw.grad(loss))
    assert step(w, x).tolist() == step(w, x).tolist()
    assert step(w, x).reshape(-1).tolist() == plain
    inside = tw.grad(tw.jit(loss))(w, x)
    assert inside.reshape(-1).tolist() == plain


def test_gradients_know_equal_structures(webgpu: str) -> None:
    from tensorweb import devices

    backend = devices.backend("webgpu")
    gradient = tw.grad(lambda x: tw.sin(x * 2).sum())
    plans = []
    for iteration in range(3):
        tw.realize(gradient(tw.asarray([1.0, 2.0 + iteration])))
        plans.append(len(backend._plans))  # type: ignore[attr-defined]  # looks inside
    assert plans[0] == plans[1] == plans[2]


def test_hessians_of_a_structure_are_planned_once(webgpu: str) -> None:
    from tensorweb import devices

    backend = devices.backend("webgpu")
    second = tw.hessian(lambda x: (tw.tanh(x) * x).sum())
    plans = []
    for iteration in range(3):
        tw.realize(second(tw.asarray([1.0, 2.0 + iteration])))
        plans.append(len(backend._plans))  # type: ignore[attr-defined]  # looks inside
    assert plans[0] == plans[1] == plans[2]


def test_a_chain_of_ten_thousand_needs_no_recursion(cpu: str) -> None:
    def chain(x: tw.Tensor) -> tw.Tensor:
        for _ in range(5_000):
            x = x * 1.0001 + 0.0
        return x.sum()

    found = tw.grad(chain)(tw.ones(2))
    assert found.tolist() == pytest.approx([1.0001**5000] * 2, rel=1e-3)


def test_nothing_is_retained(device: str) -> None:
    def loss(x: tw.Tensor) -> tw.Tensor:
        return (tw.exp(x) * x).sum()

    x = tw.ones(3)
    counts = []
    for _ in range(3):
        for _ in range(20):
            x = x - 0.01 * tw.grad(loss)(x)
        tw.realize(x)
        gc.collect()
        counts.append(sum(type(each) is Node for each in gc.get_objects()))
    assert counts[2] <= counts[1]
    assert not is_differentiating()


def test_the_history_closes_after_an_error(device: str) -> None:
    def fails(x: tw.Tensor) -> tw.Tensor:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        tw.grad(fails)(1.0)
    assert not is_differentiating()


REFUSED: dict[str, tuple[Any, str]] = {
    "vector": (lambda: tw.grad(lambda x: x * 2)(tw.ones(3)), r"shape \(3,\).*sum\(\)"),
    "integers": (lambda: tw.grad(lambda x: x)(tw.asarray([1])), r"int32.*astype"),
    "integer": (lambda: tw.grad(lambda x: x)(3), r"write 3\.0"),
    "text": (lambda: tw.grad(lambda x: 1.0)("a"), "type str"),
    "no floats": (lambda: tw.grad(lambda x: x)([1, 2]), "no floats"),
    "integer result": (
        lambda: tw.grad(lambda x: x.argmax())(tw.ones(3)),
        "returned a tensor of int32",
    ),
    "nothing": (lambda: tw.grad(lambda x: None)(1.0), "returned None"),
    "number": (lambda: tw.grad(lambda x: 2.0)(1.0), "returned a float"),
    "argnums twice": (
        lambda: tw.grad(lambda x, y: x * y, (0, -2))(1.0, 2.0),
        "names an argument twice",
    ),
    "argnums": (lambda: tw.grad(lambda x: x, 2)(1.0), "argument 2.*1 positional"),
    "aux": (lambda: tw.grad(lambda x: x, has_aux=True)(1.0), "returns a pair"),
    "cotangent": (
        lambda: tw.vjp(lambda x: x, tw.ones(3))[1](tw.ones(4)),
        r"\(4,\).*\(3,\)",
    ),
    "cotangent tree": (
        lambda: tw.vjp(lambda x: (x, x), tw.ones(3))[1](tw.ones(3)),
        r"tuple\(\*, \*\)",
    ),
    "tangents": (lambda: tw.jvp(lambda x: x, (1.0,), (1.0, 2.0)), "2 tangents for 1"),
    "wrong": (
        lambda: tw.check_grads(lambda x: tw.where(x > 0, 1e3, 0.0) * x, [tw.zeros(1)]),
        "differences of the values",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors_advise_a_fix(name: str, device: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(tw.TransformError, match=message):
        call()
    assert tw.grad(lambda x: x * x)(3.0).item() == 6
