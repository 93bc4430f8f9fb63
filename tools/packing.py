"""Pack Pyodide's large files, so that they are short on hosts that compress nothing.

The worker unpacks them as they come (`web/src/worker/fetching.ts`). Python's standard
library is a zip archive; its entries are stored in it as they are, since packing the
whole archive makes it shorter than packing each entry.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import zipfile
from pathlib import Path

from tools import environment

ENDING = ".packed"
WASM = "pyodide.asm.wasm"
LIBRARY = "python_stdlib.zip"
NAMES = (WASM, LIBRARY)


def write(folder: Path) -> None:
    """Write the packed files next to the plain ones, which other pages may use.

    What was packed before is taken from the cache.
    """
    kept = environment.CACHE / "packed"
    kept.mkdir(parents=True, exist_ok=True)
    key = hashlib.sha256(Path(__file__).read_bytes())
    for name in NAMES:
        plain = (folder / name).read_bytes()
        digest = key.copy()
        digest.update(plain)
        packed = kept / digest.hexdigest()
        if not packed.is_file():
            draft = packed.with_suffix(".draft")
            draft.write_bytes(pack(stored(plain) if name == LIBRARY else plain))
            draft.replace(packed)
        shutil.copyfile(packed, folder / f"{name}{ENDING}")


def pack(data: bytes) -> bytes:
    """Return the bytes as a gzip stream that is the same every time."""
    return gzip.compress(data, 9, mtime=0)


def stored(archive: bytes) -> bytes:
    """Return a zip archive with the same entries, none of them compressed."""
    made = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(archive)) as old,
        zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as new,
    ):
        for entry in old.infolist():
            same = zipfile.ZipInfo(entry.filename, entry.date_time)
            same.external_attr = entry.external_attr
            new.writestr(same, old.read(entry))
    return made.getvalue()
