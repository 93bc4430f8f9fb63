"""Waiting in the browser, tested with stand-ins for Pyodide: calls and errors."""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType

import pytest

from tensorweb.drivers.waiting import can_wait, wait, wait_for
from tensorweb.errors import BlockingError
from tensorweb.waits import Steps, run_async, run_blocking


class Guard:
    """Stands for the page's `tensorwebInterrupt` and writes down what is called."""

    def __init__(self, *, is_hit: bool) -> None:
        self.is_hit = is_hit
        self.calls: list[str] = []

    def off(self) -> None:
        self.calls.append("off")

    def on(self) -> bool:
        self.calls.append("on")
        return self.is_hit

    def race(self, promise: object) -> object:
        self.calls.append("race")
        return promise


def install(
    monkeypatch: pytest.MonkeyPatch,
    *,
    can_switch: bool = True,
    guard: Guard | None = None,
) -> None:
    """Put stand-ins for `js` and `pyodide.ffi` in place; a promise is a coroutine."""
    ffi, js = ModuleType("pyodide.ffi"), ModuleType("js")
    vars(ffi).update(can_run_sync=lambda: can_switch, run_sync=asyncio.run)
    if guard is not None:
        vars(js)["tensorwebInterrupt"] = guard
    monkeypatch.setitem(sys.modules, "pyodide", ModuleType("pyodide"))
    monkeypatch.setitem(sys.modules, "pyodide.ffi", ffi)
    monkeypatch.setitem(sys.modules, "js", js)


async def resolved() -> int:
    return 7


async def rejected() -> int:
    raise RuntimeError("cancelled")


def test_wait_returns_the_value_without_a_guard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch)
    assert can_wait()
    assert wait(resolved()) == 7


def test_wait_where_python_cannot_suspend_names_call_and_twin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch, can_switch=False)
    assert not can_wait()
    with pytest.raises(BlockingError, match=r"^tolist: .*await x\.tolist_async\(\)"):
        wait(None, "tolist")


def test_wait_detaches_and_attaches_the_interrupt_buffer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guard = Guard(is_hit=False)
    install(monkeypatch, guard=guard)
    assert wait(resolved()) == 7
    assert guard.calls == ["off", "race", "on"]


def test_stop_during_a_wait_is_a_keyboard_interrupt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guard = Guard(is_hit=True)
    install(monkeypatch, guard=guard)
    with pytest.raises(KeyboardInterrupt):
        wait(rejected())
    with pytest.raises(KeyboardInterrupt):
        wait(resolved())
    assert guard.calls == ["off", "race", "on"] * 2


def test_rejection_without_stop_is_raised_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guard = Guard(is_hit=False)
    install(monkeypatch, guard=guard)
    with pytest.raises(RuntimeError, match="cancelled"):
        wait(rejected())
    assert guard.calls == ["off", "race", "on"]


def twice() -> Steps[int]:
    """Wait for a promise, then for one that is rejected."""
    value: int = yield wait_for(resolved())
    try:
        yield wait_for(rejected())
    except RuntimeError:
        return value
    raise AssertionError("the promise was rejected")


def test_one_body_blocks_and_awaits(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    assert run_blocking(twice()) == 7
    assert asyncio.run(run_async(twice())) == 7


def test_a_body_that_cannot_block_raises_and_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch, can_switch=False)
    promise = resolved()
    ended = []

    def body() -> Steps[None]:
        try:
            yield wait_for(promise, "tolist")
        finally:
            ended.append(True)

    with pytest.raises(BlockingError, match=r"^tolist"):
        run_blocking(body())
    promise.close()
    assert ended == [True]
