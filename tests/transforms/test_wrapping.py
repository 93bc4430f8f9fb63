"""Transformed functions as functions: wrapped, copied, bound as methods."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from checks import assert_equal

import tensorweb as tw
from tensorweb.errors import TraceError

Function = Callable[..., Any]


def cubes(x: Any) -> Any:
    """Return the sum of cubes."""
    return (x**3).sum()


@tw.jit
def halved(x: Any) -> Any:
    """Return half of it."""
    return x / 2


def once(function: Function) -> Function:
    """Wrap a function as users do; the caller counts."""

    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args) + function(*args)

    return wrapper


def test_the_state_of_a_wrapped_object_stays_its_own(device: str) -> None:
    class Held:
        def __init__(self, f: Function) -> None:
            self.f = f

        def __call__(self, x: Any) -> Any:
            return self.f(x)

    def held(f: Function) -> Function:
        return functools.wraps(f)(Held(f))

    x = tw.asarray([[1.0, 2.0], [3.0, 4.0]])
    found = held(tw.vmap(held(tw.grad(cubes))))(x)
    assert found.tolist() == [[3, 12], [27, 48]]


OUTER: dict[str, tuple[Function, Any]] = {
    "jit": (tw.jit, 36.0),
    "grad": (tw.grad, [3.0, 12.0, 27.0]),
    "value_and_grad": (tw.value_and_grad, (36.0, [3.0, 12.0, 27.0])),
    "jacrev": (tw.jacrev, [3.0, 12.0, 27.0]),
    "jacfwd": (tw.jacfwd, [3.0, 12.0, 27.0]),
    "hessian": (tw.hessian, [[6.0, 0, 0], [0, 12.0, 0], [0, 0, 18.0]]),
    "checkpoint": (tw.checkpoint, 36.0),
    "no_grad": (tw.no_grad(), 36.0),
    "twice": (once, 72.0),
}


@pytest.mark.parametrize("name", OUTER)
def test_jit_of_a_transformation_of_a_jitted_function(name: str, device: str) -> None:
    transform, want = OUTER[name]
    x = tw.asarray([1.0, 2.0, 3.0])
    jitted = tw.jit(cubes)
    assert_equal(jitted(x), 36.0)
    for _ in range(2):
        found = tw.jit(transform(jitted))(x)
        assert tw.tree.map(lambda leaf: leaf.tolist(), found) == want
    assert_equal(jitted(x), 36.0)


def test_attributes_of_a_function_never_become_state(device: str) -> None:
    function = functools.wraps(tw.jit(cubes))(lambda x: x * 2)
    names = ("_function", "_known", "_record", "_recorder", "recordings", "_updates")
    for name in names:
        function.__dict__[name] = cubes
    function.__dict__["marker"] = "kept"
    jitted: Any = tw.jit(function)
    assert_equal(jitted(tw.ones(2)), [2, 2])
    assert_equal(jitted(tw.ones(2)), [2, 2])
    assert isinstance(jitted.recordings, int)
    assert jitted.marker == "kept"
    assert jitted.__wrapped__ is function


def test_a_transformed_function_looks_like_the_function() -> None:
    for transform in (tw.jit, tw.grad, tw.vmap, tw.checkpoint, tw.jacfwd):
        made: Any = transform(cubes)
        assert (made.__name__, made.__doc__) == ("cubes", cubes.__doc__)
        assert list(inspect.signature(made).parameters) == ["x"]


class Callables:
    """A callable object whose attributes are its state."""

    def __init__(self, scale: float) -> None:
        self.scale = scale
        self._function = "mine"

    def __call__(self, x: Any) -> Any:
        return (x * self.scale).sum()


def test_callable_objects_partials_and_classes(device: str) -> None:
    x = tw.asarray([1.0, 2.0])
    scaled = Callables(3.0)
    gradient: Any = tw.grad(scaled)
    assert not hasattr(gradient, "scale")
    assert_equal(tw.jit(gradient)(x), [3, 3])
    assert_equal(tw.jit(tw.jit(scaled))(x), 9)
    power = functools.partial(lambda n, x: (x**n).sum(), 2)
    assert_equal(tw.jit(tw.grad(tw.jit(power)))(x), [2, 4])

    @dataclass
    class Pair:
        first: Any
        second: Any

    pair = tw.jit(Pair)(x, x * 2)
    assert type(pair) is Pair
    assert_equal(pair.second, [2, 4])


class Model:
    """A plain class with jitted methods of every kind."""

    factor = 3.0

    def __init__(self, w: list[float]) -> None:
        self.w = tw.asarray(w)
        self.calls = 0

    @tw.jit
    def forward(self, x: Any, scale: float = 1.0) -> Any:
        return (self.w * x).sum() * scale

    @tw.jit
    def move(self, by: Any) -> None:
        self.w = self.w + by
        self.calls += 1

    @staticmethod
    @tw.jit
    def inner_static(x: Any) -> Any:
        return x * 2

    @tw.jit
    @staticmethod
    def outer_static(x: Any) -> Any:
        return x * 2

    @classmethod
    @tw.jit
    def inner_class(cls, x: Any) -> Any:
        return x * cls.factor

    @tw.jit
    @classmethod
    def outer_class(cls, x: Any) -> Any:
        return x * cls.factor

    @tw.vmap
    @staticmethod
    def mapped(x: Any) -> Any:
        return x * 2

    @functools.partial(tw.grad, argnums=1)
    def gradient(self, x: Any) -> Any:
        return self.forward(x)


class Sub(Model):
    """Inherits the methods."""

    factor = 5.0


def test_jitted_methods_see_the_object_as_it_is(device: str) -> None:
    x = tw.asarray([1.0, 2.0])
    one, other = Model([1.0, 1.0]), Sub([10.0, 10.0])
    assert_equal(one.forward(x), 3)
    assert_equal(other.forward(x), 30)
    assert_equal(Model.forward(one, x), 3)
    assert_equal(one.forward(x, scale=2.0), 6)
    one.w = one.w * 2
    assert_equal(one.forward(x), 6)
    one.move(1.0 * tw.ones(2))
    one.move(1.0 * tw.ones(2))
    assert_equal(one.w, [4, 4])
    assert one.calls == 2
    assert_equal(one.forward(x), 12)
    assert_equal(one.gradient(x), [4, 4])
    assert_equal(tw.jit(tw.grad(one.forward))(x), [4, 4])
    assert_equal(tw.jit(tw.vmap(one.forward))(tw.stack([x, x])), [12, 12])
    if device == "webgpu":
        assert one.forward.recordings == Model.forward.recordings > 0  # type: ignore[attr-defined]  # of the function


def test_static_and_class_methods_in_either_order(device: str) -> None:
    x = tw.asarray([1.0, 2.0])
    for owner in (Model, Model([1.0])):
        for method in (owner.inner_static, owner.outer_static, owner.mapped):
            assert_equal(method(x), [2, 4])
        for bound in (owner.inner_class, owner.outer_class):
            assert_equal(bound(x), [3, 6])
    assert_equal(Sub.inner_class(x), [5, 10])
    assert_equal(Sub.outer_class(x), [5, 10])


class Slotted:
    """Has its state in slots, one of them with a mangled name."""

    __slots__ = ("__k", "w")

    def __init__(self) -> None:
        self.w = tw.asarray([1.0, 2.0])
        self.__k = 2.0

    def multiply(self, by: float) -> None:
        self.__k *= by

    @tw.jit
    def scaled(self) -> Any:
        return self.w * self.__k


def test_slots_are_attributes(device: str) -> None:
    made = Slotted()
    assert_equal(made.scaled(), [2, 4])
    made.multiply(2)
    assert_equal(made.scaled(), [4, 8])
    made.w = tw.ones(2)
    assert_equal(made.scaled(), [4, 4])


class Hashed:
    """Says itself which of its objects are equal."""

    def __init__(self, k: float) -> None:
        self.k = k

    def __hash__(self) -> int:
        return hash(self.k)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hashed) and self.k == other.k

    @tw.jit
    def scaled(self, x: Any) -> Any:
        return x * self.k


def test_equal_objects_share_a_recording(device: str) -> None:
    for k in (2.0, 3.0, 2.0):
        assert_equal(Hashed(k).scaled(tw.ones(2)), [k, k])
    if device == "webgpu":
        assert Hashed.scaled.recordings == 2


def test_hashed_objects_with_tensors_are_refused(device: str) -> None:
    for value in (tw.ones(2), [tw.ones(2)], {"a": (tw.ones(2),)}):
        made = Hashed(2.0)
        made.k = value  # type: ignore[assignment]  # what nobody should do
        with pytest.raises(TraceError, match="may hold tensors or change"):
            made.scaled(tw.ones(2))


def test_copies_and_pickles_behave_as_functions(device: str) -> None:
    halved(tw.ones(2))
    assert copy.copy(halved) is copy.deepcopy(halved) is halved
    assert pickle.loads(pickle.dumps(halved)) is halved

    class Holder:
        def __init__(self, w: float) -> None:
            self.w = w
            self.call = tw.jit(self.product)

        def product(self, x: Any) -> Any:
            return x * self.w

    one = Holder(2.0)
    assert_equal(one.call(tw.ones(2)), [2, 2])
    other = copy.deepcopy(one)
    other.w = 3.0
    assert_equal(other.call(tw.ones(2)), [3, 3])
    assert_equal(one.call(tw.ones(2)), [2, 2])
