"""Entries of the op table, independent of the device, and the kinds of operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from tensorweb.graph import attributes
from tensorweb.graph.attributes import Custom


class Role(Enum):
    """The role of a kind in a kernel."""

    SOURCE = "a value without a kernel: bytes, a constant, an index ramp"
    MOVEMENT = "another view of its input; never computed"
    INLINE = "computed by element inside each kernel that reads it"
    CHOICE = "computed inside each kernel that reads it, at other indices"
    CORE = "has a kernel, into which elementwise consumers are fused"
    STORED = "has a kernel of its own, which stores the result"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of operations.

    Attributes:
        name: the value of `Op.kind`.
        role: its role in a kernel.
        attributes: the classes of `graph/attributes.py` that its nodes have.
        cost: multiply-adds per element without the cost of the inputs; a `map`
            operation has `Op.weight` instead.
        extra_storages: count of storages its kernel binds beyond inputs and result.
    """

    name: str
    role: Role
    attributes: tuple[type, ...] = ()
    cost: int = 0
    extra_storages: int = 0


LOAD_COST = 4
"""Cost of loading one element from a storage, in multiply-adds."""

MOVEMENTS = (
    attributes.Reshape,
    attributes.Permutation,
    attributes.Expansion,
    attributes.Slices,
    attributes.Windows,
    attributes.Alias,
)

ENTRIES = (
    Kind("leaf", Role.SOURCE),
    Kind("constant", Role.SOURCE, (bool, int, float)),
    Kind("iota", Role.SOURCE),
    Kind("movement", Role.MOVEMENT, MOVEMENTS),
    Kind("map", Role.INLINE),
    Kind("copy", Role.INLINE),
    Kind("gather", Role.INLINE, (attributes.Taking,), LOAD_COST),
    Kind("pad", Role.CHOICE, (attributes.Padding,), 2),
    Kind("concat", Role.CHOICE, (attributes.Joining,), 2),
    Kind("embed", Role.CHOICE, (attributes.Box,), 2),
    Kind("reduce", Role.CORE, (attributes.Reduction,)),
    Kind("argreduce", Role.CORE, (attributes.Reduction,)),
    Kind("matmul", Role.CORE, (attributes.Groups,)),
    Kind("scan", Role.STORED),
    # The kernel sorts pairs of element and index, and reads counts.
    Kind("sort", Role.STORED, (attributes.Ordering,), extra_storages=1),
    Kind("scatter", Role.STORED, (attributes.Writing,)),
    # The kernel reads keys and their order, and writes values at block boundaries.
    Kind("accumulate", Role.STORED, extra_storages=2),
    Kind("compress", Role.STORED),
    Kind("fourier", Role.STORED, (attributes.Transform,)),
    # The kernel works on a copy of each matrix.
    Kind("factor", Role.STORED, (attributes.Factoring,), extra_storages=1),
    Kind("custom", Role.STORED, (Custom,)),
)

KINDS: dict[str, Kind] = {kind.name: kind for kind in ENTRIES}
"""Every kind by name."""


def kinds_of(*roles: Role) -> frozenset[str]:
    """Return the names of the kinds that have one of the given roles."""
    return frozenset(kind.name for kind in ENTRIES if kind.role in roles)


STORED_KINDS = kinds_of(Role.CORE, Role.STORED)
"""Kinds whose results are always stored."""

NumpyRule = str | Callable[..., Any]
"""A NumPy function's name, or `(numpy, *arrays) -> array`."""

TRANSCENDENTAL = 4.0
"""Error bound in ULP of NumPy's vectorized functions; `shaders/math/` is below it."""


class Derivative(NamedTuple):
    """Partial derivatives of an elementwise operation.

    Attributes:
        local: `(xp, y, *operands) -> factors`, one partial derivative per operand: an
            array, a number, or None for zero. `xp` is a namespace of functions, NumPy's
            or tensorweb's; `y` is the result, used instead of operands where possible.
        is_steep: whether a factor may be infinite or NaN. A cotangent of 0 then gives
            0, so that the branch not selected by `where` contributes nothing.
    """

    local: Callable[..., tuple[Any, ...]]
    is_steep: bool = False


