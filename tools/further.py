"""The second virtual environment: other people's libraries and suites of tests.

`.cache/further`, from `requirements/further.txt`. They are too large for what every
change runs; `build.py array-api` and `build.py consumers` make it when they need it.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from tools.environment import CACHE, digest, is_done, mark_done, only_one
from tools.process import ROOT, output

VENV = CACHE / "further"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
LOCK = ROOT / "requirements/further.txt"


def prepare() -> Path:
    """Make the environment where it is missing or old; return its Python.

    Raises:
        BuildError: an installer failed; its output is in the message.
    """
    key = f"{sys.version} {digest(LOCK)}"
    with only_one():
        if not is_done(VENV, "further", key) or not PYTHON.exists():
            print(
                f"installing {LOCK.relative_to(ROOT)} into .cache/further", flush=True
            )
            shutil.rmtree(VENV, ignore_errors=True)
            output([sys.executable, "-m", "venv", VENV])
            command: list[str | Path] = [PYTHON, "-m", "pip", "install", "--quiet"]
            command += ["--disable-pip-version-check", "--require-hashes"]
            output([*command, "--only-binary=:all:", "-r", LOCK])
            mark_done(VENV, "further", key)
    return PYTHON


def variables(**more: str) -> dict[str, str]:
    """Return the environment for a program of it, which finds tensorweb and tools."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path.strip(os.pathsep), **more}
