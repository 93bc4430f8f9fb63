"""Views share elements with their base, and a write to one tensor updates the others.

Nodes never change, so a write replaces nodes: of the tensor that is written to, of its
base and of all other views of the base. The links are weak references and keep no
tensor alive: once the base is freed, its views no longer see each other's writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol
from weakref import ref

from tensorweb import dtypes
from tensorweb.errors import DataError, ShapeError
from tensorweb.evaluate import end_step
from tensorweb.graph.autograd import grad_disabled
from tensorweb.graph.node import Node, element_view, like, pair_of, view_of
from tensorweb.graph.tracing import is_traced, is_tracing
from tensorweb.lookups import assign, select
from tensorweb.nodes.assignment import assign_plain
from tensorweb.nodes.complex_parts import imaginary_part, join_parts, real_part
from tensorweb.nodes.indexing import select_plain
from tensorweb.nodes.keys import parse
from tensorweb.nodes.movement import flip, permute, reshape, stopped
from tensorweb.nodes.selection import iota
from tensorweb.view import View

FEW_VIEWS = 16
"""Number of views up to which a tensor's list of them is used as it is.

Longer lists drop freed views, and a write skips the views that it does not overlap.
"""


class ViewKind(NamedTuple):
    """A way to view a tensor: by index, with other axes, as its real part and so on.

    Attributes:
        read: Takes the owner's node and a key; returns the view's node.
        write: Takes the owner's node, the view's new node and a key; returns the
            owner's new node.
    """

    read: Callable[[Node, Any], Node]
    write: Callable[[Node, Node, Any], Node]


def read_item(owner: Node, key: tuple[object, ...]) -> Node:
    """Return the elements at a key of integers, slices, None and `...`."""
    view = select_plain(owner, key)
    return select(owner, parse(key, owner.shape)) if view is None else view


def _write_item(owner: Node, view: Node, key: tuple[object, ...]) -> Node:
    result = assign_plain(owner, key, view)
    return assign(owner, parse(key, owner.shape), view) if result is None else result


def _permute_back(owner: Node, view: Node, order: Sequence[int]) -> Node:
    return permute(view, sorted(range(len(order)), key=order.__getitem__))


ITEM = ViewKind(read_item, _write_item)
"""Indexing; the key is a tuple of integers, slices, None and `...`."""

ORDER = ViewKind(permute, _permute_back)
"""A permutation of the axes; the key is the order of the owner's axes."""

SHAPE = ViewKind(reshape, lambda owner, view, shape: reshape(view, owner.shape))
"""Another shape, which is the key."""

REVERSED = ViewKind(flip, lambda owner, view, axes: flip(view, axes))
"""Some axes reversed; the key is these axes."""

REAL = ViewKind(
    lambda owner, _: real_part(owner),
    lambda owner, view, _: join_parts(view, imaginary_part(owner)),
)

DATA = ViewKind(lambda owner, _: stopped(owner), lambda owner, view, _: view)
"""The value without its derivative; a write is none of autograd's business."""

IMAGINARY = ViewKind(
    lambda owner, _: imaginary_part(owner),
    lambda owner, view, _: join_parts(real_part(owner), view),
)


class Holder(Protocol):
    """The attributes and methods of a tensor that this module uses."""

    node: Node
    _links: ViewLinks | None

    def _set_node(self, node: Node) -> None:
        """Replace the node and update neither owners nor views."""


OwnerLink = tuple[Callable[[], Any], ViewKind, Any]
"""A weak reference to an owner, and the kind and the key with which it is viewed."""

Extent = tuple[int, int]
"""The first and the last element of an owner, both included, in row-major order."""


