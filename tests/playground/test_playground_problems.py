"""Tensors of a run whose values cannot be had: each says why, the others are there."""

from __future__ import annotations

import sys

import pytest

import tensorweb as tw
from tensorweb.display import statistics
from tensorweb.graph.node import Node
from tensorweb.playground import bridge, files, tensors
from tensorweb.playground.failures import describe_failure
from tensorweb.playground.numbers import BlockingReader


def described(**named: tw.Tensor) -> list[dict[str, object]]:
    entries = tensors.collect(named, [])
    return bridge.drive(tensors.describe(entries, BlockingReader()))


def test_a_tensor_that_cannot_be_computed_says_why(cpu: str) -> None:
    side = 1 << 22
    huge = tw.arange(side)[:, None] * tw.arange(side)
    first, second = described(huge=huge, small=tw.asarray([1.0, 3.0]))
    assert str(first["problem"]).startswith("DeviceMemoryError: ")
    assert "min" not in first
    assert second["mean"] == 2.0
    assert "problem" not in second


def test_other_failures_are_not_taken_for_the_tensors(
    cpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(node: Node) -> list[Node]:
        raise ZeroDivisionError

    monkeypatch.setattr(statistics, "questions", broken)
    with pytest.raises(ZeroDivisionError):
        described(x=tw.ones(2))


def test_a_package_that_cannot_be_fetched_is_not_blamed_on_its_name() -> None:
    text = (
        "Can't fetch metadata for 'seaborn'. Please make sure you have entered a "
        "correct package name and correctly specified index_urls (if you changed them)."
    )
    described = describe_failure(ValueError(text), {})
    assert described["message"].startswith(
        "Can't fetch metadata for 'seaborn'. The name may"
    )
    assert "“Allow network” is ticked" in described["message"]
    assert "correct package name" not in described["message"]


def test_an_unknown_module_lists_alternatives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(files, "site", frozenset({"numpy", "PIL", "_cffi"}))

    def described(name: str) -> str:
        error = ModuleNotFoundError(f"No module named {name!r}", name=name)
        return describe_failure(error, {})["message"]

    assert described("seaborn.io").startswith(
        "No module named 'seaborn': this site carries PIL and numpy; "
    )
    assert "await micropip.install('seaborn')" in described("seaborn")
    assert "“Allow network” is ticked" in described("seaborn")
    monkeypatch.setattr(files, "compiled", {"sklearn": "scikit-learn"})
    assert "build.py site --packages scikit-learn." in described("sklearn.svm")
    assert "micropip" not in described("sklearn")
    monkeypatch.setattr(files, "site", frozenset())
    monkeypatch.delitem(sys.modules, "numpy", raising=False)
    assert "`import tensorweb.numpy as np` has its names" in described("numpy.linalg")
    assert "micropip" not in described("numpy")
    monkeypatch.undo()
    monkeypatch.setattr(files, "site", frozenset({"PIL"}))
    assert described("json.nothing") == "No module named 'json.nothing'"
    assert described("PIL") == (
        "No module named 'PIL': the site carries it, but it could not be fetched now."
    )
