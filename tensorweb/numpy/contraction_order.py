"""Orders in which `einsum` may multiply: `einsum_path`, cheapest or by greed."""

from __future__ import annotations

import itertools
import math
import operator
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tensorweb.errors import DataError
from tensorweb.nodes.einsum import parse
from tensorweb.numpy.arguments import as_tensors, subscripts_of

__all__ = ["einsum_path"]

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
        kept = used & self.output.union(*others)
        return kept, self.work(used, used != kept, len(chosen))


def einsum_path(
    *operands: Any, optimize: Any = "greedy", einsum_call: bool = False
) -> tuple[list[Any], str]:
    """Return an order of products for `einsum`, and what it costs, as text.

    The order is `["einsum_path", (0, 2), (0, 1)]`: each step multiplies the operands at
    some positions, which leave, and the product becomes the last operand.

    Args:
        operands: those of `einsum`.
        optimize: "greedy" or True takes the best pair at each step, "optimal" tries all
            orders; False is one step. A pair with a number, `("greedy", 10**6)`, says
            how many elements a product on the way may have, else as many as the largest
            operand or the result. An order is taken as it is.
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
    names = _names((*labels, result))
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
    path, limit = _asked(optimize, largest)
    problem = Problem(problem.operands, problem.output, lengths, limit)
    if isinstance(path, str):
        everything = [tuple(range(len(terms)))]
        letters = frozenset[str]().union(*problem.operands)
        if path == "none" or len(terms) < 3 or letters == problem.output:
            path = everything
        else:
            path = _greedy(problem) if path == "greedy" else _optimal(problem)
    return ["einsum_path", *path], _told(problem, terms, output, path)


def _names(terms: Iterable[Iterable[str]]) -> dict[str, str]:
    """Return a letter for each label, also for those of dots."""
    labels = dict.fromkeys(itertools.chain(*terms))
    free = (each for each in reversed(string.ascii_letters) if each not in labels)
    return {label: next(free) if label[0] == "." else label for label in labels}


def _asked(optimize: Any, largest: int) -> tuple[str | list[Positions], float]:
    """Return the way to find an order, or the order, and the most elements.

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


def _optimal(problem: Problem) -> list[Positions]:
    """Return the cheapest order of pairs, all of which are tried."""
    whole = len(problem.operands)
    found: list[tuple[int, list[Positions], tuple[Letters, ...]]]
    found = [(0, [], problem.operands)]
    for step in range(whole - 1):
        longer = []
        for cost, path, operands in found:
            for pair in itertools.combinations(range(whole - step), 2):
                chosen = [operands[i] for i in pair]
                others = [each for i, each in enumerate(operands) if i not in pair]
                kept, work = problem.product(chosen, others)
                if problem.size(kept) <= problem.limit:
                    longer.append((cost + work, [*path, pair], (*others, kept)))
        if not longer:
            path = min(found, key=operator.itemgetter(0))[1]
            return [*path, tuple(range(whole - step))]
        found = longer
    return min(found, key=operator.itemgetter(0))[1]


def _greedy(problem: Problem) -> list[Positions]:
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
            kept, work = problem.product(chosen, others)
            size = problem.size(kept)
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
        places = list(operands)
        path.append(tuple(places.index(each) for each in pair))
        chosen = [operands.pop(each) for each in pair]
        operands[number], _ = problem.product(chosen, list(operands.values()))
        for each in [each for each in known if not set(pair).isdisjoint(each)]:
            del known[each]
        weigh(((other, number) for other in list(operands)[:-1]), is_outer=False)
    return path


def _steps(
    terms: Sequence[str],
    output: str,
    lengths: dict[str, int],
    path: Sequence[Positions],
) -> Iterator[tuple[list[str], str, list[str]]]:
    """Yield what each step multiplies, its product, and what stands then.

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


def _told(
    problem: Problem, terms: Sequence[str], output: str, path: Sequence[Positions]
) -> str:
    """Return NumPy's text about an order."""
    left = list(problem.operands)
    work, scaling, sizes, rows = 1, [0], [0], []
    done = _steps(terms, output, problem.lengths, path)
    for step, (chosen, made, after) in zip(path, done, strict=False):
        positions = sorted(step, reverse=True)
        taken = [left.pop(i) for i in positions]
        kept, cost = problem.product(taken, left)
        left.append(kept)
        work += cost
        scaling.append(len(frozenset().union(*taken)))
        sizes.append(problem.size(kept))
        rest = f"{','.join(after)}->{output}"
        rows.append(
            f"\n{scaling[-1]:4d}    {','.join(chosen) + '->' + made:>24} {rest:>40}"
        )
    next(done, None)  # which says that operands are left
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
