"""Prepare files for a fast start: add bytecode, and compress what the worker fetches.

The worker decompresses these files as they arrive (`web/src/worker/fetching.ts`), so
that hosts need not compress. What has many files is compressed as a whole, which makes
it shorter than each entry alone. `tools/bytecode.mjs` adds the bytecode.
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from tools import environment
from tools.process import ROOT, output

ENDING = ".packed"
WASM = "pyodide.asm.wasm"
LIBRARY = "python_stdlib.zip"
NAMES = (WASM, LIBRARY)

BYTECODE = ROOT / "tools/bytecode.mjs"

OURS = f"tensorweb{ENDING}"
"""The files of our wheel, with bytecode; of what has bytecode without the source."""

LATER = f"later{ENDING}"
"""Sources of ours and of the standard library that no start reads."""


def write(pyodide: Path, wheel: Path, out: Path) -> None:
    """Write the compressed files into the site, next to Pyodide's plain ones.

    Args:
        pyodide: folder of Pyodide's files.
        wheel: ours.
        out: the folder of the site.
    """
    targets = [out / f"pyodide/{LIBRARY}{ENDING}", out / OURS, out / LATER]
    digest = hashlib.sha256()
    for path in (wheel, BYTECODE, Path(__file__), pyodide / "package.json"):
        digest.update(path.read_bytes())
    kept = [_cached(digest.hexdigest(), target.name) for target in targets]
    if not all(path.is_file() for path in kept):
        drafts = [path.with_suffix(".draft") for path in kept]
        output([environment.node(), BYTECODE, pyodide, wheel, *drafts])
        _pack(drafts, kept)
    wasm = _cached(hashlib.sha256((pyodide / WASM).read_bytes()).hexdigest(), WASM)
    if not wasm.is_file():
        draft = wasm.with_suffix(".draft")
        shutil.copyfile(pyodide / WASM, draft)
        _pack([draft], [wasm])
    targets.append(out / f"pyodide/{WASM}{ENDING}")
    for source, target in zip([*kept, wasm], targets, strict=True):
        shutil.copyfile(source, target)


def _cached(digest: str, name: str) -> Path:
    folder = environment.CACHE / "packed"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{digest[:32]}-{name}"


def _pack(drafts: Sequence[Path], targets: Sequence[Path]) -> None:
    """Compress files, and remove them."""
    for draft, target in zip(drafts, targets, strict=True):
        whole = draft.with_suffix(".whole")
        whole.write_bytes(pack(draft.read_bytes()))
        whole.replace(target)
        draft.unlink()


def pack(data: bytes) -> bytes:
    """Return the bytes as a gzip stream that is the same every time."""
    return gzip.compress(data, 9, mtime=0)
