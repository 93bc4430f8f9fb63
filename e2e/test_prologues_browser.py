"""Unary operations inside every kind of kernel, on WebGPU in Chromium."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import prologues
import pytest
from bare_page import BarePage, open_bare, serve_bare
from playwright.sync_api import Browser

from conftest import Serve

TOGETHER = 8
"""Operations of one kernel: SwiftShader takes longer to compile than Mesa."""

SOURCE = Path(prologues.__file__).read_text("utf-8")

BEGIN = """
from pathlib import Path
Path("prologues.py").write_text(source)
import json
import prologues
groups = prologues.grouped({together})
"""


GROUPS = prologues.grouped(TOGETHER)


@pytest.fixture(scope="module")
def python(
    chromium: Browser,
    serve: Serve,
    memory: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[BarePage]:
    """Python in a worker, with the groups of operations."""
    address = serve_bare(serve, tmp_path_factory.mktemp("bare"), memory)
    started = open_bare(chromium, address, "inWorker")
    started("resume")
    started.install()
    started("await", f"source = {SOURCE!r}")
    started("await", BEGIN.format(together=TOGETHER))
    yield started
    started.page.context.close()


EVERY = 6
"""One of EVERY groups is computed here; natively all are."""


@pytest.mark.parametrize("index", range(0, len(GROUPS), EVERY))
def test_operations_inside_kernels(index: int, python: BarePage) -> None:
    ask = f"json.dumps(prologues.differences(groups[{index}], {index}))"
    assert json.loads(python("await", ask)) == []
