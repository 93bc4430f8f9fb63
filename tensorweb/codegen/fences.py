"""Which operands pass through a fence, so that NaN and infinities survive.

`codegen/expression.py` asks for each step that it writes. WGSL lets compilers calculate
with floats as with exact numbers: NVIDIA's and Mesa's make `v` of `(inf - v) + v`, 0 of
`v - v`, and `c * (a + b)` of `c * a + c * b`. They can do so only where a value takes
part in both sides of an addition or a subtraction, as a term or as a factor of a term,
or is a factor of both sides of a product, since `a * (a * s)` may become `(a * a) * s`,
which overflows sooner; there one side goes through `fenced_f32` (`shaders/math/`),
about whose result compilers know nothing.

NVIDIA's compiler makes `select(0, x, b)` of `x * f32(b)`, which loses the NaN of
`inf * 0`. There the bool goes through the fence.
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
"""Operations whose result is one of their operands, perhaps with another sign."""

FLOATS = frozenset(("float16", "float32"))

_LATEST: deque[tuple[Sequence[Step], Mapping[Step, int]]] = deque(maxlen=8)
"""Results for the latest expressions: each is asked for once for every step."""


def fences(steps: Sequence[Step]) -> Mapping[Step, int]:
    """Return the steps of which an operand is fenced, and the number of the operand.

    >>> load = Step("load", "float32", slot=0, access=0)
    >>> rest = Step("map", "float32", "subtract", args=(1, 0))
    >>> back = Step("map", "float32", "add", args=(2, 0))
    >>> fences((load, Step("scalar", "float32", slot=0), rest, back)) == {back: 0}
    True
    """
    for known, found in tuple(_LATEST):
        if known is steps:
            return found
    found = _fences(steps)
    _LATEST.append((steps, found))
    return found


def _fences(steps: Sequence[Step]) -> dict[Step, int]:
    if not any(step.name in FENCED and step.dtype in FLOATS for step in steps):
        return {}
    terms: list[int] = []
    factors: list[int] = []
    found: dict[Step, int] = {}
    for number, step in enumerate(steps):
        factors.append(_factors(step, number, factors))
        terms.append(_terms(step, number, terms, factors))
        if step.name in FENCED and step.dtype in FLOATS:
            operand = _operand(steps, step, terms, factors)
            if operand is not None:
                found[step] = operand
    return found


def _operand(
    steps: Sequence[Step], step: Step, terms: Sequence[int], factors: Sequence[int]
) -> int | None:
    """Return the number of the operand that is fenced, None for neither."""
    left, right = step.args
    is_sum = step.name in SUMS
    if not is_sum:
        for number, arg in enumerate(step.args):
            if is_bool(steps, arg):
                return number
    parts = terms if is_sum else factors
    is_twice = left == right and step.name != "subtract"
    if step.name == "divide" or is_twice or not parts[left] & parts[right]:
        return None
    return _fenced(steps, is_sum, left, right)


def is_bool(steps: Sequence[Step], number: int) -> bool:
    """Return whether a value is a bool that was cast, whose only values are 0 and 1."""
    step = steps[number]
    while step.kind == "cast":
        step = steps[step.args[-1]]
        if step.dtype == "bool":
            return True
    return False


def _factors(step: Step, number: int, factors: Sequence[int]) -> int:
    """Return the factors of a value, itself among them: a bit for each step."""
    own = 1 << number
    if step.name in PRODUCTS or step.name in SIGNS:
        for arg in step.args:
            own |= factors[arg]
    return own


def _terms(
    step: Step, number: int, terms: Sequence[int], factors: Sequence[int]
) -> int:
    """Return the terms of a value and their factors: a bit for each step."""
    own = 1 << number
    if step.dtype not in FLOATS or step.kind not in ("map", "cast"):
        return own
    if step.name in PRODUCTS:
        return factors[number]
    args: tuple[int, ...] = ()
    if step.name in SUMS | SIGNS | THROUGH or step.kind == "cast":
        args = step.args[1:] if step.name == "where" else step.args
    for arg in args:
        own |= terms[arg]
    return own


def _fenced(steps: Sequence[Step], is_sum: bool, left: int, right: int) -> int:
    """Return which operand is fenced: the one that was computed later.

    No sum then has a fenced value twice: `(a + f) - f` would be `a` again. Of a product
    and another operand the other one is fenced, so that a multiply-add stays one.
    """
    later, other = (0, 1) if left > right else (1, 0)
    args = (left, right)
    is_product = is_sum and steps[args[later]].name in PRODUCTS
    if is_product and steps[args[other]].name not in PRODUCTS:
        return other
    return later
