"""Puzzle: arange

Count 0, 1, 2 … without tw.arange: from ones, by a running sum.

Predict: what is the running sum of five ones, and how far is it from 0, 1, 2, 3, 4?
"""

import tensorweb as tw
from tensorweb.playground.puzzles import check


def arange(n):
    """Return the integers from 0 to n - 1, shape (n,).

    arange(5) is [0, 1, 2, 3, 4].
    """
    # A wrong beginning. Use only arithmetic, comparisons, indexing and these, without
    # loops: tw.ones, tw.zeros, tw.full, tw.cumulative_sum.
    return tw.ones(n)


# Shows the expected result next to yours, for the first case that is wrong.
check(arange)