class ViewLinks:
    """The owners of a tensor's elements and the views of the tensor.

    Attributes:
        owners: the tensor that was viewed, then the tensor that it views and so on;
            the last one is the base.
        is_read_only: whether a write to the tensor is an error.
    """

    __slots__ = ("_extent", "_limit", "_views", "is_read_only", "owners")

    def __init__(self, owners: tuple[OwnerLink, ...] = ()) -> None:
        """Start with the owners and no views."""
        self.owners = owners
        self.is_read_only = False
        self._views: list[ref[Any]] | None = None
        self._extent: tuple[int, Extent] | None = None

    def extent(self, base: Node, owners: tuple[OwnerLink, ...]) -> Extent:
        """Return the extent of this view in its base, computed once per base."""
        if self._extent is None or self._extent[0] != len(owners):
            self._extent = len(owners), _extent(base, owners)
        return self._extent[1]

    def add(self, view: ref[Any]) -> None:
        """Add a view; a list that has doubled drops freed views."""
        views = self._views
        if views is None:
            self._views = [view]
            self._limit = FEW_VIEWS
            return
        views.append(view)
        if len(views) >= self._limit:
            views[:] = [view for view in views if view() is not None]
            self._limit = max(FEW_VIEWS, 2 * len(views))

    def views(self, owner: Holder) -> list[tuple[Any, tuple[OwnerLink, ...]]]:
        """Return the living views of these links' tensor.

        Args:
            owner: the tensor to which these links belong.

        Returns:
            Each view with its links up to `owner`.
        """
        result = []
        for reference in self._views or ():
            view = reference()
            owners: tuple[OwnerLink, ...] = ()
            if view is not None and view._links is not None:
                owners = view._links.owners
            for index, link in enumerate(owners):
                if link[0]() is owner:
                    result.append((view, owners[: index + 1]))
        return result

    def base(self) -> tuple[int, Any]:
        """Return the furthest living owner and its index; -1 and None without one."""
        for index in range(len(self.owners) - 1, -1, -1):
            owner = self.owners[index][0]()
            if owner is not None:
                return index, owner
        return -1, None


def attach(view: Holder, owner: Holder, kind: ViewKind, key: Any) -> None:
    """Link a new tensor to the one it views; a 0-d tensor is a copy, as in NumPy."""
    if not view.node.shape and kind is not DATA:
        return
    links = owner._links
    if links is None:
        links = owner._links = ViewLinks()
    reference = ref(view)
    links.add(reference)
    view._links = ViewLinks(((ref(owner), kind, key), *links.owners))
    view._links.is_read_only = links.is_read_only
    for further_owner, _, _ in links.owners:
        tensor = further_owner()
        if tensor is not None:
            tensor._links.add(reference)


def base_of(tensor: Holder) -> Any:
    """Return the tensor whose elements a view has; None if the tensor is no view."""
    return None if tensor._links is None else tensor._links.base()[1]


def base_or_self(tensor: Holder) -> Holder:
    """Return the base of a view, and any other tensor itself."""
    base: Holder | None = base_of(tensor)
    return tensor if base is None else base


def _links_to_base(tensor: Holder) -> tuple[OwnerLink, ...]:
    if tensor._links is None:
        return ()
    return tensor._links.owners[: tensor._links.base()[0] + 1]


def extent_of(tensor: Holder) -> Extent:
    """Return the first and the last element of the base that a view has."""
    return _extent(base_or_self(tensor).node, _links_to_base(tensor))


def element_indices(tensor: Holder) -> Node:
    """Return the row-major indices in the base of all elements of a view."""
    base = base_or_self(tensor).node
    indices = reshape(iota(base.size, dtypes.int32, base.device), base.shape)
    return _read(indices, _links_to_base(tensor))


def is_read_only(tensor: Holder) -> bool:
    """Whether a write to a tensor is an error."""
    return tensor._links is not None and tensor._links.is_read_only


def set_read_only(tensor: Holder, value: bool) -> None:
    """Forbid writes to a tensor, or allow them again."""
    if tensor._links is None:
        tensor._links = ViewLinks()
    tensor._links.is_read_only = value


def share_elements(tensors: Iterable[Holder]) -> bool:
    """Whether some of the tensors are views of others, or of the same base."""
    seen = set()
    for tensor in tensors:
        if tensor._links is not None:
            base = id(base_or_self(tensor))
            if base in seen:
                return True
            seen.add(base)
    return False


def base_and_views(tensor: Holder) -> list[Any]:
    """Return all tensors that share elements with a tensor, the base first."""
    base = base_or_self(tensor)
    views = [] if base._links is None else base._links.views(base)
    return [base, *[view for view, _ in views]]


def other_views(tensors: Sequence[Holder]) -> list[tuple[Any, Node]]:
    """Return the views of tensors that are not among them, with their nodes.

    Args:
        tensors: their nodes may be placeholders; the base of a view is among them.
    """
    result: dict[int, tuple[Any, Node]] = {}
    own_ids = {id(tensor) for tensor in tensors}
    for tensor in tensors:
        if tensor._links is not None and base_of(tensor) is None:
            for view, links in tensor._links.views(tensor):
                if id(view) not in own_ids:
                    result[id(view)] = view, _read(tensor.node, links)
    return list(result.values())


def layout_of(tensor: Holder) -> View | None:
    """Return the strides and the offset of a tensor in its base, None for row-major.

    The base counts as row-major. The layout decides which shapes are views, as in
    NumPy; the layout in memory may differ after writes and is not visible to programs.
    """
    links = tensor._links
    if links is None or not links.owners:
        return None
    index, base = links.base()
    if base is None:
        return element_view(tensor.node)
    return element_view(_read(_row_major(base.node), links.owners[: index + 1]))


