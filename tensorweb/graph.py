"""The graph: operations as rows, nodes as their uses; nothing is computed here.

A `Node` is one operation on other nodes. Its shape and dtype are fixed when it is
built. A node that has been computed keeps its `storage` and forgets its inputs, so a
loop holds on to values and not to its history.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar
from weakref import ref

from tensorweb.dtypes import DType, float16, rounded_to
from tensorweb.shapes import Shape, size
from tensorweb.view import View

NumpyRule = str | Callable[..., Any]
"""A NumPy function's name, or `(numpy, *arrays) -> array`."""

STORED_KINDS = frozenset(
    {"reduce", "matmul", "scan", "sort", "scatter", "accumulate", "compress"}
)
"""Kinds whose results are always stored."""


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One row of the op table.

    Attributes:
        name: the public name.
        kind: what the scheduler does with it: `map` (elementwise), `movement`,
            `reduce`, `argreduce`, or a kind of its own.
        doc: one line for people.
        arity: number of inputs.
        accepts: the category of `dtypes.CATEGORIES` that inputs must have.
        result: how the dtype follows: `same`, `float` (integers become the default
            float), `bool` (compared after promotion), `logical` (inputs become bool),
            `sum` (small integers and bool become the default integer), `index`.
        numpy: how NumPy computes it.
        wgsl: the WGSL expression by dtype, kind of dtype or `any`; `{0}`, `{1}` …
            are the inputs. For reductions: how two values combine.
        weight: rough cost of one element in multiply-adds; loads cost 4.
        identity: for reductions, the value that changes nothing, by kind of dtype;
            `lowest` and `highest` stand for the dtype's limits or infinities.
        domain: where tests draw floating inputs from, `low, high` per input.
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
    domain: tuple[tuple[float, float], ...] = ((-10.0, 10.0),)
    is_stored: bool = field(init=False)

    def __post_init__(self) -> None:
        """Note what follows from the kind."""
        object.__setattr__(self, "is_stored", self.kind in STORED_KINDS)

    def __repr__(self) -> str:
        """Return the name."""
        return f"Op({self.name})"


LARGE_SHIFT = 20
"""Such a storage adds one to the depth for every 2**20 elements."""


class Node:
    """One operation in the graph, or a value that is already there.

    Attributes:
        op: the row of the operation.
        inputs: the nodes it reads; empty once computed.
        attrs: what else defines it, hashable; see the builders in `tensorweb/build/`.
        shape, dtype, device: of the result.
        depth: longest way to a computed node, 0 for a computed one; large storages on
            the way count more, so that a limit on depth also bounds memory.
        owner: the node whose storage a movement looks at, None for all others.
        base: the owner, or the node itself.
        view: how it looks at the base's storage.
        storage: the device's storage or host bytes once computed, else None.
        structure: see `structure_of`; 0 until it is asked for.
        mark: what flushes know of it, `FRESH`, `WANTED` or `KEPT`; a weak reference to
            the tensor that an assignment gave this value, which is to store it as well.
    """

    __slots__ = (
        "__weakref__",
        "_view",
        "attrs",
        "depth",
        "device",
        "dtype",
        "inputs",
        "mark",
        "op",
        "owner",
        "shape",
        "storage",
        "structure",
    )

    def __init__(
        self,
        op: Op,
        inputs: tuple[Node, ...],
        attrs: Hashable,
        shape: Shape,
        dtype: DType,
        device: str,
        base: Node | None = None,
        view: View | None = None,
        structure: int = 0,
    ) -> None:
        """Build a node; callers have checked shapes, dtypes and devices."""
        self.op = op
        self.inputs = inputs
        self.attrs = attrs
        self.shape = shape
        self.dtype = dtype
        self.device = device
        self.owner = base
        self._view = view
        self.storage: Storage | None = None
        self.structure = structure
        self.mark: int | ref[Any] = FRESH
        depth = 0
        for node in inputs:
            if node.depth >= depth:
                depth = node.depth + 1
        if op.is_stored:
            depth += size(shape) >> LARGE_SHIFT
        self.depth: int = depth

    @property
    def base(self) -> Node:
        """The node that owns the storage this one looks at.

        A node does not hold itself, so that reference counts alone free it.
        """
        return self if self.owner is None else self.owner

    @property
    def view(self) -> View:
        """How it looks at the base's storage; made when first asked for."""
        if self._view is None:
            self._view = View.contiguous(self.shape)
        return self._view

    def reshaped_view(self, shape: Shape) -> View | None:
        """Return the view of the same elements under another shape, if there is one."""
        if self._view is None:
            return View.contiguous(shape)
        return self._view.reshape(shape)

    @property
    def is_computed(self) -> bool:
        """Whether the value exists, on the host or on the device."""
        return self.base.storage is not None

    @property
    def size(self) -> int:
        """Number of elements."""
        return size(self.shape)

    def settle(self, storage: Storage) -> None:
        """Attach the computed storage and let the history go."""
        self.storage = storage
        self.inputs = ()
        self.depth = 0
        self.structure = 0
        self.mark = KEPT if self.mark else FRESH

    def __reduce__(self) -> NoReturn:
        """Refuse: structures are numbers of this process, storages of its device."""
        raise TypeError("a node cannot be copied or pickled; its tensor can.")

    def __repr__(self) -> str:
        """Return operation, dtype and shape for debugging."""
        state = " computed" if self.is_computed else ""
        return f"<{self.op.name} {self.dtype}{list(self.shape)} {self.device}{state}>"


