"""Puzzle: diag

The diagonal of a square: pick one element of each row.

Predict: what does x[i, i] give when i is a vector?
"""

import tensorweb as tw
from tensorweb.playground.puzzles import check


def diag(x):
    """Return the elements x[i, i] of a square matrix, shape (n,).

    diag([[1, 2], [3, 4]]) is [1, 4].
    """
    # A wrong beginning. Use only arithmetic, comparisons, indexing and these, without
    # loops: tw.arange, tw.where, tw.sum.
    return tw.arange(x.shape[0])


# Shows the expected result next to yours, for the first case that is wrong.
check(diag)
