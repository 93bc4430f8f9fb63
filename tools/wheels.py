"""Find wheels that run in Pyodide: a folder, then PyPI, then Pyodide's own CDN.

Runs inside `.venv` (`packaging`). Versions are those of the lock file that Pyodide was
released with, and what is fetched or was kept must have a pinned SHA-256. The folder is
its owner's choice: any version that fits the platform counts, and what is not pinned is
said to be so.
"""

from __future__ import annotations

import email
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http.client import HTTPException
from pathlib import Path
from typing import Any, Literal

from packaging.requirements import Requirement
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import (
    InvalidWheelFilename,
    canonicalize_name,
    parse_wheel_filename,
)
from packaging.version import Version

from tools import pins
from tools.pins import Pins

CDN = "https://cdn.jsdelivr.net/pyodide/v{pyodide}/full/{file_name}"
CDN_SECONDS = 5


@dataclass(frozen=True)
class Wheel:
    """A wheel on disk: canonical name, what it needs in Pyodide, where it came from."""

    path: Path
    name: str
    version: str
    needs: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class Target:
    """The Pyodide that the wheels are for, and the packages it was released with."""

    pyodide: str
    python: str
    platform: str
    abi_version: str
    arch: Literal["wasm32", "wasm64"]
    locked: Mapping[str, Any]

    @classmethod
    def of_lock(cls, lock: Mapping[str, Any], pyodide: str) -> Target:
        """Read the target from the lock file of Pyodide's release `pyodide`."""
        info = lock["info"]
        return cls(
            pyodide=pyodide,
            python=info["python"],
            platform=info["platform"],
            abi_version=info["abi_version"],
            arch=info["arch"],
            locked=lock["packages"],
        )

    @property
    def wheel_platform(self) -> str:
        """The platform tag of PEP 783, such as `pyemscripten_2026_0_wasm32`."""
        return f"pyemscripten_{self.abi_version}_{self.arch}"

    @property
    def tags(self) -> frozenset[Tag]:
        """The tags of wheels that run there."""
        major, minor = map(int, self.python.split(".")[:2])
        platforms = [self.wheel_platform]
        binary = cpython_tags((major, minor), platforms=platforms)
        return frozenset(
            [*binary, *compatible_tags((major, minor), f"cp{major}{minor}", platforms)]
        )

    @property
    def markers(self) -> dict[str, str]:
        """The environment markers of PEP 508 there."""
        return {
            "extra": "",
            "implementation_name": "cpython",
            "implementation_version": self.python,
            "os_name": "posix",
            "platform_machine": self.arch,
            "platform_python_implementation": "CPython",
            "platform_release": self.platform.partition("_")[2].replace("_", "."),
            "platform_system": "Emscripten",
            "platform_version": "#1",
            "python_full_version": self.python,
            "python_version": self.python.rpartition(".")[0],
            "sys_platform": "emscripten",
        }

    def fits(self, path: Path) -> bool:
        """Tell whether the wheel `path` runs there, by its file name."""
        try:
            return not self.tags.isdisjoint(parse_wheel_filename(path.name)[3])
        except InvalidWheelFilename:
            return False

    def read(self, path: Path, source: str = "built here") -> Wheel:
        """Read name, version and needs of a wheel from its metadata."""
        with zipfile.ZipFile(path) as archive:
            entry = next(
                name
                for name in archive.namelist()
                if name.count("/") == 1 and name.endswith(".dist-info/METADATA")
            )
            metadata = email.message_from_string(archive.read(entry).decode("utf-8"))
        needs = map(Requirement, metadata.get_all("Requires-Dist", []))
        names = {
            canonicalize_name(need.name)
            for need in needs
            if need.marker is None or need.marker.evaluate(self.markers)
        }
        name = canonicalize_name(metadata["Name"])
        return Wheel(path, name, metadata["Version"], tuple(sorted(names)), source)


