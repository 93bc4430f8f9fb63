"""The names that modules and packages offer: `__all__`, made from what they define."""

from __future__ import annotations

import sys
from collections.abc import Collection
from importlib import import_module
from types import ModuleType

from tensorweb.advice import unknown


def declare_public(module: str, *others: str, hidden: str = "") -> list[str]:
    """Set `__all__` of a module: its own functions and classes, and other names.

    Names that begin with an underscore are internal. So are names in `hidden`, which
    other files of the package import; but type checkers and editors see them, because
    the stars of a package import all names without an underscore. Returns `__all__`.
    """
    names = vars(sys.modules[module])
    defined = [
        name
        for name, value in names.items()
        if (name[0].islower() or (name[0].isupper() and isinstance(value, type)))
        and getattr(value, "__module__", None) == module
        and name not in hidden.split()
    ]
    names["__all__"] = offered = [*defined, *others]
    return offered


def declare_package(
    package: str, *others: str, later: Collection[str] = ()
) -> list[str]:
    """Set `__all__` of a package: what it imports without an underscore.

    Other names raise AttributeError, as `answer_unknown` says. Returns `__all__`.

    Args:
        package: its name.
        others: further names, such as those of modules.
        later: modules that are imported when a program first names them.
    """
    names = vars(sys.modules[package])
    imported = {
        name
        for name, value in names.items()
        if name[0] != "_" and not isinstance(value, ModuleType)
    }
    offered = sorted({*imported, *others, *later})
    names |= {"__all__": offered, "__dir__": lambda: sorted({*names, *later})}
    answer_unknown(package, later)
    return offered


def answer_unknown(module: str, later: Collection[str] = ()) -> None:
    """Let a module answer names that it lacks with what to write instead.

    Type checkers do not see this, and report such names. The modules in `later` are
    imported when a program first names them.
    """
    names = vars(sys.modules[module])

    def find(name: str) -> object:
        if name in later:
            return import_module(f"{module}.{name}")
        raise unknown(module, name, names["__all__"])

    names["__getattr__"] = find
