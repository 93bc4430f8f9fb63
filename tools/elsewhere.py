"""Install the pages of others in which the bare wheel is tested: JupyterLite and so on.

Runs inside `.venv` as `python -m tools.elsewhere`, by `build.py setup` and `build.py
test`; nothing else needs them. Everything is pinned and lies in a folder of its own, so
that it can neither clash with our tools nor slow their set-up: a virtual environment
with JupyterLite and marimo, the npm packages of PyScript and of marimo's Pyodide, the
wheels that their Python asks for.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from tools import environment
from tools.packages import target_of
from tools.process import ROOT, BuildError, output
from tools.site import PYODIDE
from tools.wheels import download

HOME = environment.CACHE / "elsewhere"
VENV = HOME / "venv"
SCRIPTS = VENV / ("Scripts" if os.name == "nt" else "bin")
NODE_MODULES = HOME / "node_modules"
WHEELS = HOME / "wheels"

PROGRAMS = ROOT / "requirements/elsewhere.txt"
PACKAGES = ROOT / "requirements/elsewhere-pyodide.txt"
SCRIPT_LOCKS = tuple(
    ROOT / "e2e/elsewhere" / name for name in ("package.json", "package-lock.json")
)

PROBLEM = environment.CACHE / "elsewhere.problem"
"""Says in one line why they are not there."""


def main() -> int:
    """Install what is not there yet."""
    try:
        # A lock of its own: the documents are built meanwhile.
        with environment.only_one("elsewhere.lock"):
            _install()
    except BuildError as error:
        lines = str(error).strip().splitlines()
        PROBLEM.write_text(f"{lines[0]} … {lines[-1]}"[:500], "utf-8")
        print(error, flush=True)
        return 1
    PROBLEM.unlink(missing_ok=True)
    return 0


def missing() -> str:
    """Return why the pages of others are not there, nothing where they are."""
    if environment.is_done(HOME, "elsewhere", _key()):
        return ""
    if PROBLEM.is_file():
        return PROBLEM.read_text("utf-8")
    return "not installed; `python3 build.py setup` does it"


def _key() -> str:
    return " ".join(map(environment.digest, (PROGRAMS, PACKAGES, *SCRIPT_LOCKS)))


def _install() -> None:
    if environment.is_done(HOME, "elsewhere", _key()):
        return
    print("installing JupyterLite, marimo and PyScript", flush=True)
    shutil.rmtree(HOME, ignore_errors=True)
    WHEELS.mkdir(parents=True)
    _install_programs()
    _install_scripts()
    _fetch_wheels()
    environment.mark_done(HOME, "elsewhere", _key())


def _install_programs() -> None:
    output([sys.executable, "-m", "venv", "--without-pip", VENV])
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        SCRIPTS / "python",
    ]
    # Half of the time would be compiling modules of which few are used.
    pip += ["install", "--quiet", "--no-compile", "--disable-pip-version-check"]
    pip += ["--retries", "1"]
    output([*pip, "--require-hashes", "--only-binary=:all:", "-r", PROGRAMS])


def _install_scripts() -> None:
    for lock in SCRIPT_LOCKS:
        shutil.copy(lock, HOME)
    flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]
    npm = [*environment.npm(), "ci", *flags, HOME]
    output(npm, env=environment.variables())


def _fetch_wheels() -> None:
    """Fetch what runs in Pyodide; PyYAML has no such wheel, but a part in Python."""
    text = PACKAGES.read_text("utf-8")
    download(target_of(PYODIDE), text, WHEELS)
    required, fetched = text.count("=="), len(list(WHEELS.glob("*.whl")))
    if fetched != required:
        raise BuildError(f"{PACKAGES.name}: fetched {fetched} of {required} wheels")
    _pack_python_part("yaml", "pyyaml")


def _pack_python_part(module: str, package: str) -> None:
    """Make a wheel of the Python files of an installed package."""
    site = next(VENV.glob("**/site-packages"))
    (about,) = (path for path in site.glob("*.dist-info") if _name(path) == package)
    _, version = about.stem.split("-")
    draft = HOME / "draft"
    compiled = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(site / module, draft / module, ignore=compiled)
    shutil.copytree(about, draft / about.name)
    made = Path(shutil.make_archive(str(draft), "zip", draft))
    made.rename(WHEELS / f"{package}-{version}-py3-none-any.whl")
    shutil.rmtree(draft)


def _name(about: Path) -> str:
    return about.stem.partition("-")[0].lower()


if __name__ == "__main__":
    sys.exit(main())
