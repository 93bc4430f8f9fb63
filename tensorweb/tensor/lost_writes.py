"""Notice a write into a tensor that nobody holds, as in `a[[1, 2]][0] = 5`.

What is no view of a tensor that somebody holds is written to in vain. It is told from
reference counts: a tensor that only the running assignment holds has fewer of them than
one that a name, an attribute, a list or a dict holds as well.
"""

from __future__ import annotations

import ast
import linecache
import opcode
import sys
from types import FrameType

from tensorweb.errors import LostWriteWarning
from tensorweb.notices import warn

_STORES = frozenset(
    opcode.opmap[name]
    for name in ("STORE_SUBSCR", "STORE_SLICE")
    if name in opcode.opmap
)

_NAMES_ARE_BORROWED = "LOAD_FAST_BORROW" in opcode.opmap
"""Whether reading a local name counts no reference (CPython 3.14): then a tensor that
one local name holds looks like one that nobody holds."""


class _Probe:
    """Tells how many references there are to an object that nobody holds."""

    __slots__ = ()
    seen = 0

    def __setitem__(self, key: object, value: object) -> None:
        _Probe.seen = sys.getrefcount(self)


def _count_unheld() -> int:
    """Return the count of an object that nobody holds, 0 where counts say nothing."""
    if sys.implementation.name != "cpython":
        return 0
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return 0
    _Probe()[0] = 0
    return _Probe.seen


UNHELD = _count_unheld()
"""What `sys.getrefcount(self)` is, first thing in `__setitem__`, if nobody holds it."""


def check_write(tensor: object) -> None:
    """Warn when the caller of `__setitem__`, two frames up, wrote into a temporary.

    Call it where the count of references suggests so.
    """
    frame = sys._getframe(2)
    if frame.f_code.co_code[frame.f_lasti] not in _STORES:
        return
    if _NAMES_ARE_BORROWED and any(
        value is tensor for value in frame.f_locals.values()
    ):
        return
    warn(
        LostWriteWarning,
        "the tensor written to is a temporary that nothing holds, so the write is "
        f"lost; {_rewrite(frame)}",
    )


def _rewrite(frame: FrameType) -> str:
    """Return what to write instead, in the words of the program where it is known."""
    target = _target(frame)
    part = target.value if target is not None else None
    if target is None or part is None:
        return "keep it in a variable, write into that, and assign it where it belongs."
    text, key = ast.unparse(part), _key(target)
    if isinstance(part, ast.Subscript) and _is_held(part.value):
        return f"write part = {text}; part[{key}] = …; {text} = part"
    return f"write part = {text}; part[{key}] = … and use part from there on."


def _key(target: ast.Subscript) -> str:
    """Return an index as it stands between the brackets."""
    text = ast.unparse(target.slice)
    return text[1:-1] if isinstance(target.slice, ast.Tuple) else text


def _is_held(expression: ast.expr) -> bool:
    """Whether an expression names something, so that it can be written into."""
    while isinstance(expression, ast.Attribute | ast.Subscript):
        expression = expression.value
    return isinstance(expression, ast.Name)


def _target(frame: FrameType) -> ast.Subscript | None:
    """Return the expression that is assigned to, if its source can be read."""
    positions = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    line, end_line, start, end = positions
    if line is None or line != end_line or start is None or end is None:
        return None
    source = linecache.getline(frame.f_code.co_filename, line).encode()[start:end]
    try:
        found = ast.parse(source.decode(errors="replace"), mode="eval").body
    except SyntaxError:
        return None
    return found if isinstance(found, ast.Subscript) else None
