"""Make every script of the site throw where it was not written for.

A program may start any file of the site as a worker, and in some browsers register it
as the site's service worker. The first line of each file names the global scope that
the file is for: elsewhere it throws before it has done anything.
"""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from pathlib import Path

ENDINGS = (".js", ".mjs")

PAGE = '"Window" in globalThis'
WORKER = '"DedicatedWorkerGlobalScope" in globalThis'
SERVICE = '"ServiceWorkerGlobalScope" in globalThis'
NO_SERVICE = '!("ServiceWorkerGlobalScope" in globalThis)'

ROWS = {
    "service-worker.js": SERVICE,
    "worker-*.js": WORKER,
    "main-*.js": PAGE,
    "embed-*.js": PAGE,
    "runtime-*.js": PAGE,
    "report-*.js": PAGE,
    "tensor-web.js": PAGE,
    "tensor-web-*.js": PAGE,
    "chunk-*.js": PAGE,
    "tensorweb-drivers.js": NO_SERVICE,
    "pyodide/*.mjs": NO_SERVICE,
    "docs/*.js": PAGE,
}
"""For each script of the site what must be true of the scope that evaluates it."""


def apply(site: Path) -> None:
    """Write the first line of each script, and move the lines of its source map."""
    for path in sorted(site.rglob("*")):
        if path.suffix not in ENDINGS:
            continue
        path.write_text(line(path.relative_to(site)) + path.read_text("utf-8"), "utf-8")
        sources = path.with_name(f"{path.name}.map")
        if sources.is_file():
            described = json.loads(sources.read_text("utf-8"))
            described["mappings"] = f";{described['mappings']}"
            sources.write_text(json.dumps(described), "utf-8")


def line(path: Path) -> str:
    """Return the first line of a script by its path in the site."""
    name = path.as_posix()
    found = [row for pattern, row in ROWS.items() if fnmatchcase(name, pattern)]
    assert len(found) == 1, f"internal: {name} has no row in tools/scopes.py, or two"
    return f'if (!({found[0]})) throw new Error("{path.name} is not for this scope");\n'
