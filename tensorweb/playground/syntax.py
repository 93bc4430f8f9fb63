"""Syntax check of a program that has not run yet."""

from __future__ import annotations

import warnings

from .failures import describe_failure
from .program import compile_program
from .records import Problem
from .sources import FILENAME


def problems(source: str) -> list[Problem]:
    r"""Return the first syntax error, an empty list for none.

    >>> [(found["line"], found["message"]) for found in problems("x = (1\n")]
    [(1, "'(' was never closed")]
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            compile_program(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        failure = describe_failure(error, {FILENAME: source})
    else:
        return []
    frames = [frame for frame in failure["frames"] if "skipped" not in frame]
    return [
        {
            "message": failure["message"],
            "line": frame["line"],
            "column": frame["column"],
            "endLine": frame["endLine"],
            "endColumn": frame["endColumn"],
        }
        for frame in frames[-1:]
    ]
