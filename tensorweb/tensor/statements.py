"""Whether what a call returns is wanted: of a statement `x.sort()` it is not.

Python says it in the instructions behind the call, which are read here. A function or
lambda that returns the value asks its own caller. Of what a comprehension gathers, or
a coroutine returns, nobody can tell.
"""

from __future__ import annotations

import inspect
import opcode
import sys
from types import CodeType, FrameType

_SKIPPED = frozenset(
    opcode.opmap[name]
    for name in ("CACHE", "NOP", "NOT_TAKEN", "RESUME")
    if name in opcode.opmap
)
_JUMPS = frozenset(
    opcode.opmap[name] for name in ("JUMP_FORWARD",) if name in opcode.opmap
)
_DROPPED = frozenset(
    opcode.opmap[name] for name in ("POP_TOP", "PRINT_EXPR") if name in opcode.opmap
)
_GATHERED = frozenset(
    opcode.opmap[name]
    for name in ("LIST_APPEND", "SET_ADD", "MAP_ADD")
    if name in opcode.opmap
)
_SUBSCRIPTS = frozenset(
    opcode.opmap[name]
    for name in ("STORE_SUBSCR", "STORE_SLICE")
    if name in opcode.opmap
)
_SETTERS = frozenset(("setitem", "__setitem__"))
"""Functions of C by which a program sets items itself."""

_EXTENDED = opcode.opmap["EXTENDED_ARG"]
_RETURNED = opcode.opmap["RETURN_VALUE"]
_PRINTED = opcode.opmap.get("CALL_INTRINSIC_1", -1), 1
"""What shows the value of an expression that is typed at a prompt, from 3.12 on."""

_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Functions whose results reach who resumes them, by no instruction of theirs."""

_STORES = {
    opcode.opmap[name]: name
    for name in ("STORE_NAME", "STORE_GLOBAL", "STORE_FAST", "STORE_FAST_LOAD_FAST")
    if name in opcode.opmap
}


def is_dropped() -> bool | None:
    """Whether the caller of who asks throws the result away; None if none can tell.

    Kept under the name `_` it counts as thrown away, and so does the value of the last
    expression of a cell, which is only shown.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        operation, argument = _behind(code, frame.f_lasti)
        if operation in _DROPPED or (operation, argument) == _PRINTED:
            return True
        if operation in _GATHERED:
            return None
        if operation in _STORES:
            return _stored(code, operation, argument) == "_"
        if operation != _RETURNED:
            return False
        if code.co_name == "<module>":
            return True
        if code.co_flags & _SUSPENDED:
            return None
        frame = frame.f_back
    return False


def caller_names(*names: str) -> bool:
    """Whether one of these names is called where C called the function that asks.

    NumPy's `permutation`, for example, takes what `np.asarray` returns for a copy of
    its own, and shuffles it.
    """
    return not set(names).isdisjoint(sys._getframe(2).f_code.co_names)


def is_statement(caller: FrameType) -> bool:
    """Whether a frame runs `x[key] = v` itself; else it called C that sets the item."""
    if caller.f_code.co_code[caller.f_lasti] in _SUBSCRIPTS:
        return True
    return not _SETTERS.isdisjoint(caller.f_code.co_names)


def _behind(code: CodeType, place: int) -> tuple[int, int]:
    """Return the instruction that takes the result of a call, and its argument."""
    text = code.co_code
    argument = 0
    place += 2
    while place < len(text):
        operation, low = text[place], text[place + 1]
        place += 2
        argument = argument << 8 | low
        if operation == _EXTENDED:
            continue
        if operation in _JUMPS:
            place += 2 * argument
        elif operation not in _SKIPPED:
            return operation, argument
        argument = 0
    return -1, 0


def _stored(code: CodeType, operation: int, argument: int) -> str:
    """Return the name under which a value is kept."""
    name = _STORES[operation]
    if name == "STORE_FAST_LOAD_FAST":
        return code.co_varnames[argument >> 4]
    if name == "STORE_FAST":
        return (code.co_varnames + code.co_cellvars + code.co_freevars)[argument]
    return code.co_names[argument]
