"""Run other programs and report their failures in one clear line."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent

GRACE_SECONDS = 20

_bounded: set[subprocess.Popen[bytes]] = set()
"""Programs that run with a limit of seconds, each in a session of its own."""


class BuildError(Exception):
    """A step failed; the message says which and what to do."""


def status(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    seconds: float | None = None,
    log: IO[bytes] | None = None,
) -> int:
    """Run `command` in the repository with its output shown; return its exit code.

    The output goes into `log` instead where one is given.

    Raises:
        BuildError: the program is missing, or ran longer than `seconds` and was ended,
            with everything that it had started.
    """
    is_bounded = seconds is not None
    try:
        process = subprocess.Popen(
            list(map(str, command)),
            cwd=ROOT,
            env=env,
            start_new_session=is_bounded,
            stdout=log,
            stderr=log,
        )
    except FileNotFoundError as error:
        raise BuildError(f"cannot start {command[0]}: {error.strerror}") from None
    if is_bounded:
        _bounded.add(process)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        raise BuildError(f"cut off after {seconds:.0f} s: {_shown(command)}") from None
    finally:
        if process.poll() is None:
            _end(process, is_leader=is_bounded)
        _bounded.discard(process)


def end_bounded() -> None:
    """End the programs that other threads wait for with a limit of seconds."""
    for process in tuple(_bounded):
        _end(process, is_leader=True)


def output(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    folder: Path = ROOT,
) -> str:
    """Run `command` quietly in a folder and return what it printed as its output.

    Raises:
        BuildError: it failed; the message carries the end of its output.
    """
    try:
        result = subprocess.run(
            list(map(str, command)),
            cwd=folder,
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


def end_as_interrupted() -> None:
    """Let a request to terminate do what Ctrl+C does, so that nothing is left over."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def _shown(command: Sequence[str | Path]) -> str:
    return shlex.join(map(str, command))


def _end(process: subprocess.Popen[bytes], *, is_leader: bool) -> None:
    """End a program, and what it started where it leads a session of its own.

    An interrupt lets it tell what it knows and close what it opened; then it is killed.
    """
    if os.name == "nt" or not is_leader:
        process.terminate()
        process.wait()
        return
    for kind, seconds in ((signal.SIGINT, GRACE_SECONDS), (signal.SIGKILL, None)):
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, kind)
            process.wait(seconds)
