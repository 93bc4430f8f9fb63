"""Transformations of transformed functions, against the same mathematics without them.

A function is transformed twice or three times; between the transformations stand the
ways in which people pass functions on: lambdas, `functools.wraps`, partials, methods,
callable objects. What must come out is computed by loops and dual numbers in plain
Python (`fuzz/duals.py`), where `jit` and `checkpoint` are nothing.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import tensorweb as tw
from fuzz import duals
from tensorweb import devices

Function = Callable[..., Any]

LARGEST = 200
"""Elements that a result may have."""

TRIES = 30
"""Functions that are tried for one pair, before a smaller one is taken."""


class Base(NamedTuple):
    """A function to transform.

    Attributes:
        text: with `xp` for tensorweb or `fuzz.duals`, and `c` for a constant from
            outside. The function's first argument has the derivatives; `p` is a tree,
            `x` a vector. It may also take `label`, or `scale` by keyword.
        is_number: whether its result is a 0-d tensor.
    """

    text: str
    is_number: bool = True

    @property
    def is_tree(self) -> bool:
        """Whether the first argument is a tree."""
        return self.text.startswith("lambda p")

    def made(self, xp: Any, c: Any) -> Function:
        """Return the function in one of the two libraries."""
        function: Function = eval(self.text, {"xp": xp, "c": c})
        return function


BASES: dict[str, Base] = {
    "cubes": Base("lambda x: (x * x * x * c).sum()"),
    "sines": Base("lambda x: xp.sin(x * c) * x[1]", is_number=False),
    "labelled": Base("lambda x, label: x[label] * x[label] * (x * c).sum()"),
    "scaled": Base("lambda x, *, scale: xp.sin(x * scale).sum() * x[0]"),
    "parameters": Base("lambda p: (p['w'] * p['w'] * c).sum() * p['b'][p['n']]"),
    "grad inside": Base(
        "lambda x: (xp.grad(lambda y: (y * y * y * x).sum())(x * c) * x).sum()"
    ),
    "vmap inside": Base("lambda x: xp.vmap(lambda y: xp.sin(x * y))(c).sum() * x[2]"),
    "jit inside": Base("lambda x: xp.jit(lambda y: y * x * x)(c + x)", is_number=False),
    "pair": Base(
        "lambda p: (p['w'] * p['b'][0], {'s': (p['b'] * p['b']).sum()})",
        is_number=False,
    ),
}


def _custom_vjp(f: Function) -> Function:
    def backward(needed: Any, cotangent: Any) -> Any:
        x, *rest = needed
        _, pull = tw.vjp(lambda x: f(x, *rest), x)
        return (*pull(cotangent), *(None for _ in rest))

    return tw.custom_vjp(f, lambda *a: (f(*a), a), backward)


def _custom_jvp(f: Function) -> Function:
    def rule(primals: Any, tangents: Any) -> Any:
        x, *rest = primals
        return tw.jvp(lambda x: f(x, *rest), (x,), (tangents[0],))

    return tw.custom_jvp(f, rule)


def _vjp(f: Function) -> Function:
    def pulled(x: Any, *rest: Any, **keywords: Any) -> Any:
        y, pull = tw.vjp(lambda x: f(x, *rest, **keywords), x)
        return pull(tw.tree.map(_twos, y))[0]

    return pulled


def _jvp(f: Function) -> Function:
    def pushed(x: Any, *rest: Any, **keywords: Any) -> Any:
        inner = functools.partial(f, **keywords)
        tangent = tw.tree.map(_twos, x)
        return tw.jvp(lambda x: inner(x, *rest), (x,), (tangent,))[1]

    return pushed


def _twos(leaf: Any) -> Any:
    if leaf is None or leaf.dtype.kind != "float":
        return leaf
    return tw.full_like(leaf, 2.0)


def _same(f: Function) -> Function:
    return f


def _total(f: Function) -> Function:
    return lambda *a, **k: sum(
        np.asarray(leaf, object).sum()
        for leaf in duals.leaves(f(*a, **k))
        if duals.is_float(leaf)
    )


class Transformation(NamedTuple):
    """A transformation and what it must give.

    Attributes:
        apply: to a function of tensors.
        expected: the same for functions of arrays of objects.
        needs: of the result, `number`, `floats` (no None in it) or nothing.
        order: of the derivatives that it adds to a result's shape.
    """

    apply: Callable[[Function], Function]
    expected: Callable[[Function], Function]
    needs: str = ""
    order: int = 0


def _along_twos(f: Function) -> Function:
    push = duals.pushed(f, lambda x: duals.mapped(lambda leaf: 2.0, x))
    return lambda *a, **k: push(*a, **k)[1]


def _against_twos(f: Function) -> Function:
    total = _total(f)
    return duals.grad(lambda *a, **k: total(*a, **k) * 2.0)


TRANSFORMATIONS: dict[str, Transformation] = {
    "jit": Transformation(tw.jit, _same),
    "checkpoint": Transformation(tw.checkpoint, _same),
    "grad": Transformation(tw.grad, duals.grad, "number", 1),
    "value_and_grad": Transformation(
        tw.value_and_grad,
        lambda f: lambda *a, **k: (f(*a, **k), duals.grad(f)(*a, **k)),
        *("number", 1),
    ),
    "vjp": Transformation(_vjp, _against_twos),
    "jvp": Transformation(_jvp, _along_twos),
    "vmap": Transformation(tw.vmap, duals.vmap),
    "jacrev": Transformation(tw.jacrev, duals.jacobian, order=1),
    "jacfwd": Transformation(tw.jacfwd, duals.jacobian, order=1),
    "hessian": Transformation(
        tw.hessian, lambda f: duals.jacobian(duals.jacobian(f)), order=2
    ),
    "custom_vjp": Transformation(_custom_vjp, _same),
    "custom_jvp": Transformation(_custom_jvp, _same),
}


def _wrapped(f: Function) -> Function:
    @functools.wraps(f)
    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        return f(*arguments, **keywords)

    return wrapper


class _Object:
    """Holds a function and is one."""

    def __init__(self, f: Function) -> None:
        self.f = f

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.f(*arguments, **keywords)

    def method(self, *arguments: Any, **keywords: Any) -> Any:
        return self.f(*arguments, **keywords)


def _method(attribute: Any) -> Function:
    """Return a class's only method, bound to an instance."""
    bound_method: Function = type("Holder", (), {"method": attribute})().method
    return bound_method


