"""Runs after a number was dragged: only the statements from that number on run again.

The first of them runs the full program and records its state before the statement that
contains the number; later ones begin there. What was printed, shown and computed before
that statement is part of their results as well. Statements that do not depend on the
number take their values of the last run.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from itertools import pairwise

from . import policy
from .lines import Lines
from .program import compile_program
from .records import ProgramFile
from .reuse import Code, Start, reusable, reusing
from .snapshots import NotRestorable, Snapshot, split_line
from .streams import LineMeter

Note = tuple[str, Mapping[str, object]]
Program = tuple[str, str | None, int, list[ProgramFile]]
"""A text, its device, how often that was lost before, and its other files."""


class Checkpoint:
    """The state of a run before a line, and what it had sent until then."""

    def __init__(
        self,
        line: int,
        key: object,
        names: dict[str, object],
        notes: Sequence[Note],
        shown: Iterable[object],
        noted: Iterable[object],
    ) -> None:
        """Record the state.

        Args:
            line: the first line that is to run again.
            key: what must be equal for that.
            names: the names of the program.
            notes: what the run had sent to the page.
            shown: its output and its displays.
            noted: what it noted of its kernels and lines.

        Raises:
            NotRestorable: the state cannot be restored.
        """
        self.line = line
        self.key = key
        self.notes = [*notes]
        self._shown = [(each, _fields(vars(each))) for each in shown]
        values = [fields.get("shown") for _, fields in self._shown]
        self._snapshot = Snapshot(names, [*values, *noted])

    def resume(self) -> None:
        """Restore the state."""
        self._snapshot.restore()
        for each, fields in self._shown:
            vars(each).update(_fields(fields))


def _fields(fields: Mapping[str, object]) -> dict[str, object]:
    kinds = (list, dict, deque, LineMeter)
    return {
        name: copy(value) if type(value) in kinds else value
        for name, value in fields.items()
    }


def _without(source: str, line: int) -> str:
    """Return a program without the text of a line."""
    lines = source.splitlines()
    return "\n".join([*lines[: line - 1], "", *lines[line:]])


class Rerun:
    """Which lines of a program run after a number in it was changed.

    Attributes:
        checkpoint: the state with which it begins; None if the full program runs.
    """

    def __init__(
        self,
        program: Program,
        line: int,
        checkpoint: Checkpoint | None,
        last: Program | None,
        names: Mapping[str, object],
        lines: Lines,
    ) -> None:
        """Plan the run.

        Args:
            program: what is to run.
            line: the one of the number.
            checkpoint: the state that an earlier run recorded.
            last: the run before, if it ran to its end.
            names: its names.
            lines: what its lines made.
        """
        self.checkpoint: Checkpoint | None = None
        self._why = ""
        self._begin, self._split, self._last = 1, 1, 0
        self._source, *self._more = program
        self._is_recorded = False
        self._values: Mapping[Start, object] = {}
        try:
            compile_program(self._source)
            tree = ast.parse(self._source)
            self._split, self._last = split_line(tree, line)
        except NotRestorable as why:
            self._why = str(why)
            return
        except (SyntaxError, ValueError):
            return
        same = [_without(self._source, line), *self._more]
        if last and [_without(last[0], line), *last[1:]] == same:
            self._values = reusable(tree, names, lines, line)
        if self._split == 1:
            self._why = "it begins with this number"
        elif (
            checkpoint
            and checkpoint.line <= self._split
            and checkpoint.key == self._key(checkpoint.line)
        ):
            self.checkpoint, self._begin = checkpoint, checkpoint.line

    @property
    def records(self) -> bool:
        """Whether to record a state for the next run."""
        return self._split > self._begin

    def _key(self, line: int) -> object:
        """Return what must be equal if the program is to run again from a line on."""
        return self._source.splitlines()[: line - 1], self._more

    def reusing(self, compiled: Code) -> AbstractContextManager[Code]:
        """Return the function that compiles the program to reuse values."""
        return reusing(compiled, self._values)

    def parts(self) -> list[tuple[int, int] | None]:
        """Return the ranges of lines that run one after another; None for all."""
        if self._split == 1:
            return [None]
        bounds = sorted({self._begin, self._split, self._last + 1})
        return [(first, end - 1) for first, end in pairwise(bounds)]

    def record(
        self,
        names: dict[str, object],
        notes: Sequence[Note],
        shown: Iterable[object],
        noted: Iterable[object],
    ) -> Checkpoint | None:
        """Return the state before the number, or the one that the run began with."""
        line = self._split
        try:
            key = self._key(line)
            checkpoint = Checkpoint(line, key, names, notes, shown, noted)
        except NotRestorable as why:
            self._why = str(why)
            return self.checkpoint
        self._is_recorded = True
        return checkpoint

    def sentence(self) -> str:
        """Say which lines ran, and why it was the full program."""
        lines = dict.fromkeys(line for line, _ in self._values)
        reused = [line for line in lines if line >= self._begin]
        but = f" but for {_words(reused)}" if reused else ""
        if self.checkpoint is not None:
            is_one = self._begin == self._last
            to = "" if is_one else f" to {self._last}"
            return f"ran {'line' if is_one else 'lines'} {self._begin}{to} again{but}"
        ran = f"ran the whole program{but}"
        if self._is_recorded:
            return f"{ran}; the next step begins in line {self._split}"
        return f"{ran}: {self._why}" if self._why else ran


def _words(lines: Sequence[int]) -> str:
    """Return the first few line numbers in words."""
    few = ", ".join(map(str, lines[: policy.MOST_NAMED]))
    more = len(lines) - policy.MOST_NAMED
    rest = f" and {more} more" if more > 0 else ""
    return f"{'line' if len(lines) == 1 else 'lines'} {few}{rest}"
