"""Loops and choices as functions: `scan`, `while_loop`, `cond` and their like.

Names, arguments and results are those of `jax.lax`. A loop runs in Python, one
iteration after another: it is differentiated and vectorized like any other program,
and `jit` records each iteration, where their count is known. A choice that depends on
an argument of `jit` or `vmap` computes both sides and selects.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tensorweb import tree
from tensorweb.errors import DataError, ShapeError, TransformError
from tensorweb.evaluate import realize
from tensorweb.functions import any as any_of
from tensorweb.functions import asarray, clip, concat, flip, stack, where, zeros
from tensorweb.graph.tracing import is_traced, is_tracing, outside_of_vmap
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase

T = TypeVar("T")

BETWEEN = 16
"""Iterations of a loop after which its values are computed, where that is possible: the
graphs of such pieces are alike, so that they are planned once. Measured with 1,000
steps of a recurrent cell on a software GPU: the first call takes 1.9 s, 3.7 s with 64
or without; later calls take 0.24 s and 0.2 to 0.4 s.
"""


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """Call `f` with a carry and each element of `xs`, one after another.

    Args:
        f: takes the carry and an element of `xs` without its first axis; returns the
            next carry, of the same structure, shapes and dtypes, and an output.
        init: the first carry, a tree of tensors or numbers.
        xs: a tree of tensors with equal first axes; None passes None.
        length: count of iterations; needed without `xs`.
        reverse: begin with the last element; outputs keep the order of `xs`.

    Returns:
        The last carry, and the outputs stacked along a new first axis.

    Raises:
        ShapeError: first axes differ, or a carry changes its shape.
        TransformError: a carry changes its structure or a dtype.

    >>> tw.scan(lambda sum, x: (sum + x, sum * x), 0.0, tw.arange(1.0, 5.0))
    (tensor(10.), tensor([ 0.,  2.,  9., 24.]))
    """
    leaves, structure = tree.flatten(xs)
    columns = [_array(leaf) for leaf in leaves]
    count = _length("scan", columns, length)
    carry = tree.map(_array, init)
    outputs: list[Any] = []
    order: Sequence[int | None] = range(count)
    # Without an iteration, a call on zeros tells what the outputs look like.
    order = (order[::-1] if reverse else order) if count else [None]
    for at in order:
        parts = [None if x is None else _element(x, at) for x in columns]
        x = tree.unflatten(structure, parts)
        after = _pair(f(carry, x))
        if not outputs and (wider := _wider(init, carry, after[0])) is not None:
            carry = wider
            after = _pair(f(carry, x))
        if at is not None:
            carry = _same("scan", carry, after[0])
        outputs.append(tree.map(_array, after[1]))
        _compute_between(len(outputs), (carry, outputs[-BETWEEN:]))
    if reverse:
        outputs.reverse()
    return carry, tree.map(lambda *each: _stacked(each, count), *outputs)


def fori_loop(
    lower: int, upper: int, body_fun: Callable[[int, T], T], init_val: T
) -> T:
    """Return the value after `val = body_fun(i, val)` for `i` from `lower` to `upper`.

    Args:
        lower: the first `i`, a number of Python in each call.
        upper: the end, not included.
        body_fun: returns a value of the same structure, shapes and dtypes.
        init_val: the first value, a tree of tensors or numbers.

    Returns:
        The last value, a tree of tensors.

    Raises:
        ShapeError: the value changes a shape.
        TransformError: the value changes its structure or a dtype.

    >>> tw.fori_loop(1, 5, lambda i, product: product * i, 1)
    tensor(24)
    """
    value: T = tree.map(_array, init_val)
    for number, i in enumerate(range(operator.index(lower), operator.index(upper)), 1):
        after = body_fun(i, value)
        if number == 1 and (wider := _wider(init_val, value, after)) is not None:
            value, after = wider, body_fun(i, wider)
        value = _same("fori_loop", value, after)
        _compute_between(number, value)
    return value


def while_loop(
    cond_fun: Callable[[T], Any], body_fun: Callable[[T], T], init_val: T
) -> T:
    """Return the value after `val = body_fun(val)` while `cond_fun(val)`.

    The test is read before each iteration, so that `jit` cannot record the loop. Under
    `vmap` it runs until the last example is done; finished ones keep their value.

    Args:
        cond_fun: returns a boolean.
        body_fun: returns a value of the same structure, shapes and dtypes.
        init_val: the first value, a tree of tensors or numbers.

    Returns:
        The last value, a tree of tensors.

    Raises:
        TraceError: the test depends on an argument of a function under `jit`.
        ShapeError: the value changes a shape.
        TransformError: the value changes its structure or a dtype.

    >>> tw.while_loop(lambda x: x < 100, lambda x: x * 3, 1)
    tensor(243)
    """
    value: T = tree.map(_array, init_val)
    for number in itertools.count():
        test = cond_fun(value)
        if not _has_value(test):
            batch, trace = outside_of_vmap(test.node)
            goes_on = bool(test if trace else any_of(Tensor(batch)))
        else:
            goes_on = bool(test)
        if not goes_on:
            break
        after = body_fun(value)
        if number == 0 and (wider := _wider(init_val, value, after)) is not None:
            value, after = wider, body_fun(wider)
        after = _same("while_loop", value, after)
        value = after if _has_value(test) else _selected(test, after, value)
    return value


def cond(
    pred: Any,
    true_fun: Callable[..., T],
    false_fun: Callable[..., T],
    *operands: Any,
) -> T:
    """Return what `true_fun` returns if `pred`, else what `false_fun` returns.

    Where `pred` depends on an argument of `jit` or `vmap`, both are computed and one is
    selected.

    Args:
        pred: a boolean.
        true_fun: takes the operands and returns a tree of tensors.
        false_fun: takes the operands and returns a tree of the same structure, shapes
            and dtypes.
        *operands: passed to the chosen function.

    Returns:
        The chosen function's result.

    Raises:
        TransformError: both are computed, and their structures or dtypes differ.
        ShapeError: both are computed, and their shapes differ.

    >>> tw.cond(tw.asarray(2.0) > 1, lambda x: x * 2, lambda x: x, tw.ones(2))
    tensor([2., 2.])
    """
    if shape := asarray(pred).shape:
        raise ShapeError(f"cond: pred has shape {shape}; give one boolean.")
    return switch(where(pred, 1, 0), (false_fun, true_fun), *operands)


def switch(index: Any, branches: Sequence[Callable[..., T]], *operands: Any) -> T:
    """Return what the branch `index` returns; the index is clamped to the branches.

    Where `index` depends on an argument of `jit` or `vmap`, all branches are computed
    and one is selected.

    Args:
        index: an integer.
        branches: functions that take the operands and return trees of the same
            structure, shapes and dtypes.
        *operands: passed to the chosen branch.

    Returns:
        The chosen branch's result.

    Raises:
        DataError: there is no branch.
        TransformError: all are computed, and their structures or dtypes differ.
        ShapeError: all are computed, and their shapes differ.

    >>> tw.switch(7, [lambda x: x, lambda x: -x], tw.ones(2))
    tensor([-1., -1.])
    """
    if not branches:
        raise DataError("switch: there is no branch; give at least one function.")
    last = len(branches) - 1
    if _has_value(index):
        return branches[min(max(operator.index(index), 0), last)](*operands)
    chosen = clip(index, 0, last)
    result: T = tree.map(_array, branches[0](*operands))
    for number, branch in enumerate(branches[1:], 1):
        other = _same("switch", result, branch(*operands))
        result = _selected(chosen == number, other, result)
    return result


def associative_scan(
    fn: Callable[[Any, Any], Any], elems: T, reverse: bool = False, axis: int = 0
) -> T:
    """Return all partial results of an associative function along an axis.

    Takes `2 log2(n)` calls of `fn` on whole arrays instead of `n` on elements. Source:
    G. Blelloch, Prefix sums and their applications, 1990.

    Args:
        fn: combines two trees of tensors elementwise along the axis; associative.
        elems: a tree of tensors with equal lengths along the axis.
        reverse: combine from the end.
        axis: the axis.

    Returns:
        A tree like `elems`: along the axis, element `i` combines the first `i + 1`.

    Raises:
        ShapeError: lengths along the axis differ.

    >>> tw.associative_scan(tw.maximum, tw.asarray([1, 3, 2, 5, 4]))
    tensor([1, 3, 3, 5, 5])
    """
    leaves, structure = tree.flatten(elems)
    parts = [asarray(leaf).moveaxis(axis, 0) for leaf in leaves]
    _length("associative_scan", parts, None)
    if reverse:
        parts = [flip(part, axis=0) for part in parts]

    def combine(first: list[Tensor], second: list[Tensor]) -> list[Tensor]:
        both = (
            tree.unflatten(structure, [part.moveaxis(0, axis) for part in parts])
            for parts in (first, second)
        )
        after = tree.leaves(fn(*both))
        shapes = [part.shape for part in after]
        if shapes != (given := [part.moveaxis(0, axis).shape for part in second]):
            raise ShapeError(
                f"associative_scan: the function returned shapes {shapes} for {given}; "
                "it combines values elementwise along the axis."
            )
        return [part.moveaxis(axis, 0) for part in after]

    done = _partial_results(combine, parts)
    if reverse:
        done = [flip(part, axis=0) for part in done]
    results: T = tree.unflatten(structure, [part.moveaxis(0, axis) for part in done])
    return results


def _partial_results(
    combine: Callable[[list[Tensor], list[Tensor]], list[Tensor]], parts: list[Tensor]
) -> list[Tensor]:
    """Return the partial results along the first axis, as in `associative_scan`.

    Neighbours are combined in pairs; the partial results of the pairs, found by
    recursion, are those at odd indices, from which the even ones follow.
    """
    count = parts[0].shape[0]
    if count < 2:
        return parts
    pairs = combine([x[: count - 1 : 2] for x in parts], [x[1::2] for x in parts])
    odd = _partial_results(combine, pairs)
    even = [x[:1] for x in parts]
    if count > 2:
        rest = [x[2::2] for x in parts]
        later = combine([x[: len(y)] for x, y in zip(odd, rest, strict=True)], rest)
        even = [concat(both) for both in zip(even, later, strict=True)]
    return [_interleaved(*both) for both in zip(even, odd, strict=True)]


def _interleaved(even: Tensor, odd: Tensor) -> Tensor:
    """Return the elements of both alternately; `even` may have one more."""
    count = len(odd)
    woven = stack([even[:count], odd], axis=1).reshape((2 * count, *odd.shape[1:]))
    return woven if len(even) == count else concat([woven, even[count:]])


def _has_value(value: Any) -> bool:
    """Whether a test can be read: it depends on no argument of an open trace."""
    return not (isinstance(value, TensorBase) and is_traced(value.node))


def _selected(test: Tensor, first: Any, second: Any) -> Any:
    def chosen(one: Any, other: Any) -> Any:
        return None if one is None else where(test, one, other)

    return tree.map(chosen, first, second)


def _array(leaf: Any) -> Tensor | None:
    """Return a leaf as a tensor; None stays, as in JAX."""
    return None if leaf is None else asarray(leaf)


def _element(column: Tensor, at: int | None) -> Tensor:
    """Return an element along the first axis; zeros of its shape for None."""
    if at is None:
        return zeros(column.shape[1:], dtype=column.dtype, device=column.device)
    return column[at]


def _stacked(outputs: Sequence[Any], count: int) -> Tensor | None:
    return None if outputs[0] is None else stack(outputs)[:count]


def _compute_between(number: int, values: Any) -> None:
    """Compute the values of a loop from time to time, except while it is traced."""
    if number % BETWEEN == 0 and not is_tracing():
        realize([leaf.node for leaf in tree.leaves(values) if leaf is not None])


def _length(name: str, columns: Sequence[Tensor | None], length: int | None) -> int:
    """Return the length of all first axes, which must be `length` if that is given."""
    given = [column.shape for column in columns if column is not None]
    if () in given:
        raise ShapeError(f"{name}: a value to loop over is 0-d; give it a first axis.")
    lengths = [shape[0] for shape in given]
    if length is not None:
        lengths.append(operator.index(length))
        if lengths[-1] < 0:
            raise DataError(f"{name}: length is {length}; count from 0.")
    if not lengths:
        raise DataError(f"{name}: nothing to loop over; give `length`.")
    for one, other in itertools.pairwise(lengths):
        if one != other:
            raise ShapeError(
                f"{name}: the lengths to loop over are {one} and {other}; all first "
                "axes, and `length` if it is given, must be equal."
            )
    return lengths[0]


def _pair(after: Any) -> tuple[Any, Any]:
    if not isinstance(after, tuple) or len(after) != 2:
        raise TransformError(
            f"scan: the function returned {type(after).__name__}; it must return a "
            "tuple of the next carry and an output, which may be None."
        )
    return after


def _wider(init: Any, before: Any, after: Any) -> Any:
    """Return the first value of a loop with the dtypes of the next one.

    Only numbers of Python among it take another dtype; None if none does.
    """
    old, structure = tree.flatten(before)
    new, found = tree.flatten(after)
    if found != structure:
        return None
    wider = [
        one.astype(asarray(other).dtype) if isinstance(given, int | float) else one
        for given, one, other in zip(tree.leaves(init), old, new, strict=True)
    ]
    if all(
        one is None or one.dtype == x.dtype for one, x in zip(old, wider, strict=True)
    ):
        return None
    return tree.unflatten(structure, wider)


def _same(name: str, before: Any, after: Any) -> Any:
    """Return a later value of a loop, whose structure and types are those before.

    Raises:
        ShapeError: a shape differs.
        TransformError: the structure or a dtype differs.
    """
    old, structure = tree.flatten(before)
    new, found = tree.flatten(after)
    if found != structure:
        raise TransformError(
            f"{name}: the value {before!r} became {after!r}, which has another "
            "structure; each iteration or branch must have equal tuples, lists "
            "and keys."
        )
    tensors = [_array(leaf) for leaf in new]
    for path, one, other in zip(tree.paths(before), old, tensors, strict=True):
        if one is None and other is None:
            continue
        if one is None or other is None:
            raise TransformError(
                f"{name}: the value {path} is None in one iteration or branch and a "
                "tensor in another."
            )
        what = f"{name}: the value {path}".rstrip()
        if one.shape != other.shape:
            raise ShapeError(
                f"{what} has shape {one.shape} and then {other.shape}; shapes must "
                "stay the same. Begin with the final shape."
            )
        if one.dtype != other.dtype:
            raise TransformError(
                f"{what} has dtype {one.dtype} and then {other.dtype}; begin with "
                f"{other.dtype}, or convert what is returned by `.astype`."
            )
    return tree.unflatten(structure, tensors)
