"""jit and its arguments: what tells calls apart, and what a function changes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from checks import assert_equal

import tensorweb as tw
from tensorweb.errors import TraceError
from tensorweb.graph.nonfinite import Search
from tensorweb.tensor import Tensor
from tensorweb.transforms.recordings import LAYOUTS_KEPT
from tensorweb.trees import register

NOT_A_NUMBER = [math.nan, float("nan"), np.float32("nan"), complex(math.nan, 0)]


def test_signed_zeros_are_different_arguments(device: str) -> None:
    divide = tw.jit(lambda x, s: x / s)
    for zero in (0.0, -0.0, 0.0, np.float32(0.0), np.float32(-0.0)):
        want = math.copysign(math.inf, zero)
        assert divide(tw.ones(1), zero).tolist() == [want]
    if device == "webgpu":
        assert divide.recordings == 4


def test_nan_records_once(webgpu: str) -> None:
    add = tw.jit(lambda x, s: x + s)
    for _ in range(3):
        assert math.isnan(add(tw.ones(1), float("nan")).item())
        assert math.isnan(add(tw.ones(1), -float("nan")).item())
    assert add.recordings == 1


def test_equal_numbers_of_other_types_are_different_arguments(webgpu: str) -> None:
    add = tw.jit(lambda x, s: x + s)
    x = tw.asarray([1, 2])
    assert add(x, 1).dtype is tw.int32
    assert add(x, 1.0).dtype is tw.float32
    assert add(x, True).dtype is tw.int32
    assert add.recordings == 3


def test_jit_inside_jit_is_a_part_of_it(device: str) -> None:
    inner = tw.jit(lambda x: x * 2)

    @tw.jit
    def outer(x: Tensor) -> Tensor:
        return inner(inner(x)) + inner(tw.ones(3))

    for start in range(3):
        x = tw.arange(3.0) + start
        assert_equal(outer(x), x.numpy() * 4 + 2)
    assert_equal(inner(tw.ones(2)), [2, 2])


def writes(x: Tensor, v: Tensor) -> Tensor:
    x[0] = 5
    v += x[1]
    return x * 2


@pytest.mark.parametrize("jit", [tw.jit, lambda f: f], ids=["jit", "plain"])
def test_the_caller_sees_assignments(jit: Any, device: str) -> None:
    run = jit(writes)
    for start in (1.0, 2.0, 3.0):
        x, v = tw.full(3, start), tw.zeros(2)
        alias, view = x, x[:2]
        result = run(x, v)
        assert_equal(alias, [5, start, start])
        assert_equal(v, [start, start])
        assert_equal(result, [10, 2 * start, 2 * start])
        assert_equal(view, [5, start])


@pytest.mark.parametrize("jit", [tw.jit, lambda f: f], ids=["jit", "plain"])
def test_a_returned_argument_is_the_callers_tensor(jit: Any, device: str) -> None:
    def step(x: Tensor) -> Tensor:
        x *= 2
        return x

    run = jit(step)
    for _ in range(2):
        x = tw.ones(2)
        assert run(x) is x
        assert run(run(x)) is x
        assert_equal(x, [8, 8])


@pytest.mark.parametrize("jit", [tw.jit, lambda f: f], ids=["jit", "plain"])
def test_one_tensor_given_twice(jit: Any, device: str) -> None:
    def change(a: Tensor, b: Tensor) -> Tensor:
        a[0] = 9
        return b + 0

    run = jit(change)
    x, y = tw.zeros(2), tw.zeros(2)
    assert_equal(run(x, y), [0, 0])
    assert_equal(run(x, x), [9, 0])
    assert_equal(run(y, x), [9, 0])
    assert_equal(y, [9, 0])


@pytest.mark.parametrize("jit", [tw.jit, lambda f: f], ids=["jit", "plain"])
def test_lists_and_dicts_that_are_changed(jit: Any, device: str) -> None:
    def step(params: dict[str, Any], log: list[Any]) -> Tensor:
        old = params["w"]
        params["w"] = params["w"] - 1
        params["old"] = old
        params["inner"][0] += 1
        log.append(params["w"].sum())
        return params["w"] * 2

    run = jit(step)
    w, inner = tw.ones(2), tw.zeros(2)
    params: dict[str, Any] = {"w": w, "inner": [inner]}
    log: list[Any] = []
    for _ in range(3):
        before = params["w"]
        result = run(params, log)
        assert params["old"] is before
        assert_equal(result, params["w"].numpy() * 2)
    assert_equal(w, [1, 1])
    assert_equal(params["w"], [-2, -2])
    assert params["inner"][0] is inner
    assert_equal(inner, [3, 3])
    assert [x.item() for x in log] == [0.0, -2.0, -4.0]


def test_functions_that_only_change_their_argument(device: str) -> None:
    @tw.jit
    def bump(x: Tensor) -> None:
        x += 1

    x = tw.zeros(2)
    for _ in range(3):
        assert bump(x) is None
    assert_equal(x, [3, 3])


@pytest.mark.parametrize("jit", [tw.jit, lambda f: f], ids=["jit", "plain"])
def test_numbers_in_jit_are_values(jit: Any, device: str) -> None:
    def change(s: Tensor) -> Tensor:
        s += 1
        return s

    run = jit(change)
    x = tw.ones(3)
    total = x.sum()
    assert run(total).item() == 4.0
    assert total.item() == 3.0
    data = tw.asarray(3.0)
    assert run(data) is data
    assert data.item() == 4.0
    result = alias = run(total)
    result += 1
    assert (alias.item(), result.item()) == (4.0, 5.0)


def test_writing_into_an_outside_tensor_is_refused(webgpu: str) -> None:
    state = tw.zeros(2)
    kept: list[Tensor] = []

    def step(x: Tensor) -> Tensor:
        state[0] = x[0]
        return x + 1

    def leak(x: Tensor) -> Tensor:
        inside = tw.zeros(2)
        inside[0] = x[0]
        kept.append(inside)
        return x + 1

    for function in (step, leak):
        with pytest.raises(TraceError, match="neither an argument nor a result"):
            tw.jit(function)(tw.ones(2))
    assert_equal(state, [0, 0])

    @tw.jit
    def local(x: Tensor) -> tuple[Tensor, Tensor]:
        inside = tw.zeros(2)
        inside[0] = x[0]
        other = tw.zeros(2)
        other += inside
        return inside, other + 1

    for _ in range(2):
        assert [y.tolist() for y in local(tw.ones(2))] == [[1.0, 0.0], [2.0, 1.0]]


class Pair(NamedTuple):
    """Two tensors."""

    left: Tensor
    right: Tensor


def test_named_tuples_keep_their_names(device: str) -> None:
    @tw.jit
    def swap(pair: Pair) -> Pair:
        return Pair(pair.right, pair.left * 2)

    for _ in range(2):
        result = swap(Pair(tw.ones(1), tw.zeros(1)))
        assert isinstance(result, Pair)
        assert_equal(result.right, [2])


@dataclass
class Model:
    """A model whose weights change, as programs write them."""

    w: tw.Tensor
    scale: float = 2.0
    parts: list[tw.Tensor] = field(default_factory=list)

    def __call__(self, x: tw.Tensor) -> tw.Tensor:
        return x * self.w * self.scale


@pytest.mark.parametrize("jit", [tw.jit, lambda function: function])
def test_weights_of_a_model_are_arguments(jit: Any, device: str) -> None:
    model = Model(tw.asarray([1.0, 2.0]))
    run = jit(lambda model, x: model(x))
    bound = jit(lambda call, x: call(x))
    x = tw.asarray([10.0, 10.0])
    assert run(model, x).tolist() == [20, 40]
    assert bound(model.__call__, x).tolist() == [20, 40]
    assert bound(partial(Model.__call__, model), x).tolist() == [20, 40]
    model.w = tw.asarray([3.0, 4.0])
    assert run(model, x).tolist() == [60, 80]
    assert bound(model.__call__, x).tolist() == [60, 80]
    assert bound(partial(Model.__call__, model), x).tolist() == [60, 80]
    model.scale = 1.0
    assert run(model, x).tolist() == [30, 40]


@pytest.mark.parametrize("jit", [tw.jit, lambda function: function])
def test_assignments_to_a_model_persist(jit: Any, device: str) -> None:
    @jit
    def step(model: Model, x: tw.Tensor) -> tw.Tensor:
        model.w = model.w + x
        model.parts.append(x * 2)
        return model.w

    model = Model(tw.asarray([1.0, 2.0]))
    x = tw.asarray([1.0, 1.0])
    for iteration in range(1, 4):
        step(model, x)
        assert model.w.tolist() == [1 + iteration, 2 + iteration]
        assert len(model.parts) == iteration
        assert model.parts[-1].tolist() == [2, 2]


@pytest.mark.parametrize("jit", [tw.jit, lambda function: function])
def test_dataclasses_keep_their_class(jit: Any, device: str) -> None:
    @dataclass(frozen=True, slots=True)
    class Pair:
        low: tw.Tensor
        high: tw.Tensor

    @jit
    def bounds(x: tw.Tensor) -> Pair:
        return Pair(x - 1, x + 1)

    for value in (1.0, 5.0):
        pair = bounds(tw.asarray(value))
        assert type(pair) is Pair
        assert (pair.low.item(), pair.high.item()) == (value - 1, value + 1)


def test_registered_classes_are_opened(device: str) -> None:
    @register
    class Layer:
        def __init__(self, w: tw.Tensor) -> None:
            self.w = w

    layer, x = Layer(tw.asarray(2.0)), tw.asarray(3.0)
    run = tw.jit(lambda layer, x: layer.w * x)
    assert run(layer, x).item() == 6
    layer.w = tw.asarray(5.0)
    assert run(layer, x).item() == 15


class Plain:
    """An object that nobody can look into."""

    def __init__(self, w: tw.Tensor) -> None:
        self.w = w

    def call(self, x: tw.Tensor) -> tw.Tensor:
        return x * self.w


class Equal(Plain):
    """One that says what equal ones are, and still holds a tensor."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return 1


