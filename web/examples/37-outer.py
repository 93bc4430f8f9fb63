"""Puzzle: outer

All products of two vectors: one of them has to stand upright.

Predict: which shapes broadcast to (2, 3)?
"""

import tensorweb as tw
from tensorweb.playground.puzzles import check


def outer(a, b):
    """Return a table of a[i] * b[j], shape (len(a), len(b)).

    outer([1, 2], [1, 10, 100]) is [[1, 10, 100], [2, 20, 200]].
    """
    # A wrong beginning. Use only arithmetic, comparisons, indexing and these, without
    # loops: tw.expand_dims, reshape.
    return tw.expand_dims(a, axis=1) + b


# Shows the expected result next to yours, for the first case that is wrong.
check(outer)
