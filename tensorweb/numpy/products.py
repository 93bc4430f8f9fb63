"""Products of arrays, and convolution, with NumPy's arguments."""

from __future__ import annotations

import itertools
import math
import operator
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
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
    declare_public,
    into,
    subscripts_of,
)
from tensorweb.shapes import is_integer, normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.tensor.numpy_calls import check_casting

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
    given = [(each,) if is_integer(each) else tuple(each) for each in axes]
    if len(given) == 2 and not counts[2]:
        given.append(())
    if tuple(map(len, given)) != counts:
        raise DataError(
            f"{name}: axes={axes!r}; give lists of {counts[0]} and {counts[1]} axes of "
            f"the operands, and of {counts[2]} of the result."
        )
    moved = [
        x.moveaxis(each, tuple(range(-len(each), 0)))
        for x, each in zip(operands, given, strict=False)
    ]
    found = function(moved[0], moved[1])
    return found.moveaxis(tuple(range(-counts[2], 0)), given[2])


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
    given = [along, along, *[along] * keepdims] if axes is None else axes
    if keepdims:
        counts = (1, 1, 1)
        found = _move_matrix_axes(
            "vecdot",
            lambda x, y: tw.vecdot(x, y)[..., None],
            (a, b),
            given,
            counts,
        )
    else:
        found = _move_matrix_axes("vecdot", tw.vecdot, (a, b), given, (1, 1, 0))
    return into(found, out)


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
    given = as_tensors(arrays)
    if dtype is not None:
        for each in given:
            check_casting("einsum", each.dtype, as_dtype(dtype), casting)
        given = [each.astype(dtype) for each in given]
    return into(tw.einsum(subscripts, *given), out)


def kron(a: ArrayLike, b: ArrayLike) -> Tensor:
    """Return the Kronecker product: a block `a[i] * b` for each element of `a`.

    >>> np.kron([1, 10], [1, 2])
    tensor([ 1,  2, 10, 20])
    """
    x, y = as_pair(a, b)
    rank = max(x.ndim, y.ndim)
    x = x.reshape((*(1,) * (rank - x.ndim), *x.shape))
    y = y.reshape((*(1,) * (rank - y.ndim), *y.shape))
    wide = x.expand_dims(tuple(range(1, 2 * rank, 2))) if rank else x
    narrow = y.expand_dims(tuple(range(0, 2 * rank, 2))) if rank else y
    shape = tuple(m * n for m, n in zip(x.shape, y.shape, strict=True))
    return tw.multiply(wide, narrow).reshape(shape)


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
    a2 = x[..., 2] if x.shape[-1] == 3 else x[..., 0] * 0
    b2 = y[..., 2] if y.shape[-1] == 3 else y[..., 0] * 0
    parts = (a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, third)
    found = tw.stack(tw.broadcast_arrays(*parts), axis=-1)
    return found.moveaxis(-1, normalize_axis(axisc, found.ndim))


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

Positions: TypeAlias = tuple[int, ...]
"""Indices of operands that one step multiplies; it appends the product to the rest."""


