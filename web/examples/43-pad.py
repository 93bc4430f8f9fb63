"""Puzzle: pad

Make a vector n long: zeros after its end, or cut.

Predict: what would x[i] do for an i behind the end?
"""

import tensorweb as tw
from tensorweb.playground.puzzles import check


def pad(x, n):
    """Return the first n elements of x, followed by zeros if x is shorter.

    pad([1, 2, 3], 5) is [1, 2, 3, 0, 0].
    """
    # A wrong beginning. Use only arithmetic, comparisons, indexing and these, without
    # loops: tw.arange, tw.where, tw.sum.
    return tw.arange(n)


# Shows the expected result next to yours, for the first case that is wrong.
check(pad)
