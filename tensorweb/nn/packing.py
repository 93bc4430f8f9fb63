"""Sequences of unequal lengths in one tensor: what recurrent layers take and return."""

from __future__ import annotations

from tensorweb.functions import arange, asarray
from tensorweb.tensor import Tensor
from tensorweb.trees import register


@register
class PackedSequence:
    """Sequences of unequal lengths, which recurrent layers read up to their ends.

    Attributes:
        padded: the sequences, `(longest, n, ...)`.
        lengths: of the n sequences.

    >>> x = tw.tensor([[1.0, 3.0], [2.0, 0.0]])
    >>> packed = tw.nn.utils.rnn.pack_padded_sequence(x, [2, 1])
    >>> packed.data, packed.batch_sizes
    (tensor([1., 3., 2.]), tensor([2, 1]))
    """

    def __init__(self, padded: Tensor, lengths: tuple[int, ...]) -> None:
        """Store both; `pack_padded_sequence` does."""
        self.padded, self.lengths = padded, lengths

    @property
    def data(self) -> Tensor:
        """The elements step by step, of each step the longest sequence first."""
        lengths, width = self.lengths, len(self.lengths)
        order = sorted(range(width), key=lambda index: -lengths[index])
        steps = range(self.padded.shape[0])
        at = [t * width + n for t in steps for n in order if t < lengths[n]]
        elements = self.padded.reshape((-1, *self.padded.shape[2:]))
        return elements.take(at, axis=0)

    @property
    def batch_sizes(self) -> Tensor:
        """The count of sequences of each step, int32."""
        steps = range(self.padded.shape[0])
        return asarray([sum(t < length for length in self.lengths) for t in steps])

    def _mask(self) -> Tensor:
        """Return which steps belong to a sequence, `(longest, n)`."""
        steps = arange(self.padded.shape[0], device=self.padded.device)
        return steps[:, None] < asarray(self.lengths, device=self.padded.device)
