"""Statements of every topic of `tensorweb.numpy` give what NumPy gives."""

from __future__ import annotations

import pytest
from numpy_habits.comparison import compared
from numpy_habits.statements import DATA, TOPICS


@pytest.mark.parametrize("topic", TOPICS)
def test_statements_agree_with_numpy(cpu: str, topic: str) -> None:
    assert compared(TOPICS[topic], DATA) == []


def test_statements_on_a_gpu(webgpu: str) -> None:
    chosen = [row for rows in TOPICS.values() for row in rows[4::11][:3]]
    assert compared(chosen, DATA) == []
