"""PyTorch's words for arguments, such as `dim`, `keepdim` and `input`.

Methods of tensors and functions of `tw` that have an axis accept them as well.
Reductions, which are called most, have them in their signatures: that costs a call
nothing, and type checkers know them. Elsewhere one wrapper does it; `tensor.py` and
`functions/__init__.py` apply it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from inspect import signature
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

WORDS: dict[str, tuple[str, ...]] = {
    "dim": ("axis", "axes"),
    "dims": ("axis", "axes"),
    "keepdim": ("keepdims",),
    "diagonal": ("k",),
    "shifts": ("shift",),
    "steps": ("num",),
    "in_dims": ("in_axes",),
    "out_dims": ("out_axes",),
}
"""Names of an argument here, by PyTorch's name."""


def axis_of(name: str, axis: Any, dim: Any) -> Any:
    """Return the axis that a call gives under one of its two names.

    Raises:
        TypeError: it is given under both.
    """
    if axis is None or dim is None:
        return axis if dim is None else dim
    raise _given_twice(name, "axis", "dim")


def _given_twice(name: str, ours: str, theirs: str) -> TypeError:
    """Return the error of a call with an argument under both names."""
    return TypeError(
        f"{name}() got the argument {ours!r} twice, also as {theirs!r}; PyTorch's word "
        "means the same, give one of them"
    )


def taking_torch_words(function: F) -> F:
    """Return a function that takes PyTorch's words too, itself if it has no axis.

    Raises:
        TypeError: when called with an argument under both names.

    >>> tw.sum(tw.ones((2, 3)), dim=1, keepdim=True).shape
    (2, 1)
    """
    names = signature(function).parameters
    ours = {
        word: next((name for name in choices if name in names), None)
        for word, choices in WORDS.items()
        if word not in names and not (word == "dims" and "dim" in names)
    }
    renamed = {word: name for word, name in ours.items() if name is not None}
    has_axis = bool(renamed) or "dim" in names
    if has_axis and "input" not in names and next(iter(names)) != "self":
        renamed["input"] = ""
    if not renamed:
        return function

    @functools.wraps(function)
    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        if not keywords:  # A third less than handing on an empty dict.
            return function(*arguments)
        if not renamed.keys().isdisjoint(keywords):
            for word in renamed.keys() & keywords:
                name, value = renamed[word], keywords.pop(word)
                if (name in keywords) if name else arguments:
                    first = name or next(iter(names))
                    raise _given_twice(function.__name__, first, word)
                if name:
                    keywords[name] = value
                else:
                    arguments = (value,)
        return function(*arguments, **keywords)

    return wrapper  # type: ignore[return-value]  # with more names than the signature
