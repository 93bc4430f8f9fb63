"""What type checkers see: mypy and pyright, both strict, on programs of users.

A line of a program that ends in `# wrong` must be an error of both, no other line.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import tensorweb as tw
from tools import environment

pytestmark = pytest.mark.needs_processes

ROOT = Path(__file__).resolve().parents[2]

PROGRAMS = sorted((ROOT / "tests/typed_programs").glob("*.py"))

PYRIGHT = environment.NODE_MODULES / "pyright/index.js"


def planted(program: Path) -> set[int]:
    """Return the numbers of the lines that are wrong."""
    lines = program.read_text("utf-8").splitlines()
    return {n for n, line in enumerate(lines, 1) if line.endswith("# wrong")}


def missing(program: Path, found: dict[int, str]) -> tuple[set[int], dict[int, str]]:
    """Return the wrong lines that were not found, and errors of other lines."""
    wrong = planted(program)
    assert wrong
    others = {line: text for line, text in found.items() if line not in wrong}
    return wrong - found.keys(), others


def installed(folder: Path) -> Path:
    """Make an environment in which the library is a package of others."""
    packages = folder / "venv/lib/python3.11/site-packages"
    packages.mkdir(parents=True)
    for module in (tw, numpy):
        source = Path(str(module.__file__)).parent
        (packages / source.name).symlink_to(source, target_is_directory=True)
    return packages


@pytest.mark.needs_processes
def test_pyright_reports_exactly_the_mistakes(tmp_path: Path) -> None:
    if not PYRIGHT.exists():
        pytest.skip("pyright is not in node_modules; build.py test installs it")
    installed(tmp_path)
    settings = {
        "typeCheckingMode": "strict",
        "reportUnusedExpression": False,
        "venvPath": str(tmp_path),
        "venv": "venv",
        "pythonVersion": "3.11",
    }
    names = tmp_path / "names.py"
    public = [name for name in tw.__all__ if not name.startswith("__array_names")]
    lines = ["import tensorweb as tw", *(f"tw.{name}" for name in public)]
    names.write_text("\n".join(lines))
    for program in PROGRAMS:
        (tmp_path / program.name).write_text(program.read_text("utf-8"))
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [*environment.npm_tool("pyright", "index.js"), "--outputjson"]
    done = subprocess.run(
        [*command, "--project", tmp_path], capture_output=True, text=True, check=False
    )
    found: dict[str, dict[int, str]] = {}
    for each in json.loads(done.stdout)["generalDiagnostics"]:
        errors = found.setdefault(Path(each["file"]).name, {})
        errors[each["range"]["start"]["line"] + 1] = each["message"]
    assert found.pop("names.py", {}) == {}
    for program in PROGRAMS:
        assert missing(program, found[program.name]) == (set(), {})


@pytest.mark.needs_processes
def test_mypy_reports_exactly_the_mistakes() -> None:
    """What the project's own check has kept is not looked at again."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *PROGRAMS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    for program in PROGRAMS:
        pattern = rf"{re.escape(program.name)}:(\d+): error: (.*)"
        found = {int(n): text for n, text in re.findall(pattern, done.stdout)}
        assert missing(program, found) == (set(), {})