def _unbound(f: Function) -> Function:
    """Return a function that ignores its first argument, an instance or a class."""
    return lambda _, *a, **k: f(*a, **k)


DRESSES: dict[str, Callable[[Function], Function]] = {
    "": _same,
    "lambda": lambda f: lambda *a, **k: f(*a, **k),
    "wraps": _wrapped,
    "partial": functools.partial,
    "method": lambda f: _Object(f).method,
    "object": _Object,
    "wrapped object": lambda f: functools.wraps(f)(_Object(f)),
    "static": lambda f: _method(staticmethod(f)),
    "class method": lambda f: _method(classmethod(_unbound(f))),
    "method under jit": lambda f: _method(tw.jit(_unbound(f))),
    "method under checkpoint": lambda f: _method(tw.checkpoint(_unbound(f))),
}
"""Ways in which people pass functions on."""


@dataclass(slots=True)
class Nested:
    """A function, transformed.

    Attributes:
        name: what was done to it, the last in front.
        function: of tensors.
        expected: of arrays of objects.
        base: what was transformed.
        batches: how often it is mapped over a batch.
        is_number: whether the result is 0-d.
        size: about how many elements the result has.
        calls: how often a call is done, so that `jit` replays.
    """

    name: str
    function: Function
    expected: Function
    base: Base
    batches: int = 0
    is_number: bool = False
    size: int = 1
    calls: int = field(default=2)

    def dressed(self, name: str) -> None:
        """Pass the function on in one of the ways."""
        if name:
            self.function = DRESSES[name](self.function)
            self.name = f"{name.replace(' ', '_')}({self.name})"

    def summed(self) -> None:
        """Make the result one number."""
        inner = self.function
        self.function = lambda *a, **k: sum(
            leaf.sum()
            for leaf in tw.tree.leaves(inner(*a, **k))
            if leaf is not None and leaf.dtype.kind == "float"
        )
        self.expected, self.is_number, self.size = _total(self.expected), True, 1
        self.name = f"total({self.name})"

    def transformed(self, name: str) -> bool:
        """Apply a transformation; return whether it can be."""
        one = TRANSFORMATIONS[name]
        if name.startswith("custom") and "scale" in self.base.text:
            return False
        if one.needs == "number" and not self.is_number:
            self.summed()
        elements = (5 if self.base.is_tree else 3) * 2**self.batches
        self.size *= elements**one.order * (2 if name == "vmap" else 1)
        if self.size > LARGEST:
            return False
        self.function, self.expected = (
            one.apply(self.function),
            one.expected(self.expected),
        )
        self.batches += name == "vmap"
        self.is_number = self.is_number and one.expected is _same
        self.name = f"{name}({self.name})"
        return True


