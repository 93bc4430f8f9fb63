"""Layers with a matrix: Linear, Bilinear, Identity, Embedding, EmbeddingBag."""

from __future__ import annotations

import math
from typing import SupportsIndex

from tensorweb import dtypes
from tensorweb.errors import (
    DataError,
    DTypeError,
    ShapeError,
    TensorIndexError,
    expected_clash,
    index_clash,
)
from tensorweb.functions import (
    arange,
    clip,
    expand_dims,
    maximum,
    searchsorted,
    segment_max,
    segment_sum,
    where,
)
from tensorweb.nn import init
from tensorweb.nn.arguments import as_float, choice, indices_operand, positive
from tensorweb.nn.module import Module
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.transforms.custom import stop_gradient


def linear(x: ArrayLike, weight: ArrayLike, bias: ArrayLike = None) -> Tensor:
    """Return `x @ weight.T + bias`: `(..., in)` by `(out, in)` gives `(..., out)`.

    Raises:
        ShapeError: the lengths `in` or `out` do not fit.
        DTypeError: an operand is no floating-point tensor.

    >>> tw.nn.linear([1.0, 2.0], [[1.0, 1.0], [1.0, -1.0]], [0.5, 0.5])
    tensor([ 3.5, -0.5])
    """
    matrix = as_float("linear", weight, x)
    return _linear("linear", as_float("linear", x, matrix), matrix, bias)


def _linear(name: str, x: Tensor, weight: Tensor, bias: ArrayLike) -> Tensor:
    if weight.ndim != 2:
        raise ShapeError(f"{name}: weight has shape {weight.shape}; it is (out, in).")
    out, into = weight.shape
    if not x.ndim or x.shape[-1] != into:
        raise ShapeError(
            f"{name}: the input has shape {x.shape}; a weight of shape {weight.shape} "
            f"takes (..., {into}).",
            clash=expected_clash(x.shape, (into,), is_open=True, layer=name),
        )
    result = x @ weight.T
    if bias is None:
        return result
    added = as_float(name, bias, x)
    if added.shape != (out,):
        raise ShapeError(
            f"{name}: bias has shape {added.shape}; a weight of shape {weight.shape} "
            f"goes with ({out},)."
        )
    return result + added


class Linear(Module):
    """`x @ weight.T + bias`: `(..., in_features)` gives `(..., out_features)`.

    Weight and bias begin in `U(-1/√in_features, 1/√in_features)`.

    Attributes:
        weight: `(out_features, in_features)`.
        bias: `(out_features,)`, or None.

    >>> layer = tw.nn.Linear(3, 2)
    >>> layer
    Linear(in_features=3, out_features=2, bias=True)
    >>> layer(tw.ones((5, 3))).shape
    (5, 2)
    """

    def __init__(
        self,
        in_features: SupportsIndex,
        out_features: SupportsIndex,
        bias: bool = True,
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        *,
        rng: init.Rng = None,
    ) -> None:
        """Make a layer.

        Args:
            in_features: length of the input's last axis.
            out_features: length of the result's last axis.
            bias: whether there is a bias.
            device: device of its tensors; by default that of `rng` or the default
                device.
            dtype: floating-point dtype of its tensors.
            rng: a generator, a key or a seed; None for the program's generator.
        """
        self.in_features = positive("Linear", "in_features", in_features)
        self.out_features = positive("Linear", "out_features", out_features)
        maker = init.Maker(rng, device, dtype)
        bound = 1 / math.sqrt(self.in_features)
        self.weight = maker.uniform((self.out_features, self.in_features), bound)
        self.bias = maker.uniform((self.out_features,), bound) if bias else None

    def forward(self, x: ArrayLike) -> Tensor:
        """Return `x @ weight.T + bias`.

        Raises:
            ShapeError: the last axis has another length.
            DTypeError: `x` is no floating-point tensor.
        """
        return _linear(
            "Linear", as_float("Linear", x, self.weight), self.weight, self.bias
        )

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


def bilinear(
    x1: ArrayLike, x2: ArrayLike, weight: ArrayLike, bias: ArrayLike = None
) -> Tensor:
    """Return `x1 A x2 + bias` for each matrix `A` of the weight `(out, in1, in2)`.

    Raises:
        ShapeError: a last axis has another length, or the others differ.

    >>> tw.nn.bilinear([1.0, 2.0], [3.0], [[[1.0], [10.0]]])
    tensor([63.])
    """
    return _bilinear("bilinear", x1, x2, as_float("bilinear", weight, x1, x2), bias)


