"""Puzzle: scatter

Drop each number at its place; those that meet are added.

Predict: what lies at a place that nothing was dropped on?
"""

import tensorweb as tw
from tensorweb.playground.puzzles import check


def scatter(x, places, n):
    """Return zeros, shape (n,), with each x[i] added at places[i].

    scatter([1, 2, 3], [0, 3, 0], 4) is [4, 0, 0, 2].
    """
    # A wrong beginning. Allowed beside arithmetic, comparisons and indexing, without
    # loops: tw.arange, tw.where, tw.sum.
    return tw.arange(n)


# Shows what is wanted beside what comes out, for the first case that is wrong.
check(scatter)
