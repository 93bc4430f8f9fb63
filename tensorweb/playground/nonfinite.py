"""Records of the operations that first produced a NaN or an infinity."""

from __future__ import annotations

from tensorweb.graph.nonfinite import KINDS, Origin, Origins, Search

from . import records
from .sources import is_program

MOST_CAUSES = 4
"""Limit of the chain of causes in a record."""

MOST_LINES = 12
"""Limit of lines of one kernel in a record."""


def told(origins: Origins) -> list[records.NonfiniteOrigin]:
    """Return the origin of a value, NaN before infinity, followed by its causes."""
    first = next((origins[kind] for kind in KINDS if kind in origins), None)
    found: list[records.NonfiniteOrigin] = []
    while first is not None and len(found) < MOST_CAUSES:
        found.append(_record(first))
        first = first.cause
    return found


def of_run(search: Search) -> records.NonfiniteSearch:
    """Return what a search found in the values that its program has read."""
    return {"complete": search.is_complete, "origins": told(search.read)}


def _record(origin: Origin) -> records.NonfiniteOrigin:
    lines = [line for line in origin.lines if is_program(line.file)]
    file = lines[0].file if lines else ""
    return {
        "kind": origin.kind,
        "op": origin.op,
        "file": file,
        "lines": [line.number for line in lines if line.file == file][:MOST_LINES],
    }
