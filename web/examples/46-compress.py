"""Puzzle: compress

Move the chosen elements to the front; zeros fill the rest.

Predict: what does the running sum of [0, 1, 0, 1] tell of each chosen element?
"""

import tensorweb as tw
from tensorweb.playground.puzzles import check


def compress(x, keep):
    """Return the elements of x where keep is 1, then zeros, as long as x.

    compress([5, 6, 7, 8], [0, 1, 0, 1]) is [6, 8, 0, 0].
    """
    # A wrong beginning. Use only arithmetic, comparisons, indexing and these, without
    # loops: tw.arange, tw.where, tw.sum, tw.cumulative_sum.
    return tw.cumulative_sum(keep)


# Shows the expected result next to yours, for the first case that is wrong.
check(compress)
