"""Messages for failed imports."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

site: frozenset[str] = frozenset()
"""Import names of the packages that this site carries."""

compiled: Mapping[str, str] = {}
"""Packages that only the builder of a site can add, by import name."""

HIDDEN = frozenset({"micropip", "tensorweb", "packaging", "six"})
"""Packages not listed in messages."""


def carry(names: Iterable[str], missing: Mapping[str, str]) -> None:
    """Set the import names of the site's packages, and the packages it could add."""
    global site, compiled
    site = frozenset(names)
    compiled = missing


def advice(error: BaseException) -> str | None:
    """Return the message for a failed import, None to retain Python's message.

    >>> advice(ModuleNotFoundError("No module named 'json.x'", name="json.x"))
    """
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return None
    name = error.name.partition(".")[0]
    if name in sys.stdlib_module_names or name in sys.modules:
        return None
    missing = f"No module named {name!r}"
    if name in site:
        return f"{missing}: the site carries it, but it could not be fetched now."
    if name == "numpy":
        return f"{missing}: {_carried()}; `import tensorweb.numpy as np` has its names."
    if name in compiled:
        package = compiled[name]
        return (
            f"{missing}: {_carried()}; {package} is compiled, or needs what is, so "
            "that only who builds the site can add it: "
            f"build.py site --packages {package}."
        )
    return (
        f"{missing}: {_carried()}; packages of pure Python come with `import micropip; "
        f"await micropip.install({name!r})`, while “Allow network” is ticked and the "
        "browser is online."
    )


def _carried() -> str:
    """Return a clause that lists the packages which the site carries."""
    known = sorted(name for name in site - HIDDEN if not name.startswith("_"))
    if not known:
        return "this site carries no packages"
    *others, last = known
    return (
        f"this site carries {', '.join(others)} and {last}"
        if others
        else (f"this site carries {last}")
    )
