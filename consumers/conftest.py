"""Every test runs on the device that `TENSORWEB_CONSUMERS_DEVICE` names."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import pytest

import tensorweb as tw

# SciPy reads it when it is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")


@pytest.fixture(autouse=True)
def device() -> Iterator[str]:
    """The default device of the test."""
    name = os.environ.get("TENSORWEB_CONSUMERS_DEVICE", "cpu")
    tw.set_default_device(name)
    yield name
    # A factorization that failed and that nobody read is reported by the next read.
    with contextlib.suppress(tw.LinAlgError):
        tw.ones(1).tolist()
