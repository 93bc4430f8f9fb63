"""`show`: display a value now, as text here and as a picture where a host offers one.

A host (the playground, a notebook) registers a hook; without one `show` prints.
"""

from __future__ import annotations

from collections.abc import Callable

Hook = Callable[[object, str | None], None]

_hook: Hook | None = None


def show(x: object, name: str | None = None) -> None:
    """Display `x`, with a name above it when one is given.

    In the playground a tensor appears as a heat map and a `bar_chart` as bars;
    elsewhere the value is printed. A tensor of the same shape and dtype that a loop
    shows again replaces the one before: its picture moves, and the steps
    can be played afterwards.

    >>> show(3)
    3
    >>> show([1, 2], name="pair")
    pair = [1, 2]
    """
    if _hook is not None:
        _hook(x, name)
    elif name is None:
        print(repr(x))
    else:
        print(f"{name} = {x!r}")


def set_show_hook(hook: Hook | None) -> Hook | None:
    """Make `hook` receive what is shown, None for printing; return the one before."""
    global _hook
    previous = _hook
    _hook = hook
    return previous


def has_host() -> bool:
    """Whether somebody receives what is shown.

    >>> has_host()
    False
    """
    return _hook is not None
