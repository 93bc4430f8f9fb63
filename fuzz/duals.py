"""Derivatives by nested dual numbers: what transformations must give, in plain Python.

The reference for `fuzz/meetings.py`. It shares nothing with tensorweb: a function runs
on NumPy's arrays of objects, once for each element by which it is differentiated.

Source: J. Siskind and B. Pearlmutter, Nesting forward-mode AD in a functional
framework, Higher-Order and Symbolic Computation 21 (2008).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

Function = Callable[..., Any]

_tags = itertools.count(1)


class Dual:
    """`a + b ε`; each derivative has an ε of its own, identified by the tag."""

    __slots__ = ("a", "b", "tag")

    def __init__(self, tag: int, a: Any, b: Any) -> None:
        """Hold a value and its derivative."""
        self.tag, self.a, self.b = tag, a, b

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        tag, x, y = _aligned(self, other)
        return Dual(tag, x[0] + y[0], x[1] + y[1])

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        tag, x, y = _aligned(self, other)
        return Dual(tag, x[0] * y[0], x[0] * y[1] + x[1] * y[0])

    def __neg__(self) -> Dual:
        return Dual(self.tag, -self.a, -self.b)

    def __sub__(self, other: Any) -> Any:
        return self + -other

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Any:
        return -self + other


def _aligned(x: Any, y: Any) -> tuple[int, tuple[Any, Any], tuple[Any, Any]]:
    tag = max(getattr(each, "tag", 0) for each in (x, y))
    return tag, _parts(x, tag), _parts(y, tag)


def _parts(x: Any, tag: int) -> tuple[Any, Any]:
    return (x.a, x.b) if isinstance(x, Dual) and x.tag == tag else (x, 0.0)


def _sine(x: Any, quarter: int) -> Any:
    """Return the derivative of the sine of that number."""
    if isinstance(x, Dual):
        return Dual(x.tag, _sine(x.a, quarter), _sine(x.a, quarter + 1) * x.b)
    return math.sin(x + quarter * math.pi / 2)


def sin(x: Any) -> Any:
    """Return sines of an array of objects."""
    return _each(lambda value: _sine(value, 0), x)


def _each(function: Callable[[Any], Any], x: Any) -> Any:
    result = np.empty(np.shape(x), object)
    for index, value in np.ndenumerate(np.asarray(x, object)):
        result[index] = function(value)
    return result


def mapped(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Return a tree of dicts and tuples with a function of its leaves."""
    if isinstance(tree, dict):
        return {
            k: mapped(function, v, *(o[k] for o in others)) for k, v in tree.items()
        }
    if isinstance(tree, tuple):
        parts = zip(tree, *others, strict=True)
        return tuple(mapped(function, *part) for part in parts)
    return function(tree, *others)


def leaves(tree: Any) -> list[Any]:
    """Return the leaves of a tree, from left to right."""
    if isinstance(tree, dict):
        return [leaf for key in tree for leaf in leaves(tree[key])]
    if isinstance(tree, tuple):
        return [leaf for part in tree for leaf in leaves(part)]
    return [tree]


def is_float(leaf: Any) -> bool:
    """Whether an array has a derivative: all but integers and None."""
    return leaf is not None and np.asarray(leaf).dtype.kind != "i"


def pushed(function: Function, tangent_of: Callable[[Any], Any]) -> Function:
    """Return a function's derivative along tangents of its first argument."""

    def pushforward(x: Any, *rest: Any, **keywords: Any) -> tuple[Any, Any]:
        tag = next(_tags)

        def dual_of(value: Any, tangent: Any) -> Any:
            if not is_float(value):
                return value
            made = np.empty(np.shape(value), object)
            wide = np.broadcast_to(np.asarray(tangent, object), made.shape)
            for index, element in np.ndenumerate(np.asarray(value, object)):
                made[index] = Dual(tag, element, wide[index])
            return made

        result = function(mapped(dual_of, x, tangent_of(x)), *rest, **keywords)

        def part(number: int) -> Callable[[Any], Any]:
            return lambda leaf: (
                _each(lambda e: _parts(e, tag)[number], leaf)
                if is_float(leaf)
                else (leaf if number == 0 else None)
            )

        return mapped(part(0), result), mapped(part(1), result)

    return pushforward


def jacobian(function: Function) -> Function:
    """Return the tree of the result with trees of all first derivatives in it."""

    def derivative(x: Any, *rest: Any, **keywords: Any) -> Any:
        columns = []
        given = leaves(x)
        for leaf_index, leaf in enumerate(given):
            if not is_float(leaf):
                continue
            for index in np.ndindex(np.shape(leaf)):

                def unit(tree: Any, at: int = leaf_index, index: Any = index) -> Any:
                    number = itertools.count()

                    def tangent(each: Any) -> Any:
                        made = np.zeros(np.shape(each))
                        if next(number) == at:
                            made[index] = 1.0
                        return made

                    return mapped(tangent, tree)

                columns.append(pushed(function, unit)(x, *rest, **keywords)[1])

        def derivatives(*of_result: Any) -> Any:
            if of_result[0] is None:
                return None
            taken = iter(of_result)

            def of_leaf(leaf: Any) -> Any:
                if not is_float(leaf):
                    return None
                shape = np.shape(leaf)
                parts = [next(taken) for _ in range(math.prod(shape))]
                stacked = np.empty((len(parts), *np.shape(parts[0])), object)
                for number, each in enumerate(parts):
                    stacked[number, ...] = each
                wide = np.moveaxis(stacked, 0, -1)
                return wide.reshape((*np.shape(parts[0]), *shape))

            return mapped(of_leaf, x)

        return mapped(derivatives, *columns)

    return derivative


def grad(function: Function) -> Function:
    """Return the gradient of a function whose result is one number."""
    return jacobian(function)


def jit(function: Function) -> Function:
    """Return the function."""
    return function


def vmap(function: Function) -> Function:
    """Return a function of examples as one of batches, by a loop."""

    def batched(*arguments: Any, **keywords: Any) -> Any:
        size = len(leaves(arguments)[0])

        def example(number: int) -> Any:
            chosen = mapped(lambda leaf: leaf[number], arguments)
            named = {key: value[number] for key, value in keywords.items()}
            return function(*chosen, **named)

        results = [example(number) for number in range(size)]

        def stacked(*parts: Any) -> Any:
            if parts[0] is None:
                return None
            made = np.empty((size, *np.shape(parts[0])), object)
            for number, part in enumerate(parts):
                made[number, ...] = part
            return made

        return mapped(stacked, *results)

    return batched
