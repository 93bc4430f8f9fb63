"""Build the wheel, and again with pyodide-build: the two must hold the same.

pyodide-build is what publishers for Pyodide use. It wants a recent Python and fetches
an environment of its own; where one of them cannot be had, a line says so and the wheel
is there all the same. In that environment the tests of `tests/in_pyodide` run again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import zipfile
from pathlib import Path

from tools import environment, in_pyodide, site
from tools.process import ROOT, BuildError, output, status

REQUIREMENT = "pyodide-build>=0.39,<0.40"

OLDEST_PYTHON = (3, 12)
"""What it needs; on older ones pip takes a version from years ago without a word."""

HOME = environment.CACHE / "pyodide-build"

OF_THE_TOOL = re.compile(r"^Generator: .*\n", re.MULTILINE)
"""What the tool that built a wheel says of itself."""


def run(out: Path) -> int:
    """Build the wheel into `out`, check it, and return the exit code.

    Raises:
        BuildError: a build failed, or the two wheels differ.
    """
    environment.prepare("test")
    out.mkdir(parents=True, exist_ok=True)
    ours = site.build_wheel(out)
    print(f"built {ours}", flush=True)
    try:
        tool = _tool()
    except BuildError as error:
        reason = str(error).strip().splitlines()[-1]
        print(f"not built with pyodide-build as well: {reason}", flush=True)
        return 0
    again = HOME / "wheel"
    shutil.rmtree(again, ignore_errors=True)
    output([tool, "build", ROOT, "--outdir", again], env=_variables())
    different = differences(ours, next(again.glob("*.whl")))
    if different:
        names = ", ".join(different)
        raise BuildError(f"pyodide-build's wheel and the site's differ in {names}")
    print("pyodide-build's wheel holds the same", flush=True)
    return _test(tool, ours)


def differences(one: Path, other: Path) -> list[str]:
    """Return the names of files that are not the same in two wheels."""
    mine, theirs = _files(one), _files(other)
    return sorted(name for name in mine | theirs if mine.get(name) != theirs.get(name))


def _files(wheel: Path) -> dict[str, bytes]:
    """Return a wheel's files, less the list of their digests and the tool's name."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        found = {name: archive.read(name) for name in names}
    for name in names:
        if name.endswith(".dist-info/RECORD"):
            del found[name]
        elif name.endswith(".dist-info/WHEEL"):
            found[name] = OF_THE_TOOL.sub("", found[name].decode()).encode()
    return found


def _tool() -> Path:
    """Return the program `pyodide`, with the environment of our Pyodide.

    Raises:
        BuildError: it cannot be had; the last line says why.
    """
    if sys.version_info[:2] < OLDEST_PYTHON:
        oldest, mine = (
            ".".join(map(str, v[:2])) for v in (OLDEST_PYTHON, sys.version_info)
        )
        raise BuildError(f"it needs Python {oldest} or later, and this is {mine}")
    scripts = HOME / "venv" / environment.SCRIPTS.name
    if not scripts.is_dir():
        output([sys.executable, "-m", "venv", HOME / "venv"])
    output([scripts / "python", "-m", "pip", "install", "--quiet", REQUIREMENT])
    tool = scripts / "pyodide"
    package = (in_pyodide.PYODIDE / "package.json").read_text("utf-8")
    version = json.loads(package)["version"]
    output([tool, "xbuildenv", "install", version], env=_variables())
    return tool


def _test(tool: Path, wheel: Path) -> int:
    """Run the tests inside Pyodide with the environment's own Python."""
    folder = HOME / "pyodide"
    shutil.rmtree(folder, ignore_errors=True)
    output([tool, "venv", folder], env=_variables())
    python = folder / "bin/python"
    needed: list[str | Path] = [wheel, *in_pyodide.PACKAGES]
    output([python, "-m", "pip", "install", "--quiet", *needed], env=_variables())
    tests = "tests/in_pyodide/test_inside.py"
    command: list[str | Path] = [environment.PYTHON, "-m", "pytest", "-q", "-n", "0"]
    env = {**environment.variables(), in_pyodide.PYTHON: str(python)}
    return status([*command, tests], env=env)


def _variables() -> dict[str, str]:
    """Return the environment for pyodide-build: Node on the path, its files here."""
    return {**environment.variables(), "XDG_CACHE_HOME": os.fspath(HOME / "cache")}
