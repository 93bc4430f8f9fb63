"""Faults of adapters are found by kernels with known results, and worked around."""

from __future__ import annotations

import struct
from array import array
from dataclasses import replace

import pytest
from pretend_driver import PretendDriver

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends import probes
from tensorweb.backends.probes import PROBES, SAMPLES, Findings, probe
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.codegen.compiler import compile_kernel
from tensorweb.codegen.program import DEFAULT_TARGET, Target
from tensorweb.codegen.template import apply_workarounds
from tensorweb.graph.node import Node
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize
from tensorweb.waits import run_blocking
from tests.shader_corpus import value


class Wrong(PretendDriver):
    """Computes every probe rightly but those of some faults."""

    def __init__(self, *faults: str) -> None:
        super().__init__()
        self.faults = faults
        self.destroyed: list[int] = []
        self.tapes: list[list[int]] = []

    def destroy_buffer(self, buffer: int) -> None:
        self.destroyed.append(buffer)

    def submit(self, tape: array[int]) -> None:
        self.tapes.append(tape.tolist())

    def read(self, buffer: int, offset: int, size: int) -> bytes:
        parts = []
        for each in PROBES:
            right = [sample[3] for sample in probes._samples(each)]
            if each.fault in self.faults:
                right[1] += 1 if each.kind == "i32" else 7
            if each.fault in self.faults and each.kind == "f32":
                right = [0.25] * SAMPLES
            form = f"<{SAMPLES}{'f' if each.kind == 'f32' else 'i'}"
            wrap = each.kind == "i32"
            parts.append(struct.pack(form, *(int(n) if wrap else n for n in right)))
        return b"".join(parts)


def text(node: Node, target: Target) -> str:
    (planned,) = plan(linearize([node.base]), 6)
    (launch,) = compile_kernel(planned.kernel, target).launches
    assert isinstance(launch.source, str)
    return launch.source


def test_a_right_adapter_has_no_faults() -> None:
    driver = Wrong()
    assert run_blocking(probe(driver)) == Findings()
    assert len(driver.sources) == len(driver.tapes) == 1
    assert sorted(driver.destroyed) == [1, 2]


@pytest.mark.parametrize("each", PROBES, ids=lambda each: each.fault)
def test_a_wrong_result_names_its_fault(each: probes.Probe) -> None:
    found = run_blocking(probe(Wrong(each.fault)))
    assert found.faults == (each.fault,)
    assert found.workarounds == ((each.workaround,) if each.workaround else ())


def test_a_fault_switches_its_workaround_on() -> None:
    fault = "written-out integer negations are lost"
    driver = Wrong(fault)
    backend = WebGpuBackend(driver, run_blocking(probe(driver)))
    assert backend.faults == (fault,)
    target = backend._pipelines.target
    assert target.workarounds == ("negation",)
    node = tw.max(-tw.Tensor(value(64, dtype=tw.int32))).node
    changed, plain = text(node, target), text(node, DEFAULT_TARGET)
    assert "bitcast<i32>(parameters.zero) - x" in plain
    assert "bitcast<i32>(parameters.zero) - x" not in changed
    assert "x * ~bitcast<i32>(parameters.zero)" in changed


def other() -> Node:
    return (tw.Tensor(value(64)) * 2).node


def test_tiles_that_are_measured_keep_the_workarounds() -> None:
    driver = Wrong("minima lose NaN")
    backend = WebGpuBackend(driver, run_blocking(probe(driver)))
    backend.use_tiles({})
    assert backend._pipelines.target.workarounds == ("order",)


def test_the_words_of_a_plan_name_the_faults(webgpu: str) -> None:
    backend = devices.backend(webgpu)
    assert isinstance(backend, WebGpuBackend)
    explanation = str(tw.explain(tw.ones(3) + 1))
    assert all(fault in explanation for fault in backend.faults)


def test_this_adapter_passes_all_but_known_probes(webgpu: str) -> None:
    """The first four probes are what drivers are known to get wrong."""
    backend = devices.backend(webgpu)
    assert isinstance(backend, WebGpuBackend)
    assert set(backend.faults) <= {each.fault for each in PROBES[:4]}


def test_workarounds_are_right_here(
    webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = devices.backend(webgpu)
    assert isinstance(backend, WebGpuBackend)
    files = tuple({each.workaround for each in PROBES if each.workaround})
    plain = probes.source()
    changed = apply_workarounds(plain, files)
    assert changed != plain
    monkeypatch.setattr(probes, "source", lambda _: changed)
    found = run_blocking(probe(backend.driver))
    assert set(found.faults) <= {each.fault for each in PROBES[:4]}


def test_kernels_without_faults_stay_as_they_are() -> None:
    node = other()
    target = replace(DEFAULT_TARGET, workarounds=("fences", "order", "negation"))
    assert text(node, target) == text(node, DEFAULT_TARGET)
