"""Sequences of unequal lengths in one tensor, as in PyTorch's `nn.utils.rnn`."""

from __future__ import annotations

import typing as _typing
from collections.abc import Sequence

from tensorweb.advice import unknown as _unknown
from tensorweb.functions import pad, stack
from tensorweb.tensor import Tensor

__all__ = ["pad_sequence"]


def pad_sequence(
    sequences: Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0
) -> Tensor:
    """Return sequences `(length, ...)` as one tensor, short ones filled at the end.

    Returns:
        `(longest, count, ...)`, with `batch_first` `(count, longest, ...)`.

    >>> tw.nn.utils.rnn.pad_sequence([tw.ones(3), tw.ones(1)], batch_first=True)
    tensor([[1., 1., 1.],
            [1., 0., 0.]])
    """
    longest = max(len(one) for one in sequences)
    return stack(
        [
            pad(
                one,
                [(0, longest - len(one)), *[(0, 0)] * (one.ndim - 1)],
                padding_value,
            )
            for one in sequences
        ],
        axis=0 if batch_first else 1,
    )


if not _typing.TYPE_CHECKING:  # Type checkers report unknown names.

    def __getattr__(name: str) -> _typing.NoReturn:
        """Answer a name of PyTorch with what to write here."""
        raise _unknown("tensorweb.nn.utils.rnn", name, __all__)