def steep(local: Callable[..., tuple[Any, ...]]) -> Derivative:
    """Return a derivative whose factors may be infinite or NaN."""
    return Derivative(local, is_steep=True)


FLAT = Derivative(lambda xp, y, *operands: (None,) * len(operands))
"""Zero derivative of step functions, comparisons and bitwise operations."""


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """An entry of the op table.

    Attributes:
        name: the public name.
        summary: the result, in a phrase that follows "Return" in the documentation.
            Operands are `x`, or `x1` and `x2`.
        kind: the name of an entry of `KINDS`: `map` (elementwise), `movement`,
            `reduce` …
        arity: count of inputs.
        accepts: the category of `dtypes.CATEGORIES` that inputs must have.
        result: the rule for the result's dtype: `same`, `float` (integers become the
            default float), `bool` (compared after promotion), `logical` (inputs become
            bool), `sum` (small integers and bool become the default integer), `index`,
            `given` (by the caller).
        numpy: the NumPy function or a callable that uses NumPy; by default, for
            elementwise operations and reductions, the NumPy function of this name.
        wgsl: the WGSL expression by dtype, kind of dtype or `any`; `{0}`, `{1}` …
            are the inputs. For reductions it combines two values. See `form`.
        weight: rough cost of one element in multiply-adds; loads cost 4.
        identity: the identity element of a reduction; `lowest` and `highest` stand for
            the dtype's limits or infinities.
        ulp: error bound of a float result on any device, in units in the last place;
            0.5 means correctly rounded.
        domain: the interval `low, high` per input that tests draw floats from.
        derivative: the derivative of a `map`; `where`, `cast` and other kinds have
            their rules in `transforms/rules/`.
        details: further sentences of the documentation.
        example: a call and what Python prints for it. `python3 build.py docs` makes a
            function `tw.NAME` and a method of every `map` with an example.
        is_stored: whether the scheduler always stores the result.
    """

    name: str
    summary: str
    kind: str = "map"
    arity: int = 1
    accepts: str = "any"
    result: str = "same"
    numpy: NumpyRule = ""
    wgsl: Mapping[str, str] = field(default_factory=dict)
    weight: int = 1
    identity: float | str = 0
    ulp: float = 0.5
    domain: tuple[tuple[float, float], ...] = ((-10.0, 10.0),)
    derivative: Derivative | None = None
    details: str = ""
    example: tuple[str, str] | None = None
    is_stored: bool = field(init=False)

    def __post_init__(self) -> None:
        """Derive `is_stored` from the kind, and the default of `numpy` from `name`."""
        if not self.numpy and self.kind in ("map", "reduce", "argreduce"):
            object.__setattr__(self, "numpy", self.name)
        object.__setattr__(self, "is_stored", self.kind in STORED_KINDS)

    def form(self, dtype: str, kind: str) -> str:
        """Return the WGSL expression for a dtype, else for its kind, else for any."""
        return self.wgsl.get(dtype) or self.wgsl.get(kind) or self.wgsl["any"]

    def __repr__(self) -> str:
        """Return the name."""
        return f"Op({self.name})"


def float_function(
    name: str,
    summary: str,
    example: tuple[str, str],
    *,
    numpy: NumpyRule = "",
    weight: int = 16,
    domain: tuple[float, float] = (-10.0, 10.0),
    derivative: Derivative,
    details: str = "",
) -> Op:
    """Return the entry of a function of one float, `NAME_f32` in `shaders/math/`."""
    return Op(
        name,
        summary,
        result="float",
        numpy=numpy,
        wgsl={"float": f"{name}_f32({{0}})"},
        weight=weight,
        ulp=TRANSCENDENTAL,
        domain=(domain,),
        derivative=derivative,
        details=details,
        example=example,
    )


LEAF = Op("leaf", "a value that is already there", "leaf", arity=0)
CONSTANT = Op("constant", "one number, the same everywhere", "constant", arity=0)
COMPLEX = Op("complex", "pairs of floats as complex numbers", "movement")
