"""Puzzle: flip

A vector backwards: which index does each element read?

Predict: from which index does element 0 of four elements read?
"""

import tensorweb as tw
from tensorweb.playground.puzzles import check


def flip(x):
    """Return the elements of a vector from the last to the first.

    flip([1, 2, 3, 4]) is [4, 3, 2, 1].
    """
    # A wrong beginning. Use only arithmetic, comparisons, indexing and these, without
    # loops: tw.arange, tw.where, tw.sum.
    return x[tw.arange(x.shape[0])]


# Shows the expected result next to yours, for the first case that is wrong.
check(flip)
