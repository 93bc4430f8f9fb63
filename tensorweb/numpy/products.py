"""Products of arrays, and convolution, with NumPy's arguments."""

from __future__ import annotations

import itertools
import math
import operator
import string
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex, TypeAlias

from tensorweb import functions as tw
from tensorweb.dtypes import as_dtype
from tensorweb.errors import DataError, ShapeError
from tensorweb.nodes.einsum import parse
from tensorweb.numpy.arguments import (
    Out,
    as_pair,
    as_tensors,
    check_order,
    into,
    subscripts_of,
)
from tensorweb.public_names import declare_public
from tensorweb.shapes import is_integer, normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import check_casting
from tensorweb.tensor.convert import ArrayLike, DTypeLike

OperandAxes = Sequence[SupportsIndex | Sequence[SupportsIndex]] | None
"""The axes of two operands, and of the result, that a product is made of."""


def dot(a: ArrayLike, b: ArrayLike, out: Out = None) -> Tensor:
    """Return the last axis of `a` multiplied with the last but one of `b`.

    Vectors give their inner product, matrices their matrix product, a number and an
    array the array times the number.

    Raises:
        ShapeError: the contracted axes differ in length.

    >>> np.dot([1, 2, 3], [4, 5, 6]), np.dot(3, [1, 2])
    (tensor(32), tensor([3, 6]))
    """
    x, y = as_pair(a, b)
    if not x.ndim or not y.ndim:
        return into(tw.multiply(x, y), out)
    return into(tw.dot(x, y), out)


def vdot(a: ArrayLike, b: ArrayLike, /) -> Tensor:
    """Return the inner product of all elements, those of `a` conjugated.

    Raises:
        ShapeError: the counts of elements differ.

    >>> np.vdot([[1, 2], [3, 4]], [[1, 1], [2, 2]])
    tensor(17)
    """
    return tw.vecdot(*(x.ravel() for x in as_tensors((a, b))))


def inner(a: ArrayLike, b: ArrayLike, /) -> Tensor:
    """Return sums of products along the last axes, the other axes following each other.

    Raises:
        ShapeError: the last axes differ in length.

    >>> np.inner([[1, 2], [3, 4]], [10, 1])
    tensor([12, 34])
    """
    x, y = as_pair(a, b)
    if not x.ndim or not y.ndim:
        return tw.multiply(x, y)
    return tw.tensordot(x, y, axes=([-1], [-1]))


def outer(a: ArrayLike, b: ArrayLike, out: Out = None) -> Tensor:
    """Return all products of the elements of two arrays, both flattened.

    >>> np.outer([1, 2], [10, 20, 30])
    tensor([[10, 20, 30],
            [20, 40, 60]])
    """
    x, y = as_pair(a, b)
    return into(tw.outer(x.ravel(), y.ravel()), out)


def matmul(
    x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, axes: OperandAxes = None
) -> Tensor:
    """Return the matrix product, batched: `(..., m, k) @ (..., k, n)` is `(..., m, n)`.

    `axes` names the axes of each matrix and of the product instead.

    Raises:
        ShapeError: inner sizes differ, or an operand is 0-d.
        DataError: `axes` are not as many as matrices have.

    >>> np.matmul([[0, 1], [2, 3]], [6, 7])
    tensor([ 7, 33])
    """
    if axes is None:
        return into(tw.matmul(x1, x2), out)
    a, b = as_pair(x1, x2)
    counts = (min(a.ndim, 2), min(b.ndim, 2), (a.ndim > 1) + (b.ndim > 1))
    return into(_move_matrix_axes("matmul", tw.matmul, (a, b), axes, counts), out)


