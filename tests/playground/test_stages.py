"""The page's record of how the nodes of a flush became kernels."""

from __future__ import annotations

from typing import Any

import pytest

from tensorweb import devices
from tensorweb.backends.kernel_backend import KernelBackend
from tensorweb.playground import bridge, policy
from tensorweb.playground.kernel_records import StageKernel, StageNode, Stages
from tensorweb.playground.session import Session

PROGRAM = """
import tensorweb as tw
x = tw.reshape(tw.linspace(0.0, 1.0, 30, device="webgpu"), (6, 5))
b = tw.arange(6.0, device="webgpu")
y = tw.exp(x.T + b) * (x.T + b) + 1
print(tw.sort(y, axis=1).sum().item())
"""


def ran(source: str) -> tuple[Session, list[Any]]:
    session = Session(lambda kind, fields: None, None, True)
    answer = bridge.drive(session.run(source))
    assert answer["error"] is None
    return session, answer["kernels"]


def stages(session: Session, kernel: int) -> Stages:
    return bridge.drive(session.stages(kernel))


def named(found: Stages, op: str) -> list[StageNode]:
    return [node for node in found["nodes"] if node["op"] == op]


def steps(kernel: StageKernel, expression: int = 0) -> list[str]:
    found = kernel["expressions"][expression]["steps"]
    return [f"{step['name']} = {step['text']}" for step in found]


def test_views_become_indices_and_equal_steps_one(webgpu: str) -> None:
    session, kernels = ran(PROGRAM)
    found = stages(session, 0)
    assert [each["kernel"] for each in found["kernels"]] == [*range(len(kernels))]
    first = found["kernels"][0]
    assert steps(first) == [
        "v0 = x[i + 5·j]",
        "v1 = j",
        "v2 = float32(v1)",
        "v3 = v0 + v2",
        "v4 = exp(v3)",
        "v5 = v4·v3",
        "v6 = c",
        "v7 = v5 + v6",
    ]
    assert first["expressions"][0]["axes"] == "i < 5, j < 6"
    views, sums = named(found, "permute"), named(found, "add")
    assert first["lost"] == [
        *({"node": view["node"], "why": "view"} for view in views),
        {"node": sums[1]["node"], "why": "equal"},
    ]
    assert first["outputs"] == [sums[-1]["node"]]
    assert sums[0]["span"] == {"line": 5, "column": 11, "endLine": 5, "endColumn": 18}


def test_every_flush_of_a_kernel_is_known_by_its_own_nodes(webgpu: str) -> None:
    session, kernels = ran(PROGRAM)
    for kernel in range(len(kernels)):
        assert stages(session, kernel) == stages(session, 0)
    with pytest.raises(LookupError, match="no kernel number 99"):
        stages(session, 99)


def test_of_a_large_flush_one_kernel_is_shown(
    webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, _ = ran(PROGRAM)
    monkeypatch.setattr(policy, "MOST_STAGE_NODES", 4)
    found = stages(session, 1)
    assert [each["kernel"] for each in found["kernels"]] == [1]
    assert [node["op"] for node in found["nodes"]] == ["add", "sort"]
    assert found["leftOut"] > 0


def test_a_plan_that_was_dropped_is_not_made_again(webgpu: str) -> None:
    session, _ = ran(PROGRAM)
    backend = devices.backend(webgpu)
    assert isinstance(backend, KernelBackend)
    backend._plans.clear()
    with pytest.raises(LookupError, match="run the program again"):
        stages(session, 0)


@pytest.mark.usefixtures("wasm")
def test_kernels_of_webassembly_have_the_same_stages() -> None:
    session, _ = ran(PROGRAM.replace('"webgpu"', '"cpu"'))
    # Its views are of a range of numbers, which no kernel stores.
    assert steps(stages(session, 0)["kernels"][0])[0] == "v0 = i + 5·j"