def _bilinear(
    name: str, x1: ArrayLike, x2: ArrayLike, weight: Tensor, bias: ArrayLike
) -> Tensor:
    if weight.ndim != 3:
        raise ShapeError(
            f"{name}: weight has shape {weight.shape}; it is (out, in1, in2)."
        )
    a, b = as_float(name, x1, weight), as_float(name, x2, weight)
    out, first, second = weight.shape
    if (a.shape[-1:], b.shape[-1:]) != ((first,), (second,)) or (
        a.shape[:-1] != b.shape[:-1]
    ):
        raise ShapeError(
            f"{name}: the inputs have shapes {a.shape} and {b.shape}; it takes "
            f"(..., {first}) and (..., {second}) of equal other axes."
        )
    rows = weight.permute_dims((0, 2, 1)).reshape(-1, first)
    products = _linear(name, a, rows, None).reshape(*a.shape[:-1], out, second)
    result = (products @ b.expand_dims(axis=-1)).squeeze(-1)
    return result if bias is None else result + as_float(name, bias, weight)


class Bilinear(Module):
    """`x1 A x2 + bias` for each output, `A` a matrix of its own.

    Attributes:
        weight: `(out_features, in1_features, in2_features)`.
        bias: `(out_features,)`, or None.

    >>> tw.nn.Bilinear(3, 4, 2)(tw.ones((5, 3)), tw.ones((5, 4))).shape
    (5, 2)
    """

    def __init__(
        self,
        in1_features: SupportsIndex,
        in2_features: SupportsIndex,
        out_features: SupportsIndex,
        bias: bool = True,
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        *,
        rng: init.Rng = None,
    ) -> None:
        """Make a layer.

        Args:
            in1_features: length of the first input's last axis.
            in2_features: length of the second input's last axis.
            out_features: length of the result's last axis.
            bias: whether there is a bias.
            device: device of its tensors.
            dtype: floating-point dtype of its tensors.
            rng: a generator, a key or a seed; None for the program's generator.
        """
        self.in1_features = positive("Bilinear", "in1_features", in1_features)
        self.in2_features = positive("Bilinear", "in2_features", in2_features)
        self.out_features = positive("Bilinear", "out_features", out_features)
        maker = init.Maker(rng, device, dtype)
        bound = 1 / math.sqrt(self.in1_features)
        shape = (self.out_features, self.in1_features, self.in2_features)
        self.weight = maker.uniform(shape, bound)
        self.bias = maker.uniform((self.out_features,), bound) if bias else None

    def forward(self, x1: ArrayLike, x2: ArrayLike) -> Tensor:
        """Return `(..., out_features)` of `(..., in1_features)`, `(..., in2_features)`.

        Raises:
            ShapeError: a last axis has another length, or the others differ.
        """
        return _bilinear("Bilinear", x1, x2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class Identity(Module):
    """The identity; its constructor ignores all arguments, as in PyTorch.

    >>> tw.nn.Identity()(3)
    3
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        """Take any arguments."""

    def forward(self, x: Tensor) -> Tensor:
        """Return `x`."""
        return x


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
    tensor = indices_operand(table, indices)
    if tensor.dtype.kind not in ("int", "uint"):
        raise DTypeError(
            f"{name}: the indices are {tensor.dtype} of shape {tensor.shape}; they are "
            "numbers of rows, convert them with astype(tw.int32)."
        )
    try:
        result: Tensor = table[tensor]
    except TensorIndexError as error:
        if error.clash is None:
            raise
        ((wrong,), shape) = error.clash.shapes
        raise TensorIndexError(
            f"{name}: index {wrong} is out of range; the table of shape {shape} has "
            f"the rows 0 to {shape[0] - 1}.",
            clash=index_clash(wrong, shape, layer=name),
        ) from None
    row = _padding_row(name, padding_idx, table.shape[0])
    if row is None:
        return result
    is_padding = tensor == row
    return where(expand_dims(is_padding, -1), stop_gradient(result), result)


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
        maker = init.Maker(rng, device, dtype)
        table = maker.normal((self.num_embeddings, self.embedding_dim))
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
        layer = cls.__new__(cls)
        layer.num_embeddings, layer.embedding_dim = table.shape
        layer.padding_idx = _padding_row("Embedding", padding_idx, table.shape[0])
        if freeze:
            layer.register_buffer("weight", table)
        else:
            layer.weight = table
        return layer

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


_MODES = ("sum", "mean", "max")


def embedding_bag(
    input: ArrayLike,
    weight: ArrayLike,
    offsets: ArrayLike = None,
    mode: str = "mean",
    per_sample_weights: ArrayLike = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Return sums, means or maxima of rows of a table: `(bags, size)`.

    Args:
        input: integers `(bags, n)`; or `(n,)`, the bags one after another.
        weight: the table `(rows, size)`.
        offsets: `(bags,)`, where each bag begins in an input `(n,)`.
        mode: `sum`, `mean` or `max`; 0 for an empty bag.
        per_sample_weights: of the input's shape, factors of the rows, for `sum`.
        include_last_offset: whether the last offset is the end of the last bag.
        padding_idx: index of a row that counts in no bag; may be negative.

    Raises:
        DTypeError: the indices are no integers.
        TensorIndexError: one is out of range, or there is no row `padding_idx`.
        ShapeError: the input has other axes.
        DataError: there is no such mode, or it takes no weights.

    >>> table = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    >>> tw.nn.embedding_bag([2, 0, 1], table, [0, 2])
    tensor([[2., 3.],
            [2., 3.]])
    """
    name = "embedding_bag"
    table = as_float(name, weight, input)
    choice(name, "mode", mode, _MODES)
    indices = indices_operand(table, input)
    rows = _rows(name, table, indices, None)
    if indices.ndim != (2 if offsets is None else 1):
        raise ShapeError(
            f"{name}: the input has shape {indices.shape}; it is (bags, n), or (n,) "
            "with offsets."
        )
    if per_sample_weights is not None:
        if mode != "sum":
            raise DataError(f"{name}: mode {mode!r} takes no per_sample_weights.")
        rows = rows * expand_dims(as_float(name, per_sample_weights, table), -1)
    row = _padding_row(name, padding_idx, table.shape[0])
    counted = expand_dims(indices != (-1 if row is None else row), -1)
    rows = where(counted, rows, -math.inf if mode == "max" else 0.0)
    counts = counted.astype(rows.dtype)
    if offsets is None:
        total = rows.max(1) if mode == "max" else rows.sum(1)
        counts = counts.sum(1)
    else:
        starts = indices_operand(table, offsets)
        starts = starts[:-1] if include_last_offset else starts
        at = arange(indices.size, dtype=starts.dtype, device=rows.device)
        bags = starts.size
        ids = clip(searchsorted(starts, at, side="right") - 1, 0, max(bags - 1, 0))
        reduce = segment_max if mode == "max" else segment_sum
        total, counts = reduce(rows, ids, bags), segment_sum(counts, ids, bags)
    if mode == "max":
        return where(counts > 0, total, 0.0)
    return total / maximum(counts, 1.0) if mode == "mean" else total


class EmbeddingBag(Embedding):
    """A table of which sums, means or maxima of rows are taken; see `embedding_bag`.

    Attributes:
        weight: `(num_embeddings, embedding_dim)`.

    >>> bags = tw.nn.EmbeddingBag(10, 3, mode="sum")
    >>> bags(tw.asarray([1, 2, 4, 9]), tw.asarray([0, 3])).shape
    (2, 3)
    """

    def __init__(
        self,
        num_embeddings: SupportsIndex,
        embedding_dim: SupportsIndex,
        mode: str = "mean",
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        sparse: bool = False,
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        *,
        rng: init.Rng = None,
    ) -> None:
        """Make a table.

        Args:
            num_embeddings: count of rows.
            embedding_dim: length of a row.
            mode: `sum`, `mean` or `max`.
            include_last_offset: whether the last offset is the end of the last bag.
            padding_idx: a row that is 0 at first and counts in no bag.
            sparse: accepted as in PyTorch; gradients are dense.
            device: device of the table.
            dtype: floating-point dtype of the table.
            rng: a generator, a key or a seed; None for the program's generator.

        Raises:
            TensorIndexError: there is no row `padding_idx`.
            DataError: there is no such mode.
        """
        options = (num_embeddings, embedding_dim, padding_idx, device, dtype)
        super().__init__(*options, rng=rng)
        self.mode = choice("EmbeddingBag", "mode", mode, _MODES)
        self.include_last_offset = include_last_offset

    def forward(
        self,
        input: ArrayLike,
        offsets: ArrayLike = None,
        per_sample_weights: ArrayLike = None,
    ) -> Tensor:
        """Return `(bags, embedding_dim)`.

        Args:
            input: integers `(bags, n)`; or `(n,)`, the bags one after another.
            offsets: `(bags,)`, where each bag begins in an input `(n,)`.
            per_sample_weights: of the input's shape, factors of the rows, for `sum`.

        Raises:
            DTypeError: the indices are no integers.
            TensorIndexError: one is out of range.
        """
        return embedding_bag(
            *(input, self.weight, offsets, self.mode, per_sample_weights),
            *(self.include_last_offset, self.padding_idx),
        )

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"{super().extra_repr()}, mode={self.mode!r}"


declare_public(__name__)
