"""The editor describes real objects without running any part of a program."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import pytest

import tensorweb as tw
import tensorweb.numpy as np
from tensorweb.playground.completion import explain, members, table
from tensorweb.playground.failures import syntax_problems


class Hostile:
    """Shouts whenever it is asked for anything."""

    def __getattribute__(self, name: str) -> object:
        raise AssertionError(name)

    def __repr__(self) -> str:
        raise AssertionError("repr")

    @property
    def quiet(self) -> int:
        """Never computed."""
        raise AssertionError("property")


def found(path: str, names: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {row["name"]: (row["kind"], row["detail"]) for row in members(path, names)}


def test_names_of_a_run_come_with_their_kind() -> None:
    x = tw.zeros((2, 3), device="cpu")
    names = {
        "x": x,
        "n": 7,
        "math": math,
        "f": len,
        "T": tw.Tensor,
        "_own": 1,
        "a b": 2,
    }
    assert found("", {**names, "a b": 2}) == {
        "T": ("class", "(node, name=None)"),
        "f": ("function", "(obj, /)"),
        "math": ("module", ""),
        "n": ("variable", "7"),
        "x": ("variable", "float32 (2, 3) on cpu"),
    }


def test_members_equal_those_of_the_real_object() -> None:
    names = {"x": tw.ones(2, device="cpu"), "tw": tw}
    of_tensor = found("x", names)
    assert of_tensor["sum"][0] == "function"
    assert of_tensor["T"] == ("property", "Tensor")
    assert of_tensor.keys() <= {*dir(tw.Tensor)}
    assert found("x.T", names).keys() == of_tensor.keys()
    assert set(found("tw", names)) == {n for n in tw.__all__ if not n.startswith("_")}
    assert found("x.nothing.more", names) == {}


def test_explanations_are_signature_and_first_lines() -> None:
    entry = explain("tw.sum", {"tw": tw})
    assert entry["signature"].startswith("sum(x, /, axis=None, *, dtype=None")
    assert entry["text"].startswith((tw.sum.__doc__ or "").partition("\n")[0])
    assert explain("len", {})["signature"] == "len(obj, /)"
    assert explain("tw.nothing", {"tw": tw}) == {"signature": "", "text": ""}


def test_completion_runs_no_code_of_the_program() -> None:
    names = {"h": Hostile()}
    assert found("", names) == {"h": ("variable", "Hostile")}
    assert found("h", names) == {"quiet": ("property", "int")}
    assert explain("h.quiet", names)["signature"] == "quiet: int"
    assert explain("h", names)["signature"] == "h: Hostile"


@pytest.mark.parametrize(
    ("path", "signature"),
    [
        ("np.add", "add(x1, x2, /)"),
        ("np.linalg.solve", "solve(x1, x2, /)"),
        ("np.random.default_rng().normal", "normal(loc=0.0, scale=1.0, size=None)"),
        ("x.cumsum", "cumsum(axis=None, dtype=None, out=None)"),
        ("x.flat", "flat: Flat"),
        ("found.U", "U: float32 (2, 2) on cpu"),
        ("step", "step(x, *, rate=0.1)"),
        ("tw.linalg.svd().U", "U: Tensor"),
        ("tw.linalg.svd()[].tile", "tile(repetitions)"),
        ("tw.meshgrid()[].T[].ndim", "ndim: int"),
        ("np.linspace().tile", "tile(repetitions)"),
        ("np.where().T", "T: Tensor"),
        ("tw.save().T", ""),
        ("own().T", ""),
    ],
)
def test_callables_and_their_results_are_known(path: str, signature: str) -> None:
    def own() -> tw.Tensor:
        raise AssertionError("called")

    x = tw.eye(2, device="cpu")
    step = tw.jit(lambda x, *, rate=0.1: x * rate)
    names = {"tw": tw, "np": np, "x": x, "step": step, "own": own}
    assert explain(path, {**names, "found": tw.linalg.svd(x)})["signature"] == signature


def test_a_path_can_begin_with_a_module_that_the_program_imports() -> None:
    own = {"tensorweb": 1, "math": 2}
    assert explain("math.sqrt", own) == {"signature": "", "text": ""}
    assert explain("math.sqrt", own, True)["signature"] == "sqrt(x, /)"
    entry = explain("tensorweb.numpy.linalg.norm", own, True)
    assert entry["signature"] == "norm(x, ord=None, axis=None, keepdims=False)"
    found = {row["name"]: row["kind"] for row in members("tensorweb.numpy", own, True)}
    assert (found["sin"], found["fft"], found["pi"]) == (
        "function",
        "module",
        "variable",
    )
    assert members("no_such_module", own, True) == []
    assert members("tensorweb..numpy", own, True) == []


def test_the_table_has_our_whole_surface() -> None:
    rows = table()
    assert {row["name"] for row in rows["tw"]} == {
        name for name in tw.__all__ if not name.startswith("_")
    }
    assert {row["name"] for row in rows["tw.nn"]} == {*tw.nn.__all__}
    undocumented = [row for row in rows["tw.Tensor"] if not row["text"]]
    assert {row["kind"] for row in undocumented} == {"variable"}
    gives = {row["name"]: row.get("gives") for row in rows["tw"]}
    assert (gives["zeros"], gives["meshgrid"]) == ("tw.Tensor", "tw.Tensor[]")
    assert gives["save"] is None
    assert rows["tw.numpy.linalg"]
    gives = {row["name"]: row.get("gives") for row in rows["tw.numpy"]}
    names = ("ones", "sin", "linspace", "where", "indices", "gradient", "polyfit")
    assert {name: gives[name] for name in names} == dict.fromkeys(names, "tw.Tensor")


@pytest.mark.needs_processes
def test_modules_that_are_imported_later_are_known() -> None:
    program = (
        "import sys, tensorweb as tw\n"
        "from tensorweb.playground.completion import explain, members\n"
        "assert 'tensorweb.nn' not in sys.modules\n"
        "print(explain('tw.nn.Linear', {'tw': tw})['signature'])\n"
        "print([m['name'] for m in members('tw', {'tw': tw}) if m['name'] == 'optim'])"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    signature, names = done.stdout.splitlines()
    assert signature.startswith("Linear(in_features, out_features, bias=True")
    assert names == "['optim']"


def test_problems_equal_the_compiler_s() -> None:
    assert syntax_problems("x = await f()\nx") == []
    (problem,) = syntax_problems("é = 1\ny = 2 +* 3\n")
    assert problem == {
        "message": "invalid syntax",
        "line": 2,
        "column": 7,
        "endLine": 2,
        "endColumn": 8,
    }
    assert [row["line"] for row in syntax_problems("return 1")] == [1]
    assert syntax_problems("(" * 5000) != []
