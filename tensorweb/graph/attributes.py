"""Attributes of operations: one named tuple per kind or movement.

They are part of the keys of structures, next to the inputs; tuples hash and compare
in C. A constant's attribute is its value; operations without attributes have None.
"""

from __future__ import annotations

from typing import NamedTuple

from tensorweb.shapes import Shape
from tensorweb.view import Range, View

Extent = tuple[int, int, int]
"""A count along x, y and z."""


IDS = {
    "global_id": ("global_invocation_id", "vec3u"),
    "local_id": ("local_invocation_id", "vec3u"),
    "local_index": ("local_invocation_index", "u32"),
    "workgroup_id": ("workgroup_id", "vec3u"),
    "num_workgroups": ("num_workgroups", "vec3u"),
}
"""Ids that a text may name, each with WGSL's name of the value and its type."""


class Argument(NamedTuple):
    """An input or an output of a program's own kernel.

    Attributes:
        name: its name in the text.
        dtype: name of its dtype.
        shape: its shape. An input without axes is a value in the text, everything else
            an array.
    """

    name: str
    dtype: str
    shape: Shape


class Custom(NamedTuple):
    """What one call of `tw.kernel` computes.

    Attributes:
        name: the kernel's name for people.
        text: the body of its main function, in WGSL.
        header: WGSL functions and constants that the body uses.
        workgroup: invocations of a workgroup.
        groups: workgroups.
        inputs, outputs: its arguments, in order.
        is_cleared: whether the outputs start as zeros.
        output: index of the output that the node is.
    """

    name: str
    text: str
    header: str
    workgroup: Extent
    groups: Extent
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    is_cleared: bool = True
    output: int = 0


Lengths = tuple[int, ...]


class Reshape(NamedTuple):
    """Reshape in row-major order."""

    shape: Shape

    def apply(self, view: View) -> View | None:
        """Return the moved view; None when no strides express it."""
        return view.reshape(self.shape)


class Permutation(NamedTuple):
    """Permutation of axes: axis `i` of the result is axis `order[i]` of the input."""

    order: tuple[int, ...]

    def apply(self, view: View) -> View | None:
        """Return the moved view."""
        return view.permute(self.order)


class Expansion(NamedTuple):
    """Broadcast to a shape: repeats axes of length 1 and adds leading axes."""

    shape: Shape

    def apply(self, view: View) -> View | None:
        """Return the moved view."""
        return view.expand(self.shape)


class Slices(NamedTuple):
    """Strided slices: the first index, length and step of each axis."""

    ranges: tuple[Range, ...]

    def apply(self, view: View) -> View | None:
        """Return the moved view."""
        return view.slice(self.ranges)


class Windows(NamedTuple):
    """Sliding windows of one axis, as `unfold` of PyTorch.

    Windows start `step` apart. Their `size` elements, `dilation` apart in the input,
    form a new last axis.
    """

    axis: int
    size: int
    step: int
    dilation: int

    def apply(self, view: View) -> View | None:
        """Return the moved view."""
        return view.unfold(*self)


class Alias(NamedTuple):
    """Identity movement: a distinct node with the same elements."""

    def apply(self, view: View) -> View:
        """Return the view as it is."""
        return view


Movement = Reshape | Permutation | Expansion | Slices | Windows | Alias
"""A change of the input's view."""


class Reduction(NamedTuple):
    """The axes to reduce."""

    axes: tuple[int, ...]


class Padding(NamedTuple):
    """Counts of padding elements before and after each axis."""

    widths: tuple[tuple[int, int], ...]


class Joining(NamedTuple):
    """The axis of a concatenation."""

    axis: int


class Box(NamedTuple):
    """The first index, along each axis, of the box that an embed writes."""

    starts: tuple[int, ...]


class Ordering(NamedTuple):
    """The direction of a sort."""

    descending: bool


class Groups(NamedTuple):
    """Counts of axes in each group of a contraction's operands.

    `(batch…, rows…, depth…)` and `(batch…, depth…, columns…)` give
    `(batch…, rows…, columns…)`; the sum runs over the depth axes.
    """

    batch: int
    rows: int
    depth: int
    columns: int

    def split_left(self, shape: Lengths) -> tuple[Lengths, Lengths, Lengths]:
        """Return the lengths of batch, rows and depth."""
        end = self.batch + self.rows
        return shape[: self.batch], shape[self.batch : end], shape[end:]

    def split_right(self, shape: Lengths) -> tuple[Lengths, Lengths, Lengths]:
        """Return the lengths of batch, depth and columns."""
        end = self.batch + self.depth
        return shape[: self.batch], shape[self.batch : end], shape[end:]


class Taking(NamedTuple):
    """The axes that index tensors address, and the axes that they produce.

    The index tensors broadcast to one shape, whose axes begin at axis `first` of the
    result. The axes that are not indexed keep their order around them.
    """

    axes: tuple[int, ...]
    first: int

    def result_shape(self, shape: Shape, together: Shape) -> Shape:
        """Return the result's shape for the shapes of a tensor and of its indices."""
        others = [n for axis, n in enumerate(shape) if axis not in self.axes]
        return (*others[: self.first], *together, *others[self.first :])


class Writing(NamedTuple):
    """The elements of a tensor that a scatter writes.

    `ranges` slice the tensor, `shape` adds or removes axes of length 1, and index
    tensors address the result by `taking`.
    """

    ranges: tuple[Range, ...]
    shape: Shape
    taking: Taking

    def part(self, view: View) -> View:
        """Return the view of the sliced and reshaped part, given the tensor's view."""
        found = view.slice(self.ranges).reshape(self.shape)
        assert found is not None, "internal: lengths of 1 need no copy"
        return found


class Transform(NamedTuple):
    """The axis of a Fourier transform and the sign of its exponent, -1 if forward."""

    axis: int
    sign: int


class Factoring(NamedTuple):
    """Options of factorizations and of triangular solves.

    Attributes:
        is_upper: a triangular solve reads the upper triangle.
        is_unit: a triangular solve assumes ones on the diagonal.
        is_complete: Q of a QR has as many columns as rows.
        is_packed: a QR returns its Householder reflections instead of Q.
        sweeps: sweeps of Jacobi's method; 0 until it converges.
    """

    is_upper: bool = False
    is_unit: bool = False
    is_complete: bool = False
    is_packed: bool = False
    sweeps: int = 0


Number = bool | int | float

Attributes = (
    Movement
    | Reduction
    | Padding
    | Joining
    | Box
    | Ordering
    | Groups
    | Taking
    | Writing
    | Transform
    | Factoring
    | Custom
    | Number
    | None
)
