"""Pages of others with our wheel: JupyterLite, marimo, PyScript, Pyodide alone.

Each is built by its own tools from the block of `docs/guide/notebooks.md`, with Pyodide
and every package from this machine: Chromium asks no other host.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from contributing import blocks

from conftest import ROOT, SITE
from tools import elsewhere
from tools.packages import lock_spec, target_of
from tools.process import output
from tools.site import PYODIDE_FILES

DOCUMENT = ROOT / "docs/guide/notebooks.md"

MARIMO_PYODIDE = elsewhere.NODE_MODULES / "pyodide"

EXPORT = ROOT / "e2e/elsewhere/export_marimo.py"

NOTEBOOK = """\
import marimo

app = marimo.App()


@app.cell
async def _():
{code}
    return


if __name__ == "__main__":
    app.run()
"""


STATEMENT = "print(x.sum())"
ON_BOTH = (
    "x = x.to_device(tw.__array_namespace_info__().devices()[-1]); "
    'print(f"on cpu: {(x.to_device("cpu") * 2).sum()}")'
)
"""Takes WebGPU where it is: a software adapter is not chosen by itself."""


def documented(page: str, address: str) -> str:
    """Return the block of a page, with the wheel of the site at `address`.

    It prints a sum that the cpu device has computed: `on cpu: 12`.
    """
    (block,) = (b for b in blocks(DOCUMENT) if b.how == "page" and b.where == page)
    wheel = next((SITE / "wheels").glob("tensorweb-*.whl")).name
    assert f"https://example.org/play/wheels/{wheel}" in block.code
    assert STATEMENT in block.code
    code = block.code.replace(STATEMENT, ON_BOTH)
    return code.replace("https://example.org/play/", f"{address}site/")


def jupyterlite(folder: Path, address: str) -> str:
    """Build JupyterLite's read-eval-print loop; return the path that runs the code."""
    settings = {
        "pyodideUrl": "/site/pyodide/pyodide.mjs",
        "disablePyPIFallback": True,
    }
    kernel = {"@jupyterlite/pyodide-kernel-extension:kernel": settings}
    lite = {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {"litePluginSettings": kernel},
    }
    config = {
        "LiteBuildConfig": {"apps": ["repl"], "no_unused_shared_packages": True},
        "PipliteAddon": {"piplite_urls": [str(elsewhere.WHEELS)]},
    }
    source = folder / "source"
    source.mkdir()
    (source / "jupyter-lite.json").write_text(json.dumps(lite), "utf-8")
    (source / "jupyter_lite_config.json").write_text(json.dumps(config), "utf-8")
    build = [elsewhere.SCRIPTS / "jupyter-lite", "build", "--no-sourcemaps"]
    output([*build, "--output-dir", folder / "lite"], folder=source)
    code = documented("jupyterlite", address)
    return f"lite/repl/index.html?kernel=python&code={quote(code.strip())}"


def marimo(folder: Path, address: str) -> str:
    """Let marimo export a notebook, and offer its Pyodide and packages."""
    code = documented("marimo", address)
    lines = [f"    {line}".rstrip() for line in code.splitlines()]
    source = folder / "source.py"
    source.write_text(NOTEBOOK.format(code="\n".join(lines)), "utf-8")
    pyodide, lock = "/pyodide/", "/pyodide/pyodide-lock.json"
    export = [elsewhere.SCRIPTS / "python", EXPORT, source, folder, pyodide, lock]
    output(export)
    (folder / "pyodide").mkdir()
    for name in PYODIDE_FILES:
        shutil.copyfile(MARIMO_PYODIDE / name, folder / "pyodide" / name)
    (folder / "wheels").mkdir()
    wheels = [*elsewhere.WHEELS.iterdir(), *(SITE / "wheels").glob("micropip-*.whl")]
    for path in wheels:
        (folder / "wheels" / path.name).symlink_to(path)
    _write_lock(folder / "pyodide/pyodide-lock.json", wheels)
    return ""


def _write_lock(path: Path, wheels: Iterable[Path]) -> None:
    """List the packages that marimo's Python asks for before any notebook runs."""
    target = target_of(MARIMO_PYODIDE)
    found = {wheel.name: wheel for wheel in map(target.read, wheels)}
    # marimo's own list of packages has this one too.
    needs = (*found["marimo-base"].needs, "pyodide-http")
    found["marimo-base"] = replace(found["marimo-base"], needs=needs)
    lock_spec(target, found).to_json(path, indent=1)


def pyscript(folder: Path, address: str) -> str:
    """Write a page with PyScript's core, whose interpreter is the site's Pyodide."""
    core = elsewhere.NODE_MODULES / "@pyscript/core/dist"
    (folder / "core").symlink_to(core, target_is_directory=True)
    page = documented("pyscript", address)
    before, _, rest = page.partition('src="')
    _, _, after = rest.partition('"')
    page = f'{before}src="core/core.js"{after}'
    interpreter = '"interpreter": "./site/pyodide/pyodide.mjs"'
    page = page.replace('{"packages"', f'{{{interpreter}, "packages"')
    (folder / "index.html").write_text(f"<!doctype html>\n{page}", "utf-8")
    return ""


def pyodide(folder: Path, address: str) -> str:
    """Write a page with Pyodide and nothing else."""
    page = documented("pyodide", address)
    before, _, rest = page.partition('from "')
    _, _, after = rest.partition('"')
    page = f'{before}from "./site/pyodide/pyodide.mjs"{after}'
    (folder / "index.html").write_text(f"<!doctype html>\n{page}", "utf-8")
    return ""


PAGES: dict[str, Callable[[Path, str], str]] = {
    "jupyterlite": jupyterlite,
    "marimo": marimo,
    "pyscript": pyscript,
    "pyodide": pyodide,
}
"""Who fills an empty folder that is served at an address; returns the path to open."""

DRIVES = frozenset({"jupyterlite"})
"""Pages that mount a drive where they are isolated or have a service worker.

Its messages once came mangled on a busy machine, and Python did not start. Nothing here
needs it, so these pages have neither."""
