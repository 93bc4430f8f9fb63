"""Sequences of unequal lengths in one tensor, as in PyTorch's `nn.utils.rnn`."""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb.errors import DataError, ShapeError
from tensorweb.functions import asarray, moveaxis, pad, stack, where
from tensorweb.nn.packing import PackedSequence
from tensorweb.public_names import answer_unknown, declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import answering_keywords
from tensorweb.tensor.convert import ArrayLike


def pack_padded_sequence(
    input: ArrayLike,
    lengths: ArrayLike,
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Return padded sequences with their lengths, for `RNN`, `GRU` and `LSTM`.

    The layers compute padded steps as well, but neither outputs nor states depend on
    them. The order of the sequences stays.

    Args:
        input: `(longest, n, ...)`, with `batch_first` `(n, longest, ...)`.
        lengths: n integers, from 1 to the longest; they are read.
        batch_first: whether the sequences are the first axis.
        enforce_sorted: accepted as in PyTorch; any order is possible.

    Raises:
        ShapeError: there is not one length for each sequence.
        DataError: a length is no count of steps that there are.

    >>> packed = pack_padded_sequence(tw.ones((2, 3, 4)), [3, 1], batch_first=True)
    >>> output, last = tw.nn.GRU(4, 5)(packed)
    >>> pad_packed_sequence(output)[0].shape, last.shape
    ((3, 2, 5), (1, 2, 5))
    """
    name = "pack_padded_sequence"
    x, counts = asarray(input), asarray(lengths)
    if batch_first:
        x = moveaxis(x, 0, 1)
    if x.ndim < 2 or counts.shape != x.shape[1:2]:
        raise ShapeError(
            f"{name}: {counts.shape} lengths for an input of shape {x.shape}; give one "
            "for each sequence of (longest, n, ...)."
        )
    own = tuple([int(count) for count in counts.tolist()])
    if not own or min(own) < 1 or max(own) > x.shape[0]:
        raise DataError(f"{name}: lengths {own} are not from 1 to {x.shape[0]}.")
    return PackedSequence(x[: max(own)], own)


def pack_sequence(
    sequences: Sequence[Tensor], enforce_sorted: bool = True
) -> PackedSequence:
    """Return sequences `(length, ...)` as `pack_padded_sequence` of the padded ones.

    Args:
        sequences: the sequences, tensors.
        enforce_sorted: accepted as in PyTorch; any order is possible.

    >>> pack_sequence([tw.ones((3, 2)), tw.ones((1, 2))]).lengths
    (3, 1)
    """
    tensors = list(sequences)
    lengths = [one.shape[0] for one in tensors]
    return pack_padded_sequence(pad_sequence(tensors), lengths)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Return packed sequences as one tensor, and their lengths.

    Args:
        sequence: what `pack_padded_sequence` or a recurrent layer returned.
        batch_first: whether the result is `(n, longest, ...)`.
        padding_value: of the steps behind a sequence.
        total_length: length to pad to; None for the longest.

    Raises:
        DataError: `total_length` is shorter than a sequence.

    >>> packed = pack_sequence([tw.ones(3), tw.ones(1)])
    >>> pad_packed_sequence(packed, batch_first=True, padding_value=-1.0)[0]
    tensor([[ 1.,  1.,  1.],
            [ 1., -1., -1.]])
    """
    x, mask = sequence.padded, sequence._mask()
    x = where(mask.reshape((*mask.shape, *[1] * (x.ndim - 2))), x, padding_value)
    more = (total_length or len(x)) - len(x)
    if more < 0:
        raise DataError(
            f"pad_packed_sequence: total_length={total_length} is below {len(x)}, the "
            "longest sequence."
        )
    x = pad(x, [(0, more), *[(0, 0)] * (x.ndim - 1)], padding_value)
    return moveaxis(x, 0, 1) if batch_first else x, asarray(sequence.lengths)


@answering_keywords
def pad_sequence(
    sequences: Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0
) -> Tensor:
    """Return sequences `(length, ...)` as one tensor, short ones filled at the end.

    Returns:
        `(longest, count, ...)`, with `batch_first` `(count, longest, ...)`.

    Raises:
        DataError: there are no sequences, or one is no tensor with an axis.
        ShapeError: their other axes differ.

    >>> tw.nn.utils.rnn.pad_sequence([tw.ones(3), tw.ones(1)], batch_first=True)
    tensor([[1., 1., 1.],
            [1., 0., 0.]])
    """
    tensors = list(sequences)
    if not tensors or not all(getattr(x, "ndim", 0) for x in tensors):
        raise DataError(
            "pad_sequence: give a list of tensors (length, ...), not empty."
        )
    if len({one.shape[1:] for one in tensors}) > 1:
        raise ShapeError(
            f"pad_sequence: the shapes {', '.join(str(one.shape) for one in tensors)} "
            "differ behind the first axis."
        )
    is_whole = float(padding_value).is_integer()
    value = int(padding_value) if is_whole else padding_value
    longest = max(len(one) for one in tensors)
    return stack(
        [
            pad(
                one,
                [(0, longest - len(one)), *[(0, 0)] * (one.ndim - 1)],
                value,
            )
            for one in tensors
        ],
        axis=0 if batch_first else 1,
    )


declare_public(__name__, "PackedSequence")
answer_unknown(__name__)
