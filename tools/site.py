"""Assemble the static site: page, Pyodide, wheels, examples and the list of files.

The folder works on any static host, under any path, and asks no other origin. Layout:
`index.html` and its scripts, `examples.json` with the programs, `names.json` with what
the editor says of our names, `docs/` (see `tools/manual.py`), `network/` (see
`tools/policy.py`), `pyodide/` (with its lock file), `wheels/`, `tensorweb-drivers.js`
(see `tools/driver_scripts.py`), `build.json`, `_headers`, and `service-worker.js` (see
`tools/service.py`). Each script begins with a line of `tools/scopes.py`.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools import (
    driver_scripts,
    environment,
    examples,
    manual,
    packing,
    pins,
    policy,
    preview,
    scopes,
    service,
)
from tools.bundle import WEB, bundle
from tools.process import BuildError, output, status

PYODIDE = environment.NODE_MODULES / "pyodide"
RELEASE = "release"
"""A folder in the site's, which building it again retains; see `tools/release.py`."""

PYODIDE_FILES = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
)


def build(
    out: Path,
    wheels: Path | None,
    address: str | None = None,
    packages: Sequence[str] = (),
    *,
    live: bool = False,
    has_fresh_pages: bool = True,
) -> None:
    """Build the site into `out`, replacing an earlier one whole.

    Args:
        out: folder of the site.
        wheels: folder of further wheels for Pyodide.
        address: where the site will stand, for previews of links to it.
        packages: further packages that Pyodide was released with.
        live: whether pages should look at each visit if the site was built anew.
        has_fresh_pages: whether the documents are built; else they are those of the
            last build, if there was one.

    Raises:
        BuildError: a step failed, or `out` holds something that is not a site.
    """
    started = time.monotonic()
    if address is not None:
        preview.checked(address)
    out = out.resolve()
    if wheels is not None and not wheels.is_dir():
        raise BuildError(f"--wheels {wheels}: no such folder")
    others = [path.name for path in out.iterdir()] if out.exists() else []
    if {*others} - {RELEASE} and "build.json" not in others:
        raise BuildError(f"{out} is not empty and not a site; choose another --out")
    environment.prepare("site")
    out.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f"{out.name}.", dir=out.parent))
    try:
        _fill(draft, wheels, address, packages, has_fresh_pages)
        service.write(draft, live=live)
        _replace(out, draft)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    print(f"site built in {time.monotonic() - started:.1f} s: {out}", flush=True)


def build_wheel(folder: Path) -> Path:
    """Build the tensorweb wheel into `folder` and return its path."""
    command = ["-m", "hatchling", "build", "-t", "wheel", "-d"]
    output([environment.PYTHON, *command, folder])
    return next(folder.glob("tensorweb-*.whl"))


def _fill(
    out: Path,
    wheels: Path | None,
    address: str | None,
    packages: Sequence[str],
    has_fresh_pages: bool,
) -> None:
    out.chmod(0o755)
    for folder in ("pyodide", "wheels"):
        (out / folder).mkdir()
    with ThreadPoolExecutor() as parallel:
        # The documents take as long as all others together.
        pages = parallel.submit(manual.build) if has_fresh_pages else None
        version = _fill_page(out, wheels, address, packages)
        documents = pages.result() if pages else manual.PAGES
        if documents.is_dir():
            shutil.copytree(documents, out / "docs")
    scopes.apply(out)
    _describe(out, version)
    policy.apply(out)


def _fill_page(
    out: Path, wheels: Path | None, address: str | None, packages: Sequence[str]
) -> str:
    """Write everything but the documents, and return the build's name."""
    version = bundle(out)
    if address is not None:
        preview.apply(out, address)
    examples.write_index(WEB / "examples", out / "examples.json")
    shutil.copytree(WEB / "examples/pictures", out / "examples")
    _name(out / "names.json")
    for name in PYODIDE_FILES:
        shutil.copyfile(PYODIDE / name, out / "pyodide" / name)
    packing.write(PYODIDE, build_wheel(out / "wheels"), out)
    driver_scripts.write(out)
    _add_packages(out, wheels, packages)
    return version


def _name(target: Path) -> None:
    """Write what the editor knows of our names; the library itself tells it."""
    if status([environment.PYTHON, "-m", "tools.names", target]):
        raise BuildError("the table of names could not be made")


def _add_packages(out: Path, wheels: Path | None, packages: Sequence[str]) -> None:
    """Collect the wheels for Pyodide and write its lock file."""
    command: list[str | Path] = [environment.PYTHON, "-m", "tools.packages"]
    command += [PYODIDE, out, environment.CACHE / "wheels"]
    command += ["--wheels", wheels.resolve()] if wheels else []
    command += ["--packages", ",".join(packages)] if packages else []
    if status(command):
        raise BuildError("the packages for Pyodide could not be collected")


def _describe(out: Path, version: str) -> None:
    """Write `build.json`: what the page must know before Python runs.

    `sizes` are the bytes of the page's files by their paths in the site. `ours` has the
    files of our wheel, `later` what no start reads; their queries change with their
    content, so that no cache returns older ones.
    """
    lock = json.loads((out / "pyodide/pyodide-lock.json").read_text("utf-8"))
    packages = {name: row["version"] for name, row in lock["packages"].items()}
    own = lock["packages"]["tensorweb"]
    documents = out / "docs"
    sizes = {
        path.relative_to(out).as_posix(): path.stat().st_size
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.suffix != ".map" and documents not in path.parents
    }
    package = json.loads((PYODIDE / "package.json").read_text("utf-8"))
    library = out / f"pyodide/{packing.LIBRARY}{packing.ENDING}"
    description = {
        "version": packages["tensorweb"],
        "build": version,
        "pyodide": package["version"],
        "python": lock["info"]["python"],
        "ours": f"{packing.OURS}?{own['sha256'][:8]}",
        "later": f"{packing.LATER}?{pins.digest(out / packing.LATER)[:8]}",
        "wheelHash": own["sha256"],
        "libraryHash": pins.digest(library),
        "packages": packages,
        "compiled": _compiled(packages.keys()),
        "sizes": sizes,
    }
    (out / "build.json").write_text(json.dumps(description, indent=1), "utf-8")


def _compiled(carried: Set[str]) -> dict[str, str]:
    """Return packages that only a site's builder can add, by what programs import.

    They, or what they need, are compiled for Pyodide, and this site has them not.
    """
    lock = json.loads((PYODIDE / "pyodide-lock.json").read_text("utf-8"))
    released = lock["packages"]

    def is_compiled(name: str) -> bool:
        if name in carried or name not in released:
            return False
        row = released[name]
        is_own = not row["file_name"].endswith("-none-any.whl")
        return is_own or any(map(is_compiled, row["depends"]))

    return {
        top: row["name"]
        for name, row in sorted(released.items())
        if row["package_type"] == "package" and not name.endswith("-tests")
        for top in row["imports"]
        if is_compiled(name)
    }


def _replace(out: Path, draft: Path) -> None:
    """Replace `out` by `draft`; a server of `out` sees no half-built site."""
    old = out.with_name(f"{draft.name}.old")
    if out.exists():
        if (out / RELEASE).is_dir():
            (out / RELEASE).rename(draft / RELEASE)
        out.rename(old)
    draft.rename(out)
    shutil.rmtree(old, ignore_errors=True)
