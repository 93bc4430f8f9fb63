"""Puzzle: scatter

Drop each number at its index; numbers that meet are added.

Predict: what lies at an index that nothing was dropped on?
"""

import tensorweb as tw
from tensorweb.playground.puzzles import check


def scatter(x, indices, n):
    """Return zeros, shape (n,), with each x[i] added at indices[i].

    scatter([1, 2, 3], [0, 3, 0], 4) is [4, 0, 0, 2].
    """
    # A wrong beginning. Use only arithmetic, comparisons, indexing and these, without
    # loops: tw.arange, tw.where, tw.sum.
    return tw.arange(n)


# Shows the expected result next to yours, for the first case that is wrong.
check(scatter)
