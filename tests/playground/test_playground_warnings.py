"""Warnings on the page: at the program's own line, and once for each run."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import TextIO

import pytest

from tensorweb.playground import bridge
from tensorweb.playground.session import Session

NARROWED = """import numpy as np, tensorweb as tw
x = tw.asarray(np.arange(3.0), device="webgpu")
y = tw.asarray(np.arange(3), device="webgpu") + x
print(x.dtype)
"""


class Said:
    """A session and what it writes to stderr."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._session = Session(self._emit, None, True)

    def _emit(self, kind: str, fields: dict[str, object]) -> None:
        if kind == "output" and fields["stream"] == "stderr":
            self._text.append(str(fields["text"]))

    def run(self, source: str) -> str:
        self._text.clear()
        record = bridge.drive(self._session.run(source))
        assert isinstance(record, dict)
        assert record["error"] is None
        return "".join(self._text)


def show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Write a warning as Python does."""
    text = warnings.formatwarning(message, category, filename, lineno, line)
    (file or sys.stderr).write(text)


@pytest.fixture
def said() -> Iterator[Said]:
    main = sys.modules["__main__"]
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show  # pytest keeps warnings to itself otherwise
        yield Said()
    sys.modules["__main__"] = main


def test_each_run_warns_once_about_narrowed_data(said: Said, webgpu: str) -> None:
    pytest.importorskip("numpy")
    for _ in range(2):
        text = said.run(NARROWED)
        assert text.count("NarrowedDataWarning") == 1
        assert text.startswith("main.py:2: NarrowedDataWarning: float64 data became")
