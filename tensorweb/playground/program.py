"""Run a program as `__main__` and display its last expression's value.

The caller handles output and displays; nothing here depends on the page.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import types
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from tensorweb.frames import frames_in, position_of, segment

from . import sources
from .sources import FILENAME

Display = Callable[[object, str | None], None]
Wait = Callable[[Awaitable[object]], object]
Compile = Callable[[ast.Module | ast.Expression, str], types.CodeType]


class RunOptions(NamedTuple):
    """The options of `Session.run`, which describes them."""

    lines: Sequence[int] | None
    keep: bool
    timed: bool
    search: bool
    inside: bool
    memory: bool
    capture: int | None
    dragged: int | None


def compile_program(
    source: str, code: Compile | None = None, displays: bool = True
) -> tuple[types.CodeType, types.CodeType | None, str | None]:
    """Return the code of all statements, of the last expression, and its text.

    `code` compiles a tree under the name of its file. Top-level `await` is allowed.
    Unless it `displays`, the last expression is a statement like any other.
    Raises SyntaxError, or ValueError for null bytes.
    """
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    tree = compile(source, FILENAME, "exec", flags, dont_inherit=True)
    assert isinstance(tree, ast.Module), "internal: a module is parsed"
    code = code or _code
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr) or not displays:
        return code(tree, FILENAME), None, None
    tree.body.pop()
    expression = ast.copy_location(ast.Expression(last.value), last)
    label = _label(source, last.value)
    return code(tree, FILENAME), code(expression, FILENAME), label


def _code(tree: ast.Module | ast.Expression, file: str) -> types.CodeType:
    mode = "exec" if isinstance(tree, ast.Module) else "eval"
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    code = compile(tree, file, mode, flags, dont_inherit=True)
    assert isinstance(code, types.CodeType), "internal: code is compiled"
    return code


def _label(source: str, value: ast.expr) -> str | None:
    """Return an expression's source text if it is short enough for a title."""
    text = ast.get_source_segment(source, value)
    if text is None or len(text) > 60 or "\n" in text:
        return None
    return text


_MODULES = sys.modules
"""The interpreter's own table, even if a program reassigns `sys.modules`."""


def new_main() -> types.ModuleType:
    """Return a module with the initial names of a program."""
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    module.__dict__["__file__"] = FILENAME
    return module


def part_of(source: str, lines: Sequence[int] | None) -> str:
    r"""Return a range of lines at their original line numbers; None for all.

    >>> part_of("a\nb\nc\n", (2, 2))
    '\nb\n'
    """
    if lines is None:
        return source
    first, last = lines
    kept = source.splitlines(keepends=True)[:last]
    return "\n" * (first - 1) + "".join(kept[first - 1 :])


async def execute(
    source: str,
    module: types.ModuleType,
    display: Display | None,
    wait: Wait | None,
    lines: Sequence[int] | None = None,
    code: Compile | None = None,
) -> None:
    """Run a program as `__main__` and display the last expression's value.

    If only a part runs, `lines` are its first and last line; one that others follow has
    no `display`. `code` compiles its
    statements and its last expression. `wait` blocks until an
    awaitable is done, None where Python cannot block.

    Exceptions of the program propagate unchanged. `module` remains `__main__` and
    builtins are restored, even if the program replaced them.
    """
    names, kept = builtins.__dict__, {**builtins.__dict__}
    source = part_of(source, lines)
    _MODULES["__main__"] = module
    try:
        statements, expression, label = compile_program(
            source, code, display is not None
        )
        await _evaluate(statements, module, wait)
        if expression is not None and display is not None:
            show = display
            value = await _evaluate(expression, module, wait)
            if value is not None:
                _show(source, lambda: show(value, label))
    finally:
        # Restored first, since the code that restores other state needs these.
        names.update(kept)
        sys.modules = _MODULES
        _MODULES["__main__"] = module


def _show(source: str, show: Callable[[], None]) -> None:
    """Call `show` with the source position of the program's last expression.

    A pending value fails only when it is shown; the traceback then has that line.
    """
    last = ast.parse(source).body[-1]
    assert isinstance(last, ast.Expr), "internal: only an expression has a value"
    call = ast.Expression(ast.Call(ast.Name("show", ast.Load()), [], []))
    for node in ast.walk(call):
        ast.copy_location(node, last.value)
    eval(compile(call, FILENAME, "eval", dont_inherit=True), {"show": show})


async def _evaluate(
    code: types.CodeType, module: types.ModuleType, wait: Wait | None
) -> object:
    """Run code; wait for it only if it contains a top-level `await`."""
    value = eval(code, module.__dict__)
    if not code.co_flags & inspect.CO_COROUTINE:
        return value
    return wait(value) if wait is not None else await value


def argument_text(frame: types.FrameType | None) -> str | None:
    """Return the text of the first argument of the call that `frame` makes."""
    caller = next(frames_in(frame, sources.is_program), None)
    if caller is None:
        return None
    position = position_of(caller.f_code, caller.f_lasti)
    text = segment(caller.f_code.co_filename, position)
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(call, ast.Call) or not call.args:
        return None
    return _label(text.strip(), call.args[0])