FRESH, WANTED, KEPT = range(3)
"""Marks of nodes: nothing is known; a flush that needs the value shall store it, since
an earlier one has computed it already; it was stored for such a reason."""

STRUCTURES_KEPT = 1 << 16

_structures: dict[tuple[Hashable, ...], int] = {}
_numbers = itertools.count(1)


def number_of(*parts: Hashable) -> int:
    """Return a number that stands for some parts, the same for equal ones.

    Numbers are never used twice: when too many parts are known they are forgotten and
    get new numbers.
    """
    number = _structures.get(parts)
    if number is None:
        if len(_structures) >= STRUCTURES_KEPT:
            _structures.clear()
        number = _structures[parts] = next(_numbers)
    return number


def structure_of(node: Node) -> int:
    """Return the number that nodes of the same structure share, and keep it.

    It stands for operation, attributes (without the number of a constant), shape and
    dtype; of a computed node, which is bytes, for their number and dtype.
    """
    if node.structure:
        return node.structure
    if node.storage is not None:
        node.structure = number_of(node.dtype, node.size)
    else:
        attrs = None if node.op is CONSTANT else node.attrs
        count = len(node.inputs)
        node.structure = number_of(node.op, attrs, node.shape, node.dtype, count)
    return node.structure


T = TypeVar("T")


class Known(dict[Hashable, T]):
    """What builders remember of operands they have checked; bounded, never needed."""

    __slots__ = ()

    MOST = 4096

    def keep(self, key: Hashable, value: T) -> None:
        """Remember a value; forgets all when there are too many."""
        if len(self) >= self.MOST:
            self.clear()
        self[key] = value


class Storage:
    """Where a computed value lies; backends and `HostData` subclass it."""

    __slots__ = ("__weakref__",)


class HostData(Storage):
    """Row-major bytes on the host, before a device needs them."""

    __slots__ = ("data",)

    def __init__(self, data: bytes | memoryview) -> None:
        """Keep the bytes; nobody changes them afterwards."""
        self.data = data


class Placeholder(Storage):
    """Stands for an argument's storage while `jit` records a function."""

    __slots__ = ()


LEAF = Op("leaf", "leaf", "a value that is already there", arity=0)
CONSTANT = Op("constant", "constant", "one number, the same everywhere", arity=0)


def leaf(storage: Storage, shape: Shape, dtype: DType, device: str) -> Node:
    """Return a node for a value that exists."""
    node = Node(LEAF, (), None, shape, dtype, device)
    node.storage = storage
    return node


def view_of(base: Node, view: View) -> Node:
    """Return a node that looks at a computed node's storage through a view."""
    return Node(LEAF, (base,), None, view.shape, base.dtype, base.device, base, view)


def constant(value: complex, dtype: DType, device: str, shape: Shape = ()) -> Node:
    """Return a node for one number; it owns no storage until it is asked for.

    A float16 is rounded here, once: kernels compute in float32 and must not see more
    digits than a stored one has.
    """
    kind = dtype.kind
    number: float
    if kind == "float":
        number = float(value.real)
        if dtype is float16:
            number = rounded_to(number, float16)
    else:
        number = bool(value) if kind == "bool" else int(value.real)
    node = Node(CONSTANT, (), number, shape, dtype, device)
    structure = _constants.get((shape, dtype))
    if structure is None:
        _constants.keep((shape, dtype), structure_of(node))
    else:
        node.structure = structure
    return node


_constants: Known[int] = Known()
"""Structures of constants by shape and dtype."""


def ancestors(outputs: Sequence[Node]) -> list[Node]:
    """Return the uncomputed nodes that outputs need, and the computed ones they read.

    Inputs come before the nodes that read them. Works on graphs of any depth.
    """
    order: dict[Node, None] = {}
    stack: list[Node] = []
    for node in outputs:
        while True:
            waits_for = None
            if node not in order and (node.owner or node).storage is None:
                for source in node.inputs:
                    if source in order:
                        continue
                    if source.inputs:
                        waits_for = source
                        break
                    order[source] = None
            if waits_for is not None:
                stack.append(node)
                node = waits_for
                continue
            order[node] = None
            if not stack:
                break
            node = stack.pop()
    return list(order)
