"""Transformers: encoder and decoder layers, stacks of them, and both together."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any, ClassVar, SupportsIndex

from tensorweb import dtypes
from tensorweb.functions import full, triu
from tensorweb.nn import init
from tensorweb.nn.activations import gelu, relu
from tensorweb.nn.affine import Linear
from tensorweb.nn.arguments import as_float, choice, positive
from tensorweb.nn.attention_layers import MultiheadAttention
from tensorweb.nn.dropout_layers import Dropout
from tensorweb.nn.module import Module
from tensorweb.nn.normalization import LayerNorm
from tensorweb.public_names import declare_public
from tensorweb.random import fold_in
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike

ACTIVATIONS = {"relu": relu, "gelu": gelu}


def _derived(key: Tensor | None, index: int) -> Tensor | None:
    return None if key is None else fold_in(key, index)


class _Layer(Module):
    """Attention, then a network of two layers, each added to its normalised input."""

    _attentions: ClassVar[tuple[str, ...]] = ("self_attn",)

    def __init__(
        self,
        d_model: SupportsIndex,
        nhead: SupportsIndex,
        dim_feedforward: SupportsIndex = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        *,
        rng: init.Rng = None,
    ) -> None:
        """Make a layer.

        Args:
            d_model: length of the last axis.
            nhead: count of heads, which divides `d_model`.
            dim_feedforward: length between the two linear layers.
            dropout: dropout probability, in calls with `key`.
            activation: `relu`, `gelu`, or a function, between the linear layers.
            layer_norm_eps: `eps` of the normalisations.
            batch_first: whether inputs are `(n, length, d_model)` and not
                `(length, n, d_model)`.
            norm_first: whether inputs are normalised before attention and the linear
                layers, and not what they are added to.
            bias: whether linear layers and normalisations have biases.
            device: device of its tensors.
            dtype: floating-point dtype of its tensors.
            rng: a generator, a key or a seed; None for the program's generator.

        Raises:
            DataError: the heads do not divide `d_model`, or there is no such
                activation.
        """
        name = type(self).__name__
        if not callable(activation):
            activation = ACTIVATIONS[
                choice(name, "activation", activation, ACTIVATIONS)
            ]
        size = positive(name, "d_model", d_model)
        inner = positive(name, "dim_feedforward", dim_feedforward)
        maker = init.Maker(rng, device, dtype)
        where, source = (maker.device, maker.dtype), maker.source
        for attention in self._attentions:
            layer = MultiheadAttention(
                *(size, nhead, dropout, bias),
                batch_first=batch_first,
                device=maker.device,
                dtype=maker.dtype,
                rng=source,
            )
            setattr(self, attention, layer)
        self.linear1 = Linear(size, inner, bias, *where, rng=source)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(inner, size, bias, *where, rng=source)
        for index in range(1, len(self._attentions) + 2):
            norm = LayerNorm(size, layer_norm_eps, True, bias, *where)
            setattr(self, f"norm{index}", norm)
            setattr(self, f"dropout{index}", Dropout(dropout))
        self.activation, self.norm_first = activation, norm_first

    def _attending(
        self,
        attention: MultiheadAttention,
        masks: tuple[ArrayLike, ArrayLike],
        is_causal: bool,
        memory: ArrayLike = None,
    ) -> Callable[[Tensor, Tensor | None], Tensor]:
        """Return attention of an input to a memory, or to itself, by its two masks."""

        def attend(x: Tensor, key: Tensor | None) -> Tensor:
            keys, (padding, mask) = x if memory is None else memory, masks
            options = {"is_causal": is_causal, "dropout_key": key}
            result: Tensor
            result, _ = attention(x, keys, keys, padding, False, mask, **options)
            return result

        return attend

    def _added(
        self,
        x: Tensor,
        index: int,
        part: Callable[[Tensor, Tensor | None], Tensor],
        key: Tensor | None,
    ) -> Tensor:
        """Return an input plus the dropped result of a part, normalised."""
        norm, dropout = getattr(self, f"norm{index}"), getattr(self, f"dropout{index}")
        inner = part(norm(x) if self.norm_first else x, _derived(key, 2 * index))
        total: Tensor = x + dropout(inner, key=_derived(key, 2 * index + 1))
        return total if self.norm_first else norm(total)

    def _forward(self, x: Tensor, key: Tensor | None) -> Tensor:
        """Return the two linear layers of an input."""
        inner = self.dropout(self.activation(self.linear1(x)), key=key)
        return self.linear2(inner)  # type: ignore[no-any-return]  # a module's result


class TransformerEncoderLayer(_Layer):
    """Self-attention and two linear layers, each added to its input and normalised.

    Attributes:
        self_attn: a MultiheadAttention.
        linear1: `(dim_feedforward, d_model)`.
        linear2: `(d_model, dim_feedforward)`.
        norm1: the LayerNorm of attention.
        norm2: the LayerNorm of the linear layers.

    Source: A. Vaswani and others, Attention is all you need, 2017.

    >>> layer = tw.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    >>> layer(tw.ones((3, 5, 8))).shape
    (3, 5, 8)
    """

    self_attn: MultiheadAttention
    norm1: LayerNorm
    norm2: LayerNorm

    def forward(
        self,
        src: ArrayLike,
        src_mask: ArrayLike = None,
        src_key_padding_mask: ArrayLike = None,
        is_causal: bool = False,
        *,
        key: Tensor | None = None,
    ) -> Tensor:
        """Return a tensor of the shape of `src`.

        Args:
            src: `(length, n, d_model)`, or `(n, length, d_model)` with `batch_first`.
            src_mask: `(length, length)`, True for keys that the query does not see; or
                floats that are added to scores.
            src_key_padding_mask: `(n, length)`, True for keys that nobody sees.
            is_causal: whether element i sees elements 0 to i only.
            key: of `tw.random`, for dropout; without one nothing is dropped.

        Raises:
            ShapeError: the shapes do not fit.
        """
        masks = (src_key_padding_mask, src_mask)
        attend = self._attending(self.self_attn, masks, is_causal)
        x = as_float(type(self).__name__, src, self.norm1.weight)
        return self._added(self._added(x, 1, attend, key), 2, self._forward, key)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to a memory, and two linear layers, each added.

    Attributes:
        self_attn: a MultiheadAttention.
        multihead_attn: the one whose keys and values are the memory.
        linear1: `(dim_feedforward, d_model)`.
        linear2: `(d_model, dim_feedforward)`.
        norm1: the LayerNorm of self-attention.
        norm2: the LayerNorm of attention to the memory.
        norm3: the LayerNorm of the linear layers.

    >>> layer = tw.nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
    >>> layer(tw.ones((3, 5, 8)), tw.ones((3, 4, 8)), tgt_is_causal=True).shape
    (3, 5, 8)
    """

    _attentions = ("self_attn", "multihead_attn")
    self_attn: MultiheadAttention
    norm1: LayerNorm
    norm2: LayerNorm
    norm3: LayerNorm
    multihead_attn: MultiheadAttention

    def forward(
        self,
        tgt: ArrayLike,
        memory: ArrayLike,
        tgt_mask: ArrayLike = None,
        memory_mask: ArrayLike = None,
        tgt_key_padding_mask: ArrayLike = None,
        memory_key_padding_mask: ArrayLike = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
        *,
        key: Tensor | None = None,
    ) -> Tensor:
        """Return a tensor of the shape of `tgt`.

        Args:
            tgt: `(length, n, d_model)`, or `(n, length, d_model)` with `batch_first`.
            memory: what an encoder returned, of the same axes.
            tgt_mask: `(length, length)`, True for keys that the query does not see; or
                floats that are added to scores.
            memory_mask: as `tgt_mask`, for the memory, `(length, memory's length)`.
            tgt_key_padding_mask: `(n, length)`, True for keys that nobody sees.
            memory_key_padding_mask: as `tgt_key_padding_mask`, for the memory.
            tgt_is_causal: whether element i sees elements 0 to i only.
            memory_is_causal: whether element i sees 0 to i of the memory only.
            key: of `tw.random`, for dropout; without one nothing is dropped.

        Raises:
            ShapeError: the shapes do not fit.
        """
        masks = (tgt_key_padding_mask, tgt_mask)
        attend = self._attending(self.self_attn, masks, tgt_is_causal)
        masks = (memory_key_padding_mask, memory_mask)
        remember = self._attending(self.multihead_attn, masks, memory_is_causal, memory)
        x = as_float(type(self).__name__, tgt, self.norm1.weight)
        x = self._added(self._added(x, 1, attend, key), 2, remember, key)
        return self._added(x, 3, self._forward, key)


