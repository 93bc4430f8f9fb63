"""Build the documents' pages with Sphinx: `docs/` of the site.

Building twice gives the same bytes, which `build.py rehearse` compares. A build is
cached under the digest of all that it reads, since autodoc takes its time.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from tools import environment
from tools.bundle import ESBUILD, REPORTS, WEB
from tools.environment import CACHE, npm_tool
from tools.process import ROOT, BuildError, output

FOLDER = CACHE / "manual"
PAGES = FOLDER / "html"
"""The pages of the last build."""

SCRIPT = FOLDER / "documents.js"
"""Our script in the pages; `docs/conf.py` names it too."""

SOURCES = ("docs", "tensorweb", "shaders", "tools", "web")
FILES = ("requirements/site.txt", "package-lock.json", "CONTRIBUTING.md")
"""What the pages are made of."""

UNUSED = (".buildinfo", "*.map")
"""What Sphinx and furo write that no page asks for."""

NAMED = {
    '<aside class="sidebar-drawer"': '<aside class="sidebar-drawer" aria-label="Site"',
    '<aside class="toc-drawer"': '<aside class="toc-drawer" aria-label="Page"',
    '<th class="head"><p></p></th>': "<td></td>",
}
"""What furo and docutils write in each page, with what screen readers need."""

EPOCH = "315532800"
"""The time that files in the pages have; no page shows it."""


def build() -> Path:
    """Return the folder of the pages, built if a source has changed.

    Raises:
        BuildError: Sphinx warns: of a dead link, a missing reference, a page in no
            table of contents, a docstring that it cannot read.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    with environment.only_one():
        key = _digest()
        if not _is_done(key):
            draft = FOLDER / "draft"
            shutil.rmtree(draft, ignore_errors=True)
            _make(draft, FOLDER / "doctrees")
            shutil.rmtree(PAGES, ignore_errors=True)
            draft.rename(PAGES)
            environment.mark_done(FOLDER, "html", key)
    return PAGES


def is_fresh() -> bool:
    """Return whether the pages of the last build are those of the sources."""
    return _is_done(_digest())


def _is_done(key: str) -> bool:
    return environment.is_done(FOLDER, "html", key) and PAGES.is_dir()


def _make(out: Path, doctrees: Path) -> None:
    """Write the pages into a new folder; `doctrees` has what an earlier build read."""
    esbuild = npm_tool("esbuild", "bin/esbuild")
    entry = WEB / "src/documents/documents.ts"
    output([*esbuild, entry, *ESBUILD, "--format=iife", f"--outfile={SCRIPT}"])
    command: list[str | Path] = [environment.PYTHON, "-m", "sphinx", "--quiet"]
    command += ["--fail-on-warning", "--keep-going", "--builder", "html"]
    command += ["--doctree-dir", doctrees, ROOT / "docs", out]
    try:
        output(command, env={**environment.variables(), "SOURCE_DATE_EPOCH": EPOCH})
    except BuildError:
        # Sphinx warns of a page when it reads it, and has read it now.
        shutil.rmtree(doctrees, ignore_errors=True)
        raise
    for pattern in UNUSED:
        for path in out.rglob(pattern):
            path.unlink()
    for path in out.rglob("*.html"):
        text = path.read_text("utf-8")
        for old, new in NAMED.items():
            text = text.replace(old, new)
        path.write_text(text, "utf-8")


def _digest() -> str:
    """Return a digest of every file that the pages are made of."""
    paths = [path for folder in SOURCES for path in (ROOT / folder).rglob("*")]
    paths = [path for path in paths if path.is_file() and path.suffix != ".pyc"]
    # Those of reports are built at the same time, in the folder of its Python.
    paths = [path for path in paths if path.parent != REPORTS or path.suffix == ".py"]
    digest = hashlib.sha256()
    for path in sorted([*paths, *(ROOT / name for name in FILES)]):
        digest.update(path.relative_to(ROOT).as_posix().encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
