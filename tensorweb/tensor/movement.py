"""Movement methods: other shapes and orders of the same elements, as views."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, SupportsIndex

from tensorweb.dtypes import is_dtype_like
from tensorweb.errors import AxisError, DTypeError, ShapeError
from tensorweb.nodes import movement as build
from tensorweb.shapes import (
    as_shape,
    infer_reshape,
    is_integer,
    normalize_axes,
    normalize_axis,
    normalize_permutation,
    size,
)
from tensorweb.tensor.arguments import ROW_MAJOR, numpys
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import as_shape_arguments
from tensorweb.tensor.views import ORDER, REVERSED, SHAPE, layout_of

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor

Axes = SupportsIndex | Iterable[SupportsIndex]


class MovementMethods(TensorBase):
    """Nothing here copies where strides can express the result."""

    __slots__ = ()

    def reshape(
        self,
        *shape: SupportsIndex | Iterable[SupportsIndex],
        copy: bool | None = None,
        order: str = "C",
    ) -> Tensor:
        """Return the elements in row-major order under another shape.

        One length may be -1. A copy is made only where no strides fit; `copy=True`
        always copies, `copy=False` never.

        Raises:
            ShapeError: sizes differ, or `copy=False` and a copy is needed.

        >>> tw.arange(6).reshape(2, -1)
        tensor([[0, 1, 2],
                [3, 4, 5]])
        """
        if order not in ROW_MAJOR:
            lengths = as_shape_arguments(shape, "reshape")
            return numpys("reshape")(self, lengths, order=order, copy=copy)
        if not shape:
            raise ShapeError("reshape: no shape is given; write reshape(2, 3), say.")
        new = infer_reshape(self.node.shape, as_shape_arguments(shape, "reshape"))
        if copy:
            return self._wrap(build.reshape(build.copy(self.node), new))
        layout = layout_of(self)
        is_view = layout is None or layout.reshape(new) is not None
        if copy is False and layout is not None and not is_view:
            raise ShapeError(
                f"reshape: copy=False, but shape {layout.shape} with strides "
                f"{layout.strides} cannot become {new} without a copy."
            )
        return self._under(new, is_view)

    def _under(self, shape: tuple[int, ...], is_view: bool) -> Tensor:
        """Return the elements under another shape."""
        node = build.reshape(self.node, shape)
        return self._view(node, SHAPE, shape) if is_view else self._wrap(node)

    def view(
        self, *shape: SupportsIndex | Iterable[SupportsIndex], dtype: object = None
    ) -> Tensor:
        """Return a view under another shape; the tensor itself without a shape.

        Never copies.

        Raises:
            ShapeError: sizes differ or no strides can express the shape.
            DTypeError: a dtype or class is given; bits are not read as another one.

        >>> tw.arange(6).view(2, 3)
        tensor([[0, 1, 2],
                [3, 4, 5]])
        """
        if not shape and dtype is None:
            return self._view(self.node, SHAPE, self.node.shape)
        new_type = shape[0] if len(shape) == 1 else dtype
        if dtype is not None or is_dtype_like(new_type):
            raise DTypeError(
                f"view({new_type!r}): bits are not read as another dtype here; "
                "x.astype(dtype) converts the values."
            )
        if isinstance(new_type, type):
            raise DTypeError(
                f"view({new_type.__name__}): tensors become no objects of other "
                "classes; keep the tensor in an attribute of yours."
            )
        return self.reshape(*shape, copy=False)

    def ravel(self, order: str = "C") -> Tensor:
        """Return the elements in row-major order as one axis; by columns for `F`.

        >>> tw.tensor([[1, 2], [3, 4]]).ravel()
        tensor([1, 2, 3, 4])
        """
        if order not in ROW_MAJOR:
            return numpys("ravel")(self, order)
        layout = layout_of(self)
        return self._under((self.node.size,), layout is None or layout.is_contiguous)

    def flatten(
        self, start_axis: int | str = 0, end_axis: int = -1, *, order: str = "C"
    ) -> Tensor:
        """Return the axes from `start_axis` to `end_axis` merged into one.

        `order` is NumPy's, which may also stand first: `F` for all elements by columns.

        Raises:
            ShapeError: `start_axis` lies behind `end_axis`.

        >>> tw.zeros((2, 3, 4)).flatten(1).shape
        (2, 12)
        """
        if isinstance(start_axis, str) or order != "C":
            requested_order = start_axis if isinstance(start_axis, str) else order
            return self._wrap(build.copy(self.ravel(requested_order).node))
        shape = self.node.shape
        if not shape:
            return self.ravel()
        first = normalize_axis(start_axis, len(shape), "start_axis")
        last = normalize_axis(end_axis, len(shape), "end_axis")
        if first > last:
            raise ShapeError(
                f"flatten: start_axis {first} lies behind end_axis {last}."
            )
        merged = size(shape[first : last + 1])
        return self._wrap(
            build.reshape(self.node, (*shape[:first], merged, *shape[last + 1 :]))
        )

    def permute(self, *axes: SupportsIndex | Iterable[SupportsIndex]) -> Tensor:
        """Return the axes in another order, as a view: `x.permute(2, 0, 1)`.

        >>> tw.zeros((2, 3, 4)).permute(2, 0, 1).shape
        (4, 2, 3)
        """
        order = as_shape_arguments(axes, "permute")
        return self._permuted(normalize_permutation(order, len(self.node.shape)))

    def _permuted(self, order: Sequence[int]) -> Tensor:
        """Return the axes in a checked order."""
        return self._view(build.permute(self.node, order), ORDER, order)

    def permute_dims(self, axes: Iterable[SupportsIndex]) -> Tensor:
        """Return the axes in another order, as a view.

        >>> tw.zeros((2, 3, 4)).permute_dims((2, 0, 1)).shape
        (4, 2, 3)
        """
        return self.permute(tuple(axes))

    def transpose(
        self, *axes: SupportsIndex | Iterable[SupportsIndex] | None
    ) -> Tensor:
        """Return two axes swapped, all of them reversed without arguments or for None.

        One tuple, or another number of axes than two, is the order of all axes as in
        `permute_dims`.

        Raises:
            AxisError: there are neither two axes nor all of them.

        >>> tw.zeros((2, 3, 4)).transpose(1, 2).shape
        (2, 4, 3)
        """
        if not axes or (len(axes) == 1 and axes[0] is None):
            return self.permute(*reversed(range(len(self.node.shape))))
        if len(axes) == 2 and all(map(is_integer, axes)):
            return self.swapaxes(axes[0], axes[1])  # type: ignore[arg-type]  # integers, as checked
        order = as_shape_arguments(axes, "transpose")
        rank = len(self.node.shape)
        if len(order) != rank:
            raise AxisError(
                f"transpose: {len(order)} axes {order} for the {rank} axes of shape "
                f"{self.node.shape}; give two to swap, or the order of all of them."
            )
        return self.permute(order)

    def swapaxes(self, axis1: SupportsIndex, axis2: SupportsIndex) -> Tensor:
        """Return two axes swapped, as a view.

        >>> tw.zeros((2, 3, 4)).swapaxes(0, 2).shape
        (4, 3, 2)
        """
        rank = len(self.node.shape)
        first, second = normalize_axis(axis1, rank), normalize_axis(axis2, rank)
        order = list(range(rank))
        order[first], order[second] = second, first
        return self._permuted(order)

    def matrix_transpose(self) -> Tensor:
        """Return each matrix (the last two axes) transposed, as a view.

        >>> tw.tensor([[1, 2], [3, 4]]).matrix_transpose()
        tensor([[1, 3],
                [2, 4]])
        """
        if len(self.node.shape) < 2:
            raise ShapeError(
                f"matrix_transpose: shape {self.node.shape} has fewer than two axes."
            )
        return self.swapaxes(-2, -1)

    def moveaxis(self, source: Axes, destination: Axes) -> Tensor:
        """Return axes moved to other positions, the others kept in order.

        Raises:
            ShapeError: there are not as many destinations as sources.

        >>> tw.zeros((2, 3, 4)).moveaxis(0, -1).shape
        (3, 4, 2)
        """
        rank = len(self.node.shape)
        sources = _ordered_axes(source, rank)
        targets = _ordered_axes(destination, rank)
        if len(sources) != len(targets):
            raise ShapeError(
                f"moveaxis: {len(sources)} sources and {len(targets)} destinations."
            )
        order = [axis for axis in range(rank) if axis not in sources]
        for target, axis in sorted(zip(targets, sources, strict=True)):
            order.insert(target, axis)
        return self._permuted(order)

    def expand(self, *shape: SupportsIndex | Iterable[SupportsIndex]) -> Tensor:
        """Return axes of length 1 repeated by stride 0; -1 keeps an axis as it is.

        >>> tw.zeros((2, 1)).expand(-1, 3).shape
        (2, 3)
        """
        new = as_shape_arguments(shape, "expand")
        old = self.node.shape
        added = len(new) - len(old)
        filled = tuple(
            old[axis - added] if length == -1 and axis >= added else length
            for axis, length in enumerate(new)
        )
        return self._wrap(build.expand(self.node, as_shape(filled)))

    def broadcast_to(self, shape: Axes) -> Tensor:
        """Return the tensor repeated to a shape by strides of 0.

        >>> tw.tensor([1, 2, 3]).broadcast_to((2, 3))
        tensor([[1, 2, 3],
                [1, 2, 3]])
        """
        return self._wrap(build.expand(self.node, as_shape(shape)))

    def expand_dims(self, axis: Axes = 0) -> Tensor:
        """Return axes of length 1 inserted where the result shall have them.

        >>> tw.zeros((2, 3)).expand_dims(1).shape
        (2, 1, 3)
        """
        axes = (axis,) if is_integer(axis) else tuple(axis)
        inserted = normalize_axes(axes, len(self.node.shape) + len(axes))
        node = build.expand_dims(self.node, inserted)
        return self._view(node, SHAPE, node.shape)

    def unsqueeze(self, axis: SupportsIndex) -> Tensor:
        """Return an axis of length 1 inserted where the result shall have it.

        >>> tw.zeros((2, 3)).unsqueeze(0).shape
        (1, 2, 3)
        """
        return self.expand_dims(axis)

    def sliding_windows(
        self,
        size: Axes,
        *,
        axis: Axes = -1,
        step: Axes = 1,
        dilation: Axes = 1,
    ) -> Tensor:
        """Return overlapping windows of axes as a view; their elements come last.

        Raises:
            AxisError: an axis does not exist or is given twice.
            ShapeError: an axis is shorter than a window, or counts differ.

        >>> tw.arange(5).sliding_windows(3, step=2)
        tensor([[0, 1, 2],
                [2, 3, 4]])
        """
        rank = len(self.node.shape)
        axes = _ordered_axes(axis, rank)
        lengths = build.per_axis("sliding_windows: size", size, len(axes))
        steps = build.per_axis("sliding_windows: step", step, len(axes))
        gaps = build.per_axis("sliding_windows: dilation", dilation, len(axes))
        node = self.node
        for axis, *numbers in zip(axes, lengths, steps, gaps, strict=True):
            node = build.unfold(node, axis, *numbers)
        return self._wrap(node)

    def squeeze(self, axis: Axes | None = None) -> Tensor:
        """Return the tensor without the given axes of length 1, without all for None.

        Raises:
            ShapeError: a given axis is longer than 1.

        >>> tw.zeros((1, 3, 1)).squeeze(0).shape
        (3, 1)
        """
        shape = self.node.shape
        axes = (
            tuple(i for i, length in enumerate(shape) if length == 1)
            if axis is None
            else normalize_axes(axis, len(shape))
        )
        node = build.squeeze(self.node, axes)
        return self._view(node, SHAPE, node.shape)

    def flip(self, axis: Axes | None = None) -> Tensor:
        """Return some axes reversed by negative strides, all of them for None.

        >>> tw.tensor([[1, 2], [3, 4]]).flip(axis=1)
        tensor([[2, 1],
                [4, 3]])
        """
        axes = normalize_axes(axis, len(self.node.shape))
        return self._view(build.flip(self.node, axes), REVERSED, axes)


def _ordered_axes(axes: Axes, rank: int) -> list[int]:
    listed = [axes] if is_integer(axes) else list(axes)
    normalize_axes(listed, rank)
    return [normalize_axis(axis, rank) for axis in listed]
