"""Prepare files for a fast start: compress Pyodide's, add bytecode to our wheel.

The worker decompresses Pyodide's files as they arrive (`web/src/worker/fetching.ts`),
so that hosts need not compress. Python's standard library is a zip archive; its entries
are stored uncompressed, since compressing the whole archive makes it shorter than
compressing each entry. `tools/bytecode.mjs` adds the bytecode.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

from tools import environment
from tools.process import ROOT, output

ENDING = ".packed"
WASM = "pyodide.asm.wasm"
LIBRARY = "python_stdlib.zip"
NAMES = (WASM, LIBRARY)


BYTECODE = ROOT / "tools/bytecode.mjs"
COMPILED = "tensorweb-compiled.whl"


def write(folder: Path) -> None:
    """Write Pyodide's compressed files next to the plain ones, for other pages."""
    for name in NAMES:
        source = folder / name

        def compress(target: Path, source: Path = source) -> None:
            plain = source.read_bytes()
            target.write_bytes(pack(stored(plain) if source.name == LIBRARY else plain))

        _cached(folder / f"{name}{ENDING}", [source, Path(__file__)], compress)


def write_compiled(pyodide: Path, wheel: Path, out: Path) -> None:
    """Write a copy of our wheel with bytecode for this Pyodide into the site."""

    def add_bytecode(target: Path) -> None:
        output([environment.node(), BYTECODE, pyodide, wheel, target])

    _cached(out / COMPILED, [wheel, BYTECODE, pyodide / "package.json"], add_bytecode)


def _cached(
    target: Path, inputs: Iterable[Path], write: Callable[[Path], None]
) -> None:
    """Write a file, or copy it from the cache if its inputs have not changed."""
    folder = environment.CACHE / "packed"
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    for path in inputs:
        digest.update(path.read_bytes())
    cached = folder / digest.hexdigest()
    if not cached.is_file():
        draft = cached.with_suffix(".draft")
        write(draft)
        draft.replace(cached)
    shutil.copyfile(cached, target)


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
