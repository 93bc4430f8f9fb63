"""The SHA-256 of the wheels that the site may fetch: `requirements/pyodide.txt`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from tools.process import ROOT

PINS = ROOT / "requirements/pyodide.txt"

Pins = Mapping[tuple[str, str], frozenset[str]]
"""The SHA-256 that wheels of a package may have, by its name and version."""


def read(path: Path = PINS) -> Pins:
    """Return the pins of a file in pip's format."""
    lines = path.read_text("utf-8").replace("\\\n", " ").splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    found = {}
    for package, *options in rows:
        name, version = package.split("==")
        hashes = (option.removeprefix("--hash=sha256:") for option in options)
        found[name, version] = frozenset(hashes)
    return found


def requirement(name: str, version: str, hashes: frozenset[str]) -> str:
    """Return one pin as such a file has it."""
    options = [f"    --hash=sha256:{known}" for known in sorted(hashes)]
    return " \\\n".join([f"{name}=={version}", *options]) + "\n"


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
