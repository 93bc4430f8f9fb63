"""The public surface: every name is listed, exists, is documented and shows a use."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

import tensorweb as tw
from tensorweb.ops import OPS

FUNCTIONS = [name for name in tw.__all__ if inspect.isfunction(getattr(tw, name))]

METHODS = [
    name
    for name, value in inspect.getmembers(tw.Tensor)
    if not name.startswith("_")
    and (inspect.isfunction(value) or type(value) is property)
]


def kind_then_name(name: str) -> tuple[bool, bool, str]:
    """Order as ruff does: constants, classes, the rest."""
    return (not name.isupper(), not name[0].isupper(), name)


def test_names_are_sorted_and_given_once() -> None:
    plain = [name for name in tw.__all__ if not any(c.isdigit() for c in name)]
    assert plain == sorted(plain, key=kind_then_name)
    assert len(set(tw.__all__)) == len(tw.__all__)


def test_names_are_all_that_is_there() -> None:
    found = {
        name
        for name, value in vars(tw).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    listed = {name for name in tw.__all__ if not name.startswith("_")}
    assert found == listed - {"errors", "shapes"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_is_documented(name: str) -> None:
    doc = inspect.getdoc(getattr(tw, name))
    assert doc
    assert doc.split("\n")[0].endswith((".", "`"))
    assert ">>>" in doc


@pytest.mark.parametrize("name", METHODS)
def test_method_is_documented(name: str) -> None:
    assert inspect.getdoc(getattr(tw.Tensor, name))


@pytest.mark.parametrize("name", [op.name for op in OPS.values() if op.kind == "map"])
def test_elementwise_row_is_a_function(name: str) -> None:
    assert name == "cast" or callable(getattr(tw, name))


@pytest.mark.parametrize("name", [op.name for op in OPS.values() if op.kind == "map"])
def test_elementwise_row_is_a_method(name: str) -> None:
    assert name in ("cast", "where") or callable(getattr(tw.Tensor, name))
