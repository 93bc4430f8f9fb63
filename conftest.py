"""Examples in docstrings run on the cpu device, with `tw` already imported."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from _pytest.doctest import DoctestItem

import tensorweb
from tensorweb.devices import device


@pytest.fixture(autouse=True)
def _examples_on_cpu(
    request: pytest.FixtureRequest, doctest_namespace: dict[str, object]
) -> Iterator[None]:
    if not isinstance(request.node, DoctestItem):
        yield
        return
    doctest_namespace["tw"] = tensorweb
    with device("cpu"):
        yield
