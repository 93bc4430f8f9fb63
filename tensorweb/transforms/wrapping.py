"""How transformations wrap a function.

A transformed function has the function's name, docstring and signature. Attributes are
copied from functions only, since those of an object are its state.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import WRAPPER_ASSIGNMENTS, WRAPPER_UPDATES, wraps
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, TypeVar

from tensorweb.tensor.arguments import answering_keywords

FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType)

C = TypeVar("C", bound=Callable[..., Any])


def wraps_function(function: object) -> Callable[[C], C]:
    """Return a decorator that copies a function's name and docs to a wrapper."""
    # An object may have a function's name, given by functools.wraps.
    updated = WRAPPER_UPDATES if isinstance(function, FUNCTIONS) else ()
    decorate: Any = wraps(function, WRAPPER_ASSIGNMENTS, updated)  # type: ignore[arg-type]  # any callable
    return decorate  # type: ignore[no-any-return]  # it returns what it is given


def transformation(transform: C) -> C:
    """Let a transformation take a `staticmethod` or a `classmethod` as well.

    The function inside is transformed, so decorators may stand in either order.
    """

    @answering_keywords
    @wraps(transform)
    def wrapper(*args: Any, **keywords: Any) -> Any:
        if args and isinstance(args[0], staticmethod | classmethod):
            inside = transform(args[0].__func__, *args[1:], **keywords)
            return type(args[0])(inside)
        return transform(*args, **keywords)

    return wrapper  # type: ignore[return-value]  # the same signature


def name_of(function: object) -> str:
    """Return a function's name, or the name of a callable object's class."""
    return getattr(function, "__name__", None) or type(function).__name__
