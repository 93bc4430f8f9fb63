"""The command line: `python -m tensorweb` serves the playground, `info` lists devices.

The playground is a site of tens of megabytes, so it is no part of the wheel: each
release has it as a file of its own, which is looked for in the current folder and next
to the package.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import platform
import sys
import tempfile
import webbrowser
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tensorweb import devices
from tensorweb.errors import DeviceError
from tensorweb.site_server import SiteServer
from tensorweb.version import VERSION

ARCHIVE = f"tensorweb-site-{VERSION}.zip"
"""The site of this version, as releases name it."""

BUILT = "dist"
"""Where a checkout has the site that `build.py site` built."""

RELEASES = "Releases"
"""The label of the metadata's address that lists the releases."""

PORT = 8000

PACKAGES = ("numpy", "wgpu", "wasmtime")
"""Optional packages that a device computes with."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tensorweb", description=__doc__)
    parser.add_argument("command", nargs="?", choices=("serve", "info"))
    parser.add_argument(
        "--site", type=Path, metavar="FILE_OR_FOLDER", help=f"{ARCHIVE}, or unpacked"
    )
    parser.add_argument("--port", type=int, default=PORT, help="0 takes a free one")
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address only"
    )
    options = parser.parse_args(arguments)
    if options.command == "info":
        print("\n".join(info()))
        return 0
    try:
        with opened(options.site or find_site()) as folder:
            serve(folder, options.port, is_shown=not options.no_browser)
    except (OSError, SiteError) as error:
        print(f"tensorweb: {error}", file=sys.stderr)
        return 1
    return 0


class SiteError(Exception):
    """There is no site, or a file is none; the message says what to do."""


def info() -> list[str]:
    """Return lines about this version, Python, packages and each device's adapter."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    packages = [f"{name} {found}" for name in PACKAGES if (found := _version(name))]
    lines = [
        f"tensorweb {VERSION}",
        f"Python: {python} on {platform.system()} {platform.machine()}".rstrip(),
        f"packages: {', '.join(packages) or 'none'}",
    ]
    for name in devices.DEVICES:
        try:
            lines.append(f"device {name}: {devices.backend(name).description}")
        except DeviceError as error:
            lines.append(f"device {name}: not here; {error}")
    return [*lines, f"default device: {devices.default_device()}"]


def _version(package: str) -> str | None:
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(package)
    return None


def find_site() -> Path:
    """Return the site of this version: an archive or a folder.

    Raises:
        SiteError: it is neither in the current folder nor next to the package.
    """
    near = Path(__file__).parents[1]
    for path in (Path.cwd() / ARCHIVE, near / ARCHIVE):
        if path.is_file():
            return path
    if (near / BUILT / "build.json").is_file():
        return near / BUILT
    raise SiteError(
        f"the playground is a file of its own, {ARCHIVE}, and is not here. "
        f"Download it from {_releases()} and run "
        f"`python -m tensorweb --site {ARCHIVE}`."
    )


def _releases() -> str:
    """Return where releases are listed, as the installed metadata says."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        found = importlib.metadata.metadata("tensorweb").get_all("Project-URL", [])
        for label, _, address in (entry.partition(", ") for entry in found):
            if label == RELEASES:
                return f"{address}, release {VERSION},"
    return f"the release of version {VERSION}"


@contextlib.contextmanager
def opened(site: Path) -> Iterator[Path]:
    """Yield the folder of a site; an archive is unpacked until the context ends.

    Raises:
        SiteError: the path is no site.
    """
    with contextlib.ExitStack() as stack:
        folder = site
        if site.is_file():
            made = tempfile.TemporaryDirectory(prefix="tensorweb-site-")
            folder = Path(stack.enter_context(made))
            try:
                with zipfile.ZipFile(site) as archive:
                    archive.extractall(folder)
            except zipfile.BadZipFile:
                raise SiteError(f"{site} is no zip archive of a site.") from None
        if not (folder / "build.json").is_file():
            raise SiteError(f"{site} is no site of tensorweb: it has no build.json.")
        yield folder


def serve(folder: Path, port: int, *, is_shown: bool) -> None:
    """Serve a site until interrupted.

    Args:
        folder: the site.
        port: of this machine; 0 takes a free one.
        is_shown: whether to open a browser.
    """
    built = json.loads((folder / "build.json").read_text("utf-8"))["version"]
    if built != VERSION:
        print(f"This is the playground of tensorweb {built}; installed is {VERSION}.")
    with SiteServer(folder, port) as server:
        if is_shown:
            webbrowser.open(server.url)
        server.run()


if __name__ == "__main__":
    sys.exit(main())
