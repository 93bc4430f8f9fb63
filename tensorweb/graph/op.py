"""A row of the op table: what an operation is, whoever computes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tensorweb.graph.kinds import Role, kinds_of

NumpyRule = str | Callable[..., Any]
"""A NumPy function's name, or `(numpy, *arrays) -> array`."""

STORED_KINDS = kinds_of(Role.CORE, Role.STORED)
"""Kinds whose results are always stored."""

TRANSCENDENTAL = 4.0
"""NumPy's vector code promises 4 ULP; the functions of `shaders/math/` stay below."""


class Derivative(NamedTuple):
    """How an elementwise result changes with each operand.

    Attributes:
        local: `(xp, y, *operands) -> factors`, one per operand: an array, a number, or
            None where nothing changes. `xp` has the functions, NumPy's or ours; `y` is
            the result, used instead of operands where that is possible.
        is_steep: whether a factor may be infinite or NaN. What is multiplied by 0 there
            stays 0, so that a branch that `where` left out adds nothing.
    """

    local: Callable[..., tuple[Any, ...]]
    is_steep: bool = False


def steep(local: Callable[..., tuple[Any, ...]]) -> Derivative:
    """Return a derivative that is infinite or NaN somewhere."""
    return Derivative(local, is_steep=True)


FLAT = Derivative(lambda xp, y, *operands: (None,) * len(operands))
"""Of steps, questions and bits: where there is a slope, it is 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One row of the op table.

    Attributes:
        name: the public name.
        kind: a row of `graph/kinds.py`: `map` (elementwise), `movement`, `reduce` …
        doc: one line for people.
        arity: number of inputs.
        accepts: the category of `dtypes.CATEGORIES` that inputs must have.
        result: how the dtype follows: `same`, `float` (integers become the default
            float), `bool` (compared after promotion), `logical` (inputs become bool),
            `sum` (small integers and bool become the default integer), `index`,
            `given` (by the caller).
        numpy: how NumPy computes it.
        wgsl: the WGSL expression by dtype, kind of dtype or `any`; `{0}`, `{1}` …
            are the inputs. For reductions: how two values combine. See `form`.
        weight: rough cost of one element in multiply-adds; loads cost 4.
        identity: for reductions, the value that changes nothing, by kind of dtype;
            `lowest` and `highest` stand for the dtype's limits or infinities.
        ulp: how far an element of a float result may lie from the exact one, on any
            device, in units in the last place; half a unit is the nearest float.
        domain: where tests draw floating inputs from, `low, high` per input.
        derivative: of a `map`; `where`, `cast` and other kinds have their rules in
            `transforms/rules/`.
        is_stored: whether the result always leaves a storage behind, even when nobody
            asked for it.
    """

    name: str
    kind: str
    doc: str
    arity: int = 1
    accepts: str = "any"
    result: str = "same"
    numpy: NumpyRule = ""
    wgsl: Mapping[str, str] = field(default_factory=dict)
    weight: int = 1
    identity: Mapping[str, float | str] = field(default_factory=dict)
    ulp: float = 0.5
    domain: tuple[tuple[float, float], ...] = ((-10.0, 10.0),)
    derivative: Derivative | None = None
    is_stored: bool = field(init=False)

    def __post_init__(self) -> None:
        """Note what follows from the kind."""
        object.__setattr__(self, "is_stored", self.kind in STORED_KINDS)

    def form(self, dtype: str, kind: str) -> str:
        """Return its WGSL for a dtype by name, else for its kind, else for any."""
        return self.wgsl.get(dtype) or self.wgsl.get(kind) or self.wgsl["any"]

    def __repr__(self) -> str:
        """Return the name."""
        return f"Op({self.name})"


LEAF = Op("leaf", "leaf", "a value that is already there", arity=0)
CONSTANT = Op("constant", "constant", "one number, the same everywhere", arity=0)
COMPLEX = Op("complex", "movement", "pairs of floats as complex numbers")
