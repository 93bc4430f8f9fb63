"""Which operands need a fence, so that NaN and infinities survive optimisation.

WGSL lets compilers apply the rules of real numbers to floats: NVIDIA's and Mesa's
simplify `(a - v) + v` to `a` and `v - v` to 0, and factor `c * a + c * b` into
`c * (a + b)`. They can do so only if a value takes part in both sides of an addition or
subtraction, as a term or as a factor of a term, or is a factor of both sides of a
product, since `a * (a * s)` may become `(a * a) * s`, which overflows sooner. In these
cases one operand passes through `fenced_f32` (`shaders/math/`), whose result compilers
cannot analyse.

NVIDIA's compiler simplifies `x * f32(b)` to `select(0, x, b)`, which loses the NaN of
`inf * 0`. In this case the bool passes through the fence.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from tensorweb.schedule.kernel import Step

SUMS = frozenset(("add", "subtract"))
PRODUCTS = frozenset(("multiply", "square"))
FENCED = SUMS | {"multiply", "divide"}
"""Operations of which an operand may be fenced."""

SIGNS = frozenset(("negative", "positive"))
THROUGH = frozenset(("abs", "maximum", "minimum", "relu", "where"))
"""Operations whose result is one of their operands, up to its sign."""

FLOATS = frozenset(("float16", "float32"))

_LATEST: deque[tuple[Sequence[Step], Mapping[Step, int]]] = deque(maxlen=8)
"""Cache of `fences` for the latest expressions, since it is called for each step."""


def fences(steps: Sequence[Step]) -> Mapping[Step, int]:
    """Return the steps with a fenced operand, and the index of that operand.

    >>> load = Step("load", "float32", slot=0, access=0)
    >>> rest = Step("map", "float32", "subtract", args=(1, 0))
    >>> back = Step("map", "float32", "add", args=(2, 0))
    >>> fences((load, Step("scalar", "float32", slot=0), rest, back)) == {back: 0}
    True
    """
    for cached_steps, result in tuple(_LATEST):
        if cached_steps is steps:
            return result
    result = _fenced_operands(steps)
    _LATEST.append((steps, result))
    return result


def _fenced_operands(steps: Sequence[Step]) -> dict[Step, int]:
    if not any(step.name in FENCED and step.dtype in FLOATS for step in steps):
        return {}
    terms: list[int] = []
    factors: list[int] = []
    result: dict[Step, int] = {}
    for index, step in enumerate(steps):
        factors.append(_factors(step, index, factors))
        terms.append(_terms(step, index, terms, factors))
        if step.name in FENCED and step.dtype in FLOATS:
            operand = _fenced_operand(steps, step, terms, factors)
            if operand is not None:
                result[step] = operand
    return result


def _fenced_operand(
    steps: Sequence[Step], step: Step, terms: Sequence[int], factors: Sequence[int]
) -> int | None:
    """Return the index of the operand to fence, None if neither needs it."""
    left, right = step.args
    is_sum = step.name in SUMS
    if not is_sum:
        for operand, arg in enumerate(step.args):
            if is_bool(steps, arg):
                return operand
    parts = terms if is_sum else factors
    is_same = left == right and step.name != "subtract"
    if step.name == "divide" or is_same or not parts[left] & parts[right]:
        return None
    return _operand_to_fence(steps, is_sum, left, right)


def is_bool(steps: Sequence[Step], index: int) -> bool:
    """Return whether a value is a bool that was cast, whose only values are 0 and 1."""
    step = steps[index]
    while step.kind == "cast":
        step = steps[step.args[-1]]
        if step.dtype == "bool":
            return True
    return False


def _factors(step: Step, index: int, factors: Sequence[int]) -> int:
    """Return a bit mask of the steps that are factors of a value, itself included."""
    result = 1 << index
    if step.name in PRODUCTS or step.name in SIGNS:
        for arg in step.args:
            result |= factors[arg]
    return result


def _terms(step: Step, index: int, terms: Sequence[int], factors: Sequence[int]) -> int:
    """Return a bit mask of the terms of a value and of the factors of each term."""
    result = 1 << index
    if step.dtype not in FLOATS or step.kind not in ("map", "cast"):
        return result
    if step.name in PRODUCTS:
        return factors[index]
    args: tuple[int, ...] = ()
    if step.name in SUMS | SIGNS | THROUGH or step.kind == "cast":
        args = step.args[1:] if step.name == "where" else step.args
    for arg in args:
        result |= terms[arg]
    return result


def _operand_to_fence(
    steps: Sequence[Step], is_sum: bool, left: int, right: int
) -> int:
    """Return the index of the operand to fence: the one that was computed later.

    A sum then never contains a fenced value twice: `(a + f) - f` would be `a` again. If
    only the later operand is a product, the other one is fenced, so that the product
    and the sum can become one fused multiply-add.
    """
    later, other = (0, 1) if left > right else (1, 0)
    args = (left, right)
    is_product = is_sum and steps[args[later]].name in PRODUCTS
    if is_product and steps[args[other]].name not in PRODUCTS:
        return other
    return later
