"""Notice a write into a tensor that nobody holds, as in `a[1][2] = 5`, and say so.

A view is a tensor of its own here, so such a write is lost for certain. It is told from
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


def check_row(index: int, references: int) -> None:
    """Warn when a loop wrote into a row that only its own variable holds.

    `references` is the count in the iterator, which holds the row as well.
    """
    if references <= UNHELD:
        warn(
            LostWriteWarning,
            f"the loop wrote into row {index}, which is a tensor of its own, so the "
            "tensor looped over does not change; loop over numbers and write "
            "x[i] = row, or x[i, ...] = values.",
        )


def _rewrite(frame: FrameType) -> str:
    """Return what to write instead, in the words of the program where it is known."""
    target = _target(frame)
    part = target.value if target is not None else None
    if target is None or part is None:
        return "keep it in a variable, write into that, and assign it where it belongs."
    text, key = ast.unparse(part), _key(target)
    if isinstance(part, ast.Subscript) and _is_plain(part.slice):
        owner = ast.unparse(part.value)
        return f"write {owner}[{_key(part)}, {key}] = … with one index."
    if isinstance(part, ast.Subscript):
        back = f"{text} = part"
    elif isinstance(part, ast.Attribute) and part.attr in ("T", "mT"):
        back = f"{ast.unparse(part.value)} = part.{part.attr}"
    else:
        return f"write part = {text}; part[{key}] = … and use part from there on."
    return f"write part = {text}; part[{key}] = …; {back}"


def _key(target: ast.Subscript) -> str:
    """Return an index as it stands between the brackets."""
    text = ast.unparse(target.slice)
    return text[1:-1] if isinstance(target.slice, ast.Tuple) else text


def _is_plain(key: ast.expr) -> bool:
    """Whether an index is made of written integers, so that its axes are gone."""
    if isinstance(key, ast.Tuple):
        return all(map(_is_plain, key.elts))
    if isinstance(key, ast.UnaryOp):
        key = key.operand
    return isinstance(key, ast.Constant) and type(key.value) is int


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
