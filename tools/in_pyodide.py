"""Run tests inside Pyodide, under Node: `python -m tools.in_pyodide [ARGUMENT …]`.

The repository is mounted as it stands, with the pure Python of pytest copied out of
`.venv`; nothing is fetched. There are no threads, no processes, no NumPy and no WebGPU,
and the device is `cpu`. Arguments are pytest's: tests that need none of these.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from tools import environment
from tools.process import ROOT, BuildError, output, status

PYODIDE = environment.NODE_MODULES / "pyodide"

PACKAGES = ("pytest", "pytest-timeout", "pluggy", "iniconfig", "packaging", "pygments")

PYTHON = "TENSORWEB_PYODIDE_PYTHON"
"""Names another Pyodide: a program like `python`, with `PACKAGES` installed."""

STACK_SWITCHING = {
    range(20, 24): ["--experimental-wasm-stack-switching"],
    range(24, 26): ["--experimental-wasm-jspi"],
}
"""Options with which Python can wait, by the major version of Node."""

OPTIONS = (
    *("-p", "pytest_timeout", "-o", "timeout=0", "-o", "faulthandler_timeout=0"),
    *("-p", "no:cacheprovider", "-p", "in_pyodide.selection"),
)
"""Timeouts need signals or threads, and Pyodide has neither."""

PATHS = (str(ROOT), str(ROOT / "tests"))

PROGRAM = """
import os, sys
os.chdir({root!r})
sys.dont_write_bytecode = False
sys.path[:0] = {paths!r}
import pytest
int(pytest.main({arguments!r}))
"""


def command(arguments: Sequence[str], folder: Path) -> list[str | Path]:
    """Return the command that runs pytest with a folder of this machine in reach.

    Raises:
        BuildError: pytest is not in `.venv`.
    """
    arguments = [*OPTIONS, *arguments]
    if python := os.environ.get(PYTHON):
        return [python, "-m", "pytest", *arguments]
    cache = environment.CACHE / "in-pyodide"
    bytecode = cache / "bytecode"
    bytecode.mkdir(parents=True, exist_ok=True)
    packages = str(_packages(cache))
    paths = [*PATHS, packages]
    return node_command(
        PROGRAM.format(root=str(ROOT), paths=paths, arguments=arguments),
        [str(ROOT), packages, str(bytecode), str(folder)],
    )


def node_command(
    program: str, folders: Sequence[str], wheels: Sequence[str] | None = None
) -> list[str | Path]:
    """Return the command that runs a program with folders of this machine in reach.

    Args:
        program: Python whose value is the exit code.
        folders: have the same names there.
        wheels: files to unpack there; when given, the program also has WebGPU.
    """
    details = {
        "pyodide": str(PYODIDE.resolve()),
        "folders": folders,
        "program": program,
        "wheels": wheels,
    }
    script = ROOT / "tools/in_pyodide.mjs"
    return [environment.node(), *_flags(), script, json.dumps(details)]


def variables() -> dict[str, str]:
    """Return the environment for pytest there."""
    return {
        **environment.variables(),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPYCACHEPREFIX": str(environment.CACHE / "in-pyodide/bytecode"),
        "PYTHONPATH": os.pathsep.join(PATHS),
    }


def _packages(cache: Path) -> Path:
    """Return a folder with pytest and what it needs, without compiled files."""
    versions = [importlib.metadata.version(name) for name in PACKAGES]
    folder = cache / "-".join(versions)
    if folder.is_dir():
        return folder
    draft = folder.with_suffix(".draft")
    shutil.rmtree(draft, ignore_errors=True)
    for name in PACKAGES:
        for file in importlib.metadata.files(name) or ():
            if ".." in file.parts or "__pycache__" in file.parts:
                continue
            if file.suffix in (".so", ".pyd"):
                raise BuildError(f"{name} is not pure Python: {file}")
            (draft / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(file.locate()), draft / file)
    draft.rename(folder)
    return folder


def _flags() -> list[str]:
    shown = output([environment.node(), "--version"])
    major = int(re.sub(r"v(\d+)\..*\s*", r"\1", shown))
    return next((flags for row, flags in STACK_SWITCHING.items() if major in row), [])


def main() -> int:
    """Run pytest with the arguments of the command line."""
    folder = environment.CACHE / "in-pyodide/output"
    folder.mkdir(parents=True, exist_ok=True)
    return status(command(sys.argv[1:], folder), env=variables())


if __name__ == "__main__":
    sys.exit(main())