def _move_matrix_axes(
    name: str,
    function: Callable[[Tensor, Tensor], Tensor],
    operands: tuple[Tensor, Tensor],
    axes: Sequence[SupportsIndex | Sequence[SupportsIndex]],
    counts: tuple[int, int, int],
) -> Tensor:
    """Apply a product of last axes to other axes of the operands and the result.

    Raises:
        DataError: their numbers are not `counts`, of the operands and of the result.
    """
    lists = [(own,) if is_integer(own) else tuple(own) for own in axes]
    if len(lists) == 2 and not counts[2]:
        lists.append(())
    if tuple(map(len, lists)) != counts:
        raise DataError(
            f"{name}: axes={axes!r}; give lists of {counts[0]} and {counts[1]} axes of "
            f"the operands, and of {counts[2]} of the result."
        )
    moved = [
        x.moveaxis(own, tuple(range(-len(own), 0)))
        for x, own in zip(operands, lists, strict=False)
    ]
    result = function(moved[0], moved[1])
    return result.moveaxis(tuple(range(-counts[2], 0)), lists[2])


def matvec(
    x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, axes: OperandAxes = None
) -> Tensor:
    """Return matrices times vectors, batched: `(..., m, n)`, `(..., n)` is `(..., m)`.

    >>> np.matvec([[0, 1], [2, 3]], [6, 7])
    tensor([ 7, 33])
    """
    a, b = as_tensors((x1, x2))
    if axes is not None:
        return into(_move_matrix_axes("matvec", matvec, (a, b), axes, (2, 1, 1)), out)
    return into(tw.matmul(a, b[..., None])[..., 0], out)


def vecmat(
    x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, axes: OperandAxes = None
) -> Tensor:
    """Return vectors times matrices, batched: `(..., n)`, `(..., n, m)` is `(..., m)`.

    Of complex vectors the conjugates are taken.

    >>> np.vecmat([6, 7], [[0, 1], [2, 3]])
    tensor([14, 27])
    """
    a, b = as_tensors((x1, x2))
    if axes is not None:
        return into(_move_matrix_axes("vecmat", vecmat, (a, b), axes, (1, 2, 1)), out)
    return into(tw.matmul(tw.conj(a)[..., None, :], b)[..., 0, :], out)


def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Out = None,
    *,
    axis: SupportsIndex | None = None,
    axes: OperandAxes = None,
    keepdims: bool = False,
) -> Tensor:
    """Return the sum of products along one axis, the others broadcast.

    It is the last one of each, `axis` of both or `axes` of the two; with `keepdims` it
    stays with length 1.

    Raises:
        ShapeError: the axes differ in length.
        DataError: both `axis` and `axes` are given, or `axes` are not two.

    >>> np.vecdot([[1, 2], [3, 4]], [10, 1])
    tensor([12, 34])
    """
    if axis is not None and axes is not None:
        raise DataError(f"vecdot: axis={axis!r} and axes={axes!r}; give one of them.")
    a, b = as_tensors((x1, x2))
    along = operator.index(-1 if axis is None else axis)
    if axes is None:
        axes = [along, along, *[along] * keepdims]

    def product(x: Tensor, y: Tensor) -> Tensor:
        return tw.vecdot(x, y)[..., None] if keepdims else tw.vecdot(x, y)

    counts = (1, 1, int(keepdims))
    return into(_move_matrix_axes("vecdot", product, (a, b), axes, counts), out)


def tensordot(a: ArrayLike, b: ArrayLike, axes: Any = 2) -> Tensor:
    """Return the sum of products over axes, the other axes following each other.

    `axes` is a number (the last ones of `a`, the first ones of `b`) or two lists.

    Raises:
        ShapeError: a pair of axes differs in length.

    >>> np.tensordot([[1, 2], [3, 4]], [[5, 6], [7, 8]], ([1], [1]))
    tensor([[17, 23],
            [39, 53]])
    """
    return tw.tensordot(*as_pair(a, b), axes=axes)


