"""A program without any device: plain Python runs, the first tensor says what lacks."""

from __future__ import annotations

import sys

import pytest

from tensorweb import devices
from tensorweb.backends import cpu
from tensorweb.playground import bridge
from tensorweb.playground.session import Session


def test_missing_device_is_reported_at_the_line_of_the_first_tensor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(cpu.VARIABLE, "numpy")
    monkeypatch.setitem(sys.modules, "numpy", None)
    monkeypatch.setattr(devices, "_backends", {})
    monkeypatch.setattr(devices, "_process_default", None)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    notes: list[object] = []
    session = Session(lambda *note: notes.append(note), None, True)
    assert bridge.drive(session.run("print(1)", "cpu"))["error"] is None
    source = "import tensorweb as tw\nprint(1)\ntw.ones((2,)) + 1"
    failure = bridge.drive(session.run(source, "cpu"))["error"]
    assert isinstance(failure, dict)
    assert failure["type"] == "DeviceError"
    assert [frame["line"] for frame in failure["frames"]] == [3]
