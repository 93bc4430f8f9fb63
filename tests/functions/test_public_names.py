"""The public surface: every name is listed, exists and is documented."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import tensorweb as tw
from tensorweb import functions
from tensorweb.ops import GROUPS

ROOT = Path(__file__).resolve().parents[2]

FUNCTIONS = [name for name in tw.__all__ if inspect.isfunction(getattr(tw, name))]

METHODS = [
    name
    for name, value in inspect.getmembers(tw.Tensor)
    if not name.startswith("_")
    and (inspect.isfunction(value) or type(value) is property)
]


TOPICS = [module for module in vars(functions).values() if inspect.ismodule(module)]


MODULES = {
    "autograd",
    "data",
    "distributions",
    "errors",
    "fft",
    "linalg",
    "nn",
    "numpy",
    "optim",
    "random",
    "scipy",
    "sparse",
    "shapes",
    "tensor",  # which can be called as well
    "tree",
}


def test_names_are_given_once() -> None:
    assert len(set(tw.__all__)) == len(tw.__all__)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.__name__)
def test_a_topic_offers_every_function_of_its_file(topic: ModuleType) -> None:
    found = {
        name
        for name, value in inspect.getmembers(topic, inspect.isfunction)
        if value.__module__ == topic.__name__ and not name.startswith("_")
    }
    assert found <= {*topic.__all__} <= {*tw.__all__}


def test_names_are_all_that_is_there() -> None:
    assert all(hasattr(tw, name) for name in tw._NAMES_LATER)
    found = {
        name
        for name, value in vars(tw).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    listed = {name for name in tw.__all__ if not name.startswith("_")}
    assert found == listed - MODULES


def test_functions_are_documented() -> None:
    docs = {name: inspect.getdoc(getattr(tw, name)) or "" for name in FUNCTIONS}
    firsts = {name: doc.split("\n")[0] for name, doc in docs.items()}
    assert [name for name in firsts if not firsts[name].endswith((".", "`"))] == []


def test_methods_are_documented() -> None:
    docs = {name: inspect.getdoc(getattr(tw.Tensor, name)) for name in METHODS}
    assert [name for name in docs if not docs[name]] == []


MAPS = [
    entry.name
    for group, entries in GROUPS.items()
    for entry in entries
    if entry.kind == "map" and group != "random"
]
"""Random words are what samplers are made of, and no function of their own."""


def test_elementwise_entries_are_functions() -> None:
    names = [name for name in MAPS if name != "cast"]
    assert [name for name in names if not callable(getattr(tw, name, None))] == []


def test_elementwise_entries_are_methods() -> None:
    names = [name for name in MAPS if name not in ("cast", "where")]
    methods = {name: getattr(tw.Tensor, name, None) for name in names}
    assert [name for name in names if not callable(methods[name])] == []


@pytest.mark.needs_processes
def test_type_checkers_know_the_names_and_find_others(tmp_path: Path) -> None:
    """What the project's own check has kept is not looked at again."""
    program = tmp_path / "program.py"
    program.write_text("import tensorweb as tw\nreveal_type(tw.exp)\ntw.no_such_name\n")
    command = [sys.executable, "-m", "mypy", program]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert '"def (object) -> tensorweb.tensor.tensor.Tensor"' in done.stdout
    assert 'has no attribute "no_such_name"' in done.stdout
    assert "Found 1 error" in done.stdout


@pytest.mark.needs_processes
def test_advice_is_followed_by_the_suggestion_of_python() -> None:
    program = [sys.executable, "-c", "import tensorweb as tw; tw.optim.adam"]
    said = subprocess.run(program, capture_output=True, text=True, check=False).stderr
    assert "tw.optim.optax. Did you mean: 'Adam'?" in said
