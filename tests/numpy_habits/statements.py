"""Statements whose values must be those of NumPy, by topic, and the arrays they use."""

from __future__ import annotations

from numpy_habits import (
    finding_statements,
    linear_statements,
    making_statements,
    moving_statements,
)

nan, inf = float("nan"), float("inf")

DATA: dict[str, object] = {
    "f": [[0.5, -1.25, 3.0], [4.0, 0.25, -6.0]],
    "g": [[2.0, 3.5, -1.0], [1.5, -2.5, 0.5]],
    "i": [[3, -1, 4], [1, 5, -9]],
    "j": [[2, 3, -5], [7, 1, 4]],
    "b": [[True, False, True], [False, False, True]],
    "t": [[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]] * 2,
    "v": [0.5, 3.25, -1.0, 2.0, 7.0],
    "k": [4, 0, 2, 2, 1],
    "s": [nan, -inf, inf, -0.0, 0.0, 1.0, -2.5, 1e30, 1e-20],
    "q": [1.0, 2.0, nan, -3.0, 0.0, inf, nan, 2.0, -1.0],
    "e": [],
}

PARTS = (making_statements, moving_statements, finding_statements, linear_statements)

TOPICS: dict[str, list[str]] = {
    name: text.strip().splitlines()
    for part in PARTS
    for name, text in part.TOPICS.items()
}
