"""Lint and type-check: ruff, mypy strict, the TypeScript compiler strict."""

from __future__ import annotations

from pathlib import Path

from tools import environment
from tools.process import ROOT, status


def run() -> list[str]:
    """Run every check with its output shown and return the names of failed checks."""
    env = environment.variables()
    tsc = environment.npm_tool("typescript", "bin/tsc")
    commands: dict[str, list[str | Path]] = {
        "ruff check": ["ruff", "check"],
        "ruff format": ["ruff", "format", "--check"],
        "mypy": ["mypy"],
        "tsc": tsc,
        "tsc of the drivers": [*tsc, "-p", ROOT / "tsconfig.drivers.json"],
        "tsc of the service worker": [*tsc, "-p", ROOT / "tsconfig.service.json"],
    }
    failed = []
    for name, command in commands.items():
        print(f"\n== {name}", flush=True)
        if not name.startswith("tsc"):
            command = [environment.PYTHON, "-m", *command]
        if status(command, env=env):
            failed.append(name)
    return failed
