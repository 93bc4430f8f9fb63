"""Scaled dot-product attention and `MultiheadAttention`."""

from __future__ import annotations

import math
import operator
from functools import reduce
from typing import SupportsIndex

from tensorweb import dtypes
from tensorweb.errors import (
    Clash,
    DataError,
    DTypeError,
    ShapeError,
    aligned_clash,
    broadcast_clash,
    equal_clash,
    expected_clash,
)
from tensorweb.functions import (
    arange,
    broadcast_to,
    concat,
    expand_dims,
    ones,
    where,
    zeros,
)
from tensorweb.nn import init
from tensorweb.nn.activations import softmax_along
from tensorweb.nn.affine import Linear, linear
from tensorweb.nn.arguments import as_float, operand, positive
from tensorweb.nn.dropout_layers import dropout, training_key
from tensorweb.nn.module import Module
from tensorweb.public_names import declare_public
from tensorweb.shapes import broadcast_shapes
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike

# Long causal attention is computed by blocks of queries, which saves 3/8 of the work
# and of the weights. 8 heads of 4096 x 64 on an H200: 1.32 -> 1.00 ms, with gradients
# 3.4 -> 2.5 ms; at 1024 four blocks took 1.5 times as long as one.
LEAST_IN_BLOCKS = 2048
CAUSAL_BLOCKS = 4
BLOCK_MULTIPLE = 64


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    causal: bool = False,
    mask: ArrayLike = None,
    scale: float | None = None,
    dropout_p: float = 0.0,
    key: Tensor | None = None,
) -> Tensor:
    """Return `softmax(q k^T scale) v` over the last two axes, the others broadcast.

    Args:
        q: queries `(..., t, d)`.
        k: keys `(..., s, d)`.
        v: values `(..., s, e)`.
        causal: whether query i attends to keys 0 to i only.
        mask: broadcasts to `(..., t, s)`: bools, True where a query sees a key, or
            floats that are added to the scores. A query without keys gives 0.
        scale: factor of the scores, by default `1 / sqrt(d)`.
        dropout_p: dropout probability of the weights, if there is a key.
        key: of `tw.random`, for dropout.

    Returns:
        `(..., t, e)`. Source: A. Vaswani and others, Attention is all you need, 2017.

    Raises:
        ShapeError: the shapes do not fit.
        DTypeError: an operand is no floating-point tensor.

    >>> q = k = tw.zeros((3, 2))
    >>> tw.nn.attention(q, k, [[1.0], [3.0], [5.0]], causal=True)
    tensor([[1.],
            [2.],
            [3.]])
    """
    name = "attention"
    keys = as_float(name, k, q, v, mask)
    queries, values = as_float(name, q, keys), as_float(name, v, keys)
    _check_shapes(name, queries, keys, values)
    factor = 1 / math.sqrt(queries.shape[-1] or 1) if scale is None else scale
    length = queries.shape[-2]
    is_square = causal and length == keys.shape[-2]
    if is_square and length >= LEAST_IN_BLOCKS and mask is None and key is None:
        return _causal_blocks(queries, keys, values, factor)
    weights = _weights(name, queries, keys, causal, mask, factor)
    return dropout(weights, dropout_p, key is not None, key=key) @ values


