"""Derivatives in the page: equal to native ones, on the GPU as well."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from page_driver import PageDriver

import tensorweb as tw

CASES = Path(__file__).parent / "bare/gradients.py"

SOURCE = """{cases}
import json
with tw.device("cpu"):
    print(json.dumps(answers()))
with tw.device("webgpu"):
    print(json.dumps(answers(SHORT)))
"""


def test_gradients_in_the_page_equal_the_native_ones(shared: PageDriver) -> None:
    assert shared.run(SOURCE.format(cases=CASES.read_text("utf-8"))) == "ready"
    on_cpu, on_gpu = map(json.loads, shared.output.split("\n")[:2])
    with tw.device("cpu"):
        module = runpy.run_path(str(CASES))
        expected = module["answers"]()
    assert (on_cpu.keys(), set(on_gpu)) == (expected.keys(), set(module["SHORT"]))
    for name, numbers in expected.items():
        assert on_cpu[name] == pytest.approx(numbers, rel=1e-6, abs=1e-7), name
        if name in on_gpu:
            assert on_gpu[name] == pytest.approx(numbers, rel=2e-4, abs=2e-5), name
