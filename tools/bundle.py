"""Bundle the page: TypeScript through esbuild, HTML, style sheets and pictures.

Sources name the files plainly (`main.js`, `worker.js`, `page.css`). In the site each
name carries a hash of all sources, `main-1a2b3c4d.js`, and every quoted mention of it
in HTML and scripts is rewritten, so that no cache mixes two versions of the page.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

from tools.environment import npm_tool
from tools.process import ROOT, BuildError, output

WEB = ROOT / "web"
NETWORK = WEB / "network.html"
ENTRIES = ("main.ts", "worker/worker.ts")
STATIC = {".html", ".css", ".svg", ".png", ".ico", ".webmanifest"}

ESBUILD = [
    "--bundle",
    "--format=esm",
    "--splitting",
    "--target=es2022",
    "--minify",
    "--sourcemap",
    "--log-level=warning",
    # Pyodide's loader names Node's modules on paths that no browser takes.
    "--external:node:*",
]


def bundle(out: Path) -> str:
    """Write the page's own files to `out` and return the hash in their names.

    Raises:
        BuildError: a source is missing, or esbuild refuses one.
    """
    entries = [WEB / "src" / name for name in ENTRIES]
    for path in [WEB / "index.html", *entries]:
        if not path.is_file():
            raise BuildError(f"{path.relative_to(ROOT)} is missing; the site needs it")
    version = _source_hash()
    names = [f"--entry-names=[name]-{version}", f"--chunk-names=chunk-{version}-[hash]"]
    esbuild = npm_tool("esbuild", "bin/esbuild")
    output([*esbuild, *entries, *ESBUILD, *names, f"--outdir={out}"])
    renamed = {f"{path.stem}.js": f"{path.stem}-{version}.js" for path in entries}
    for path in sorted(WEB.iterdir()):
        if path.suffix not in STATIC or path == NETWORK:
            continue
        name = path.name
        if path.suffix == ".css":
            name = renamed[path.name] = f"{path.stem}-{version}.css"
        shutil.copyfile(path, out / name)
    (out / "network").mkdir()
    shutil.copyfile(NETWORK, out / "network/index.html")
    for path in [*out.glob("*.html"), *out.glob("*.js")]:
        path.write_text(rewrite(path.read_text("utf-8"), renamed), "utf-8")
    return version


def _source_hash() -> str:
    """Return eight hexadecimal digits that change with any source of the page."""
    paths = [path for path in WEB.rglob("*") if path.is_file()]
    paths += [ROOT / "package-lock.json", Path(__file__)]
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.relative_to(ROOT).as_posix().encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:8]


def rewrite(text: str, renamed: dict[str, str]) -> str:
    """Replace each quoted name, with or without a leading `./`."""
    names = "|".join(map(re.escape, renamed))
    return re.sub(
        rf"""(["'`])(\./)?({names})\1""",
        lambda match: f"{match[1]}{match[2] or ''}{renamed[match[3]]}{match[1]}",
        text,
    )
