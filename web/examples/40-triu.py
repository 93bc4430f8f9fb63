"""Puzzle: triu

Keep what is on and above the diagonal, also where the table is no square.

Predict: how many elements of a 3 by 3 table are kept?
"""

import tensorweb as tw
from tensorweb.playground.puzzles import check


def triu(x):
    """Return x with zeros below its diagonal.

    triu([[1, 2], [3, 4]]) is [[1, 2], [0, 4]].
    """
    # A wrong beginning. Use only arithmetic, comparisons, indexing and these, without
    # loops: tw.arange, tw.where, tw.sum.
    return tw.where(x > 2, x, 0)


# Shows the expected result next to yours, for the first case that is wrong.
check(triu)
