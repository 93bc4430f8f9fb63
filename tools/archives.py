"""Archives that are the same for the same files: names in order, one time, no owner.

The time is that of the last commit, so that anybody can build a release again. The
compressed bytes also depend on the version of zlib that Python has.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tools.process import ROOT, BuildError, output

VARIABLE = "SOURCE_DATE_EPOCH"
"""Holds the time of archives for every builder, hatchling among them."""

FIRST = 315_532_800
"""1980, the first year that a zip archive can name; in seconds since 1970."""

FIXED = 1_580_601_600
"""The time where nothing says another one; hatchling has the same."""

RECORD = ROOT / "PKG-INFO"
"""A file that only unpacked source distributions have, with their time."""


def moment() -> int:
    """Return the time of archives in seconds since 1970.

    It is that of `SOURCE_DATE_EPOCH`, of the last commit, or of the source distribution
    that this folder was unpacked from.
    """
    if given := os.environ.get(VARIABLE):
        return max(int(given), FIRST)
    if (ROOT / ".git").exists():
        try:
            return int(output(["git", "log", "-1", "--format=%ct"]))
        except BuildError:
            return FIXED
    return int(RECORD.stat().st_mtime) if RECORD.is_file() else FIXED


def write_zip(folder: Path, target: Path, seconds: int) -> None:
    """Write the files of a folder into a zip archive."""
    date = time.gmtime(seconds)
    stamp = (date.tm_year, date.tm_mon, date.tm_mday)
    clock = (date.tm_hour, date.tm_min, date.tm_sec)
    with zipfile.ZipFile(target, "w") as archive:
        for name, path in _files(folder):
            entry = zipfile.ZipInfo(name, (*stamp, *clock))
            entry.external_attr = 0o644 << 16
            data = path.read_bytes()
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, compresslevel=9)


def write_tgz(folder: Path, target: Path, seconds: int, prefix: str) -> None:
    """Write the files of a folder into a tar archive of gzip, below a prefix."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, path in _files(folder):
            data = path.read_bytes()
            entry = tarfile.TarInfo(f"{prefix}/{name}")
            entry.size, entry.mtime, entry.mode = len(data), seconds, 0o644
            archive.addfile(entry, io.BytesIO(data))
    target.write_bytes(gzip.compress(made.getvalue(), 9, mtime=seconds))


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files below a folder, by their names in it, in order."""
    found = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_file()
    }
    yield from sorted(found.items())
