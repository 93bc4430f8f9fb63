"""Issue warnings at the user's line, some of them once per program."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from tensorweb.frames import user_frame

MOST_REMEMBERED = 100

_said: list[tuple[type[Warning], object]] = []
"""Warnings issued by `warn_once`, with the filters at that time, so that code inside
`warnings.catch_warnings` gets them again."""

_begun = 0


def warn(category: type[Warning], message: str) -> None:
    """Issue a warning at the user's line."""
    frame = user_frame(2)
    names = frame.f_globals
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        names.get("__name__", "__main__"),
        names.setdefault("__warningregistry__", {}),
    )


def warn_once(category: type[Warning], message: str) -> None:
    """Issue a warning at the user's line, once per program and category."""
    filters = warnings.filters
    if any(kind is category and seen is filters for kind, seen in _said):
        return
    warn(category, message)
    del _said[: -MOST_REMEMBERED + 1]
    _said.append((category, filters))


def begin_program() -> None:
    """Reset `warn_once`: another program begins in this process."""
    global _begun
    _begun += 1
    _said.clear()


def have_been_issued(names: Mapping[str, object]) -> bool:
    """Whether a program with these names was warned at one of its lines."""
    return bool(_said) or "__warningregistry__" in names


def programs() -> int:
    """Return the count of programs begun in this process, without the first."""
    return _begun
