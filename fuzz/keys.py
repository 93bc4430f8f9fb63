"""Random index keys: what `x[key]` reads and writes, and the derivatives of both.

A key mixes integers, slices, None, an ellipsis, lists of integers and masks. What is
done with it is linear, so that NumPy's function is its own tangent, and a gradient is
right if its product with any point is that of the weights with the function's result.
Numbers are small integers, so that results are equal bit by bit.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import tensorweb as tw

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A key, and arrays to read from and values to write, both of small integers.

    Attributes:
        key: as NumPy takes it.
        points: pairs of an array and values, which broadcast to what the key names.
        numbers: makes the weights of a result.
    """

    key: Key
    points: list[tuple[Any, Any]]
    numbers: np.random.Generator

    @property
    def x(self) -> Any:
        """The array that is read or written."""
        return self.points[0][0]

    @property
    def values(self) -> Any:
        """The values that are written."""
        return self.points[0][1]

    @property
    def has_mask(self) -> bool:
        """Whether the key has a mask, whose count of elements must be read."""
        return any(getattr(part, "dtype", None) == np.bool_ for part in self.key)

    @property
    def code(self) -> str:
        """Return the key as Python writes it."""
        return f"x{self.x.shape}[{key_text(self.key)}]"

    def weights_for(self, function: Callable[..., Any]) -> Any:
        """Return weights of a function's result: its cotangent."""
        return _small(self.numbers, np.shape(function(self.x, self.key, self.values)))


def _small(numbers: np.random.Generator, shape: Any) -> Any:
    return numbers.integers(-9, 10, shape).astype(np.float32)


def key_text(key: Key) -> str:
    """Return a key as Python writes it between brackets."""
    return ", ".join(_text(part) for part in key) or "..."


def _text(part: Any) -> str:
    if isinstance(part, slice):
        ends = [part.start, part.stop, part.step]
        return ":".join("" if end is None else str(end) for end in ends)
    if part is Ellipsis:
        return "..."
    return str(part.tolist() if isinstance(part, np.ndarray) else part)


def drawn(seed: str) -> Case:
    """Return the case of a seed."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(rng.randrange(2**32))
    while True:
        shape = tuple(rng.choice((1, 2, 2, 3, 3, 4)) for _ in range(rng.randint(1, 5)))
        key = drawn_key(rng, numbers, shape)
        try:
            read = np.shape(np.empty(shape)[key])
        except IndexError:  # index tensors that do not broadcast
            continue
        if np.prod(read) <= 4000:
            break
    part = read[rng.randint(0, len(read)) :] if rng.random() < 0.3 else read
    points = [(_small(numbers, shape), _small(numbers, part)) for _ in range(3)]
    return Case(key, points, numbers)


def drawn_key(
    rng: random.Random, numbers: Any, shape: tuple[int, ...], *, is_plain: bool = False
) -> Key:
    """Return a key for a shape; its index tensors may not broadcast.

    A plain one has integers, slices, None and an ellipsis alone.
    """
    key: list[Any] = []
    axis = 0
    together = _index_shape(rng)
    while axis < len(shape) and rng.random() < 0.93:
        length = shape[axis]
        kind = rng.random() * (0.6 if is_plain else 1)
        if kind < 0.1:
            key.append(None)
        elif kind < 0.16 and not any(part is Ellipsis for part in key):
            key.append(Ellipsis)
            axis += rng.randint(0, len(shape) - axis)
            # What stands behind it is counted from the end.
        elif kind < 0.36 and length:
            key.append(rng.randrange(-length, length))
            axis += 1
        elif kind < 0.6 or not length:
            first, last = (
                rng.choice((None, rng.randint(-length, length))) for _ in range(2)
            )
            key.append(slice(first, last, rng.choice((None, None, 1, 2, 3, -1, -2))))
            axis += 1
        elif kind < 0.93:
            size = together if rng.random() < 0.8 else _narrowed(rng, together)
            indices = numbers.integers(-length, length, size)
            key.append(indices.tolist() if rng.random() < 0.5 else indices)
            axis += 1
        else:
            count = rng.randint(1, min(2, len(shape) - axis))
            count = 1 if 0 in shape[axis : axis + count] else count
            key.append(numbers.random(shape[axis : axis + count]) < 0.5)
            axis += count
    return _fitting(key, shape)


def _index_shape(rng: random.Random) -> tuple[int, ...]:
    return tuple(rng.choice((1, 2, 3)) for _ in range(rng.choice((1, 1, 1, 2, 2, 0))))


def _narrowed(rng: random.Random, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape that broadcasts to another one."""
    cut = shape[rng.randint(0, len(shape)) :]
    return tuple(1 if rng.random() < 0.3 else length for length in cut)


def _fitting(key: list[Any], shape: tuple[int, ...]) -> Key:
    """Return the longest part of a key that NumPy takes for a shape."""
    while key:
        try:
            np.empty(shape)[tuple(key)]
        except IndexError:
            key = key[:-1]
        else:
            break
    return tuple(key)


