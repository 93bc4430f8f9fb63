"""Exceptions as the page shows them: the user's frames only, with exact positions.

A program that is not run yet is also checked for syntax errors.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence

from tensorweb.errors import LinAlgError
from tensorweb.frames import position_of

from . import policy
from .clashes import describe_clash
from .files import file_advice, import_advice
from .program import compile_program
from .records import Failure, Frame, Gap, Problem
from .sources import FILENAME, utf16
from .streams import clip, clip_line

NOT_FETCHED = "Can't fetch metadata for"
NO_NETWORK = (
    "The name may be right: the site does not carry this package, and programs reach "
    "other sites only while “Allow network” is ticked and the browser is online."
)


Texts = Mapping[str, str]
"""The files of a program by name."""


def describe_failure(error: BaseException, texts: Texts) -> Failure:
    """Return type, message, user frames and text of an exception, ready for JSON.

    Frames of the files in `texts` are the user's.
    """
    report = traceback.TracebackException.from_exception(error, compact=True)
    frames = [
        _frame(frame, texts[frame.filename].splitlines())
        for frame in report.stack
        if frame.filename in texts
    ]
    further = _syntax_frame(error, texts) or _asked_frame(error, frames, texts)
    if further is not None:
        frames.append(further)
    hidden = _keep_user_frames(report, texts)
    failure: Failure = {
        "type": clip_line(type(error).__name__),
        "message": clip(_message(error, report), policy.MOST_MESSAGE),
        "frames": _shorten(frames),
        "text": clip("".join(report.format()).rstrip("\n")),
        "hidden": hidden,
    }
    if (clash := describe_clash(error, texts)) is not None:
        failure["clash"] = clash
    return failure


def _message(error: BaseException, report: traceback.TracebackException) -> str:
    """Return the message with Python's suggestion, without the type."""
    if isinstance(error, SyntaxError):
        return error.msg or "invalid syntax"
    if advice := import_advice(error) or file_advice(error):
        return advice
    last = "".join(report.format_exception_only())
    _, separator, message = last.partition(": ")
    return _in_plain_words(message.strip()) if separator else ""


def _in_plain_words(message: str) -> str:
    """Extend micropip's message: the cause may be the network and not the name."""
    if not message.startswith(NOT_FETCHED):
        return message
    return f"{message.partition('.')[0]}. {NO_NETWORK}"


def _keep_user_frames(report: traceback.TracebackException, texts: Texts) -> int:
    """Drop all other frames from the exception chain; return their count."""
    hidden = 0
    for part in _chain(report):
        kept = [frame for frame in part.stack if frame.filename in texts]
        if kept or part is report:
            hidden += _inside(part.stack, texts)
            part.stack = traceback.StackSummary.from_list(kept)
    return hidden


def _inside(stack: traceback.StackSummary, texts: Texts) -> int:
    """Return the count of foreign frames that the user's program called."""
    users = [index for index, frame in enumerate(stack) if frame.filename in texts]
    return len(stack) - users[0] - len(users) if users else 0


def _chain(
    report: traceback.TracebackException,
) -> Iterator[traceback.TracebackException]:
    waiting = [report]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += [more for more in (part.__cause__, part.__context__) if more]
        waiting += part.exceptions or []


def _frame(frame: traceback.FrameSummary, lines: list[str]) -> Frame:
    line = frame.lineno or 1
    end_line = frame.end_lineno or line
    column = utf16(lines, line, frame.colno)
    code, indent = _code(lines, line, column)
    return {
        "file": frame.filename,
        "function": clip_line(frame.name),
        "line": line,
        "column": column,
        "endLine": end_line,
        "endColumn": utf16(lines, end_line, frame.end_colno),
        "code": code,
        "indent": indent,
    }


def _code(lines: list[str], line: int, column: int | None) -> tuple[str, int]:
    """Return a line without its indentation, and the width of the indentation.

    A long line is cut around `column`; an ellipsis takes one column.
    """
    text = lines[line - 1] if line <= len(lines) else ""
    indent = len(text) - len(text.lstrip())
    code = text.strip()
    if len(code) <= policy.MOST_CODE:
        return code, indent
    # Columns count UTF-16 units, and the cut must fall between two characters.
    units = text.encode("utf-16-le")
    start = max((column or 0) - policy.MOST_CODE // 2, indent)
    window = units[2 * start : 2 * (start + policy.MOST_CODE)].decode(
        "utf-16-le", "replace"
    )
    if start == indent:
        return f"{window}…", indent
    return f"…{window}…", start - 1


def _syntax_frame(error: BaseException, texts: Texts) -> Frame | None:
    """Return the position of a syntax error, whose columns count characters from 1."""
    if not isinstance(error, SyntaxError):
        return None
    file = error.filename or ""
    if file not in texts:
        return None
    lines = texts[file].splitlines()
    line = max(error.lineno or 1, 1)
    end_line = max(error.end_lineno or line, line)
    text = lines[line - 1] if line <= len(lines) else ""
    last = lines[end_line - 1] if end_line <= len(lines) else ""
    start = max((error.offset or 1) - 1, 0)
    end = max((error.end_offset or 0) - 1, 0)
    if end_line == line and end <= start:
        end = start + 1
    column = len(text[:start].encode("utf-16-le")) // 2
    code, indent = _code(lines, line, column)
    return {
        "file": file,
        "function": "",
        "line": line,
        "column": column,
        "endLine": end_line,
        "endColumn": len(last[:end].encode("utf-16-le")) // 2,
        "code": code,
        "indent": indent,
    }


def _asked_frame(
    error: BaseException, read: Sequence[Frame], texts: Texts
) -> Frame | None:
    """Return the call that could not be computed, if another line read its result."""
    if not isinstance(error, LinAlgError) or error.location is None:
        return None
    code = error.location[0]
    if code.co_filename not in texts:
        return None
    line, end_line, column, end_column = position_of(*error.location[:2])
    if line is None or (read and read[-1]["line"] == line):
        return None
    summary = traceback.FrameSummary(
        code.co_filename,
        line,
        code.co_name,
        lookup_line=False,
        end_lineno=end_line,
        colno=column,
        end_colno=end_column,
    )
    return _frame(summary, texts[code.co_filename].splitlines())


def _shorten(frames: list[Frame]) -> list[Frame | Gap]:
    """Return the outermost and innermost frames of a deep recursion."""
    if len(frames) <= policy.MOST_FRAMES:
        return [*frames]
    outer = frames[: policy.MOST_FRAMES // 3]
    inner = frames[-(policy.MOST_FRAMES - len(outer)) :]
    gap: Gap = {"skipped": len(frames) - len(outer) - len(inner)}
    return [*outer, gap, *inner]


def syntax_problems(source: str) -> list[Problem]:
    r"""Return the first syntax error, an empty list for none.

    >>> [(found["line"], found["message"]) for found in syntax_problems("x = (1\n")]
    [(1, "'(' was never closed")]
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            compile_program(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        failure = describe_failure(error, {FILENAME: source})
    else:
        return []
    frames = [frame for frame in failure["frames"] if "skipped" not in frame]
    return [
        {
            "message": failure["message"],
            "line": frame["line"],
            "column": frame["column"],
            "endLine": frame["endLine"],
            "endColumn": frame["endColumn"],
        }
        for frame in frames[-1:]
    ]


def exit_text(leaving: SystemExit) -> str:
    """Return what the interpreter prints of an argument of `sys.exit`, else ""."""
    if leaving.code in (None, 0):
        return ""
    try:
        return f"exit: {leaving.code}\n"
    except Exception:
        # The interpreter leaves without a word in this case.
        return ""
