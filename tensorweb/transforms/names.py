"""Names of functions in messages."""

from __future__ import annotations


def name_of(function: object) -> str:
    """Return a function's name, or the name of a callable object's class."""
    return getattr(function, "__name__", None) or type(function).__name__