def einsum(
    *operands: Any,
    out: Out = None,
    optimize: object = False,
    dtype: DTypeLike = None,
    order: str = "K",
    casting: str = "safe",
) -> Tensor:
    """Return a sum of products whose axes are named by letters.

    Alternating operands and lists of axes, `einsum(a, [0, 1], b, [1, 2], [0, 2])`, are
    taken as well. Pairs are multiplied from left to right, whatever `optimize` is.

    Raises:
        DTypeError: operands do not become `dtype` by the rule `casting`.
        ShapeError: the subscripts are wrong or do not fit the operands' shapes.

    >>> np.einsum("ij,jk", [[1, 2], [3, 4]], [[5, 6], [7, 8]])
    tensor([[19, 22],
            [43, 50]])
    """
    check_order("einsum", order)
    subscripts, arrays = subscripts_of(operands)
    tensors = as_tensors(arrays)
    if dtype is not None:
        for x in tensors:
            check_casting("einsum", x.dtype, as_dtype(dtype), casting)
        tensors = [x.astype(dtype) for x in tensors]
    return into(tw.einsum(subscripts, *tensors), out)


def kron(a: ArrayLike, b: ArrayLike) -> Tensor:
    """Return the Kronecker product: a block `a[i] * b` for each element of `a`.

    >>> np.kron([1, 10], [1, 2])
    tensor([ 1,  2, 10, 20])
    """
    x, y = as_pair(a, b)
    rank = max(x.ndim, y.ndim)
    outer_shape = (*(1,) * (rank - x.ndim), *x.shape)
    inner_shape = (*(1,) * (rank - y.ndim), *y.shape)
    blocks = x.reshape([n for length in outer_shape for n in (length, 1)])
    block = y.reshape([n for length in inner_shape for n in (1, length)])
    shape = [m * n for m, n in zip(outer_shape, inner_shape, strict=True)]
    return tw.multiply(blocks, block).reshape(shape)


