"""Run other programs and turn their failures into one clear line."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class BuildError(Exception):
    """A step failed; the message says which and what to do."""


def status(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> int:
    """Run `command` in the repository with its output shown; return its exit code.

    Raises:
        BuildError: the program is missing, or ran longer than `seconds`.
    """
    try:
        return subprocess.run(
            list(map(str, command)), cwd=ROOT, env=env, timeout=seconds, check=False
        ).returncode
    except FileNotFoundError as error:
        raise BuildError(f"cannot start {command[0]}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise BuildError(f"stopped after {seconds:.0f} s: {_shown(command)}") from None


def output(
    command: Sequence[str | Path], *, env: Mapping[str, str] | None = None
) -> str:
    """Run `command` quietly and return what it printed on standard output.

    Raises:
        BuildError: it failed; the message carries the end of its output.
    """
    try:
        result = subprocess.run(
            list(map(str, command)),
            cwd=ROOT,
            env=env,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except FileNotFoundError as error:
        raise BuildError(f"cannot start {command[0]}: {error.strerror}") from None
    if result.returncode:
        tail = (result.stdout + result.stderr).strip()[-4000:]
        raise BuildError(f"failed: {_shown(command)}\n{tail}")
    return result.stdout


def _shown(command: Sequence[str | Path]) -> str:
    return shlex.join(map(str, command))
