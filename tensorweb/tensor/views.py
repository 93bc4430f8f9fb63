"""Views see what is written: whose elements a tensor has, and who must follow a write.

Values never change, so a write gives tensors other values: the one that is written to,
the one whose elements it has, and all that have elements of that one. Nobody is kept
alive by this: the views of a freed tensor do not see each other's writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol
from weakref import ref

from tensorweb import dtypes
from tensorweb.errors import DataError, ShapeError
from tensorweb.graph.complex_pairs import element_view, like, pair_of
from tensorweb.graph.node import Node, view_of
from tensorweb.graph.tracing import is_traced, is_tracing
from tensorweb.lookups.indexing import assign, select
from tensorweb.nodes.assignment import assign_plain
from tensorweb.nodes.complex_parts import imaginary_part, join_parts, real_part
from tensorweb.nodes.indexing import select_plain
from tensorweb.nodes.keys import parse
from tensorweb.nodes.movement import flip, permute, reshape
from tensorweb.nodes.selection import iota
from tensorweb.view import View

FEWEST = 16
"""Count of listed views from which on freed views are removed from the list."""


class Look(NamedTuple):
    """A manner to look at another tensor's elements.

    Attributes:
        read: from the whole and what tells the part to the part.
        write: from the whole, the part's new value and the same to the new whole.
    """

    read: Callable[[Node, Any], Node]
    write: Callable[[Node, Node, Any], Node]


def read_item(whole: Node, key: tuple[object, ...]) -> Node:
    """Return the part that a key of integers, slices, None and `...` names."""
    part = select_plain(whole, key)
    return select(whole, parse(key, whole.shape)) if part is None else part


def _write_item(whole: Node, part: Node, key: tuple[object, ...]) -> Node:
    written = assign_plain(whole, key, part)
    return assign(whole, parse(key, whole.shape), part) if written is None else written


def _permuted_back(whole: Node, part: Node, order: Sequence[int]) -> Node:
    return permute(part, sorted(range(len(order)), key=order.__getitem__))


ITEM = Look(read_item, _write_item)
"""By a key of integers, slices, None and `...`."""

ORDER = Look(permute, _permuted_back)
"""With the axes in another order."""

SHAPE = Look(reshape, lambda whole, part, shape: reshape(part, whole.shape))
"""Under another shape."""

REVERSED = Look(flip, lambda whole, part, axes: flip(part, axes))
"""With some axes reversed."""

REAL = Look(
    lambda whole, _: real_part(whole),
    lambda whole, part, _: join_parts(part, imaginary_part(whole)),
)

IMAGINARY = Look(
    lambda whole, _: imaginary_part(whole),
    lambda whole, part, _: join_parts(real_part(whole), part),
)


class Holder(Protocol):
    """A tensor, as far as this file knows it."""

    node: Node
    _kin: Kin | None

    def _renew(self, node: Node) -> None:
        """Take another value, and tell nobody."""


Step = tuple[Callable[[], Any], Look, Any]
"""An owner, and how it is looked at: the manner, and what tells the part."""

Extent = tuple[int, int]
"""The first and the last element of an owner, counted row by row."""


class Kin:
    """Whose elements a tensor has, nearest owner first, and who has elements of it."""

    __slots__ = ("_most", "_reach", "_views", "is_fixed", "steps")

    def __init__(self, steps: tuple[Step, ...] = ()) -> None:
        """Know the owners of a tensor and none who looks at it."""
        self.steps = steps
        self.is_fixed = False
        self._views: list[ref[Any]] | None = None
        self._reach: tuple[int, Extent] | None = None

    def reach(self, top: Node, steps: tuple[Step, ...]) -> Extent:
        """Return which elements of an owner a view can have; it stays the same."""
        if self._reach is None or self._reach[0] != len(steps):
            self._reach = len(steps), _extent(top, steps)
        return self._reach[1]

    def add(self, view: ref[Any]) -> None:
        """Add a view; freed views are removed from time to time."""
        views = self._views
        if views is None:
            self._views = [view]
            self._most = FEWEST
            return
        views.append(view)
        if len(views) >= self._most:
            views[:] = [each for each in views if each() is not None]
            self._most = max(FEWEST, 2 * len(views))

    def views(self, owner: Holder) -> list[tuple[Any, tuple[Step, ...]]]:
        """Return the views there are, each with its steps up to the owner of this."""
        found = []
        for each in self._views or ():
            view = each()
            steps: tuple[Step, ...] = ()
            if view is not None and view._kin is not None:
                steps = view._kin.steps
            for number, step in enumerate(steps):
                if step[0]() is owner:
                    found.append((view, steps[: number + 1]))
        return found

    def furthest(self) -> tuple[int, Any]:
        """Return the furthest owner there is and its number, -1 and None for none."""
        for number in range(len(self.steps) - 1, -1, -1):
            found = self.steps[number][0]()
            if found is not None:
                return number, found
        return -1, None


def attach(view: Holder, owner: Holder, look: Look, what: Any) -> None:
    """Note that a new tensor has elements of another one; numbers have their own."""
    if not view.node.shape:
        return
    kin = owner._kin
    if kin is None:
        kin = owner._kin = Kin()
    above = kin.steps
    step = (ref(owner), look, what)
    mine = ref(view)
    kin.add(mine)
    if not above:
        view._kin = Kin((step,))
        view._kin.is_fixed = kin.is_fixed
        return
    view._kin = Kin((step, *above))
    view._kin.is_fixed = kin.is_fixed
    for further, _, _ in above:
        tensor = further()
        if tensor is not None:
            tensor._kin.add(mine)


def is_seen(tensor: Holder) -> bool:
    """Whether a write into a tensor reaches another one."""
    return tensor._kin is not None and tensor._kin.furthest()[0] >= 0


def base_of(tensor: Holder) -> Any:
    """Return the tensor whose elements a view has, None for others."""
    return None if tensor._kin is None else tensor._kin.furthest()[1]


def top_of(tensor: Holder) -> Holder:
    """Return the tensor whose elements a view has; of others the tensor itself."""
    found: Holder | None = base_of(tensor)
    return tensor if found is None else found


def _steps_of(tensor: Holder) -> tuple[Step, ...]:
    """Return the steps from a view up to its furthest owner."""
    if tensor._kin is None:
        return ()
    return tensor._kin.steps[: tensor._kin.furthest()[0] + 1]


def extent_of(tensor: Holder) -> Extent:
    """Return the first and the last element of the furthest owner that a view has."""
    return _extent(top_of(tensor).node, _steps_of(tensor))


def elements_of(tensor: Holder) -> Node:
    """Return which elements of the furthest owner a view has, counted row by row."""
    top = top_of(tensor).node
    numbers = reshape(iota(top.size, dtypes.int32, top.device), top.shape)
    return _below(numbers, _steps_of(tensor))


def is_fixed(tensor: Holder) -> bool:
    """Whether a tensor must not be written to."""
    return tensor._kin is not None and tensor._kin.is_fixed


def fix(tensor: Holder, fixed: bool) -> None:
    """Let writes into a tensor be errors, or allow them again."""
    if tensor._kin is None:
        tensor._kin = Kin()
    tensor._kin.is_fixed = fixed


def share_elements(tensors: Iterable[Holder]) -> bool:
    """Whether some tensors are views of others, or of the same one."""
    seen = set()
    for tensor in tensors:
        if tensor._kin is not None:
            top = tensor._kin.furthest()[1]
            owner = id(tensor if top is None else top)
            if owner in seen:
                return True
            seen.add(owner)
    return False


def family_of(tensor: Holder) -> list[Any]:
    """Return all tensors that share elements with one, the owner first."""
    top = top_of(tensor)
    views = [] if top._kin is None else top._kin.views(top)
    return [top, *[view for view, _ in views]]


def relatives(tensors: Sequence[Holder]) -> list[tuple[Any, Node]]:
    """Return the views that share elements with tensors, and what they see of them.

    Args:
        tensors: whose values may be placeholders; the owner of a view is among them.
    """
    found: dict[int, tuple[Any, Node]] = {}
    mine = {id(tensor) for tensor in tensors}
    for tensor in tensors:
        if tensor._kin is not None and not is_seen(tensor):
            for view, steps in tensor._kin.views(tensor):
                if id(view) not in mine:
                    found[id(view)] = view, _below(tensor.node, steps)
    return list(found.values())


def layout_of(tensor: Holder) -> View | None:
    """Return how the elements lie in the furthest owner, None for row by row.

    An owner's own elements count as lying row by row. That decides which shapes are
    views, as in NumPy; how the values lie in memory after writes is another matter, and
    says nothing to a program.
    """
    kin = tensor._kin
    if kin is None or not kin.steps:
        return None
    number, top = kin.furthest()
    if top is None:
        return element_view(tensor.node)
    return element_view(_below(_row_by_row(top.node), kin.steps[: number + 1]))


def _row_by_row(node: Node) -> Node:
    """Return a stand-in for a node, to ask how its parts lie in it; never computed."""
    pair = pair_of(node)
    return like(node, view_of(pair.base, View.contiguous(pair.shape)))


def _extent(top: Node, steps: tuple[Step, ...], key: object = None) -> Extent:
    """Return which elements of an owner a part has, or a key of that part names."""
    plain = _row_by_row(top)
    part = _below(plain, steps)
    named = None if key is None else select_plain(part, key)
    selected = pair_of(part if named is None else named)
    owner = pair_of(plain)
    return selected.view.extent() if selected.base is owner.base else (0, owner.size)


def write(tensor: Holder, node: Node, key: object = None) -> None:
    """Give a tensor another value, and all who share elements with it.

    Args:
        tensor: is written to.
        node: its new value.
        key: an index; what it does not name stays as it is. None for all.
    """
    kin, old = tensor._kin, tensor.node
    if kin is None:
        tensor._renew(node)
        return
    if kin.is_fixed:
        raise DataError(
            "the tensor is read-only: x.flags.writeable is False. Write into x.copy(), "
            "or set x.flags.writeable = True."
        )
    if (node.shape, node.dtype) != (old.shape, old.dtype):
        _part(tensor, kin)
        tensor._renew(node)
        return
    number, top = kin.furthest()
    if top is None:
        tensor._renew(node)
        _follow(tensor, old, tensor, (), key)
        return
    steps = kin.steps[: number + 1]
    before = top.node
    wholes = [before]
    for _, look, what in steps[:0:-1]:
        wholes.append(look.read(wholes[-1], what))
    whole = node
    for _, look, what in steps:
        whole = look.write(wholes.pop(), whole, what)
    top._renew(whole)
    tensor._renew(node)
    _follow(top, before, tensor, steps, key)


def rename_axes(tensor: Holder, node: Node) -> None:
    """Let a tensor hold its elements under another shape, in place.

    Raises:
        ShapeError: it shares elements with others, who know it by its shape.
    """
    kin = tensor._kin
    if kin is not None:
        if kin.furthest()[1] is not None or kin.views(tensor):
            raise ShapeError(
                f"x.shape = {node.shape}: x is a view, or has views, which know it "
                f"under its shape {tensor.node.shape}; write x = x.reshape(...)."
            )
        tensor._kin = None
    tensor._renew(node)


def _part(tensor: Holder, kin: Kin) -> None:
    """Let a tensor that becomes another one share no elements any more."""
    for view, steps in kin.views(tensor):
        (*below, (_, look, what)) = steps
        above = view._kin.steps[len(steps) :]
        view._kin.steps = (*below, (_nobody, look, what), *above)
    tensor._kin = None


def _nobody() -> None:
    """Stand where an owner was."""


def _follow(
    top: Holder, before: Node, written: Holder, steps: tuple[Step, ...], key: object
) -> None:
    """Let all who have elements of a tensor see its value, but the one written to.

    What was made outside of a function that is traced follows when it is replayed. Of
    many views those stay as they are that end before the others begin, as rows do.
    """
    assert top._kin is not None, "internal: who has views knows them"
    inside = is_tracing() and is_traced(before)
    views = top._kin.views(top)
    first, last = _extent(top.node, steps, key) if len(views) > FEWEST else (0, 0)
    for view, below in views:
        if view is written or (inside and not is_traced(view.node)):
            continue
        if len(views) > FEWEST:
            low, high = view._kin.reach(top.node, below)
            if high < first or last < low:
                continue
        view._renew(_below(top.node, below))


def _below(node: Node, steps: Sequence[Step]) -> Node:
    """Return what a view sees of an owner's value."""
    for _, look, what in reversed(steps):
        node = look.read(node, what)
    return node
