"""Tell the service worker what a site consists of: digest and headers of each file.

The table stands in the first line of `service-worker.js`, whose code is bundled from
`web/src/service/`. A browser that finds another first line has found another build.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from tensorweb.site_server import (
    HEADERS_FILE,
    MIME_TYPES,
    SHARED,
    headers_of,
    read_rules,
)
from tools import packing

SCRIPT = "service-worker.js"
START = "self.tensorwebSite = "
BUILD = "build.json"
INDEX = "index.html"
SLOT = re.compile(r'(<html [^>]*data-build=")[^"]*"')
"""Where the page has the number of its build."""

UNUSED = ("card.png", *(f"pyodide/{name}" for name in packing.NAMES))
"""What the page itself never loads."""

LATER = (".whl", ".wasm")
"""Packages and the formatter: kept by those who have used them once."""

OF_READERS = ("docs/", "embed", "runtime", "tensor-web")
"""How the names of documents and of the element's files begin: kept by those who have
read a page with them."""


def write(site: Path, *, live: bool = False) -> None:
    """Number the build of a whole site and write its table; may be done again.

    Args:
        site: folder of the site.
        live: whether the page should look at each visit if it was built anew, as in
            development; else it shows what it has and looks for another build then.
    """
    _number(site, "")
    number = _digest_of_all(site)[:16]
    _number(site, number)
    rules = read_rules(site)
    rows: list[dict[str, str]] = []
    files: dict[str, tuple[str, int, bool]] = {}
    for path in _paths(site):
        kind = MIME_TYPES.get(Path(path).suffix, MIME_TYPES[""])
        headers = SHARED | headers_of(rules, f"/{path}")
        headers["Content-Type"] = kind
        if headers not in rows:
            rows.append(headers)
        is_late = path.startswith(OF_READERS) or path.endswith(LATER)
        is_kept = not (path in UNUSED or is_late)
        files[path] = (_digest(site / path), rows.index(headers), is_kept)
    described = {
        "id": number,
        "live": live,
        "files": files,
        "headers": rows,
        "shared": SHARED,
    }
    text = f"{START}{json.dumps(described)};\n{_code(site)}"
    (site / SCRIPT).write_text(text, "utf-8")


def table(site: Path) -> dict[str, Any]:
    """Return the table of a site: `id`, `live`, `files`, `headers`, `shared`."""
    first = (site / SCRIPT).read_text("utf-8").partition("\n")[0]
    found: dict[str, Any] = json.loads(first.removeprefix(START).removesuffix(";"))
    return found


def _code(site: Path) -> str:
    """Return the service worker's script without a table."""
    lines = (site / SCRIPT).read_text("utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(START))


def _paths(site: Path) -> list[str]:
    """Return the paths of the files that a page can ask for."""
    paths = sorted(path for path in site.rglob("*") if path.is_file())
    names = [path.relative_to(site).as_posix() for path in paths]
    excluded = (SCRIPT, HEADERS_FILE)
    return [
        name for name in names if name not in excluded and not name.endswith(".map")
    ]


def _number(site: Path, number: str) -> None:
    """Write the number of a build into the page and into `build.json`."""
    page = site / INDEX
    text, found = SLOT.subn(rf'\g<1>{number}"', page.read_text("utf-8"))
    assert found == 1, f"internal: {INDEX} has no slot for the number of its build"
    page.write_text(text, "utf-8")
    described = json.loads((site / BUILD).read_text("utf-8"))
    described["site"] = number
    (site / BUILD).write_text(json.dumps(described, indent=1), "utf-8")


def _digest_of_all(site: Path) -> str:
    digest = hashlib.sha256()
    for path in _paths(site):
        digest.update(f"{path} {_digest(site / path)}\n".encode())
    digest.update(_code(site).encode())
    return digest.hexdigest()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