def _row_major(node: Node) -> Node:
    """Return a row-major stand-in for a node, to read layouts from; never computed."""
    pair = pair_of(node)
    return like(node, view_of(pair.base, View.contiguous(pair.shape)))


def _extent(base: Node, links: tuple[OwnerLink, ...], key: object = None) -> Extent:
    """Return the extent of a view in its base, or of the view's elements at a key."""
    row_major = _row_major(base)
    view = _read(row_major, links)
    item = None if key is None else select_plain(view, key)
    selected = pair_of(view if item is None else item)
    owner = pair_of(row_major)
    return selected.view.extent() if selected.base is owner.base else (0, owner.size)


def write(tensor: Holder, node: Node, key: object = None) -> None:
    """Replace a tensor's node, and update all tensors that share elements with it.

    Args:
        tensor: the tensor that is written to.
        node: its new node.
        key: the index of the elements that differ; None for all elements.

    Raises:
        DataError: the tensor is read-only.
    """
    links, old = tensor._links, tensor.node
    if links is None:
        tensor._set_node(node)
        return
    if links.is_read_only:
        raise DataError(
            "the tensor is read-only: x.flags.writeable is False. Write into x.copy(), "
            "or set x.flags.writeable = True."
        )
    if (node.shape, node.dtype) != (old.shape, old.dtype):
        _unlink(tensor, links)
        tensor._set_node(node)
        return
    index, base = links.base()
    if base is None:
        tensor._set_node(node)
        _update_views(tensor, old, tensor, (), key)
        return
    owners = links.owners[: index + 1]
    old_base = base.node
    old_nodes = [old_base]
    for _, kind, view_key in owners[:0:-1]:
        old_nodes.append(kind.read(old_nodes[-1], view_key))
    new_node = node
    is_data = False
    for _, kind, view_key in owners:
        new_node = kind.write(old_nodes.pop(), new_node, view_key)
        is_data = is_data or kind is DATA
    if is_data:
        with grad_disabled():
            base._set_node(new_node)
        end_step([pair_of(base.node)])
    else:
        base._set_node(new_node)
    tensor._set_node(node)
    _update_views(base, old_base, tensor, owners, key)


def reshape_in_place(tensor: Holder, node: Node) -> None:
    """Replace a tensor's node by one of the same elements under another shape.

    Raises:
        ShapeError: the tensor is a view or has views; their links rely on its shape.
    """
    links = tensor._links
    if links is not None:
        if links.base()[1] is not None or links.views(tensor):
            raise ShapeError(
                f"x.shape = {node.shape}: x is a view, or has views, which know it "
                f"under its shape {tensor.node.shape}; write x = x.reshape(...)."
            )
        tensor._links = None
    tensor._set_node(node)


def _unlink(tensor: Holder, links: ViewLinks) -> None:
    """Remove a tensor whose shape or dtype changes from its owners and its views."""
    for view, (*nearer, (_, kind, key)) in links.views(tensor):
        further = view._links.owners[len(nearer) + 1 :]
        view._links.owners = (*nearer, (_no_owner, kind, key), *further)
    tensor._links = None


def _no_owner() -> None:
    """Stand in for the weak reference of an owner that was unlinked."""


def _update_views(
    base: Holder,
    old_base: Node,
    written: Holder,
    owners: tuple[OwnerLink, ...],
    key: object,
) -> None:
    """Update the views of a base whose node was replaced.

    Args:
        base: the tensor with the new node.
        old_base: its node before.
        written: the tensor that the program wrote to; it has its new node already.
        owners: the links from `written` to `base`.
        key: the index of the elements of `written` that differ; None for all.
    """
    assert base._links is not None, "internal: a tensor with views has links"
    inside = is_tracing() and is_traced(old_base)
    views = base._links.views(base)
    has_many = len(views) > FEW_VIEWS
    first, last = _extent(base.node, owners, key) if has_many else (0, 0)
    for view, links in views:
        # A view from outside of a traced function is updated by the replay.
        if view is written or (inside and not is_traced(view.node)):
            continue
        # Rows of a matrix for example: a write to one overlaps no other.
        if has_many:
            low, high = view._links.extent(base.node, links)
            if high < first or last < low:
                continue
        view._set_node(_read(base.node, links))


def _read(node: Node, links: Sequence[OwnerLink]) -> Node:
    """Return the node of a view from an owner's node and the links up to the owner."""
    for _, kind, key in reversed(links):
        node = kind.read(node, key)
    return node