def _causal_blocks(q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
    """Return causal attention by blocks of queries, each with the keys that it sees."""
    length = q.shape[-2]
    rows = -(-length // (CAUSAL_BLOCKS * BLOCK_MULTIPLE)) * BLOCK_MULTIPLE
    parts = []
    for start in range(0, length, rows):
        end = min(start + rows, length)
        seen_keys, seen_values = k[..., :end, :], v[..., :end, :]
        block = q[..., start:end, :]
        weights = _weights("attention", block, seen_keys, True, None, scale, start)
        parts.append(weights @ seen_values)
    return concat(parts, axis=-2)


def scaled_dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    attn_mask: ArrayLike = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    dropout_key: Tensor | None = None,
) -> Tensor:
    """Return `attention` of operands under PyTorch's names.

    Args:
        query: queries `(..., t, d)`.
        key: keys `(..., s, d)`.
        value: values `(..., s, e)`.
        attn_mask: `mask` of `attention`: True where a query sees a key.
        dropout_p: dropout probability of the weights, if there is a `dropout_key`.
        is_causal: whether query i attends to keys 0 to i only.
        scale: factor of the scores, by default `1 / sqrt(d)`.
        enable_gqa: whether each head of keys and values, axis -3, serves as many heads
            of queries as there are more of them.
        dropout_key: of `tw.random`, for dropout.

    Returns:
        `(..., t, e)`.

    Raises:
        ShapeError: the shapes do not fit.
        DTypeError: an operand is no floating-point tensor.

    >>> q, k, v = tw.ones((2, 4, 5, 8)), tw.ones((2, 2, 5, 8)), tw.ones((2, 2, 5, 3))
    >>> tw.nn.scaled_dot_product_attention(q, k, v, enable_gqa=True).shape
    (2, 4, 5, 3)
    """
    q, k, v = (as_float("attention", x) for x in (query, key, value))
    if enable_gqa:
        k, v = (x.repeat(q.shape[-3] // x.shape[-3], axis=-3) for x in (k, v))
    return attention(
        *(q, k, v),
        causal=is_causal,
        mask=attn_mask,
        scale=scale,
        dropout_p=dropout_p,
        key=dropout_key,
    )


def _check_shapes(name: str, q: Tensor, k: Tensor, v: Tensor) -> None:
    fits = min(q.ndim, k.ndim, v.ndim) >= 2 and q.shape[-1] == k.shape[-1]
    if not fits or k.shape[-2] != v.shape[-2]:
        raise ShapeError(
            f"{name}: q, k and v have shapes {q.shape}, {k.shape} and {v.shape}; they "
            "are (..., t, d), (..., s, d) and (..., s, e).",
            clash=_attention_clash([q.shape, k.shape, v.shape]),
        )
    broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])


def _attention_clash(shapes: list[tuple[int, ...]]) -> Clash | None:
    """Return the clash of `(…, t, d)`, `(…, s, d)` and `(…, s, e)`."""
    if min(map(len, shapes)) < 2:
        return None
    most = max(map(len, shapes))
    t, s, d, e = range(most - 2, most + 2)
    own = ((t, d), (s, d), (s, e))
    columns = [
        (*range(most - len(shape), most - 2), *last)
        for shape, last in zip(shapes, own, strict=True)
    ]
    return aligned_clash(
        shapes, columns, free=range(most - 2), lacking=range(most - 2, most + 2)
    )


def _weights(
    name: str,
    q: Tensor,
    k: Tensor,
    causal: bool,
    mask: ArrayLike,
    scale: float,
    start: int = 0,
) -> Tensor:
    """Return the attention weights `(..., t, s)` of queries `start`, `start + 1`, …."""
    scores = (q @ k.matrix_transpose()) * scale
    if causal:
        end = start + q.shape[-2]
        rows = expand_dims(arange(start, end, device=q.device), 1)
        sees = rows >= arange(k.shape[-2], device=q.device)
        scores = where(sees, scores, -math.inf)
    if mask is None:
        return softmax_along(scores, -1)
    return softmax_along(_masked(name, scores, operand(q, mask)), -1, is_safe=True)


def _masked(name: str, scores: Tensor, mask: Tensor) -> Tensor:
    fits = mask.ndim <= scores.ndim and all(
        length in (1, expected)
        for length, expected in zip(mask.shape[::-1], scores.shape[::-1], strict=False)
    )
    if not fits:
        raise ShapeError(
            f"{name}: the mask has shape {mask.shape}, which does not broadcast to the "
            f"scores' {scores.shape}.",
            clash=broadcast_clash([mask.shape, scores.shape], is_fixed=True),
        )
    if mask.dtype.kind == "bool":
        return where(mask, scores, -math.inf)
    if mask.dtype.kind != "float":
        raise DTypeError(
            f"{name}: the mask is {mask.dtype}; give bools, True where a query sees a "
            "key, with mask != 0 for example, or floats that are added."
        )
    return scores + mask.astype(scores.dtype)


def _seeing_more(mask: Tensor | None, length: int, more: int) -> Tensor | None:
    """Return a mask extended to `length` keys, whose last `more` are visible to all."""
    if mask is None:
        return None
    shape = (*mask.shape[:-1], length - more)
    fill = ones if mask.dtype.kind == "bool" else zeros
    seen = fill((*shape[:-1], more), dtype=mask.dtype, device=mask.device)
    return concat([broadcast_to(mask, shape), seen], axis=-1)


class MultiheadAttention(Module):
    """Attention in several heads, each with projections of its own.

    It is called with queries, keys and values, and masks as in PyTorch: True is where a
    query does not see a key.

    Attributes:
        in_proj_weight: `(3 embed_dim, embed_dim)`; None with other `kdim` or `vdim`,
            where `q_proj_weight`, `k_proj_weight` and `v_proj_weight` replace it.
        in_proj_bias: `(3 embed_dim,)`, or None.
        out_proj: the last projection, a Linear.
        bias_k: `(1, 1, embed_dim)`, a key behind the others; None without
            `add_bias_kv`.
        bias_v: its value, `(1, 1, embed_dim)`.

    >>> layer = tw.nn.MultiheadAttention(8, 2, batch_first=True)
    >>> x = tw.ones((3, 5, 8))
    >>> y, weights = layer(x, x, x)
    >>> y.shape, weights.shape
    ((3, 5, 8), (3, 5, 5))
    """

    def __init__(
        self,
        embed_dim: SupportsIndex,
        num_heads: SupportsIndex,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: SupportsIndex | None = None,
        vdim: SupportsIndex | None = None,
        batch_first: bool = False,
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        *,
        rng: init.Rng = None,
    ) -> None:
        """Make a layer.

        Args:
            embed_dim: length of queries and results.
            num_heads: count of heads.
            dropout: dropout probability of the weights, in calls with `dropout_key`.
            bias: whether projections have biases.
            add_bias_kv: whether a key and a value that are learned stand behind the
                others; all queries see them.
            add_zero_attn: whether a key and a value of zeros are appended.
            kdim: length of keys, by default `embed_dim`.
            vdim: length of values, by default `embed_dim`.
            batch_first: whether inputs are `(n, length, embed_dim)` and not
                `(length, n, embed_dim)`.
            device: device of its tensors.
            dtype: floating-point dtype of its tensors.
            rng: a generator, a key or a seed; None for the program's generator.

        Raises:
            DataError: the heads do not divide `embed_dim`.
        """
        name = type(self).__name__
        size = self.embed_dim = positive(name, "embed_dim", embed_dim)
        self.num_heads = positive(name, "num_heads", num_heads)
        if size % self.num_heads:
            raise DataError(
                f"{name}: {self.num_heads} heads do not divide embed_dim {size}; give "
                "a count of heads that does."
            )
        self.dropout, self.batch_first = dropout, batch_first
        self.kdim = size if kdim is None else positive(name, "kdim", kdim)
        self.vdim = size if vdim is None else positive(name, "vdim", vdim)
        maker = init.Maker(rng, device, dtype)
        self.in_proj_weight: Tensor | None = None
        self.q_proj_weight: Tensor | None = None
        self.k_proj_weight: Tensor | None = None
        self.v_proj_weight: Tensor | None = None
        if self.kdim == size and self.vdim == size:
            bound = math.sqrt(6 / (4 * size))
            self.in_proj_weight = maker.uniform((3 * size, size), bound)
        else:
            lengths = (size, self.kdim, self.vdim)
            weights = [
                maker.uniform((size, length), math.sqrt(6 / (size + length)))
                for length in lengths
            ]
            self.q_proj_weight, self.k_proj_weight, self.v_proj_weight = weights
        self.in_proj_bias = maker.full((3 * size,), 0.0) if bias else None
        self.bias_k: Tensor | None = None
        self.bias_v: Tensor | None = None
        if add_bias_kv:
            self.bias_k, self.bias_v = (
                maker.normal((1, 1, size), 1 / math.sqrt(size)) for _ in range(2)
            )
        self.add_zero_attn = add_zero_attn
        out = Linear(size, size, bias, maker.device, maker.dtype, rng=maker.source)
        if out.bias is not None:
            init.zeros(out.bias)
        self.out_proj = out

    def forward(
        self,
        query: ArrayLike,
        key: ArrayLike,
        value: ArrayLike,
        key_padding_mask: ArrayLike = None,
        need_weights: bool = True,
        attn_mask: ArrayLike = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
        *,
        dropout_key: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Return `(result, weights)`.

        Args:
            query: `(t, n, embed_dim)`, `(n, t, embed_dim)` with `batch_first`, or
                `(t, embed_dim)` for one example.
            key: the same shape with `s` for `t` and `kdim` for `embed_dim`.
            value: the same shape with `s` for `t` and `vdim` for `embed_dim`.
            key_padding_mask: `(n, s)`, True for keys that nobody sees; or floats that
                are added to scores.
            need_weights: whether the weights are returned, None otherwise.
            attn_mask: `(t, s)` or `(n num_heads, t, s)`, True for keys that the query
                does not see; or floats that are added to scores.
            average_attn_weights: whether weights are the mean over heads.
            is_causal: whether query i attends to keys 0 to i only.
            dropout_key: a key of `tw.random`; without one nothing is dropped.

        Returns:
            The result is like the query, the weights `(n, t, s)`, or
            `(n, num_heads, t, s)`; each key that the layer adds makes `s` longer by
            1. A query without keys has weights of 0.

        Raises:
            ShapeError: the shapes do not fit.
        """
        name = type(self).__name__
        operands = [
            as_float(name, x, self.out_proj.weight) for x in (query, key, value)
        ]
        given = [x.shape for x in operands]
        is_one = operands[0].ndim == 2
        if is_one:
            operands = [x.expand_dims(axis=0) for x in operands]
        elif not self.batch_first:
            operands = [
                x.permute_dims((1, 0, 2)) if x.ndim == 3 else x for x in operands
            ]
        self._check(name, operands, given)
        heads = [self._parted(x) for x in self._projected(operands)]
        q, k, v = heads
        more = (self.bias_k is not None) + self.add_zero_attn
        hides_later = is_causal and more > 0
        mask = self._mask(q, k, key_padding_mask, attn_mask, hides_later)
        if more:
            k, v = self._extended(k, self.bias_k), self._extended(v, self.bias_v)
            mask = _seeing_more(mask, k.shape[2], more)
        scale = 1 / math.sqrt(q.shape[-1])
        weights = _weights(name, q, k, is_causal and not more, mask, scale)
        drawn = training_key(self, self.dropout, dropout_key, q)
        weights = dropout(weights, self.dropout, drawn is not None, key=drawn)
        joined = (weights @ v).permute_dims((0, 2, 1, 3)).reshape(*operands[0].shape)
        result = self.out_proj(joined)
        reported = weights.mean(1) if average_attn_weights else weights
        if is_one:
            result, reported = result.squeeze(0), reported.squeeze(0)
        elif not self.batch_first:
            result = result.permute_dims((1, 0, 2))
        return result, reported if need_weights else None

    def _check(
        self, name: str, operands: list[Tensor], given: list[tuple[int, ...]]
    ) -> None:
        lengths = (self.embed_dim, self.kdim, self.vdim)
        shapes = [x.shape for x in operands]
        fits = all(
            len(shape) == 3 and shape[2] == length
            for shape, length in zip(shapes, lengths, strict=True)
        )
        if (
            not fits
            or len({shape[0] for shape in shapes}) > 1
            or (shapes[1][1] != shapes[2][1])
        ):
            raise ShapeError(
                f"{name}: query, key and value have shapes {shapes[0]}, {shapes[1]} "
                f"and {shapes[2]} with the batch in front; they are (n, t, "
                f"{lengths[0]}), (n, s, {lengths[1]}) and (n, s, {lengths[2]}).",
                clash=self._clash(name, given),
            )

    def _clash(self, name: str, given: list[tuple[int, ...]]) -> Clash:
        """Return the clash of the arguments' shapes, before a batch axis is added."""
        lengths = (self.embed_dim, self.kdim, self.vdim)
        for at, (shape, length) in enumerate(zip(given, lengths, strict=True)):
            if len(shape) not in (2, 3) or shape[-1] != length:
                # The layer is made for another width only if its heads divide that.
                is_whole = bool(shape) and shape[-1] % self.num_heads == 0
                layer = name if at == 0 and is_whole else ""
                expected = (-1, -1, length)
                return expected_clash(shape, expected, has_one=True, layer=layer)
        if len(given[0]) == 2:
            columns: list[tuple[int, ...]] = [(0, 2), (1, 3), (1, 4)]
        elif self.batch_first:
            columns = [(0, 1, 3), (0, 2, 4), (0, 2, 5)]
        else:
            columns = [(0, 2, 3), (1, 2, 4), (1, 2, 5)]
        if len({*map(len, given)}) > 1:  # each alone may be an example or a batch
            return equal_clash(given)
        # Each is in some of the three; lengths of a batch are in all.
        return aligned_clash(given, columns, lacking=range(6))

    def _projected(self, operands: list[Tensor]) -> list[Tensor]:
        size, whole = self.embed_dim, self.in_proj_bias
        starts = range(0, 3 * size, size)
        bias = [None if whole is None else whole[i : i + size] for i in starts]
        weight = self.in_proj_weight
        if weight is None:
            weights = [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]
        elif operands[0] is operands[1] is operands[2]:
            joined = linear(operands[0], weight, whole)
            return [joined[..., i : i + size] for i in starts]
        else:
            weights = [weight[i : i + size] for i in starts]
        return [
            linear(x, w, b) for x, w, b in zip(operands, weights, bias, strict=True)
        ]

    def _parted(self, x: Tensor) -> Tensor:
        """Return `(n, heads, length, size)` from `(n, length, heads * size)`."""
        size = self.embed_dim // self.num_heads
        parts = x.reshape(x.shape[0], x.shape[1], self.num_heads, size)
        return parts.permute_dims((0, 2, 1, 3))

    def _extended(self, x: Tensor, learned: Tensor | None) -> Tensor:
        """Return keys or values with the layer's own ones appended."""
        parts, shape = [x], (*x.shape[:2], 1, x.shape[3])
        if learned is not None:
            parts.append(broadcast_to(self._parted(learned), shape))
        if self.add_zero_attn:
            parts.append(zeros(shape, dtype=x.dtype, device=x.device))
        return concat(parts, axis=2)

    def _mask(
        self, q: Tensor, k: Tensor, padding: ArrayLike, mask: ArrayLike, causal: bool
    ) -> Tensor | None:
        """Return one mask for `attention`: True is visible, floats are added."""
        masks: list[Tensor] = []
        if causal:
            rows = expand_dims(arange(q.shape[2], device=q.device), 1)
            masks.append(rows < arange(k.shape[2], device=q.device))
        if mask is not None:
            tensor = operand(q, mask)
            if tensor.ndim == 3:
                tensor = tensor.reshape(q.shape[0], -1, q.shape[2], k.shape[2])
            masks.append(tensor)
        if padding is not None:
            tensor = operand(q, padding)
            if tensor.ndim not in (1, 2) or tensor.shape[-1] != k.shape[2]:
                raise ShapeError(
                    f"MultiheadAttention: key_padding_mask has shape {tensor.shape}; "
                    f"it is ({q.shape[0]}, {k.shape[2]}).",
                    clash=expected_clash(
                        tensor.shape, (q.shape[0], k.shape[2]), has_one=True
                    ),
                )
            masks.append(tensor.reshape(-1, 1, 1, k.shape[2]))
        if not masks:
            return None
        if all(value.dtype.kind == "bool" for value in masks):
            return ~reduce(operator.or_, masks)
        added = [
            where(part, -math.inf, 0.0).astype(q.dtype)
            if part.dtype.kind == "bool"
            else part
            for part in masks
        ]
        return reduce(operator.add, added)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}"


MultiHeadAttention = MultiheadAttention


declare_public(__name__)
