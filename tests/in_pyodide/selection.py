"""A pytest plugin: leaves out what cannot be inside Pyodide under Node.

`-p in_pyodide.selection`. Tests say what they need by their fixtures and markers.
"""

from __future__ import annotations

import pytest

FIXTURES = frozenset({"np", "webgpu"})
"""What is not there: NumPy and a GPU."""

MARKER = "needs_processes"


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out, as if they had not been named, tests that need what is not there."""
    taken = [item for item in items if _can_run(item)]
    left = [item for item in items if item not in set(taken)]
    items[:] = taken
    config.hook.pytest_deselected(items=left)


def _can_run(item: pytest.Item) -> bool:
    if item.get_closest_marker(MARKER) or FIXTURES & {
        *getattr(item, "fixturenames", ())
    }:
        return False
    chosen = getattr(item, "callspec", None)
    return chosen is None or "webgpu" not in chosen.params.values()