def failures(seed: str) -> Iterator[str]:
    """Yield what tensorweb answers otherwise than NumPy, in words."""
    case = drawn(seed)
    for name, (ours, expected) in FUNCTIONS.items():
        for way, question in WAYS.items():
            if way == "jit" and case.has_mask:
                continue
            try:
                pairs = list(question(case, ours, expected))
            except Exception as error:  # every error is one too many here
                yield f"{way} of {name} {case.code}: {type(error).__name__}: {error}"
                continue
            for got, required in pairs:
                a, b = np.asarray(got), np.asarray(required)
                if a.shape != b.shape or not np.array_equal(a, b):
                    texts = f"{a.tolist()}, not {b.tolist()}"
                    yield f"{way} of {name} {case.code}: {texts}"


def _tensor(array: Any) -> Any:
    return tw.asarray(np.asarray(array, np.float32))


def _set(x: Any, key: Key, values: Any) -> Any:
    made = x.copy()
    made[key] = values
    return made


def _added(x: Any, key: Key, values: Any) -> Any:
    made = np.array(x)
    # NumPy 2.4 adds broadcast values to a 1-D array in part only.
    np.add.at(made, key, np.broadcast_to(values, np.shape(x[key])).copy())
    return made


Function = Callable[[Any, Key, Any], Any]
"""Of an array, a key and values; linear in the array and the values together."""

FUNCTIONS: dict[str, tuple[Function, Function]] = {
    "read": (lambda x, key, v: x[key] * 1, lambda x, key, v: x[key]),
    "set": (lambda x, key, v: x.at[key].set(v), _set),
    "add": (lambda x, key, v: x.at[key].add(v), _added),
}
"""In tensorweb and in NumPy."""

Pairs = Iterator[tuple[Any, Any]]


def _value(case: Case, ours: Function, expected: Function) -> Pairs:
    got = ours(_tensor(case.x), case.key, _tensor(case.values))
    yield got, expected(case.x, case.key, case.values)


def _tangent(case: Case, ours: Function, expected: Function) -> Pairs:
    """Compare tangents: a linear function is its own derivative."""
    point, along = ([_tensor(a) for a in arrays] for arrays in case.points[:2])
    got = tw.jvp(lambda x, v: ours(x, case.key, v), tuple(point), tuple(along))[1]
    x, v = case.points[1]
    yield got, expected(x, case.key, v)


def _products(case: Case, expected: Function, gradients: Any, weights: Any) -> Pairs:
    """Compare products of gradients with points: those of weights with the results."""
    for x, v in case.points:
        inner = sum(
            (np.asarray(gradient) * along).sum()
            for gradient, along in zip(gradients, (x, v), strict=True)
            if gradient is not None
        )
        yield inner, (weights * expected(x, case.key, v)).sum()


def _loss(case: Case, ours: Function, weights: Any) -> Callable[..., Any]:
    w = _tensor(weights)

    def loss(x: Any, v: Any, key: Key = case.key) -> Any:
        return (ours(x, key, v) * w).sum()

    return loss


def _gradient(case: Case, ours: Function, expected: Function) -> Pairs:
    weights = case.weights_for(expected)
    point = (_tensor(case.x), _tensor(case.values))
    gradient: Any = tw.grad(_loss(case, ours, weights), (0, 1))
    gradients = gradient(*point)
    yield from _products(case, expected, gradients, weights)


def _backward(case: Case, ours: Function, expected: Function) -> Pairs:
    weights = case.weights_for(expected)
    point = [_tensor(case.x), _tensor(case.values)]
    for tensor in point:
        tensor.requires_grad = True
    _loss(case, ours, weights)(*point).backward()
    yield from _products(case, expected, [each.grad for each in point], weights)


def _jit(case: Case, ours: Function, expected: Function) -> Pairs:
    """Compare a jitted gradient; index lists are arguments."""
    axes = [n for n, part in enumerate(case.key) if isinstance(part, list)]
    weights = case.weights_for(expected)

    def gradient(x: Any, v: Any, indices: list[Any]) -> Any:
        key = list(case.key)
        for axis, index in zip(axes, indices, strict=True):
            key[axis] = index
        loss = _loss(case, ours, weights)

        def of_both(x: Any, v: Any) -> Any:
            return loss(x, v, tuple(key))

        by_both: Any = tw.grad(of_both, (0, 1))
        return by_both(x, v)

    indices = [tw.asarray(np.asarray(case.key[n], np.int32)) for n in axes]
    gradients = tw.jit(gradient)(_tensor(case.x), _tensor(case.values), indices)
    yield from _products(case, expected, gradients, weights)


def _batch(case: Case, ours: Function, expected: Function) -> Pairs:
    """Compare values and gradients of a batch of three."""
    xs, vs = (_tensor(np.stack(arrays)) for arrays in zip(*case.points, strict=True))
    got = tw.vmap(lambda x, v: ours(x, case.key, v))(xs, vs)
    yield got, np.stack([expected(x, case.key, v) for x, v in case.points])
    weights = case.weights_for(expected)
    loss = _loss(case, lambda x, key, v: ours(x, key, v) ** 2, weights)
    gradients = tw.vmap(tw.grad(loss, (0, 1)))(xs, vs)
    for index, (x, v) in enumerate(case.points):
        doubled = 2 * weights * expected(x, case.key, v)
        each = [None if g is None else np.asarray(g)[index] for g in gradients]
        yield from _products(case, expected, each, doubled)


WAYS: dict[str, Callable[[Case, Function, Function], Pairs]] = {
    "value": _value,
    "tangent": _tangent,
    "gradient": _gradient,
    "backward": _backward,
    "batch": _batch,
    "jit": _jit,
}
"""Pairs of functions by name; the results of each pair must be equal."""
