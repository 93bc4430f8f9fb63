"""Join the drivers' JavaScript into `tensorweb-drivers.js`, a script of the site.

Where a page's policy forbids eval, it loads this file, and the drivers find their parts
in `globalThis.tensorwebScripts`; see `tensorweb/drivers/scripts.py`, which takes a part
only if its checksum is that of the wheel's own text.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path

from tools.process import ROOT

FILE = "tensorweb-drivers.js"
DRIVERS = ROOT / "tensorweb/drivers"

OF_HELPERS = ("wasm_helper.js",)
"""What helper threads run: they get its text, the page never evaluates it."""

HEAD = "// The scripts of tensorweb's drivers, for pages whose policy forbids eval."


def write(out: Path) -> None:
    """Write the file into the folder of a site."""
    (out / FILE).write_text(text(), "utf-8")


def text() -> str:
    """Return the file's text: a classic script, and a module as well."""
    rows = [f'"checksums": {json.dumps(_checksums())}']
    for path in _scripts():
        value = path.read_text("utf-8").rstrip().removesuffix(";")
        rows.append(f'"{path.name}":\n{value}')
    return "\n".join(
        [HEAD, "globalThis.tensorwebScripts = {", ",\n".join(rows), "};\n"]
    )


def _scripts() -> list[Path]:
    paths = sorted(DRIVERS.glob("*.js"))
    return [path for path in paths if path.name not in OF_HELPERS]


def _checksums() -> dict[str, int]:
    return {path.name: zlib.crc32(path.read_bytes()) for path in _scripts()}
