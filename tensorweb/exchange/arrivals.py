"""Adapters for libraries, installed when a program imports the library.

They are neither imported nor looked for here: a row runs once its module is there,
whether the program imports that before tensorweb or after it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from tensorweb.exchange import einops_backend

Row = Callable[[Any], None]

ROWS: dict[str, Row] = {"einops._backends": einops_backend.register}
"""Modules by name, and what is called with one that is there."""

_waiting: dict[str, Row] = {}


class Arrivals:
    """A finder of `sys.meta_path`: Python asks it for each module that is not there."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: object = None
    ) -> Any:
        """Return where the others find a module that is waited for; else None."""
        tell = _waiting.pop(name, None)
        if tell is None:
            return None
        others: list[Any] = [finder for finder in sys.meta_path if finder is not self]
        found = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            _follow(spec.loader, tell)
        return spec


def _follow(loader: Any, tell: Row) -> None:
    """Let a loader call a row when its module is complete."""
    run = loader.exec_module

    def run_and_tell(module: Any) -> None:
        run(module)
        tell(module)

    loader.exec_module = run_and_tell


def listen() -> None:
    """Call the rows of modules that are there, and wait for the others."""
    for name, tell in ROWS.items():
        if name in sys.modules:
            tell(sys.modules[name])
        else:
            _waiting[name] = tell
    if _waiting:
        sys.meta_path.insert(0, Arrivals())