class Sources:
    """Everywhere a wheel may come from, in the order in which it is asked."""

    def __init__(
        self, target: Target, cache: Path, folder: Path | None, allowed: Pins
    ) -> None:
        self.target = target
        self.cache = cache / target.pyodide
        self.folder = folder
        self.allowed = allowed
        self._in_folder = self._newest(folder, f"--wheels {folder}") if folder else {}

    def folder_names(self) -> list[str]:
        """Return the names of the packages in the folder."""
        return sorted(self._in_folder)

    def find(self, name: str) -> Wheel | None:
        """Return the wheel of package `name`, or None when no source has one."""
        if name in self._in_folder:
            return self._in_folder[name]
        row = self.target.locked.get(name)
        if row is None:
            return None
        for source, fetch in (("PyPI", self._from_pypi), ("CDN", self._from_cdn)):
            if wheel := self._fetched(name, row, source, fetch):
                return wheel
        return None

    def advice(self, name: str) -> str:
        """Say where a package that was not found could come from."""
        row = self.target.locked.get(name)
        if row is None:
            return f"Pyodide {self.target.pyodide} was released without it"
        return (
            f"no source gave {row['version']}: put {row['file_name']} into a folder "
            "and name it with --wheels"
        )

    def is_pinned(self, wheel: Wheel) -> bool:
        """Tell whether the wheel's content is one of those allowed for its version."""
        return pins.digest(wheel.path) in self._hashes(wheel.name, wheel.version)

    def _hashes(self, name: str, version: str) -> frozenset[str]:
        """Return what is pinned here, and by the lock file of Pyodide's release."""
        row = self.target.locked.get(name, {})
        own = {row["sha256"]} if row.get("version") == version else set()
        return self.allowed.get((name, version), frozenset()) | own

    def _fetched(
        self,
        name: str,
        row: Mapping[str, Any],
        source: str,
        fetch: Callable[[str, Mapping[str, Any], Path], None],
    ) -> Wheel | None:
        """Return the wheel from this source's cache, filling it at the first time."""
        folder = self.cache / source.lower() / f"{name}-{row['version']}"
        hashes = self._hashes(name, row["version"])
        if path := _pinned(folder, hashes):
            return self._released(path, row, f"{source}, kept from an earlier build")
        folder.mkdir(parents=True, exist_ok=True)
        fetch(name, row, folder)
        path = _pinned(folder, hashes)
        return self._released(path, row, source) if path else None

    def _released(self, path: Path, row: Mapping[str, Any], source: str) -> Wheel:
        """Return a wheel; of the release's own the lock file says what it needs."""
        wheel = self.target.read(path, source)
        if pins.digest(path) != row.get("sha256"):
            return wheel
        return replace(wheel, needs=tuple(sorted(row.get("depends", wheel.needs))))

    def _newest(self, folder: Path, source: str) -> dict[str, Wheel]:
        """Return the newest fitting wheel of each package in `folder`."""
        fitting = filter(self.target.fits, sorted(folder.glob("*.whl")))
        wheels = [self.target.read(path, source) for path in fitting]
        wheels.sort(key=lambda wheel: Version(wheel.version))
        return {wheel.name: wheel for wheel in wheels}

    def _from_pypi(self, name: str, row: Mapping[str, Any], folder: Path) -> None:
        version = row["version"]
        if hashes := self.allowed.get((name, version)):
            download(self.target, pins.requirement(name, version, hashes), folder)

    def _from_cdn(self, name: str, row: Mapping[str, Any], folder: Path) -> None:
        file_name = row["file_name"]
        url = CDN.format(pyodide=self.target.pyodide, file_name=file_name)
        try:
            with urllib.request.urlopen(url, timeout=CDN_SECONDS) as answer:
                (folder / file_name).write_bytes(answer.read())
        except (OSError, HTTPException):
            return


def _pinned(folder: Path, hashes: frozenset[str]) -> Path | None:
    """Return the wheel in `folder` that has one of the hashes; remove the others."""
    found = None
    for path in sorted(folder.glob("*.whl")):
        if pins.digest(path) in hashes:
            found = path
        else:
            print(f"  {path.name}: removed, not the pinned file", flush=True)
            path.unlink()
    return found


def download(target: Target, requirements: str, folder: Path) -> None:
    """Let pip put what `requirements` asks for into `folder`, as far as PyPI has it.

    With hashes in the text, pip takes files that have one of them and no others.
    """
    python = target.python.rpartition(".")[0]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--disable-pip-version-check", "--only-binary=:all:"]
    command += ["--platform", target.wheel_platform]
    command += ["--implementation", "cp", "--python-version", python]
    command += ["--abi", f"cp{python.replace('.', '')}", "--abi", "none"]
    command += ["--retries", "1", "--dest", str(folder), "--requirement"]
    with tempfile.TemporaryDirectory() as draft:
        asked = Path(draft, "requirements.txt")
        asked.write_text(requirements, "utf-8")
        subprocess.run([*command, str(asked)], capture_output=True, check=False)
