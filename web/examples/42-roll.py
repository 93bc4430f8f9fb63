"""Puzzle: roll

Move a vector by k elements; what leaves at one end comes back at the other.

Predict: what is (0 - 2) % 5 in Python?
"""

import tensorweb as tw
from tensorweb.playground.puzzles import check


def roll(x, k):
    """Return x moved to the right by k elements, in a circle; k may be negative.

    roll([1, 2, 3, 4, 5], 2) is [4, 5, 1, 2, 3].
    """
    # A wrong beginning. Use only arithmetic, comparisons, indexing and these, without
    # loops: tw.arange, tw.where, tw.sum.
    return x[tw.arange(x.shape[0])]


# Shows the expected result next to yours, for the first case that is wrong.
check(roll)