class Wrapper(Plain):
    """A function with a tensor of its own, as a decorator makes it."""

    __wrapped__ = abs


@dataclass
class Held:
    """An object that is opened, with a value that may be no tensor."""

    value: Any


REFUSED: dict[str, Callable[[tw.Tensor], object]] = {
    "object": Plain,
    "object with a hash": Equal,
    "bound method": lambda w: Plain(w).call,
    "partial": lambda w: partial(Plain.call, Plain(w)),
    "method of a list": lambda w: [w].append,
    "iterator": lambda w: iter([w]),
    "generator of numbers": lambda w: np.random.default_rng(),
    "object with an array": lambda w: Held(np.ones(2)),
    "in a tuple": lambda w: (1, Plain(w)),
    "in a set": lambda w: frozenset([Plain(w)]),
    "wrapper": Wrapper,
}


@pytest.mark.parametrize("kind", REFUSED)
def test_unsupported_containers_are_refused(kind: str, device: str) -> None:
    w = tw.asarray([1.0, 2.0])
    with pytest.raises(TraceError, match="may hold tensors or change"):
        tw.jit(lambda x, other: x)(w, REFUSED[kind](w))


def test_the_error_for_an_array_names_what_makes_a_tensor(device: str) -> None:
    with pytest.raises(TraceError, match=r"type ndarray .*with tw\.asarray\.$"):
        tw.jit(lambda x, labels: x)(tw.ones(2), Held(np.arange(2)))


