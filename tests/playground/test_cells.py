"""A cell runs alone, with the names of the run before and at its own lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tensorweb.playground import bridge
from tensorweb.playground.session import Session

PROGRAM = "# %% one\na = 1\ndef f(x):\n    return 1 / x\n# %% two\nb = a + 1\nf(0)\n"


@pytest.fixture
def session() -> Iterator[Session]:
    main = sys.modules["__main__"]
    yield Session(lambda kind, fields: None, None, True)
    sys.modules["__main__"] = main


def run(session: Session, source: str, **options: Any) -> Any:
    return bridge.drive(session.run(source, **options))


def names(session: Session) -> set[str]:
    return {row["name"] for row in bridge.drive(session.members("", False))}


def test_a_cell_finds_the_names_of_the_run_before(session: Session) -> None:
    assert run(session, PROGRAM, lines=[1, 4])["error"] is None
    assert names(session) == {"a", "f"}
    error = run(session, PROGRAM, lines=[5, 7], keep=True)["error"]
    assert names(session) == {"a", "b", "f"}
    # Also in a function of another cell the line and its text are the program's.
    lines = [(frame["line"], frame["code"]) for frame in error["frames"]]
    assert lines == [(7, "f(0)"), (4, "return 1 / x")]


def test_a_cell_that_keeps_nothing_begins_anew(session: Session) -> None:
    run(session, PROGRAM, lines=[1, 4])
    error = run(session, PROGRAM, lines=[5, 7])["error"]
    assert (error["type"], error["frames"][0]["line"]) == ("NameError", 6)


def test_a_mistake_in_another_cell_does_not_matter(session: Session) -> None:
    source = "# %%\nx = 1\n# %%\ny = +* 2\n"
    assert run(session, source, lines=[1, 2])["error"] is None
    assert run(session, source, lines=[3, 4])["error"]["frames"][0]["line"] == 4
