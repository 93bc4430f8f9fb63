"""Sequences of unequal lengths in one tensor, as in PyTorch's `nn.utils.rnn`."""

from __future__ import annotations

import typing as _typing
from collections.abc import Sequence

from tensorweb.advice import unknown as _unknown
from tensorweb.errors import DataError, ShapeError
from tensorweb.functions import pad, stack
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import answering_keywords

__all__ = ["pad_sequence"]


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


if not _typing.TYPE_CHECKING:  # Type checkers report unknown names.

    def __getattr__(name: str) -> _typing.NoReturn:
        """Answer a name of PyTorch with what to write here."""
        raise _unknown("tensorweb.nn.utils.rnn", name, __all__)
