"""The page's record of the lines that first made a NaN or an infinity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tensorweb import frames
from tensorweb.playground import bridge
from tensorweb.playground.records import NonfiniteOrigin
from tensorweb.playground.session import Session

PROGRAM = """
import tensorweb as tw
def root(x):
    y = x - 3
    return tw.sqrt(y)
x = tw.asarray([5.0, 6.0])
for i in range(5):
    x = x - 1
    loss = tw.sum(root(x))
    print(float(loss))
data = tw.asarray([1.0, tw.nan])
pairs = [root(tw.ones(2)) for i in range(3)]
odd = tw.exp(tw.asarray([1000.0]))
cancelled = odd - odd
fine = tw.ones(3)
"""

SQRT: NonfiniteOrigin = {"kind": "nan", "op": "sqrt", "file": "main.py", "lines": [5]}
EXP: NonfiniteOrigin = {"kind": "inf", "op": "exp", "file": "main.py", "lines": [13]}
LESS: NonfiniteOrigin = {
    "kind": "nan",
    "op": "subtract",
    "file": "main.py",
    "lines": [14],
}
DATA: NonfiniteOrigin = {"kind": "nan", "op": "leaf", "file": "main.py", "lines": [11]}


def ran(device: str, source: str = PROGRAM, **how: Any) -> tuple[Session, Any]:
    session = Session(lambda kind, fields: None, None, True)
    record = bridge.drive(session.run(source, device, **how))
    assert record["error"] is None
    return session, record


def test_tensors_tell_the_line_that_made_them_not_finite(device: str) -> None:
    session, record = ran(device, search=True)
    assert record["search"] == {"complete": True, "origins": [SQRT]}
    found = {one["name"]: one for one in bridge.drive(session.describe())}
    origins = {name: one["origins"] for name, one in found.items() if "origins" in one}
    assert origins == {
        "x": [],
        "loss": [SQRT],
        "data": [DATA],
        "pairs[2]": [SQRT],
        "odd": [EXP],
        "cancelled": [LESS, EXP],
        "fine": [],
    }
    asked = bridge.drive(session.statistics(found["pairs[0]"]["id"]))
    assert asked["origins"] == [SQRT]
    assert frames.left == 0


def test_nothing_is_searched_without_a_request(device: str) -> None:
    session, record = ran(device)
    assert "search" not in record
    assert all("origins" not in one for one in bridge.drive(session.describe()))


def test_complex_tensors_and_modules_tell_lines_too(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = "import tensorweb as tw\n\ndef f(x):\n    return x / (x - x)\n"
    source = "import helper\nimport tensorweb as tw\nz = helper.f(tw.asarray([0j]))\n"
    files = [{"name": "helper.py", "text": module}]
    session, _ = ran(device, source, files=files, search=True)
    (z,) = bridge.drive(session.describe())
    assert z["origins"][0]["file"] == "helper.py"
    assert z["origins"][0]["lines"] == [4]
    bridge.drive(session.run("", device))  # takes the module away


def test_a_stopped_program_reports_its_origins(device: str) -> None:
    source = PROGRAM + "raise KeyboardInterrupt\n"
    session = Session(lambda kind, fields: None, None, True)
    record = bridge.drive(session.run(source, device, search=True))
    assert record["stopped"]
    assert record["search"]["origins"] == [SQRT]


def test_a_program_that_debugs_stops_and_the_next_one_does_not(device: str) -> None:
    session = Session(lambda kind, fields: None, None, True)
    source = "import tensorweb as tw\ntw.debug_nans()\nx = tw.log(-tw.ones(2))\n"
    failed = bridge.drive(session.run(source, device))["error"]
    assert failed is not None
    assert "log: it made NaN in main.py:3" in str(failed)
    following = source.replace("tw.debug_nans()", "")
    assert bridge.drive(session.run(following, device))["error"] is None
