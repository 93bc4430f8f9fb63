"""Every unary operation inside every kind of kernel, on the native device."""

from __future__ import annotations

import pytest
from prologues import Operation, differences, grouped, operations

from tensorweb.ops import OPS

TOGETHER = 6
"""Operations of one kernel: compiling each alone would take minutes."""


def test_every_unary_operation_is_there() -> None:
    unary = {op.name for op in OPS.values() if op.kind == "map" and op.arity == 1}
    assert unary - {operation.name.split()[0] for operation in operations()} == set()


@pytest.mark.parametrize(
    ("index", "operation"),
    list(enumerate(grouped(TOGETHER))),
    ids=lambda value: value.name if isinstance(value, Operation) else "",
)
def test_operations_inside_kernels(
    index: int, operation: Operation, webgpu: str
) -> None:
    assert differences(operation, index) == []
