"""Writes into tensors that nobody holds warn; no other write does, on any Python.

The browser's Python tells them too: these tests run inside Pyodide as well.
"""

from __future__ import annotations

import lost_write_cases
import pytest

import tensorweb as tw
from tensorweb.errors import LostWriteWarning


def test_lost_writes_are_told_from_others() -> None:
    lost_write_cases.check()


def test_the_warning_names_the_line(device: str) -> None:
    a = tw.zeros((2, 3))
    with pytest.warns(LostWriteWarning, match=r"a\[\[1\]\] = part") as caught:
        a[[1]][0] = 5
    assert caught[0].filename == __file__
    assert not a.any()
