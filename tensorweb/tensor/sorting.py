"""Sorting methods: sort in place, and the indices that sort an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex

from tensorweb.errors import DataError
from tensorweb.nodes.sorting import argsort, sort
from tensorweb.shapes import normalize_axis
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.numpy_calls import check_default

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor

# NumPy compares first letters; every kind is the same stable sort here.
KINDS = ("q", "h", "m", "s")


class SortingMethods(TensorBase):
    """Equal values always keep their order, and NaN comes last in both directions."""

    __slots__ = ()

    def sort(
        self,
        axis: SupportsIndex = -1,
        kind: str | None = None,
        order: None = None,
        *,
        descending: bool = False,
        stable: bool | None = True,
    ) -> None:
        """Sort the tensor in place along an axis; always stable, NaN last.

        `tw.sort(x)` returns sorted values and leaves `x` as it is.

        >>> x = tw.tensor([3, 1, 2])
        >>> x.sort()
        >>> x
        tensor([1, 2, 3])
        """
        check_kind("sort", kind)
        check_default("sort", "order", order, None)
        along = normalize_axis(axis, len(self.node.shape))
        self._replace(sort(self.node, along, descending))

    def argsort(
        self,
        axis: SupportsIndex = -1,
        kind: str | None = None,
        order: None = None,
        *,
        descending: bool = False,
        stable: bool | None = True,
    ) -> Tensor:
        """Return the indices (int32) that sort an axis; always stable, NaN last.

        >>> tw.tensor([30, 10, 20, 10]).argsort()
        tensor([1, 3, 2, 0])
        """
        check_kind("argsort", kind)
        check_default("argsort", "order", order, None)
        along = normalize_axis(axis, len(self.node.shape))
        return self._wrap(argsort(self.node, along, descending))


def check_kind(name: str, kind: object) -> None:
    """Raise unless `kind` names one of NumPy's algorithms."""
    if kind is not None and not str(kind).lower().startswith(KINDS):
        raise DataError(
            f"{name}: kind {kind!r} is unknown; it is quicksort, heapsort, mergesort "
            "or stable, or left out."
        )
