"""The puzzles of the page: unsolved they say so, solved they hold, rules are kept."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.playground import puzzles
from tensorweb.playground.puzzles import PUZZLES, Verdict, verdict_of
from tensorweb.playground.rich_output import rich_of

EXAMPLES = Path(__file__).parents[2] / "web/examples"
TEXTS = {
    path.stem[3:]: path.read_text("utf-8")
    for path in sorted(EXAMPLES.glob("*.py"))
    if path.stem[3:] in PUZZLES
}
BODY = re.compile(r"    return .*\n(?=\n\n# Shows)")

SOLUTIONS = {
    "arange": "return tw.cumulative_sum(tw.ones(n, dtype=tw.int32)) - 1",
    "outer": "return tw.expand_dims(a, axis=1) * b",
    "diag": "i = tw.arange(x.shape[0]); return x[i, i]",
    "eye": "i = tw.arange(n); return (i[:, None] == i).astype(tw.int32)",
    "triu": (
        "i, j = tw.arange(x.shape[0]), tw.arange(x.shape[1])\n"
        "    return tw.where(i[:, None] <= j, x, 0)"
    ),
    "flip": "n = x.shape[0]; return x[n - 1 - tw.arange(n)]",
    "roll": "n = x.shape[0]; return x[(tw.arange(n) - k) % max(n, 1)]",
    "pad": (
        "hit = tw.arange(x.shape[0])[:, None] == tw.arange(n)\n"
        "    return tw.sum(tw.where(hit, x[:, None], 0), axis=0)"
    ),
    "bucketize": "return (x[:, None] >= edges).sum(axis=1)",
    "histogram": "return (x[:, None] == tw.arange(n)).sum(axis=0)",
    "compress": (
        "index = tw.cumulative_sum(keep) - 1\n"
        "    hit = (index[:, None] == tw.arange(x.shape[0])) & (keep[:, None] == 1)\n"
        "    return tw.where(hit, x[:, None], 0).sum(axis=0)"
    ),
    "scatter": (
        "hit = indices[:, None] == tw.arange(n)\n"
        "    return tw.where(hit, x[:, None], 0).sum(axis=0)"
    ),
}


def ran(source: str, monkeypatch: pytest.MonkeyPatch) -> Verdict:
    """Run a program and return the one verdict that it shows."""
    shown: list[Any] = []
    monkeypatch.setattr(tw, "show", lambda value, name=None: shown.append(value))
    exec(compile(source, "main.py", "exec"), {"__name__": "__main__"})
    [verdict] = shown
    assert isinstance(verdict, Verdict)
    return verdict


def verdict(function: Callable[..., Any], name: str) -> Verdict:
    return verdict_of(function, PUZZLES[name])


def test_every_puzzle_has_a_text_and_a_solution() -> None:
    assert len(PUZZLES) == 12
    assert sorted(TEXTS) == sorted(SOLUTIONS) == sorted(PUZZLES)


@pytest.mark.parametrize("name", TEXTS)
def test_unsolved_it_is_not_yet(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ran(TEXTS[name], monkeypatch)
    assert not found.solved
    assert repr(found).startswith(f"{name}: not yet")
    assert found.expected is not None
    assert found.got is not None
    assert "allowed" not in found.text


@pytest.mark.parametrize("name", TEXTS)
def test_a_solution_solves_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source, count = BODY.subn(f"    {SOLUTIONS[name]}\n", TEXTS[name])
    assert count == 1
    found = ran(source, monkeypatch)
    assert found.solved, found
    assert found.expected == dataclasses.replace(found.got, wrong=[])
    # The example in the puzzle's text must be the result that the check requires.
    expected = PUZZLES[name].expected(*PUZZLES[name].first)[1]
    [said] = re.findall(rf"{name}\(.*\) is (\[.*\])\.", TEXTS[name])
    example = eval(
        re.findall(rf"({name}\(.*\)) is", TEXTS[name])[0],
        {name: PUZZLES[name].expected},
    )
    assert example[1] == json.loads(said)
    assert expected


def test_the_first_wrong_case_is_shown() -> None:
    def arange(n: int) -> tw.Tensor:
        return tw.cumulative_sum(tw.ones(max(n, 1), dtype=tw.int32)) - 1

    found = verdict(arange, "arange")
    assert found.call == "arange(0)"
    assert found.text == "Expected shape (0,); this has shape (1,)."


def test_wrong_elements_are_marked() -> None:
    found = verdict(lambda x: x, "flip")
    assert found.call == "flip([1, 2, 3, 4])"
    assert found.text == "4 of its 4 elements are wrong."
    assert found.got is not None
    assert found.got.wrong == [[True] * 4]


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: None, "It returns None so far: write its body."),
        (lambda x: [4, 3, 2, 1], "It returns list, which is no tensor."),
        (lambda x: x[7], "Expected shape (4,); this raises TensorIndexError: "),
        (lambda x: x + 1j, "It has dtype complex64; expected are real numbers."),
        (lambda x, y: x, "Expected shape (4,); this raises TypeError: "),
    ],
)
def test_wrong_solutions_get_a_verdict(function: Callable[..., Any], text: str) -> None:
    found = verdict(function, "flip")
    assert not found.solved
    assert found.text.startswith(text)


def helped(x: tw.Tensor) -> tw.Tensor:
    return tw.flip(x)


def by_helper(x: tw.Tensor) -> tw.Tensor:
    return helped(x)


def by_loop(x: tw.Tensor) -> tw.Tensor:
    for _ in range(3):
        x = x + 0
    return x


flipped = tw.flip


def by_another_name(x: tw.Tensor) -> tw.Tensor:
    return flipped(x)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: tw.flip(x), "It uses flip; allowed here: arange, sum, where, "),
        (lambda x: x.sort(), "It uses sort; "),
        (by_helper, "It uses flip; "),
        (by_another_name, "It uses flip; "),
        (by_loop, "It has a loop; "),
    ],
)
def test_rules_are_kept(function: Callable[..., Any], text: str) -> None:
    found = verdict(function, "flip")
    assert not found.solved
    assert found.text.startswith(text)
    assert found.expected is not None
    assert found.got is None


def test_another_name_is_no_puzzle() -> None:
    def other(x: tw.Tensor) -> tw.Tensor:
        return x

    with pytest.raises(ValueError, match="no puzzle named 'other'"):
        puzzles.check(other)


def test_the_page_gets_a_verdict_as_json() -> None:
    rich = rich_of(verdict(lambda x: x, "flip"))
    assert rich is not None
    assert rich["kind"] == "verdict"
    fields = json.loads(rich["data"])
    names = {"title", "solved", "text", "call", "expected", "got", "threads"}
    assert set(fields) == names
    assert fields["got"]["cells"] == [["1", "2", "3", "4"]]
