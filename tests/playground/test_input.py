"""`input()` where Python cannot be suspended: the thread waits, or says what to do."""

from __future__ import annotations

import sys

from tensorweb.playground import bridge
from tensorweb.playground.session import Session


def test_input_says_where_it_can_wait() -> None:
    session = Session(lambda kind, fields: None, None, False)
    main = sys.modules["__main__"]
    error = bridge.drive(session.run("input()"))["error"]
    sys.modules["__main__"] = main
    assert error is not None
    assert "Firefox 153" in error["message"]
    assert "isolates" in error["message"]


def test_a_line_is_read_by_the_thread_and_stop_ends_it() -> None:
    typed: list[str | None] = ["Ada", None]
    session = Session(
        lambda kind, fields: None, None, False, None, lambda: typed.pop(0)
    )
    main = sys.modules["__main__"]
    source = "assert input('Who? ') == 'Ada'\ninput()"
    record = bridge.drive(session.run(source))
    sys.modules["__main__"] = main
    assert record["error"] is None
    assert record["stopped"]


def test_lines_of_standard_input_are_typed_and_have_no_end() -> None:
    typed: list[str | None] = ["3 4", "5"]
    session = Session(
        lambda kind, fields: None, None, False, None, lambda: typed.pop(0)
    )
    main, before = sys.modules["__main__"], sys.stdin
    source = (
        "import sys\n"
        "assert sys.stdin.readline() == '3 4\\n'\n"
        "assert next(sys.stdin) == '5\\n'\n"
        "sys.stdin.read()"
    )
    error = bridge.drive(session.run(source))["error"]
    sys.modules["__main__"] = main
    assert error is not None
    assert "input() or sys.stdin.readline()" in error["message"]
    assert error["frames"][-1]["line"] == 4
    assert sys.stdin is before
