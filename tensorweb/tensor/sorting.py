"""Sorting methods: values in order along one axis, and the positions that sort them."""

from __future__ import annotations

from typing import Self, SupportsIndex

from tensorweb.nodes.sorting import argsort, sort
from tensorweb.shapes import normalize_axis
from tensorweb.tensor.base import TensorBase


class SortingMethods(TensorBase):
    """Equal values always keep their order, and NaN comes last in both directions."""

    __slots__ = ()

    def sort(
        self,
        axis: SupportsIndex = -1,
        *,
        descending: bool = False,
        stable: bool = True,
    ) -> Self:
        """Return the values in order along an axis; always stable, NaN last."""
        along = normalize_axis(axis, len(self.node.shape))
        return self._wrap(sort(self.node, along, descending))

    def argsort(
        self,
        axis: SupportsIndex = -1,
        *,
        descending: bool = False,
        stable: bool = True,
    ) -> Self:
        """Return the positions (int32) that sort an axis; always stable, NaN last."""
        along = normalize_axis(axis, len(self.node.shape))
        return self._wrap(argsort(self.node, along, descending))
