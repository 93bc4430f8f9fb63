"""Small programs in NumPy's habits give what they give in NumPy."""

from __future__ import annotations

import numpy
import pytest
from numpy_habits.programs import PROGRAMS
from numpy_habits.test_statistics import differences

import tensorweb.numpy as np

ON_A_GPU = ("stripes and squares", "votes gathered in bins")


@pytest.mark.parametrize("title", PROGRAMS)
def test_a_program_agrees_with_numpy(cpu: str, title: str) -> None:
    check(title)


def test_programs_run_on_a_gpu(webgpu: str) -> None:
    for title in ON_A_GPU:
        check(title)


def check(title: str) -> None:
    """Run a program both ways and compare the answers."""
    answers = []
    for module in (np, numpy):
        names = {"np": module}
        exec(PROGRAMS[title].replace("LIBRARY", module.__name__), names)
        answers.append(names["answer"])
    assert differences(*answers) is None, title
