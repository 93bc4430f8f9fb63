"""The page's record of why a run has several kernels."""

from __future__ import annotations

import pytest

from tensorweb.playground import bridge
from tensorweb.playground.kernel_records import KernelSplit
from tensorweb.playground.session import Session
from tensorweb.schedule.kernel import Rule

PROGRAM = """
import tensorweb as tw
x = tw.linspace(0.0, 1.0, 30, device="webgpu").reshape(6, 5)
for step in range(3):
    y = tw.sort(x @ x.T, axis=1)
    print(y.sum().item())
    z = tw.exp(y) * step
    tw.realize(z.max())
"""


def splits(source: str) -> tuple[list[str], list[KernelSplit]]:
    """Return the kinds of a run's kernels, and what they write for each other."""
    session = Session(lambda kind, fields: None, None, True)
    answer = bridge.drive(session.run(source))
    assert answer["error"] is None
    return [each["kind"] for each in answer["kernels"]], bridge.drive(session.splits())


def test_values_between_kernels_have_bytes_and_a_rule(webgpu: str) -> None:
    kinds, found = splits(PROGRAM)
    assert found[0] == {
        "writer": kinds.index("matmul"),
        "reader": kinds.index("sort_rows"),
        "value": "float32 (6, 6)",
        "written": 4 * 36,
        "read": 4 * 36,
        "why": Rule.SECOND_CORE.value,
    }
    assert found[1]["why"] == Rule.OWN_KERNEL.value
    # A loop is one entry.
    assert len({(each["writer"], each["reader"]) for each in found}) == len(found)


def test_values_of_an_earlier_submission_say_so(webgpu: str) -> None:
    kinds, found = splits(PROGRAM)
    late = [each for each in found if each["why"] == Rule.FLUSHED.value]
    assert [kinds[each["writer"]] for each in late] == ["sort_rows"]
    assert [each["value"] for each in late] == ["float32 (6, 6)"]
    assert late[0]["reader"] > found[1]["reader"]


@pytest.mark.usefixtures("wasm")
def test_kernels_of_webassembly_have_the_same_rules() -> None:
    session = Session(lambda kind, fields: None, None, True)
    answer = bridge.drive(session.run(PROGRAM.replace('"webgpu"', '"cpu"')))
    assert answer["error"] is None
    rules = {split["why"] for split in bridge.drive(session.splits())}
    assert {Rule.LAUNCHES.value, Rule.SECOND_CORE.value} <= rules
    source = bridge.drive(session.source(0))
    assert source["text"].startswith("(module")
