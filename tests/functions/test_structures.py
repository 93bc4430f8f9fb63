"""What moves, joins, selects, sorts and multiplies: each row of code against NumPy.

One dtype each; `e2e/test_op_table.py` runs them all in the browser.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operation_cases import Case, all_cases, rows
from structure_cases import STRUCTURES

import tensorweb as tw
from e2e.bare.op_runner import evaluate
from tensorweb.graph.node import Node
from tensorweb.graph.op import Op
from tensorweb.ops import OPS

CASES = {case.code: case for case in reversed([*rows(STRUCTURES)])}


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_values_and_kernels(case: Case, device: str) -> None:
    inputs = {name: tw.asarray(x) for name, x in case.inputs.items()}
    with tw.record_kernels() as kernels:
        result = tw.realize(evaluate(case.code, tw, inputs))
    assert isinstance(result, tw.Tensor)
    assert (result.shape, result.dtype) == (case.expected.shape, case.dtype)
    assert case.error(result.numpy()) <= case.allowed
    if device == "webgpu":
        assert case.has_run([kernel.kind for kernel in kernels])


def test_every_row_of_the_op_table_is_in_a_case(
    cpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: set[str] = set()
    build = Node.__init__

    def note(node: Node, op: Op, *rest: Any) -> None:
        used.add(op.name)
        build(node, op, *rest)

    monkeypatch.setattr(Node, "__init__", note)
    for case in all_cases():
        inputs = {name: tw.asarray(np.asarray(x)) for name, x in case.inputs.items()}
        evaluate(case.code, tw, inputs)
    # A kernel of a program has its own tests.
    assert set(OPS) - {"custom"} <= used
