"""What defines an operation beside its inputs: one named tuple per kind or movement.

They are tuples because structures are found by them: a tuple hashes and compares in C.
A constant's attribute is its number; operations with nothing to say have None.
"""

from __future__ import annotations

from typing import NamedTuple

from tensorweb.shapes import Shape
from tensorweb.view import Range, View

Lengths = tuple[int, ...]


class Reshape(NamedTuple):
    """The same elements in row-major order under another shape."""

    shape: Shape

    def apply(self, view: View) -> View | None:
        """Return the moved view; None when no strides express it."""
        return view.reshape(self.shape)


class Permutation(NamedTuple):
    """Axis `i` of the result is axis `order[i]` of the input."""

    order: tuple[int, ...]

    def apply(self, view: View) -> View | None:
        """Return the moved view."""
        return view.permute(self.order)


class Expansion(NamedTuple):
    """Axes of length 1 repeated, and new axes in front, up to a shape."""

    shape: Shape

    def apply(self, view: View) -> View | None:
        """Return the moved view."""
        return view.expand(self.shape)


class Slices(NamedTuple):
    """First index, length and step of each axis."""

    ranges: tuple[Range, ...]

    def apply(self, view: View) -> View | None:
        """Return the moved view."""
        return view.slice(self.ranges)


class Windows(NamedTuple):
    """Windows of one axis, `step` apart; their elements `dilation` apart come last."""

    axis: int
    size: int
    step: int
    dilation: int

    def apply(self, view: View) -> View | None:
        """Return the moved view."""
        return view.unfold(*self)


class Alias(NamedTuple):
    """The same elements, as a node of its own."""

    def apply(self, view: View) -> View:
        """Return the view as it is."""
        return view


Movement = Reshape | Permutation | Expansion | Slices | Windows | Alias
"""What a movement does to the view of its input."""


class Reduction(NamedTuple):
    """The axes that go."""

    axes: tuple[int, ...]


class Padding(NamedTuple):
    """Elements before and after each axis."""

    widths: tuple[tuple[int, int], ...]


class Joining(NamedTuple):
    """The axis along which tensors stand one after another."""

    axis: int


class Box(NamedTuple):
    """Where a box begins along each axis of the tensor it is written into."""

    starts: tuple[int, ...]


class Ordering(NamedTuple):
    """Whether the greatest value comes first."""

    descending: bool


class Groups(NamedTuple):
    """How many axes of a contraction's operands belong to each group.

    `(batch…, rows…, depth…)` and `(batch…, depth…, columns…)` give
    `(batch…, rows…, columns…)`; the sum runs over the axes of the depth.
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
    """Which axes of a tensor index tensors address, and where theirs stand.

    The index tensors broadcast to one shape; `first` is the first of its axes in the
    result, around which those that are left whole stand in their order.
    """

    axes: tuple[int, ...]
    first: int

    def result_shape(self, shape: Shape, together: Shape) -> Shape:
        """Return the shape of what is taken from a tensor of some shape."""
        whole = [n for axis, n in enumerate(shape) if axis not in self.axes]
        return (*whole[: self.first], *together, *whole[self.first :])


class Writing(NamedTuple):
    """Which elements of a tensor index tensors write: those of a part of it.

    The part is what `ranges` leave of each axis, under another `shape`, in which
    lengths of 1 have come or gone.
    """

    ranges: tuple[Range, ...]
    shape: Shape
    taking: Taking

    def part(self, view: View) -> View:
        """Return how the part looks at the storage of the whole."""
        found = view.slice(self.ranges).reshape(self.shape)
        assert found is not None, "internal: lengths of 1 need no copy"
        return found


class Transform(NamedTuple):
    """The axis that is transformed, and the sign of the exponent: -1 is forwards."""

    axis: int
    sign: int


class Factoring(NamedTuple):
    """Which factors of matrices are wanted.

    `is_upper` and `is_unit` are said of the triangle that a triangular solve reads: it
    is the upper one, and its diagonal is taken for ones. `is_complete` is said of QR:
    its orthonormal columns are as many as rows. `is_packed` is said of QR as well: what
    is wanted are the reflections that it is made of.
    """

    is_upper: bool = False
    is_unit: bool = False
    is_complete: bool = False
    is_packed: bool = False


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
    | Number
    | None
)
