"""The folder in which programs open files: what lies there, in and out."""

from __future__ import annotations

import os
import stat
from base64 import b64decode, b64encode
from pathlib import Path

from tensorweb.errors import DataError

from .records import FileContent, FileRecord

MOST_FILES = 500
MOST_BYTES = 24_000_000
LONGEST_NAME = 200


def listing() -> list[FileRecord]:
    """Return the plain files of the program's folder by name, hidden ones left out."""
    found: list[FileRecord] = []
    with os.scandir() as entries:
        for entry in entries:
            if not entry.name.startswith(".") and entry.is_file(follow_symlinks=False):
                found.append({"name": entry.name, "bytes": entry.stat().st_size})
    return sorted(found, key=lambda file: file["name"])[:MOST_FILES]


def read(name: str) -> FileContent:
    """Return a file's bytes in base64.

    Raises:
        DataError: there is no such file, or it is too large for the page.
    """
    path = path_of(name)
    size = path.lstat().st_size if path.exists() else 0
    if not path.exists() or not stat.S_ISREG(path.lstat().st_mode):
        raise DataError(f"there is no file {name!r} any more")
    if size > MOST_BYTES:
        raise DataError(f"{name!r} has {size:,} bytes, more than the page hands out")
    return {"data": b64encode(path.read_bytes()).decode()}


def write(name: str, data: str) -> list[FileRecord]:
    """Put a file into the folder, in the place of one of that name; return the list."""
    path = path_of(name)
    if path.is_symlink():
        path.unlink()
    path.write_bytes(b64decode(data))
    return listing()


def path_of(name: str) -> Path:
    """Return where a file of that name is; refuse what is no plain name."""
    is_plain = name == os.path.basename(name) and name not in ("", ".", "..")
    if not is_plain or "\0" in name or len(name) > LONGEST_NAME:
        raise DataError(f"{name[:LONGEST_NAME]!r} is no name for a file")
    return Path(name)
