"""PyTorch's words for arguments: `dim`, `dims`, `keepdim` and `input`.

Methods of tensors and functions of `tw` that have an axis take them beside ours. One
wrapper does it; `tensor.py` and `functions/__init__.py` say where it stands.
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
    "in_dims": ("in_axes",),
    "out_dims": ("out_axes",),
}
"""By PyTorch's word, what the same thing may be called here."""


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
        if word not in names
    }
    renamed = {word: name for word, name in ours.items() if name is not None}
    if not renamed:
        return function
    if "input" not in names and next(iter(names)) != "self":
        renamed["input"] = ""

    @functools.wraps(function)
    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        if keywords and not renamed.keys().isdisjoint(keywords):
            for word in renamed.keys() & keywords:
                name, value = renamed[word], keywords.pop(word)
                if (name in keywords) if name else arguments:
                    first = name or next(iter(names))
                    raise TypeError(
                        f"{function.__name__}() got the argument {first!r} twice, also "
                        f"as {word!r}; PyTorch's word means the same, give one of them"
                    )
                if name:
                    keywords[name] = value
                else:
                    arguments = (value,)
        return function(*arguments, **keywords)

    return wrapper  # type: ignore[return-value]  # with more names than the signature
