"""A pytest plugin for tests inside Pyodide under Node: which run, without NumPy.

`-p in_pyodide.selection`. Tests say what they need by their fixtures and markers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.abc import MetaPathFinder

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


class Quietly(MetaPathFinder):
    """Notes where tensorweb imports NumPy without having been asked for it.

    In a page of a site with wheels such an import fetches three megabytes.
    """

    def __init__(self) -> None:
        self.found: list[str] = []

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        frame = sys._getframe().f_back if name == "numpy" else None
        while frame and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        if frame and frame.f_code.co_name != "require_numpy":
            self.found.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")


@pytest.fixture(autouse=True)
def numpy_is_not_fetched_quietly() -> Iterator[None]:
    """Fail a test in which tensorweb imports NumPy by itself."""
    quietly = Quietly()
    sys.meta_path.insert(0, quietly)
    yield
    sys.meta_path.remove(quietly)
    assert not [line for line in quietly.found if "/tensorweb/" in line]
