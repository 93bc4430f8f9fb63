"""Sparse matrices in coordinate form: the adjacency of graphs, and products with it.

>>> tw.sparse.COO([1.0, 2.0], [0, 1], [2, 0], (2, 3)) @ tw.ones(3)
tensor([1., 2.])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from tensorweb.errors import DTypeError, ShapeError
from tensorweb.functions import asarray, concat, nonzero, segment_sum, take, zeros
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = ["COO"]


@dataclass(frozen=True, eq=False)
class COO:
    """A matrix of which some elements are stored, with their rows and columns.

    An element may be stored several times, and is their sum. The matrix is a tree whose
    floats are the values: `tw.grad`, `tw.jit` and optimisers take it as it is, and the
    `data` of a gradient are the derivatives by the values.

    Attributes:
        data: the values, `(n,)`.
        row: the row of each, integers `(n,)`.
        col: the column of each, integers `(n,)`.
        shape: count of rows and columns.

    >>> edges = tw.sparse.COO([1.0, 2.0, 3.0], [0, 0, 1], [1, 2, 2], (2, 3))
    >>> edges @ tw.asarray([1.0, 10.0, 100.0])
    tensor([210., 300.])
    >>> tw.grad(lambda a, x: (a @ x).sum())(edges, tw.asarray([1.0, 10.0, 100.0])).data
    tensor([ 10., 100., 100.])
    """

    data: Any
    row: Any
    col: Any
    shape: tuple[int, int]

    # NumPy leaves products and sums with its arrays to this class.
    __array_ufunc__ = None

    def __post_init__(self) -> None:
        """Convert the values, rows and columns.

        Raises:
            ShapeError: they are no vectors of one length, or the shape is no matrix's.
            DTypeError: rows or columns are no integers.
        """
        data = asarray(self.data)
        for name, value in (("data", data), ("row", self.row), ("col", self.col)):
            object.__setattr__(self, name, asarray(value, device=data.device))
        lengths = {part.shape for part in (self.data, self.row, self.col)}
        if len(lengths) != 1 or self.data.ndim != 1 or len(self.shape) != 2:
            shapes = ", ".join(
                map(str, (self.data.shape, self.row.shape, self.col.shape))
            )
            raise ShapeError(
                f"COO: data, row and col have shapes {shapes}, the matrix "
                f"{self.shape}; give three vectors of one length, and two lengths."
            )
        for name, part in (("row", self.row), ("col", self.col)):
            if part.dtype.kind not in ("int", "uint"):
                raise DTypeError(
                    f"COO: {name} is {part.dtype}; give integers, for no elements "
                    "tw.zeros(0, dtype=tw.int32)."
                )

    @classmethod
    def from_dense(cls, x: ArrayLike) -> Self:
        """Return the elements of a matrix that are not 0.

        Their count is read from the device, so `jit` cannot record it.

        Raises:
            ShapeError: it is no matrix.

        >>> tw.sparse.COO.from_dense([[0.0, 2.0], [3.0, 0.0]]).data
        tensor([2., 3.])
        """
        tensor = asarray(x)
        if tensor.ndim != 2:
            raise ShapeError(f"from_dense: {tensor.shape} is no shape of a matrix.")
        row, col = nonzero(tensor.detach())
        return cls(tensor[row, col], row, col, (tensor.shape[0], tensor.shape[1]))

    def to_dense(self) -> Tensor:
        """Return the matrix as a tensor.

        >>> tw.sparse.COO([1.0, 2.0], [0, 0], [1, 1], (1, 2)).to_dense()
        tensor([[0., 3.]])
        """
        empty = zeros(self.shape, dtype=self.data.dtype, device=self.data.device)
        return empty.at[self.row, self.col].add(self.data)

    @property
    def T(self) -> Self:
        """The transposed matrix, of the same values.

        >>> tw.sparse.COO([1.0], [0], [2], (2, 3)).T.shape
        (3, 2)
        """
        return type(self)(self.data, self.col, self.row, self.shape[::-1])

    @property
    def nse(self) -> int:
        """The count of stored elements.

        >>> tw.sparse.COO([1.0], [0], [2], (2, 3)).nse
        1
        """
        count: int = self.data.size
        return count

    def __repr__(self) -> str:
        """Return dtype, shape and count of elements."""
        return f"COO({self.data.dtype}, shape={self.shape}, nse={self.nse})"

    def __matmul__(self, other: ArrayLike) -> Tensor:
        """Return the product with a vector `(n,)` or a matrix `(n, k)`.

        Raises:
            ShapeError: the inner lengths differ, or there are other axes.
            DTypeError: the other matrix is sparse.
        """
        if isinstance(other, COO):
            raise DTypeError("COO @ COO: not here; write a @ b.to_dense().")
        dense = asarray(other, device=self.data.device)
        if dense.ndim not in (1, 2) or dense.shape[0] != self.shape[1]:
            raise ShapeError(
                f"COO @ x: {self.shape} @ {dense.shape} does not fit; give "
                f"({self.shape[1]},) or ({self.shape[1]}, k)."
            )
        weights = self.data if dense.ndim == 1 else self.data[:, None]
        terms = weights * take(dense, self.col, axis=0)
        return segment_sum(terms, self.row, self.shape[0])

    def __rmatmul__(self, other: ArrayLike) -> Tensor:
        """Return the product of a vector or matrix with this one."""
        dense = asarray(other, device=self.data.device)
        return (self.T @ dense.T).T if dense.ndim == 2 else self.T @ dense

    def __add__(self, other: COO) -> COO:
        """Return the sum of two sparse matrices, with the elements of both.

        Raises:
            ShapeError: their shapes differ.
            DTypeError: the other one is not sparse.
        """
        if not isinstance(other, COO):
            raise DTypeError("COO + x: x is dense; write a.to_dense() + x.")
        if self.shape != other.shape:
            raise ShapeError(f"COO + COO: the shapes are {self.shape}, {other.shape}.")
        data, row, col = (
            concat([getattr(self, name), getattr(other, name)])
            for name in ("data", "row", "col")
        )
        return COO(data, row, col, self.shape)

    def __mul__(self, other: ArrayLike) -> Self:
        """Return the matrix times a number, or times a dense one element by element."""
        data = self.data * self._at_elements(other)
        return type(self)(data, self.row, self.col, self.shape)

    __rmul__ = __mul__

    def __neg__(self) -> Self:
        """Return the matrix with negative values."""
        return self * -1

    def __sub__(self, other: COO) -> COO:
        """Return the difference of two sparse matrices, as their sum."""
        return self + -other

    def __truediv__(self, other: ArrayLike) -> Self:
        """Return the matrix divided by a number, or by a dense one at its elements."""
        data = self.data / self._at_elements(other)
        return type(self)(data, self.row, self.col, self.shape)

    def _at_elements(self, other: ArrayLike) -> ArrayLike:
        """Return a number, or the values of a dense matrix at the stored elements."""
        if isinstance(other, int | float | complex):
            return other
        dense = asarray(other, device=self.data.device)
        return dense.broadcast_to(self.shape)[self.row, self.col]
