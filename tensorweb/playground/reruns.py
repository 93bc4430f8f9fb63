"""Runs after a number was dragged: only statements that depend on it run again.

The first of them runs the full program and records its state before the statement that
contains the number; later ones begin there. What was printed, shown and computed before
that statement is part of their results as well. Statements that do not depend on the
number take their values of the last run.

Such a statement binds names of its own to tensors or numbers that it computes by
functions without state, from values of other such statements. Its value of the last run
is the one that it would compute again, if nothing has written into it since.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from itertools import pairwise
from types import CodeType

from tensorweb import frames
from tensorweb.playground import policy
from tensorweb.playground.lines import Lines
from tensorweb.playground.program import compile_program
from tensorweb.playground.records import ProgramFile
from tensorweb.playground.snapshots import NotRestorable, Snapshot, split_line
from tensorweb.playground.streams import LineMeter

REUSED = "__tensorweb_reused__"
"""The name by which the statements find their values."""

Code = Callable[[ast.Module | ast.Expression, str], CodeType]

Start = tuple[int, int]
"""First line and column of a statement."""

PURE = frozenset({"tensorweb", "tensorweb.numpy", "math"})

PARTS = frozenset({"linalg", "fft", "random"})
"""Parts of `tensorweb` whose functions have no state; those of layers may draw."""

STATEFUL = frozenset(
    (
        *("show", "plot", "load", "save", "jit", "seed", "fill", "put", "sort"),
        *("partition", "resize", "backward", "realize", "copyto", "place", "putmask"),
        *("set_default_device", "use_device", "set_printoptions", "seterr", "loadtxt"),
    )
)
"""Functions and methods that write into an argument, or have another effect."""

FUNCTIONS = frozenset(
    ("abs", "bool", "float", "int", "len", "max", "min", "round", "str", "sum", "tuple")
)

NODES = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.keyword, ast.BinOp),
    *(ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List),
    *(ast.Subscript, ast.Slice, ast.Starred, ast.operator, ast.unaryop, ast.boolop),
    *(ast.cmpop, ast.expr_context),
)


def reusable(
    tree: ast.Module, names: Mapping[str, object], lines: Lines, changed: int
) -> dict[Start, object]:
    """Return values of the last run by where their statements begin.

    The first statement that may write into values of others ends the search.

    Args:
        tree: the program, which differs from the last one in one statement only.
        names: its names after the last run.
        lines: what the lines of that run made.
        changed: the line of the number.
    """
    bound = Counter(_bound(tree))
    if frames.have_been_issued(names) or bound.keys() & {*FUNCTIONS, "print"}:
        return {}
    modules: dict[str, str] = {}
    # Names of tensors and numbers, and those of equal values in both runs.
    plain, same = set[str](), set[str]()
    found: dict[Start, object] = {}
    for statement in tree.body:
        match statement:
            case ast.Import(aliases) if all(one.name in PURE for one in aliases):
                modules |= {one.asname or one.name: one.name for one in aliases}
            case ast.Expr(ast.Constant()):
                pass
            case ast.FunctionDef(decorator_list=[]):
                values = (*statement.args.defaults, *statement.args.kw_defaults)
                if any(
                    value and not isinstance(value, ast.Constant) for value in values
                ):
                    return found
            case ast.Expr(ast.Call(ast.Name("print"), args, [])):
                if not all(_is_pure(each, plain, modules) for each in args):
                    return found
            case ast.Assign([ast.Name(name)], value) if bound[name] == 1:
                if not _is_pure(value, plain, modules):
                    return found
                plain.add(name)
                end = statement.end_lineno or statement.lineno
                is_changed = statement.lineno <= changed <= end
                if is_changed or not _is_pure(value, same, modules):
                    continue
                result = names.get(name)
                if lines.is_unchanged(name, statement.lineno, result):
                    same.add(name)
                    if not isinstance(value, ast.Constant):
                        found[statement.lineno, statement.col_offset] = result
            case _:
                return found
    return found


def _bound(tree: ast.Module) -> Iterator[str]:
    """Yield the names that anything in a program binds, once for each binding."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(name, ast.Store() | ast.Del()):
                yield name
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                yield name
            case ast.ClassDef(name) | ast.ExceptHandler(_, str(name)):
                yield name
            case ast.alias(name, other):
                yield other or name.partition(".")[0]
            case ast.Global(names) | ast.Nonlocal(names):
                yield from names
            case ast.MatchAs(_, str(name)) | ast.MatchStar(str(name)):
                yield name


def _is_pure(value: ast.expr, known: set[str], modules: Mapping[str, str]) -> bool:
    """Whether an expression depends on known values only, and has no effect."""
    for node in ast.walk(value):
        match node:
            case ast.Name(name):
                if name not in {*known, *modules, *FUNCTIONS}:
                    return False
            case ast.Attribute(_, attribute):
                if attribute in STATEFUL or attribute.endswith("_"):
                    return False
            case ast.Call(function):
                if not _is_known(function, known, modules):
                    return False
            case _ if not isinstance(node, NODES):
                return False
    return True


def _is_known(function: ast.expr, known: set[str], modules: Mapping[str, str]) -> bool:
    """Whether a function is one without state, or a method of a known value."""
    path: list[str] = []
    while isinstance(function, ast.Attribute):
        path.append(function.attr)
        function = function.value
    if not isinstance(function, ast.Name):
        return bool(path)
    if function.id in modules:
        parts = path[1:]
        is_part = modules[function.id] == "tensorweb" and {*parts} <= PARTS
        return bool(path) and (not parts or is_part)
    return function.id in known if path else function.id in FUNCTIONS


@contextmanager
def reusing(compile_tree: Code, values: Mapping[Start, object]) -> Iterator[Code]:
    """Return the function that compiles statements to take these values.

    They can run inside the `with` block only.
    """

    def compiled(tree: ast.Module | ast.Expression, file: str) -> CodeType:
        for statement in tree.body if isinstance(tree, ast.Module) else ():
            start = statement.lineno, statement.col_offset
            if isinstance(statement, ast.Assign) and start in values:
                reused = ast.parse(f"{REUSED}[{start}]", mode="eval").body
                for node in ast.walk(reused):
                    if isinstance(node, ast.expr):
                        ast.copy_location(node, statement.value)
                statement.value = reused
        return compile_tree(tree, file)

    vars(builtins)[REUSED] = values
    try:
        yield compiled
    finally:
        # Values of this run must not outlive it.
        vars(builtins).pop(REUSED, None)


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
