"""Puzzle: eye

Ones on the diagonal: compare an upright range with a lying one.

Predict: where is i[:, None] == i true?
"""

import tensorweb as tw
from tensorweb.playground.puzzles import check


def eye(n):
    """Return ones on the diagonal and zeros elsewhere, shape (n, n).

    eye(2) is [[1, 0], [0, 1]].
    """
    # A wrong beginning. Use only arithmetic, comparisons, indexing and these, without
    # loops: tw.arange, tw.where, tw.sum.
    return tw.arange(n)


# Shows the expected result next to yours, for the first case that is wrong.
check(eye)
