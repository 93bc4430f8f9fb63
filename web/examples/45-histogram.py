"""Puzzle: histogram

Count how often each number occurs: a table of yes and no, summed.

Predict: along which axis of the table do you sum?
"""

import tensorweb as tw
from tensorweb.playground.puzzles import check


def histogram(x, n):
    """Return how often 0, 1 … n - 1 occur in x, shape (n,).

    histogram([0, 2, 2, 3, 2], 5) is [1, 0, 3, 1, 0].
    """
    # A wrong beginning. Use only arithmetic, comparisons, indexing and these, without
    # loops: tw.arange, tw.where, tw.sum.
    return tw.arange(n)


# Shows the expected result next to yours, for the first case that is wrong.
check(histogram)
