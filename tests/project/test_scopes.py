"""The first line of each script of the site: it throws where it was not written for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools import scopes

SCRIPTS = ("service-worker.js", "worker-1.js", "main-1.js", "pyodide/pyodide.mjs")


def test_every_script_begins_with_its_scope(tmp_path: Path) -> None:
    (tmp_path / "pyodide").mkdir()
    for name in SCRIPTS:
        (tmp_path / name).write_text("begin();\n")
    (tmp_path / "main-1.js.map").write_text('{"mappings": "AAAA"}')
    (tmp_path / "build.json").write_text("{}")
    scopes.apply(tmp_path)
    for name in SCRIPTS:
        first, second = (tmp_path / name).read_text().splitlines()
        assert first.startswith("if (!(")
        assert "throw" in first
        assert second == "begin();"
    assert "DedicatedWorker" in (tmp_path / "worker-1.js").read_text()
    assert json.loads((tmp_path / "main-1.js.map").read_text())["mappings"] == ";AAAA"
    assert (tmp_path / "build.json").read_text() == "{}"


def test_a_script_without_a_row_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / "new.js").write_text("")
    with pytest.raises(AssertionError, match="no row"):
        scopes.apply(tmp_path)
