"""What functions are called in messages."""

from __future__ import annotations


def name_of(function: object) -> str:
    """Return a function's name, or that of a callable object's class."""
    return getattr(function, "__name__", None) or type(function).__name__
