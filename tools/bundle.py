"""Bundle the page: TypeScript through esbuild, HTML, style sheets and pictures.

Sources name the files plainly (`main.js`, `worker.js`, `page.css`; `main.css` has the
style sheets that modules import). In the site each name carries a hash of all sources,
`main-1a2b3c4d.js`, and every quoted mention of it in HTML and scripts is rewritten, so
that no cache mixes two versions of the page.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from tools.environment import NODE_MODULES, npm_tool
from tools.process import ROOT, BuildError, output

WEB = ROOT / "web"
FOLDERS = {f"{name}.html": name for name in ("embed", "network", "runtime")}
"""Documents that have a folder of their own in the site."""
ENTRY = "main.ts"
WORKER = "worker/worker.ts"
"""One file: browsers check what a worker imports as they check workers."""
RUNTIME = "element/runtime.ts"
EMBED = "element/embed.ts"
REPORT = "report/report.ts"
REPORTS = ROOT / "tensorweb/reports"
"""Where the wheel has the script and the style sheet of reports."""
ELEMENT = "element/tensor-web.ts"
SERVICE = "service/service-worker.ts"
FIRST = "begin.ts"
IMPORTED = re.compile(r'(?:from|import)"\./(chunk-[^"]+\.js)"')
"""A part of a script that is not loaded later."""
SLOT = "<script>BEGIN</script>"
"""Where the page has its first words; only what stands in the page comes before it."""
STATIC = {".html", ".css", ".svg", ".png", ".ico", ".webmanifest", ".json"}
LOADED_LATER = (NODE_MODULES / "@wasm-fmt/ruff_fmt/ruff_fmt_bg.wasm",)
"""Files of packages that the page fetches when somebody asks for what they do."""

ESBUILD = [
    "--bundle",
    "--target=es2022",
    "--minify",
    "--log-level=warning",
]
MODULES = [
    "--format=esm",
    "--sourcemap",
    # Pyodide's loader names Node's modules on paths that no browser takes.
    "--external:node:*",
]
OF_ELEMENT = [
    *ESBUILD,
    "--format=esm",
    "--splitting",
    # An element has its style sheets in its own root.
    "--loader:.css=text",
    # Names of parts depend on paths, which are those in this folder then.
    "--preserve-symlinks",
    "--entry-names=[name]",
]
"""Other sites name the script, so that its name stays; its parts have hashes."""


def bundle(out: Path, web: Path = WEB) -> str:
    """Write the page's own files to `out` and return the hash in their names.

    Args:
        out: folder of the site.
        web: folder of the page's sources.

    Raises:
        BuildError: a source is missing, or esbuild refuses one.
    """
    entry, *single = (web / "src" / name for name in (ENTRY, WORKER, RUNTIME, EMBED))
    alone = [web / "src" / name for name in (SERVICE, FIRST)]
    for path in [web / "index.html", entry, *single, *alone]:
        if not path.is_file():
            raise BuildError(f"{path} is missing; the site needs it")
    version = source_hash(web)
    names = [f"--entry-names=[name]-{version}", f"--chunk-names=chunk-{version}-[hash]"]
    esbuild = npm_tool("esbuild", "bin/esbuild")
    modules = [*ESBUILD, *MODULES, *names, f"--outdir={out}"]
    output([*esbuild, entry, *modules, "--splitting"])
    # A script that is loaded later does not bring its style sheet.
    with (out / f"main-{version}.css").open("a", encoding="utf-8") as sheet:
        for path in sorted(out.glob(f"chunk-{version}-*.css")):
            sheet.write(path.read_text("utf-8"))
            path.unlink()
    for path in single:
        output([*esbuild, path, *modules])
    write_element(out, version, web)
    write_report(out, names)
    service, first = ([*esbuild, path, *ESBUILD, "--format=iife"] for path in alone)
    output([*service, f"--outfile={out / 'service-worker.js'}"])
    made = [path.name for path in out.glob(f"*-{version}.*") if path.suffix != ".map"]
    renamed = {name.replace(f"-{version}", ""): name for name in sorted(made)}
    for path in sorted(web.iterdir()):
        if path.suffix not in STATIC or path.name in FOLDERS:
            continue
        name = path.name
        if path.suffix == ".css":
            name = renamed[path.name] = f"{path.stem}-{version}.css"
        shutil.copyfile(path, out / name)
    for path in LOADED_LATER:
        renamed[path.name] = f"{path.stem}-{version}{path.suffix}"
        shutil.copyfile(path, out / renamed[path.name])
    _preload(out, f"main-{version}.js")
    _begin(out / "index.html", output(first))
    for name, folder in FOLDERS.items():
        (out / folder).mkdir()
        shutil.copyfile(web / name, out / folder / "index.html")
    for path in [*out.glob("*.html"), *out.glob("*/index.html"), *out.glob("*.js")]:
        path.write_text(rewrite(path.read_text("utf-8"), renamed), "utf-8")
    return version


def write_element(out: Path, version: str, web: Path = WEB) -> None:
    """Write `tensor-web.js`, the custom element, and the parts that it loads later."""
    esbuild = npm_tool("esbuild", "bin/esbuild")
    names = f"--chunk-names=tensor-web-{version}-[hash]"
    entry = web / "src" / ELEMENT
    output([*esbuild, entry, *OF_ELEMENT, names, f"--outdir={out}"])


def write_report(folder: Path = REPORTS, names: Sequence[str] = ()) -> None:
    """Write what draws reports, without a module: one file has to hold it all."""
    esbuild = npm_tool("esbuild", "bin/esbuild")
    entry = WEB / "src" / REPORT
    # Nothing edits a kernel or asks Python there; the editor is larger than the rest.
    parts = ["--external:./edit-kernel", "--external:./stages"]
    form = ["--format=iife", *parts, f"--outdir={folder}"]
    output([*esbuild, entry, *ESBUILD, *names[:1], *form])


def _preload(out: Path, main: str) -> None:
    """Name the parts of the page's script in the page: all are fetched at once."""
    parts = [main]
    for name in parts:
        found = IMPORTED.findall((out / name).read_text("utf-8"))
        parts += sorted(set(found) - set(parts))
    links = "".join(
        f'<link rel="modulepreload" href="{name}" />\n' for name in parts[1:]
    )
    page = out / "index.html"
    page.write_text(
        page.read_text("utf-8").replace("</head>", f"{links}</head>"), "utf-8"
    )


def _begin(page: Path, script: str) -> None:
    """Write the first words into the page: nothing has to be fetched for them."""
    text = page.read_text("utf-8")
    assert SLOT in text, "internal: the page has no slot for its first words"
    script = script.strip().replace("</", "<\\/")
    page.write_text(text.replace(SLOT, f"<script>{script}</script>"), "utf-8")


def source_hash(web: Path = WEB) -> str:
    """Return eight hexadecimal digits that change with any source of the page."""
    paths = sorted(path for path in web.rglob("*") if path.is_file())
    digest = hashlib.sha256()
    named = {path.relative_to(web).as_posix(): path for path in paths}
    named |= {path.name: path for path in (ROOT / "package-lock.json", Path(__file__))}
    for name, path in named.items():
        digest.update(name.encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:8]


def rewrite(text: str, renamed: dict[str, str]) -> str:
    """Replace each quoted name, with or without a leading `./` or `../`."""
    names = "|".join(map(re.escape, renamed))
    return re.sub(
        rf"""(["'`])(\.{{1,2}}/)?({names})\1""",
        lambda match: f"{match[1]}{match[2] or ''}{renamed[match[3]]}{match[1]}",
        text,
    )


if __name__ == "__main__":
    write_report()