class _Stack(Module):
    """Copies of a layer, applied in order, and an optional final normalisation."""

    def __init__(
        self, layer: Module, num_layers: SupportsIndex, norm: Module | None = None
    ) -> None:
        count = positive(type(self).__name__, "num_layers", num_layers)
        self.layers = [deepcopy(layer) for _ in range(count)]
        self.num_layers, self.norm = count, norm

    def _applied(
        self, x: ArrayLike, *inputs: Any, key: Tensor | None, **options: Any
    ) -> Tensor:
        result: Any = x
        for index, layer in enumerate(self.layers):
            result = layer(result, *inputs, key=_derived(key, index), **options)
        return result if self.norm is None else self.norm(result)  # type: ignore[no-any-return]  # a module's result


class TransformerEncoder(_Stack):
    """Copies of an encoder layer, one after another.

    Attributes:
        layers: the copies, which begin with equal parameters.
        norm: what is applied to the last result, or None.

    >>> layer = tw.nn.TransformerEncoderLayer(8, 2, 16)
    >>> tw.nn.TransformerEncoder(layer, 3)(tw.ones((5, 2, 8))).shape
    (5, 2, 8)
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: SupportsIndex,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        """Make a stack.

        Args:
            encoder_layer: the layer that is copied.
            num_layers: count of copies.
            norm: what is applied to the last result.
            enable_nested_tensor: accepted as in PyTorch; changes nothing.
            mask_check: accepted as in PyTorch; changes nothing.
        """
        super().__init__(encoder_layer, num_layers, norm)

    def forward(
        self,
        src: ArrayLike,
        mask: ArrayLike = None,
        src_key_padding_mask: ArrayLike = None,
        is_causal: bool | None = None,
        *,
        key: Tensor | None = None,
    ) -> Tensor:
        """Return a tensor of the shape of `src`.

        Args:
            src: `(length, n, d_model)`, or `(n, length, d_model)` with `batch_first`.
            mask: `src_mask` of each layer.
            src_key_padding_mask: `(n, length)`, True for keys that nobody sees.
            is_causal: whether element i sees elements 0 to i only.
            key: of `tw.random`, for dropout; without one nothing is dropped.

        Raises:
            ShapeError: the shapes do not fit.
        """
        masks = (mask, src_key_padding_mask)
        return self._applied(src, *masks, is_causal=bool(is_causal), key=key)


class TransformerDecoder(_Stack):
    """Copies of a decoder layer, one after another.

    Attributes:
        layers: the copies, which begin with equal parameters.
        norm: what is applied to the last result, or None.

    >>> layer = tw.nn.TransformerDecoderLayer(8, 2, 16)
    >>> tw.nn.TransformerDecoder(layer, 3)(tw.ones((5, 2, 8)), tw.ones((4, 2, 8))).shape
    (5, 2, 8)
    """

    def __init__(
        self,
        decoder_layer: Module,
        num_layers: SupportsIndex,
        norm: Module | None = None,
    ) -> None:
        """Make a stack.

        Args:
            decoder_layer: the layer that is copied.
            num_layers: count of copies.
            norm: what is applied to the last result.
        """
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: ArrayLike,
        memory: ArrayLike,
        tgt_mask: ArrayLike = None,
        memory_mask: ArrayLike = None,
        tgt_key_padding_mask: ArrayLike = None,
        memory_key_padding_mask: ArrayLike = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
        *,
        key: Tensor | None = None,
    ) -> Tensor:
        """Return a tensor of the shape of `tgt`; see `TransformerDecoderLayer`.

        Raises:
            ShapeError: the shapes do not fit.
        """
        return self._applied(
            *(tgt, memory, tgt_mask, memory_mask),
            *(tgt_key_padding_mask, memory_key_padding_mask),
            *(bool(tgt_is_causal), memory_is_causal),
            key=key,
        )


class Transformer(Module):
    """An encoder, and a decoder that attends to its result.

    Attributes:
        encoder: a TransformerEncoder.
        decoder: a TransformerDecoder.

    >>> model = tw.nn.Transformer(8, 2, 1, 1, 16)
    >>> model(tw.ones((5, 3, 8)), tw.ones((4, 3, 8))).shape
    (4, 3, 8)
    """

    def __init__(
        self,
        d_model: SupportsIndex = 512,
        nhead: SupportsIndex = 8,
        num_encoder_layers: SupportsIndex = 6,
        num_decoder_layers: SupportsIndex = 6,
        dim_feedforward: SupportsIndex = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = "relu",
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        *,
        rng: init.Rng = None,
    ) -> None:
        """Make both; matrices begin as Xavier's uniform distribution.

        Args:
            d_model: length of the last axis.
            nhead: count of heads, which divides `d_model`.
            num_encoder_layers: count of the encoder's layers.
            num_decoder_layers: count of the decoder's layers.
            dim_feedforward: length between the linear layers.
            dropout: dropout probability, in calls with `key`.
            activation: `relu`, `gelu`, or a function, between the linear layers.
            custom_encoder: a module in place of the encoder.
            custom_decoder: a module in place of the decoder.
            layer_norm_eps: `eps` of the normalisations.
            batch_first: whether inputs are `(n, length, d_model)` and not
                `(length, n, d_model)`.
            norm_first: whether layers normalise their inputs, and not their sums.
            bias: whether linear layers and normalisations have biases.
            device: device of its tensors.
            dtype: floating-point dtype of its tensors.
            rng: a generator, a key or a seed; None for the program's generator.

        Raises:
            DataError: the heads do not divide `d_model`, or there is no such
                activation.
        """
        maker = init.Maker(rng, device, dtype)
        where, source = (maker.device, maker.dtype), maker.source
        options: tuple[Any, ...] = (
            *(d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps),
            *(batch_first, norm_first, bias, *where),
        )

        def norm() -> LayerNorm:
            size = positive("Transformer", "d_model", d_model)
            return LayerNorm(size, layer_norm_eps, True, bias, *where)

        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*options, rng=source), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*options, rng=source), num_decoder_layers, norm()
        )
        self.batch_first = batch_first
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform(parameter, rng=source)

    def forward(
        self,
        src: ArrayLike,
        tgt: ArrayLike,
        src_mask: ArrayLike = None,
        tgt_mask: ArrayLike = None,
        memory_mask: ArrayLike = None,
        src_key_padding_mask: ArrayLike = None,
        tgt_key_padding_mask: ArrayLike = None,
        memory_key_padding_mask: ArrayLike = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
        *,
        key: Tensor | None = None,
    ) -> Tensor:
        """Return a tensor of the shape of `tgt`.

        Args:
            src: what the encoder gets, `(length, n, d_model)`, or
                `(n, length, d_model)` with `batch_first`.
            tgt: what the decoder gets, of the same axes.
            src_mask: `(length, length)`, True for keys that the query does not see; or
                floats that are added to scores.
            tgt_mask: as `src_mask`, for the decoder's input.
            memory_mask: as `src_mask`, for the encoder's result in the decoder.
            src_key_padding_mask: `(n, length)`, True for keys that nobody sees.
            tgt_key_padding_mask: as `src_key_padding_mask`, for `tgt`.
            memory_key_padding_mask: as `src_key_padding_mask`, for the encoder's
                result in the decoder.
            src_is_causal: whether element i sees elements 0 to i only.
            tgt_is_causal: as `src_is_causal`, for the decoder.
            memory_is_causal: as `src_is_causal`, for the encoder's result in the
                decoder.
            key: of `tw.random`, for dropout; without one nothing is dropped.

        Raises:
            ShapeError: the shapes do not fit.
        """
        memory = self.encoder(
            *(src, src_mask, src_key_padding_mask, src_is_causal),
            key=_derived(key, 0),
        )
        return self.decoder(  # type: ignore[no-any-return]  # a module's result
            *(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask),
            *(memory_key_padding_mask, tgt_is_causal, memory_is_causal),
            key=_derived(key, 1),
        )

    @staticmethod
    def generate_square_subsequent_mask(
        sz: SupportsIndex, device: object = None, dtype: DTypeLike = None
    ) -> Tensor:
        """Return a mask by which element i sees elements 0 to i only: 0, else -inf.

        Args:
            sz: the length.
            device: device of the mask.
            dtype: floating-point dtype of the mask.

        >>> tw.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[  0., -inf],
                [  0.,   0.]])
        """
        size = positive("generate_square_subsequent_mask", "sz", sz)
        hidden = full((size, size), -math.inf, dtype=dtype, device=device)
        return triu(hidden, k=1)


declare_public(__name__)
