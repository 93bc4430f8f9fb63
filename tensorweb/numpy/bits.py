"""Bits of bytes: uint8 packed from and unpacked into zeros and ones."""

from __future__ import annotations

from typing import SupportsIndex

from tensorweb import functions as tw
from tensorweb.errors import DataError, DTypeError
from tensorweb.public_names import declare_public
from tensorweb.shapes import normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike


def _bit_indices(bitorder: str, x: Tensor) -> Tensor:
    """Return the bit indices of a byte from first to last by its bit order."""
    if bitorder not in ("big", "little"):
        raise DataError(f"bitorder is {bitorder!r}; it is 'big' or 'little'.")
    indices = tw.arange(8, dtype="int32", device=x.device)
    return 7 - indices if bitorder == "big" else indices


def unpackbits(
    a: ArrayLike,
    /,
    axis: SupportsIndex | None = None,
    count: SupportsIndex | None = None,
    bitorder: str = "big",
) -> Tensor:
    """Return the bits of bytes along an axis, which becomes eight times as long.

    Raises:
        DTypeError: the tensor is not uint8.
        DataError: a negative `count` leaves out more bits than there are.

    >>> np.unpackbits(np.asarray([5], dtype=np.uint8))
    tensor([0, 0, 0, 0, 0, 1, 0, 1], dtype=uint8)
    """
    x = tw.asarray(a)
    if x.dtype.name != "uint8":
        raise DTypeError(f"unpackbits: the dtype is {x.dtype}; give uint8.")
    along = 0 if axis is None else normalize_axis(axis, x.ndim)
    rows = x.reshape(-1) if axis is None else tw.moveaxis(x, along, -1)
    bits = rows[..., None].astype("int32") >> _bit_indices(bitorder, x) & 1
    flat = bits.reshape((*rows.shape[:-1], rows.shape[-1] * 8)).astype("uint8")
    if count is not None:
        length = count.__index__()
        if flat.shape[-1] + min(length, 0) < 0:
            raise DataError(f"unpackbits: count is {length}, of {flat.shape[-1]} bits.")
        missing = max(length - flat.shape[-1], 0)
        flat = tw.pad(flat, [(0, 0)] * (flat.ndim - 1) + [(0, missing)])[..., :length]
    return flat if axis is None else tw.moveaxis(flat, -1, along)


def packbits(
    a: ArrayLike, /, axis: SupportsIndex | None = None, bitorder: str = "big"
) -> Tensor:
    """Return bytes of bits along an axis: zeros and others, eight to a byte.

    Raises:
        DTypeError: the elements are neither bool nor integers.

    >>> np.packbits([1, 0, 1])
    tensor([160], dtype=uint8)
    """
    x = tw.asarray(a)
    if x.dtype.kind not in ("bool", "int", "uint"):
        raise DTypeError(f"packbits: the dtype is {x.dtype}; give bool or integers.")
    along = 0 if axis is None else normalize_axis(axis, x.ndim)
    rows = x.reshape(-1) if axis is None else tw.moveaxis(x, along, -1)
    bits = (rows != 0).astype("int32")
    missing = -bits.shape[-1] % 8
    bits = tw.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, missing)])
    bits = bits.reshape((*bits.shape[:-1], bits.shape[-1] // 8, 8))
    packed = (bits << _bit_indices(bitorder, x)).sum(-1).astype("uint8")
    return packed if axis is None else tw.moveaxis(packed, -1, along)


declare_public(__name__)
