"""Embeddings: rows of a table, looked up by index."""

from __future__ import annotations

from typing import SupportsIndex

from tensorweb import dtypes
from tensorweb.errors import DTypeError, ShapeError, TensorIndexError
from tensorweb.functions import expand_dims, where
from tensorweb.nn import init
from tensorweb.nn.arguments import as_float, operand, positive
from tensorweb.nn.module import Module
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.transforms.custom import stop_gradient

__all__ = ["Embedding", "embedding"]


def embedding(
    indices: ArrayLike, weight: ArrayLike, padding_idx: int | None = None
) -> Tensor:
    """Return rows of a table: integers `(...)` and `(n, size)` give `(..., size)`.

    Args:
        indices: integers from 0 to n - 1.
        weight: the table.
        padding_idx: index of the row without a gradient; may be negative.

    Raises:
        DTypeError: the indices are no integers.
        TensorIndexError: one is out of range, or there is no row `padding_idx`.

    >>> tw.nn.embedding([2, 0], [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    tensor([[4., 5.],
            [0., 1.]])
    """
    table = as_float("embedding", weight, indices)
    return _rows("embedding", table, indices, padding_idx)


def _padding_row(name: str, padding_idx: int | None, rows: int) -> int | None:
    """Return a nonnegative row index, None for none.

    Raises:
        TensorIndexError: there is no such row.
    """
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise TensorIndexError(
            f"{name}: padding_idx is {padding_idx}; with {rows} rows it is from "
            f"{-rows} to {rows - 1}."
        )
    return padding_idx % rows


def _rows(
    name: str, table: Tensor, indices: ArrayLike, padding_idx: int | None
) -> Tensor:
    if table.ndim != 2:
        raise ShapeError(f"{name}: the table has shape {table.shape}; it is (n, size).")
    given = operand(table, indices)
    if given.dtype.kind not in ("int", "uint"):
        raise DTypeError(
            f"{name}: the indices are {given.dtype} of shape {given.shape}; they are "
            "numbers of rows, convert them with astype(tw.int32)."
        )
    found: Tensor = table[given]
    row = _padding_row(name, padding_idx, table.shape[0])
    if row is None:
        return found
    is_padding = given == row
    return where(expand_dims(is_padding, -1), stop_gradient(found), found)


class Embedding(Module):
    """A table whose rows are looked up: integers `(...)` give `(..., embedding_dim)`.

    Attributes:
        weight: `(num_embeddings, embedding_dim)`; begins normally distributed, with the
            row of `padding_idx` 0.

    >>> table = tw.nn.Embedding(10, 3)
    >>> table
    Embedding(10, 3)
    >>> table(tw.asarray([[1, 2], [4, 9]])).shape
    (2, 2, 3)
    """

    def __init__(
        self,
        num_embeddings: SupportsIndex,
        embedding_dim: SupportsIndex,
        padding_idx: int | None = None,
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        *,
        rng: init.Rng = None,
    ) -> None:
        """Make a table.

        Args:
            num_embeddings: count of rows.
            embedding_dim: length of a row.
            padding_idx: a row that is 0 at first and gets no gradient.
            device: device of the table.
            dtype: floating-point dtype of the table.
            rng: a generator, a key or a seed; None for the program's generator.

        Raises:
            TensorIndexError: there is no row `padding_idx`.
        """
        self.num_embeddings = positive("Embedding", "num_embeddings", num_embeddings)
        self.embedding_dim = positive("Embedding", "embedding_dim", embedding_dim)
        self.padding_idx = _padding_row("Embedding", padding_idx, self.num_embeddings)
        made = init.Maker(rng, device, dtype)
        table = made.normal((self.num_embeddings, self.embedding_dim))
        if self.padding_idx is not None:
            table = table.at[self.padding_idx].set(0.0)
        self.weight = table

    @classmethod
    def from_pretrained(
        cls, embeddings: ArrayLike, freeze: bool = True, padding_idx: int | None = None
    ) -> Embedding:
        """Return a layer with a given table, which is a buffer where it is frozen.

        Raises:
            ShapeError: the table has not two axes.
            TensorIndexError: there is no row `padding_idx`.
        """
        table = as_float("Embedding", embeddings)
        if table.ndim != 2:
            raise ShapeError(
                f"Embedding: the table has shape {table.shape}; it is (n, size)."
            )
        made = cls.__new__(cls)
        made.num_embeddings, made.embedding_dim = table.shape
        made.padding_idx = _padding_row("Embedding", padding_idx, table.shape[0])
        if freeze:
            made.register_buffer("weight", table)
        else:
            made.weight = table
        return made

    def forward(self, indices: ArrayLike) -> Tensor:
        """Return the rows.

        Raises:
            DTypeError: the indices are no integers.
            TensorIndexError: one is out of range.
        """
        return _rows("Embedding", self.weight, indices, self.padding_idx)

    def extra_repr(self) -> str:
        """Return the settings."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        is_bare = self.padding_idx is None
        return text if is_bare else f"{text}, padding_idx={self.padding_idx}"
