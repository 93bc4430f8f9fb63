"""The table of NumPy's names: complete, and true of what is here."""

from __future__ import annotations

import numpy
import pytest

import tensorweb.numpy as np
from tools.numpy_names import ABSENT, DIFFERENT

NUMPYS = {name for name in dir(numpy) if not name.startswith("_")}


def test_every_name_of_numpy_is_here_or_says_why_not() -> None:
    ours = {name for name in np.__all__ if not name.startswith("_")}
    assert NUMPYS - ours - ABSENT.keys() == set()
    assert ours & ABSENT.keys() == set()
    assert ABSENT.keys() | DIFFERENT.keys() <= NUMPYS
    assert DIFFERENT.keys() <= ours


def test_absent_names_raise_with_an_alternative() -> None:
    for name, advice in ABSENT.items():
        with pytest.raises(AttributeError) as caught:
            getattr(np, name)
        words = advice.replace("`", "")
        assert f"has no attribute {name!r}; {words}" in str(caught.value)


def test_rows_are_in_order() -> None:
    for table in (ABSENT, DIFFERENT):
        assert list(table) == sorted(table)
