"""The page's record of the memory of a run: buffers, lines, names, the peak."""

from __future__ import annotations

from typing import Any

from tensorweb.backends.wasm import WasmBackend
from tensorweb.playground import bridge, records
from tensorweb.playground.session import Session

PROGRAM = """
import tensorweb as tw
x = tw.realize(tw.ones((64, 64)) * 2)
y = tw.realize(x + 1)
rows = y[3:]
def inner():
    z = tw.realize(y * 3)
    return tw.sum(z).item()
inner()
y = None
w = tw.realize(x @ x @ x @ x)
"""

SIZE = 64 * 64 * 4


def memory_of(source: str, session: Session | None = None) -> records.MemoryRecord:
    session = session or Session(lambda kind, fields: None, None, True)
    answer = bridge.drive(session.run(source, memory=True))
    assert answer["error"] is None
    bridge.drive(session.describe())
    return bridge.drive(session.memory())


def of_line(memory: records.DeviceMemory, line: int) -> list[Any]:
    return [
        block
        for block in memory["blocks"]
        if block["values"] and block["values"][-1]["line"] == line
    ]


def test_buffers_have_lines_names_and_what_freed_them(webgpu: str) -> None:
    found = memory_of(PROGRAM)
    (memory,) = found["devices"]
    (x,) = of_line(memory, 3)
    assert (x["names"], x["end"], x["bytes"]) == (["x"], None, SIZE)
    assert x["values"][0]["shape"] == [64, 64]
    (y,) = of_line(memory, 4)
    assert (y["names"], y["end"]) == (["rows"], None)
    (z,) = of_line(memory, 7)
    assert (z["freedLine"], z["isInner"]) == (9, False)
    inner = [block for block in memory["blocks"] if block["isInner"]]
    assert inner
    assert all(block["freedLine"] is None for block in inner)
    assert all(block["end"] == found["kernels"] for block in inner)
    assert (found["flushes"], found["unlisted"]) == (5, 0)


def test_the_peak_is_the_sum_of_its_blocks(webgpu: str) -> None:
    (memory,) = memory_of(PROGRAM)["devices"]
    at_peak = [memory["blocks"][index] for index in memory["atPeak"]]
    assert memory["peak"] - memory["before"] == sum(one["bytes"] for one in at_peak)
    assert memory["peak"] <= memory["allocated"] <= memory["budget"]
    for block in at_peak:
        assert block["begin"] <= memory["step"]
        assert block["end"] is None or block["end"] > memory["step"]
    assert memory["memory"] is None


def test_each_run_has_a_record_of_its_own(webgpu: str) -> None:
    session = Session(lambda kind, fields: None, None, True)
    first = memory_of(PROGRAM, session)
    again = memory_of(PROGRAM, session)
    assert len(first["devices"][0]["blocks"]) == len(again["devices"][0]["blocks"])
    assert memory_of("x = 1", session)["devices"] == []


def test_webassembly_reports_the_memory_that_it_has(wasm: WasmBackend) -> None:
    (memory,) = memory_of(PROGRAM)["devices"]
    assert memory["device"] == "cpu"
    assert memory["memory"] == wasm.driver.counters()["memory_bytes"]
    assert memory["memory"] >= memory["peak"] >= 3 * SIZE
