"""Puzzle: bucketize

Into which bucket does each number fall? Count the edges that it has passed.

Predict: how many of the edges 1, 3 and 9 has a 7 passed?
"""

import tensorweb as tw
from tensorweb.playground.puzzles import check


def bucketize(x, edges):
    """Return for each element of x how many edges are at most as large.

    bucketize([0, 3, 7, 12], [1, 3, 9]) is [0, 2, 2, 3].
    """
    # A wrong beginning. Use only arithmetic, comparisons, indexing and these, without
    # loops: tw.arange, tw.where, tw.sum.
    return tw.where(x > 2, 1, 0)


# Shows the expected result next to yours, for the first case that is wrong.
check(bucketize)