def cross(
    a: ArrayLike,
    b: ArrayLike,
    axisa: SupportsIndex = -1,
    axisb: SupportsIndex = -1,
    axisc: SupportsIndex = -1,
    axis: SupportsIndex | None = None,
) -> Tensor:
    """Return the cross product of vectors of 3 (or 2) numbers, the others broadcast.

    Two vectors of 2 numbers give the third number alone.

    Raises:
        ShapeError: an axis has neither 2 nor 3 elements.

    >>> np.cross([1, 2, 3], [4, 5, 6])
    tensor([-3,  6, -3])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = as_pair(a, b)
    x, y = x.moveaxis(axisa, -1), y.moveaxis(axisb, -1)
    for vectors in (x, y):
        if vectors.shape[-1] not in (2, 3):
            raise ShapeError(
                f"cross: vectors of {vectors.shape[-1]} numbers; give 2 or 3."
            )
    a0, a1, b0, b1 = x[..., 0], x[..., 1], y[..., 0], y[..., 1]
    third = a0 * b1 - a1 * b0
    if x.shape[-1] == y.shape[-1] == 2:
        return third
    a2 = x[..., 2] if x.shape[-1] == 3 else tw.zeros_like(a0)
    b2 = y[..., 2] if y.shape[-1] == 3 else tw.zeros_like(b0)
    parts = (a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, third)
    result = tw.stack(tw.broadcast_arrays(*parts), axis=-1)
    return result.moveaxis(-1, normalize_axis(axisc, result.ndim))


def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> Tensor:
    """Return the convolution of two vectors: `result[n]` sums `a[m] v[n - m]`.

    `full` gives every overlap, `same` as many elements as the longer one, `valid` where
    both overlap completely.

    Raises:
        ShapeError: an operand is no vector, or empty.
        DataError: there is no such mode.

    >>> np.convolve([1, 2, 3], [0, 1, 0.5])
    tensor([0. , 1. , 2.5, 4. , 1.5])
    """
    x, y = _as_vectors("convolve", a, v)
    if y.size > x.size:
        x, y = y, x
    return _slide_window("convolve", x, y.flip(0), mode)


def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid") -> Tensor:
    """Return the correlation of two vectors: `result[k]` sums `a[n + k] v[n]`.

    Of complex numbers `v` the conjugates are taken.

    Raises:
        ShapeError: an operand is no vector, or empty.
        DataError: there is no such mode.

    >>> np.correlate([1, 2, 3], [0, 1, 0.5], "full")
    tensor([0.5, 2. , 3.5, 3. , 0. ])
    """
    x, y = _as_vectors("correlate", a, v)
    y = tw.conj(y)
    if y.size > x.size:
        return _slide_window("correlate", y, x, mode).flip(0)
    return _slide_window("correlate", x, y, mode)


def _as_vectors(name: str, a: ArrayLike, v: ArrayLike) -> tuple[Tensor, Tensor]:
    x, y = as_pair(a, v)
    x, y = (side.reshape((1,)) if not side.ndim else side for side in (x, y))
    if x.ndim != 1 or y.ndim != 1 or not x.size or not y.size:
        raise ShapeError(
            f"{name}: shapes {x.shape} and {y.shape}; give vectors with elements."
        )
    return x, y


def _slide_window(name: str, x: Tensor, window: Tensor, mode: str) -> Tensor:
    """Return the inner products of a window with the longer vector it slides over."""
    length = window.size
    shorter = length - 1
    widths = {
        "full": (shorter, shorter),
        "same": (shorter - shorter // 2, shorter // 2),
        "valid": (0, 0),
    }
    mode = {0: "valid", 1: "same", 2: "full"}.get(mode, mode)  # type: ignore[call-overload]  # NumPy's numbers for them
    if mode not in widths:
        raise DataError(f"{name}: mode={mode!r}; it is full, same or valid.")
    padded = x.pad([widths[mode]])
    return tw.matmul(padded.sliding_windows(length), window)


Letters: TypeAlias = frozenset[str]

Indices: TypeAlias = tuple[int, ...]
"""Indices of operands that one step replaces by their product, the last operand."""


@dataclass(frozen=True, slots=True)
class _Problem:
    """The letters of operands and result, their lengths, and the most elements."""

    operands: tuple[Letters, ...]
    output: Letters
    lengths: dict[str, int]
    limit: float

    def size(self, letters: Iterable[str]) -> int:
        """Return the count of elements."""
        return math.prod(self.lengths[letter] for letter in letters)

    def work(self, letters: Letters, is_summed: bool, count: int) -> int:
        """Return the multiplications and additions of a product of `count` operands."""
        return self.size(letters) * (max(1, count - 1) + is_summed)

    def product(
        self, chosen: Sequence[Letters], others: Iterable[Letters]
    ) -> tuple[Letters, int]:
        """Return the letters of a product that are needed later, and its work."""
        used = frozenset[str]().union(*chosen)
        remaining = used & self.output.union(*others)
        return remaining, self.work(used, used != remaining, len(chosen))


def einsum_path(
    *operands: Any, optimize: Any = "greedy", einsum_call: bool = False
) -> tuple[list[Any], str]:
    """Return an order of products for `einsum`, and a text about its cost.

    The order is `["einsum_path", (0, 2), (0, 1)]`: each step multiplies the operands at
    some indices; its product replaces them as the last operand.

    Args:
        operands: those of `einsum`.
        optimize: "greedy" or True takes the best pair at each step, "optimal" tries all
            orders; False is one step. A pair with a number, `("greedy", 10**6)`, limits
            the elements of intermediate products; by default they are at most as large
            as the largest operand or the result. An order is used as given.
        einsum_call: NumPy's own, and False.

    Raises:
        DataError: `optimize` is none of these, or the order leaves several operands.
        ShapeError: the subscripts are wrong or do not fit the operands' shapes.

    >>> a, b, c = np.ones((2, 9)), np.ones((9, 9)), np.ones((9, 2))
    >>> path, text = np.einsum_path("ij,jk,kl->il", a, b, c)
    >>> path
    ['einsum_path', (0, 1), (0, 1)]
    >>> print(text.splitlines()[3])
          Naive FLOP count:  9.720e+02
    """
    if einsum_call:
        raise DataError("einsum_path: einsum_call=True is NumPy's own; leave it out.")
    terms, output, lengths = _letters_and_lengths(*subscripts_of(operands))
    sizes = (math.prod(lengths[x] for x in term) for term in (*terms, output))
    largest = max(sizes)
    strategy, limit = _parse_optimize(optimize, largest)
    problem = _Problem(tuple(map(frozenset, terms)), frozenset(output), lengths, limit)
    if isinstance(strategy, list):
        path = strategy
    elif (
        strategy == "none"
        or len(terms) < 3
        or frozenset[str]().union(*problem.operands) == problem.output
    ):
        path = [tuple(range(len(terms)))]
    else:
        find_path = _greedy_path if strategy == "greedy" else _optimal_path
        path = find_path(problem)
    return ["einsum_path", *path], _path_report(problem, terms, output, path)


def _letters_and_lengths(
    subscripts: str, arrays: Iterable[ArrayLike]
) -> tuple[list[str], str, dict[str, int]]:
    """Return the letters of operands and result, and the lengths of their axes.

    Axes of dots get letters that the subscripts do not use.
    """
    nodes = [x.node for x in as_tensors(arrays)]
    labels, result = parse(subscripts, nodes)
    used = dict.fromkeys(itertools.chain(*labels, result))
    free = (letter for letter in reversed(string.ascii_letters) if letter not in used)
    letters = {label: next(free) if label[0] == "." else label for label in used}
    terms = ["".join(letters[label] for label in term) for term in labels]
    lengths: dict[str, int] = {}
    for term, node in zip(terms, nodes, strict=True):
        for letter, length in zip(term, node.shape, strict=True):
            is_empty = 0 in (length, lengths.get(letter))
            lengths[letter] = 0 if is_empty else max(length, lengths.get(letter, 0))
    return terms, "".join(letters[label] for label in result), lengths


def _parse_optimize(optimize: Any, largest: int) -> tuple[str | list[Indices], float]:
    """Return the strategy or the order, and the limit of elements.

    Raises:
        DataError: it is none of these.
    """
    if optimize is None or optimize is False:
        return "none", largest
    if optimize is True:
        return "greedy", largest
    if optimize in ("greedy", "optimal"):
        return optimize, largest
    if isinstance(optimize, list | tuple) and optimize:
        first, *rest = optimize
        if first == "einsum_path":
            return [tuple(map(operator.index, step)) for step in rest], largest
        if first in ("greedy", "optimal") and len(rest) == 1:
            return first, float(rest[0])
    raise DataError(
        f"einsum: optimize={optimize!r}; give False, True, 'greedy', 'optimal', one of "
        "these with a number of elements, or what np.einsum_path returns."
    )


def _optimal_path(problem: _Problem) -> list[Indices]:
    """Return the cheapest order of pairs, all of which are tried."""
    total = len(problem.operands)
    partial: list[tuple[int, list[Indices], tuple[Letters, ...]]]
    partial = [(0, [], problem.operands)]
    for step in range(total - 1):
        longer = []
        for cost, path, operands in partial:
            for pair in itertools.combinations(range(total - step), 2):
                chosen = [operands[i] for i in pair]
                others = [x for i, x in enumerate(operands) if i not in pair]
                remaining, work = problem.product(chosen, others)
                if problem.size(remaining) <= problem.limit:
                    longer.append((cost + work, [*path, pair], (*others, remaining)))
        if not longer:
            path = min(partial, key=operator.itemgetter(0))[1]
            return [*path, tuple(range(total - step))]
        partial = longer
    return min(partial, key=operator.itemgetter(0))[1]


def _greedy_path(problem: _Problem) -> list[Indices]:
    """Return an order whose every step frees the most memory, then is the cheapest."""
    operands = dict(enumerate(problem.operands))
    _, naive = problem.product(problem.operands, ())
    spent = 0
    scores: dict[tuple[int, int], tuple[int, int]] = {}
    path: list[Indices] = []

    def score(pairs: Iterable[tuple[int, int]], is_outer: bool) -> None:
        for pair in pairs:
            chosen = [operands[key] for key in pair]
            if not is_outer and chosen[0].isdisjoint(chosen[1]):
                continue
            others = [x for key, x in operands.items() if key not in pair]
            remaining, work = problem.product(chosen, others)
            size = problem.size(remaining)
            if size <= problem.limit and spent + work <= naive:
                scores[pair] = (size - sum(map(problem.size, chosen)), work)

    score(itertools.combinations(operands, 2), is_outer=False)
    for new_key in range(len(operands), 2 * len(operands) - 1):
        if not scores:
            score(itertools.combinations(operands, 2), is_outer=True)
        if not scores:
            return [*path, tuple(range(len(operands)))]
        pair = min(scores, key=lambda pair: scores[pair])
        spent += scores[pair][1]
        keys = list(operands)
        path.append(tuple(keys.index(key) for key in pair))
        chosen = [operands.pop(key) for key in pair]
        others = list(operands)
        operands[new_key], _ = problem.product(chosen, list(operands.values()))
        for outdated in [key for key in scores if not set(pair).isdisjoint(key)]:
            del scores[outdated]
        score(((other, new_key) for other in others), is_outer=False)
    return path


def _path_report(
    problem: _Problem, terms: Sequence[str], output: str, path: Sequence[Indices]
) -> str:
    """Return NumPy's text about an order.

    Raises:
        DataError: a step has operands that are not there, or several are left.
    """
    lengths = problem.lengths
    texts, operands = list(terms), list(problem.operands)
    work, scaling, sizes, lines = 1, [0], [0], []
    for count, step in enumerate(path, 1):
        indices = sorted({*step} & {*range(len(texts))}, reverse=True)
        if not step or len(indices) < len(step):
            raise DataError(
                f"einsum: {step} of {list(path)} are not operands of {len(texts)}."
            )
        chosen = [texts.pop(i) for i in indices]
        used = [operands.pop(i) for i in indices]
        remaining, cost = problem.product(used, operands)
        result = "".join(sorted(remaining, key=lambda x: (lengths[x], x)))
        texts.append(output if count == len(path) else result)
        operands.append(remaining)
        work += cost
        scaling.append(len(frozenset().union(*used)))
        sizes.append(problem.size(remaining))
        current = f"{','.join(chosen)}->{texts[-1]}"
        rest = f"{','.join(texts)}->{output}"
        lines.append(f"\n{scaling[-1]:4d}    {current:>24} {rest:>40}")
    if len(texts) > 1:
        raise DataError(
            f"einsum: {list(path)} leaves {len(texts)} operands; add steps."
        )
    letters = frozenset[str]().union(*problem.operands)
    is_summed = sum(map(len, problem.operands)) > len(letters)
    naive = problem.work(letters, is_summed, len(terms))
    line = "-" * 74
    return (
        f"  Complete contraction:  {','.join(terms)}->{output}\n"
        f"         Naive scaling:  {len(letters)}\n"
        f"     Optimized scaling:  {max(scaling)}\n"
        f"      Naive FLOP count:  {naive:.3e}\n"
        f"  Optimized FLOP count:  {work:.3e}\n"
        f"   Theoretical speedup:  {naive / work:.3f}\n"
        f"  Largest intermediate:  {max(sizes):.3e} elements\n"
        f"{line}\n{'scaling':>6} {'current':>24} {'remaining':>40}\n{line}"
        + "".join(lines)
    )


declare_public(__name__)
