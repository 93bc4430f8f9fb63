"""What programs can import beside Python's own modules: the packages of this site."""

from __future__ import annotations

from collections.abc import Iterable

site: frozenset[str] = frozenset()
"""Import names of the packages that this site carries."""


def carry(names: Iterable[str]) -> None:
    """Note the import names of the packages that the site carries."""
    global site
    site = frozenset(names)
