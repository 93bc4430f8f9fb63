"""The names that a module offers: `__all__`, made from what the module defines."""

from __future__ import annotations

import sys


def declare_public(module: str, *others: str) -> None:
    """Set `__all__` of a module: its own functions and classes, and other names.

    Names that begin with an underscore or a capital letter are internal.
    """
    names = vars(sys.modules[module])
    defined = [
        name
        for name, value in names.items()
        if name[0].islower() and getattr(value, "__module__", None) == module
    ]
    names["__all__"] = [*defined, *others]
