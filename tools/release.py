"""Make everything that a release publishes, in one folder: `build.py release`.

Wheel, source distribution, npm package and the site as an archive, a bill of materials
for each, recipes, the notes of the changelog and the checksums. The same commit gives
the same bytes. Nothing is published from here; docs/contributing/releasing.md has the
steps.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools import about, archives, environment, npm_package, recipes, sboms, site
from tools.pins import digest
from tools.process import ROOT, BuildError, output

CHANGELOG = ROOT / "CHANGELOG.md"

HEADING = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>\S+))?$", re.MULTILINE)
"""How a section of the changelog begins."""

DATE = re.compile(r"\d{4}-\d\d-\d\d")

NOTES = "release-notes.md"

SUMS = "SHA256SUMS"

DRAFT = environment.CACHE / "release"
"""Where the site is built: always as deep below the sources, whose paths relative to
it stand in source maps."""

PACKAGES = ("numpy",)
"""Packages without which no site is released, though one can be built."""


def run(
    out: Path, wheels: Path | None, tag: str | None, packages: Sequence[str] = PACKAGES
) -> int:
    """Make the release in `out`, replacing an earlier one; return the exit code.

    Args:
        out: folder of the release.
        wheels: folder of wheels, as `build.py site` takes it.
        tag: name of the tag that is released; then everything must be ready for it.
        packages: what the site must contain.

    Raises:
        BuildError: a step failed, or the release is not ready.
    """
    started = time.monotonic()
    if out.exists() and any(out.iterdir()) and not (out / SUMS).is_file():
        raise BuildError(f"{out} is not empty and no release; choose another --out")
    text = notes(CHANGELOG.read_text("utf-8"), about.version())
    if problems := unready(tag):
        shown = "\n".join(f"  {problem}" for problem in problems)
        if tag is not None:
            raise BuildError(f"{tag} is not ready:\n{shown}")
        print(f"a rehearsal, since a release would need this first:\n{shown}")
    environment.prepare("site")
    shutil.rmtree(DRAFT, ignore_errors=True)
    made = DRAFT / "made"
    made.mkdir(parents=True)
    with fixed_time() as seconds:
        make_python(made)
        make_npm(made, seconds)
        make_site(made, seconds, wheels, packages)
    recipes.write(made)
    (made / NOTES).write_text(text, "utf-8")
    write_sums(made)
    shutil.rmtree(out, ignore_errors=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(made, out)
    shutil.rmtree(DRAFT)
    for path in sorted(out.iterdir()):
        print(f"{path.stat().st_size:>11,}  {path.name}")
    print(f"released into {out} in {time.monotonic() - started:.1f} s", flush=True)
    return 0


@contextlib.contextmanager
def fixed_time() -> Iterator[int]:
    """Give every builder the time of archives, and yield its seconds."""
    before = os.environ.get(archives.VARIABLE)
    seconds = archives.moment()
    os.environ[archives.VARIABLE] = str(seconds)
    try:
        yield seconds
    finally:
        if before is None:
            del os.environ[archives.VARIABLE]
        else:
            os.environ[archives.VARIABLE] = before


def make_python(folder: Path) -> None:
    """Make the wheel and the source distribution, with their bills."""
    sboms.write(site.build_wheel(folder), "pypi", sboms.required())
    command = ["-m", "hatchling", "build", "-t", "sdist", "-d"]
    output([environment.PYTHON, *command, folder])
    (source,) = folder.glob("tensorweb-*.tar.gz")
    sboms.write(source, "pypi", [*sboms.required(), *sboms.builders()])


def make_npm(folder: Path, seconds: int) -> None:
    """Make the npm package with its bill."""
    with tempfile.TemporaryDirectory() as name:
        draft = Path(name)
        npm_package.write(draft)
        package = json.loads((draft / "package.json").read_text("utf-8"))
        target = folder / f"{package['name']}-npm-{package['version']}.tgz"
        archives.write_tgz(draft, target, seconds, "package")
    sboms.write(target, "npm", sboms.of_npm(npm_package.imported()))


def make_site(
    folder: Path, seconds: int, wheels: Path | None, packages: Sequence[str]
) -> None:
    """Make the archive of the site with its bill.

    Raises:
        BuildError: the site has another wheel than the release.
    """
    draft = DRAFT / "site"
    site.build(draft, wheels, packages=packages)
    (wheel,) = folder.glob("*.whl")
    if (draft / "wheels" / wheel.name).read_bytes() != wheel.read_bytes():
        raise BuildError("internal: the wheel of the site is not the released one")
    target = folder / f"tensorweb-site-{about.version()}.zip"
    archives.write_zip(draft, target, seconds)
    sboms.write(target, "generic", sboms.in_site(draft))


def write_sums(folder: Path) -> None:
    """Write the checksums of all files, as `sha256sum --check` reads them."""
    lines = [f"{digest(path)}  {path.name}\n" for path in sorted(folder.iterdir())]
    (folder / SUMS).write_text("".join(lines), "utf-8")


def notes(changelog: str, version: str) -> str:
    """Return the section of a version, without its heading.

    Raises:
        BuildError: the changelog has none, or an empty one.
    """
    found = [*HEADING.finditer(changelog)]
    ends = [*(match.start() for match in found[1:]), len(changelog)]
    for match, end in zip(found, ends, strict=True):
        if match["version"] == version:
            text = changelog[match.end() : end].strip()
            if text:
                return f"{text}\n"
    raise BuildError(f"CHANGELOG.md has no section of version {version}")


def unready(tag: str | None) -> list[str]:
    """Return why this folder is not what a tag should release."""
    version = about.version()
    found = []
    if tag is not None and tag != f"v{version}":
        found.append(f"pyproject.toml has version {version}, the tag is {tag}")
    headings = HEADING.finditer(CHANGELOG.read_text("utf-8"))
    dates = {match["version"]: match["date"] or "" for match in headings}
    if not DATE.fullmatch(dates.get(version, "")):
        found.append(f"CHANGELOG.md has no date for version {version}")
    if names := about.placeholders():
        found.append(f"pyproject.toml has no address yet for {', '.join(names)}")
    if (ROOT / ".git").exists() and output(["git", "status", "--porcelain"]).strip():
        found.append("files differ from the last commit")
    return found