def drawn(seed: str) -> Nested:
    """Return the nested transformations of a seed, whose last number selects a pair."""
    rng = random.Random(seed)
    names = list(TRANSFORMATIONS)
    number = int(seed.rpartition("-")[2]) % len(names) ** 2
    chosen = [names[number % len(names)], names[number // len(names)]]
    if rng.random() < 0.4:
        chosen.insert(rng.randrange(3), rng.choice(names))
    tries = itertools.count()
    while True:
        if next(tries) == TRIES:  # Three are too many here, or of a tree two.
            chosen = [names[number % len(names)], "jit"]
        base_name = rng.choice(list(BASES))
        base = BASES[base_name]
        constant = np.array([0.5, -1.0, 0.25])
        data = tw.asarray(constant, dtype=_dtype())
        nested = Nested(
            base_name,
            base.made(tw, data),
            base.made(duals, constant.astype(object)),
            base,
            is_number=base.is_number,
        )
        fits = True
        for name in chosen:
            nested.dressed(rng.choice(["", *DRESSES]))
            fits = fits and nested.transformed(name)
        nested.dressed(rng.choice(["", "", *DRESSES]))
        if fits:
            return nested


def _dtype() -> Any:
    dtypes = devices.backend(tw.default_device()).dtypes
    return tw.float64 if "float64" in dtypes else tw.float32


def _arguments(nested: Nested, seed: str) -> tuple[list[Any], dict[str, Any]]:
    """Return arrays for a call."""
    data = np.random.default_rng(random.Random(seed).randrange(1 << 30))
    front = (2,) * nested.batches

    def floats(*shape: int) -> Any:
        return data.integers(-8, 9, front + shape) / 8

    labels = data.integers(0, 3, front).astype(np.int32)
    first: Any = floats(3)
    if nested.base.is_tree:
        first = {"b": floats(2), "n": labels % 2, "w": first}
    extra = [labels] if "label" in nested.base.text else []
    named = {"scale": floats()} if "scale" in nested.base.text else {}
    return [first, *extra], named


def _as_tensors(tree: Any) -> Any:
    def one(leaf: Any) -> tw.Tensor:
        is_float = leaf.dtype.kind == "f"
        return tw.asarray(leaf, dtype=_dtype() if is_float else tw.int32)

    return duals.mapped(one, tree)


def failures(seed: str) -> Iterator[str]:
    """Yield what is wrong with the transformations of a seed, in words."""
    nested = drawn(seed)
    tolerance = 1e-9 if _dtype() is tw.float64 else 2e-4
    for call in range(nested.calls):
        arguments, named = _arguments(nested, f"{seed} {call}")
        given, keywords = _as_tensors(tuple(arguments)), _as_tensors(named)
        try:
            result = nested.function(*given, **keywords)
            got = [
                None if leaf is None else leaf.numpy() for leaf in duals.leaves(result)
            ]
        except Exception as error:
            yield f"{nested.name}: {type(error).__name__}: {error}"
            return
        expected = duals.leaves(nested.expected(*arguments, **named))
        words = _different(got, expected, tolerance)
        if words:
            yield f"{nested.name}: {words}"
            return


def _different(got: list[Any], expected: list[Any], tolerance: float) -> str:
    """Return how leaves differ, "" if they do not."""
    if len(got) != len(expected):
        return f"{len(got)} leaves, and {len(expected)} are expected"
    for mine, other in zip(got, expected, strict=True):
        if (mine is None) != (other is None):
            return f"{mine} where {other} is expected"
        if mine is None:
            continue
        exact = np.asarray(other).astype(np.float64)
        if mine.shape != exact.shape:
            return f"shape {mine.shape} where {exact.shape} is expected"
        if not np.allclose(
            mine, exact, tolerance, tolerance * (1 + np.abs(exact).max(initial=0))
        ):
            return f"{mine.tolist()} where {exact.tolist()} is expected"
    return ""
