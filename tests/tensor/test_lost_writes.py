"""Writes into tensors that nobody holds warn; no other write does, on any Python."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import lost_write_cases
import pytest

import tensorweb as tw
from tensorweb.errors import LostWriteWarning

ROOT = Path(__file__).parents[2]
PYODIDE = ROOT / "node_modules" / "pyodide"


def test_lost_writes_are_told_from_others() -> None:
    lost_write_cases.check()


SCRIPT = """
import { readFileSync } from "fs";
const [folder, archive] = process.argv.slice(1);
const { loadPyodide } = await import(folder + "/pyodide.mjs");
const python = await loadPyodide({ indexURL: folder + "/" });
python.unpackArchive(new Uint8Array(readFileSync(archive)), "zip");
python.runPython("import sys; sys.path.insert(0, '.')");
console.log(python.runPython(
  "import lost_write_cases; lost_write_cases.check(); sys.version.split()[0]"));
"""


def test_the_python_of_the_browser_tells_them_as_well(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None or not (PYODIDE / "pyodide.asm.wasm").exists():
        pytest.skip("no Node.js or no Pyodide: run `python3 build.py setup`")
    tree = tmp_path / "tree"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "tensorweb", tree / "tensorweb", ignore=ignored)
    shutil.copy(ROOT / "tests" / "lost_write_cases.py", tree)
    archive = shutil.make_archive(str(tmp_path / "tree"), "zip", tree)
    command = [node, "--input-type=module", "-e", SCRIPT, str(PYODIDE), archive]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split()[-1].startswith("3.")


def test_the_warning_names_the_line(device: str) -> None:
    a = tw.zeros((2, 3))
    with pytest.warns(LostWriteWarning, match=r"write a\[1, 2\] = … with") as caught:
        a[1][2] = 5
    assert caught[0].filename == __file__
    assert not a.any()


def test_rows_of_a_loop(device: str) -> None:
    a = tw.zeros((2, 3))
    with pytest.warns(LostWriteWarning, match="wrote into row [01]") as caught:
        lost_write_cases.write_rows(a)
    assert caught[0].filename == lost_write_cases.__file__
    assert len(caught) == 2


def test_rows_that_are_kept_do_not_warn(device: str) -> None:
    a = tw.zeros((2, 3))
    rows = []
    for row in a:
        row[0] = 1
        rows.append(row)
    assert [row.tolist() for row in rows] == [[1.0, 0.0, 0.0]] * 2
    for row, number in zip(a, (1, 2), strict=True):
        assert row.sum() + number > 0
    for row in a:
        row = row + 1
        row[0] = 2
