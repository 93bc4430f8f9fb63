"""Random index keys: what `x[key]` reads and writes, and the derivatives of both.

A key mixes integers, slices, None, an ellipsis, lists of integers and masks. NumPy
answers everything: the derivative of what was read is `np.add.at` of the cotangent.
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
    """A key, an array and what is written into it.

    Attributes:
        key: as NumPy takes it.
        x: the array.
        values: broadcast to what the key names.
        weights: of the elements that are read; the cotangent of a read.
        outer: of all elements; the cotangent of a write.
    """

    key: Key
    x: Any
    values: Any
    weights: Any
    outer: Any

    @property
    def code(self) -> str:
        """Return the key as Python writes it."""
        texts = [_text(part) for part in self.key]
        return f"x{self.x.shape}[{', '.join(texts)}]"


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
        x = numbers.integers(-9, 10, shape).astype(np.float32)
        key = drawn_key(rng, numbers, shape)
        try:
            read = x[key]
        except IndexError:  # index tensors that do not broadcast
            continue
        if np.size(read) <= 4000:
            break
    read_shape = np.shape(read)
    part = read_shape[rng.randint(0, len(read_shape)) :] if rng.random() < 0.3 else None
    value_shape = read_shape if part is None else part
    made = (value_shape, read_shape, shape)
    values, weights, outer = (
        numbers.integers(-9, 10, size).astype(np.float32) for size in made
    )
    return Case(key, x, values, weights, outer)


def drawn_key(rng: random.Random, numbers: Any, shape: tuple[int, ...]) -> Key:
    """Return a key for a shape; its index tensors may not broadcast."""
    key: list[Any] = []
    axis = 0
    together = _index_shape(rng)
    has_dots = False
    while axis < len(shape) and rng.random() < 0.93:
        length = shape[axis]
        kind = rng.random()
        if kind < 0.1:
            key.append(None)
        elif kind < 0.16 and not has_dots:
            key.append(Ellipsis)
            has_dots = True
            axis += rng.randint(0, len(shape) - axis)
            # What stands behind it is counted from the end.
            continue
        elif kind < 0.36:
            key.append(rng.randrange(-length, length))
            axis += 1
        elif kind < 0.6:
            first, last = (
                rng.choice((None, rng.randint(-length, length))) for _ in range(2)
            )
            key.append(slice(first, last, rng.choice((None, None, 1, 2, -1))))
            axis += 1
        elif kind < 0.93:
            size = together if rng.random() < 0.8 else _narrowed(rng, together)
            indices = numbers.integers(-length, length, size)
            key.append(indices.tolist() if rng.random() < 0.5 else indices)
            axis += 1
        else:
            count = rng.randint(1, min(2, len(shape) - axis))
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
    for name, (compute, want) in QUESTIONS.items():
        expected = np.asarray(want(case))
        try:
            got = np.asarray(compute(case))
        except Exception as error:  # every error is one too many here
            yield f"{name} of {case.code}: {type(error).__name__}: {error}"
            continue
        if got.shape != expected.shape or not np.array_equal(got, expected):
            yield f"{name} of {case.code}: {got.tolist()}, not {expected.tolist()}"


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


def _summed_to(part: Any, shape: tuple[int, ...]) -> Any:
    """Return a cotangent summed to the shape that was broadcast."""
    part = np.asarray(part)
    part = part.sum(axis=tuple(range(part.ndim - len(shape))))
    axes = tuple(axis for axis, length in enumerate(shape) if length == 1)
    return part.sum(axis=axes, keepdims=True) if axes else part


def _part_of_written(case: Case) -> Any:
    """Return the cotangent of values that were written: of the last writes alone."""
    wide = np.broadcast_to(case.values, case.weights.shape)
    numbers = np.arange(wide.size).reshape(wide.shape)
    last = _set(np.full(case.x.shape, -1), case.key, numbers)
    summed = np.zeros(wide.size, np.float32)
    np.add.at(summed, last[last >= 0], case.outer[last >= 0])
    return _summed_to(summed.reshape(wide.shape), case.values.shape)


def _by_x(case: Case, function: Callable[[Any, Any], Any], weights: Any) -> Any:
    w = _tensor(weights)
    loss = tw.grad(lambda x, v: (function(x, v) * w).sum())
    return loss(_tensor(case.x), _tensor(case.values))


def _by_values(case: Case, function: Callable[[Any, Any], Any]) -> Any:
    w = _tensor(case.outer)
    loss = tw.grad(lambda v, x: (function(x, v) * w).sum())
    return loss(_tensor(case.values), _tensor(case.x))


def _backward(case: Case) -> Any:
    x = _tensor(case.x)
    x.requires_grad = True
    (x[case.key] * _tensor(case.weights)).sum().backward()
    return x.grad


def _batch(array: Any) -> Any:
    return np.stack([array, array * 2 + 1, -array])


def _mapped(function: Callable[[Any], Any], array: Any) -> Any:
    return tw.vmap(function)(_tensor(_batch(array)))


def _stacked(function: Callable[[Any], Any], array: Any) -> Any:
    return np.stack([function(each) for each in _batch(array)])


def _has_mask(case: Case) -> bool:
    return any(isinstance(part, np.ndarray) and part.dtype == bool for part in case.key)


def _jitted(case: Case) -> Any:
    """Return what a jitted gradient gives, index arrays being arguments."""
    axes = [n for n, part in enumerate(case.key) if isinstance(part, list)]
    w = _tensor(case.weights)

    def gradient(x: Any, indices: list[Any]) -> Any:
        key = list(case.key)
        for axis, index in zip(axes, indices, strict=True):
            key[axis] = index
        return tw.grad(lambda x: (x[tuple(key)] * w).sum())(x)

    indices = [tw.asarray(np.asarray(case.key[n], np.int32)) for n in axes]
    if _has_mask(case):
        return gradient(_tensor(case.x), indices)
    return tw.jit(gradient)(_tensor(case.x), indices)


Question = tuple[Callable[[Case], Any], Callable[[Case], Any]]

QUESTIONS: dict[str, Question] = {
    "value": (lambda c: _tensor(c.x)[c.key], lambda c: c.x[c.key]),
    "set": (
        lambda c: _tensor(c.x).at[c.key].set(_tensor(c.values)),
        lambda c: _set(c.x, c.key, c.values),
    ),
    "add": (
        lambda c: _tensor(c.x).at[c.key].add(_tensor(c.values)),
        lambda c: _added(c.x, c.key, c.values),
    ),
    "gradient": (
        lambda c: _by_x(c, lambda x, v: x[c.key], c.weights),
        lambda c: _added(0 * c.x, c.key, c.weights),
    ),
    "backward": (_backward, lambda c: _added(0 * c.x, c.key, c.weights)),
    "tangent": (
        lambda c: tw.jvp(lambda x: x[c.key] * 1, (_tensor(c.x),), (_tensor(c.outer),))[
            1
        ],
        lambda c: c.outer[c.key],
    ),
    "gradient of set by x": (
        lambda c: _by_x(c, lambda x, v: x.at[c.key].set(v), c.outer),
        lambda c: _set(c.outer, c.key, 0),
    ),
    "gradient of set by values": (
        lambda c: _by_values(c, lambda x, v: x.at[c.key].set(v)),
        _part_of_written,
    ),
    "gradient of add by values": (
        lambda c: _by_values(c, lambda x, v: x.at[c.key].add(v)),
        lambda c: _summed_to(c.outer[c.key], c.values.shape),
    ),
    "tangent of add by values": (
        lambda c: tw.jvp(
            lambda v: _tensor(c.x).at[c.key].add(v),
            (_tensor(c.values),),
            (_tensor(c.values),),
        )[1],
        lambda c: _added(0 * c.x, c.key, c.values),
    ),
    "values of a batch": (
        lambda c: _mapped(lambda x: x[c.key] * 1, c.x),
        lambda c: _stacked(lambda x: x[c.key], c.x),
    ),
    "add of a batch": (
        lambda c: _mapped(lambda x: x.at[c.key].add(_tensor(c.values)), c.x),
        lambda c: _stacked(lambda x: _added(x, c.key, c.values), c.x),
    ),
    "set of a batch": (
        lambda c: _mapped(lambda x: x.at[c.key].set(_tensor(c.values)), c.x),
        lambda c: _stacked(lambda x: _set(x, c.key, c.values), c.x),
    ),
    "gradients of a batch": (
        lambda c: _mapped(
            tw.grad(lambda x: (x[c.key] ** 2 * _tensor(c.weights)).sum()), c.x
        ),
        lambda c: _stacked(
            lambda x: _added(0 * x, c.key, 2 * x[c.key] * c.weights), c.x
        ),
    ),
    "tangents of a batch": (
        lambda c: _mapped(
            lambda t: tw.jvp(lambda x: x[c.key] * 1, (_tensor(c.x),), (t,))[1], c.x
        ),
        lambda c: _stacked(lambda t: t[c.key], c.x),
    ),
    "jitted gradient": (_jitted, lambda c: _added(0 * c.x, c.key, c.weights)),
}
"""What is asked of tensorweb and of NumPy."""