@dataclass(frozen=True, slots=True)
class Problem:
    """The letters of operands and result, their lengths, and the most elements."""

    operands: tuple[Letters, ...]
    output: Letters
    lengths: dict[str, int]
    limit: float

    def size(self, letters: Iterable[str]) -> int:
        """Return the number of elements."""
        return math.prod(self.lengths[letter] for letter in letters)

    def work(self, letters: Letters, is_summed: bool, count: int) -> int:
        """Return the multiplications and additions of a product of `count` operands."""
        return self.size(letters) * (max(1, count - 1) + is_summed)

    def product(
        self, chosen: Sequence[Letters], others: Sequence[Letters]
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
    some positions; its product replaces them as the last operand.

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
    subscripts, arrays = subscripts_of(operands)
    nodes = [each.node for each in as_tensors(arrays)]
    labels, result = parse(subscripts, nodes)
    names = _letters_of_labels((*labels, result))
    terms = ["".join(names[label] for label in term) for term in labels]
    output = "".join(names[label] for label in result)
    lengths: dict[str, int] = {}
    for term, node in zip(terms, nodes, strict=True):
        for letter, length in zip(term, node.shape, strict=True):
            lengths[letter] = max(length, lengths.get(letter, 0))
            if length == 0:
                lengths[letter] = 0
    problem = Problem(tuple(map(frozenset, terms)), frozenset(output), lengths, 0)
    largest = max(problem.size(term) for term in (*terms, output))
    path, limit = _parse_optimize(optimize, largest)
    problem = Problem(problem.operands, problem.output, lengths, limit)
    if isinstance(path, str):
        everything = [tuple(range(len(terms)))]
        letters = frozenset[str]().union(*problem.operands)
        if path == "none" or len(terms) < 3 or letters == problem.output:
            path = everything
        else:
            path = _greedy_path(problem) if path == "greedy" else _optimal_path(problem)
    return ["einsum_path", *path], _path_report(problem, terms, output, path)


def _letters_of_labels(terms: Iterable[Iterable[str]]) -> dict[str, str]:
    """Return a letter for each label, also for those of dots."""
    labels = dict.fromkeys(itertools.chain(*terms))
    free = (each for each in reversed(string.ascii_letters) if each not in labels)
    return {label: next(free) if label[0] == "." else label for label in labels}


def _parse_optimize(optimize: Any, largest: int) -> tuple[str | list[Positions], float]:
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


def _optimal_path(problem: Problem) -> list[Positions]:
    """Return the cheapest order of pairs, all of which are tried."""
    total = len(problem.operands)
    found: list[tuple[int, list[Positions], tuple[Letters, ...]]]
    found = [(0, [], problem.operands)]
    for step in range(total - 1):
        longer = []
        for cost, path, operands in found:
            for pair in itertools.combinations(range(total - step), 2):
                chosen = [operands[i] for i in pair]
                others = [each for i, each in enumerate(operands) if i not in pair]
                remaining, work = problem.product(chosen, others)
                if problem.size(remaining) <= problem.limit:
                    longer.append((cost + work, [*path, pair], (*others, remaining)))
        if not longer:
            path = min(found, key=operator.itemgetter(0))[1]
            return [*path, tuple(range(total - step))]
        found = longer
    return min(found, key=operator.itemgetter(0))[1]


def _greedy_path(problem: Problem) -> list[Positions]:
    """Return an order whose every step frees the most memory, then is the cheapest."""
    operands = dict(enumerate(problem.operands))
    _, naive = problem.product(problem.operands, ())
    spent = 0
    known: dict[tuple[int, int], tuple[int, int]] = {}
    path: list[Positions] = []

    def weigh(pairs: Iterable[tuple[int, int]], is_outer: bool) -> None:
        for pair in pairs:
            chosen = [operands[number] for number in pair]
            if not is_outer and chosen[0].isdisjoint(chosen[1]):
                continue
            others = [each for number, each in operands.items() if number not in pair]
            remaining, work = problem.product(chosen, others)
            size = problem.size(remaining)
            if size <= problem.limit and spent + work <= naive:
                known[pair] = (size - sum(map(problem.size, chosen)), work)

    weigh(itertools.combinations(operands, 2), is_outer=False)
    for number in range(len(operands), 2 * len(operands) - 1):
        if not known:
            weigh(itertools.combinations(operands, 2), is_outer=True)
        if not known:
            return [*path, tuple(range(len(operands)))]
        pair = min(known, key=lambda each: known[each])
        spent += known[pair][1]
        positions = list(operands)
        path.append(tuple(positions.index(each) for each in pair))
        chosen = [operands.pop(each) for each in pair]
        operands[number], _ = problem.product(chosen, list(operands.values()))
        for each in [each for each in known if not set(pair).isdisjoint(each)]:
            del known[each]
        weigh(((other, number) for other in list(operands)[:-1]), is_outer=False)
    return path


def _contraction_steps(
    terms: Sequence[str],
    output: str,
    lengths: dict[str, int],
    path: Sequence[Positions],
) -> Iterator[tuple[list[str], str, list[str]]]:
    """Yield the operands of each step, its product, and the operands after it.

    Raises:
        DataError: positions are not there, or several operands are left.
    """
    left = list(terms)
    for number, step in enumerate(path, 1):
        if (
            not step
            or len(set(step)) < len(step)
            or not 0 <= min(step) <= max(step) < len(left)
        ):
            raise DataError(
                f"einsum: {step} of {list(path)} are not operands of {len(left)}."
            )
        chosen = [left.pop(i) for i in sorted(step, reverse=True)]
        needed = set(output).union(*left)
        made = "".join(
            sorted(set().union(*chosen) & needed, key=lambda x: (lengths[x], x))
        )
        if number == len(path):
            made = output
        left.append(made)
        yield chosen, made, left[:]
    if len(left) > 1:
        raise DataError(f"einsum: {list(path)} leaves {len(left)} operands; add steps.")


def _path_report(
    problem: Problem, terms: Sequence[str], output: str, path: Sequence[Positions]
) -> str:
    """Return NumPy's text about an order."""
    left = list(problem.operands)
    work, scaling, sizes, rows = 1, [0], [0], []
    done = _contraction_steps(terms, output, problem.lengths, path)
    for step, (chosen, made, after) in zip(path, done, strict=False):
        positions = sorted(step, reverse=True)
        taken = [left.pop(i) for i in positions]
        remaining, cost = problem.product(taken, left)
        left.append(remaining)
        work += cost
        scaling.append(len(frozenset().union(*taken)))
        sizes.append(problem.size(remaining))
        rest = f"{','.join(after)}->{output}"
        rows.append(
            f"\n{scaling[-1]:4d}    {','.join(chosen) + '->' + made:>24} {rest:>40}"
        )
    next(done, None)  # which raises if operands are left
    _, naive = problem.product(problem.operands, ())
    letters = frozenset[str]().union(*problem.operands)
    summed = sum(map(len, problem.operands)) > len(letters)
    naive = problem.work(letters, summed, len(terms))
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
        + "".join(rows)
    )


declare_public(__name__)