def test_arrays_are_arguments_that_lie_where_the_others_do(device: str) -> None:
    kinds: list[object] = []

    @tw.jit
    def run(batch: dict[str, Any], scale: Any) -> tw.Tensor:
        kinds.extend((batch["x"], batch["more"][0]))
        return batch["x"] * scale + batch["more"][0]

    x = np.float32([1, 2])
    with tw.device("cpu"):
        for _ in range(2):
            scale = tw.asarray(3.0, device=device)
            result = run({"x": x, "more": (np.int32([0, 1]), 5)}, scale)
            assert result.device == device
            assert result.tolist() == (3 * x + [0, 1]).tolist()
            x += 1  # data, not a constant
    assert all(type(value) is tw.Tensor for value in kinds)
    assert run.recordings <= 1  # none on a device that does not record


def test_arrays_alone_and_of_updated_models(device: str) -> None:
    x = np.float32([[1, 2]])
    assert tw.jit(lambda x: x * 2)(x).tolist() == [[2, 4]]
    assert tw.jit(lambda x: x * 2)(x).device == device
    model = tw.nn.Linear(2, 1)
    step = tw.jit(lambda x: model(x), updates=model)
    with tw.device("cpu"):
        assert step(x).device == device


def test_arrays_are_tensors_too_where_nan_is_searched(device: str) -> None:
    with Search().searching():
        assert type(tw.jit(lambda x: x)(np.float32([1, 2]))) is tw.Tensor


TAKEN = [
    frozenset([1, "a"]),
    len,
    max,
    np.add,
    tw.exp,
    tw.float32,
    int,
    slice(1, 2).indices(3),
    range(3),
]


@pytest.mark.parametrize("value", [*TAKEN, Fraction(1, 2), tw.jit(abs), object(), ...])
def test_static_arguments_are_accepted(value: object, webgpu: str) -> None:
    x = tw.asarray([1.0, 2.0])
    run = tw.jit(lambda x, other: x + 1)
    assert run(x, value).tolist() == [2, 3]
    assert run(x, value).tolist() == [2, 3]
    assert run.recordings == 1


def test_views_in_many_layouts_are_copied_and_recorded_once_more(webgpu: str) -> None:
    long = tw.arange(40.0, device=webgpu)
    run = tw.jit(lambda x: x + 1)
    for start in range(1, 13):
        expected = [start + 1, start + 2, start + 3]
        assert run(long[start : start + 3]).tolist() == expected
    assert run.recordings == LAYOUTS_KEPT + 1
