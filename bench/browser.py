"""Measures in a browser, whose page posts its rows to a small server.

No browser driver is needed: the page drives itself, so that the same runs on machines
that have a browser and Python alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from bench.results import BENCH, BenchError
from tensorweb.site_server import SHARED, SiteHandler, SiteServer
from tools import machine

SOFTWARE_FLAGS = (
    *("--headless=new", "--no-sandbox", "--no-first-run"),
    *("--disable-background-networking", "--disable-dev-shm-usage"),
    *("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"),
)

ALWAYS = (
    "--disable-popup-blocking",  # the playground opens in windows of its own
    # Chromium quantizes the GPU's times to 0.1 ms without it.
    "--disable-dawn-features=timestamp_quantization",
)

CHUNK = 1 << 14
PREFIX = "/bench/"
LOG = "browser.log"
COMPRESSED = (".css", ".html", ".js", ".json", ".mjs", ".svg")
"""Names of files that static hosts compress; the others are sent as they are."""

UNCOMPRESSED = ("docs", "release")
"""Folders that no page of the benchmarks reads."""

SERVED = ("js", "node_modules")
"""Folders of `bench/` that the page may fetch from."""


def measured(
    options: argparse.Namespace,
    site: Path,
    specify: Callable[[Path], dict[str, Any]],
) -> dict[str, Any]:
    """Open the page in a browser and return the facts and rows that it posts.

    Args:
        options: `chrome_gpu`, `url`, `seconds` and `mbit`.
        site: the folder that is served.
        specify: returns the specification; takes the folder of files for the page.

    Raises:
        BenchError: the browser is missing, or nothing was measured.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = BenchServer(site.resolve(), folder, options.mbit)
        (folder / "specification.json").write_text(json.dumps(specify(folder)), "utf-8")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"{server.url}{PREFIX.strip('/')}/js/index.html"
        print(f"measuring at {address}", flush=True)
        browser = None if options.url else _open(options, address, folder)
        try:
            facts = _await(server, browser, folder, options.seconds)
        finally:
            if browser:
                browser.terminate()
                browser.wait()
            server.shutdown()
    if "error" in facts:
        if not server.rows:
            raise BenchError(f"the page failed: {facts['error']}")
        print(f"\nended early, {len(server.rows)} rows are saved: {facts['error']}")
    return {"adapter": "", "driver": "", "browser": "", **facts, "rows": server.rows}


def _await(
    server: BenchServer,
    browser: subprocess.Popen[bytes] | None,
    folder: Path,
    seconds: float,
) -> dict[str, Any]:
    """Return the facts that the page posts last, or an error with the browser's log."""
    deadline = monotonic() + seconds
    while monotonic() < deadline and not (browser and browser.poll() is not None):
        if server.done.wait(1):
            return server.facts
    log = folder / LOG
    printed = log.read_text("utf-8", "replace")[-2000:] if log.is_file() else ""
    return {"error": f"the browser posted no end\n{printed}"}


def _open(
    options: argparse.Namespace, address: str, folder: Path
) -> subprocess.Popen[bytes]:
    """Start the browser with an empty profile.

    Raises:
        BenchError: there is none.
    """
    if options.chrome_gpu:
        command = [str(options.chrome_gpu.resolve())]
    else:
        program = machine.chromium()
        if program is None:
            raise BenchError("no Chromium; install it or name it in TENSORWEB_CHROMIUM")
        command = [program, *SOFTWARE_FLAGS, f"--user-data-dir={folder / 'profile'}"]
    try:
        with open(folder / LOG, "wb") as log:
            return subprocess.Popen(
                [*command, *ALWAYS, address], stdout=log, stderr=log
            )
    except OSError as error:
        raise BenchError(f"cannot start {command[0]}: {error.strerror}") from None


def compress(site: Path, target: Path) -> set[str]:
    """Compress what static hosts compress of a site, and return the files' names."""
    names = set()
    for path in site.rglob("*"):
        name = path.relative_to(site)
        if path.suffix in COMPRESSED and name.parts[0] not in UNCOMPRESSED:
            copy = target / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(gzip.compress(path.read_bytes(), 6, mtime=0))
            names.add(name.as_posix())
    return names


class BenchHandler(SiteHandler):
    """Serves the site, and below `/bench/` the page, its modules and its files."""

    server: BenchServer

    def translate_path(self, path: str) -> str:
        """Return the file of an address; the benchmarks' files lie outside the site."""
        plain = path.partition("?")[0]
        if not plain.startswith(PREFIX):
            if self._is_compressed(plain):
                return str(self.server.compressed / plain.lstrip("/"))
            return super().translate_path(path)
        inner = plain.removeprefix(PREFIX)
        is_own = inner.partition("/")[0] in SERVED
        folder = BENCH if is_own else self.server.folder
        file = (folder / inner).resolve()
        return str(file if file.is_relative_to(folder) else folder / "missing")

    def copyfile(self, source: Any, outputfile: Any) -> None:
        """Send a file, no faster than the network that `mbit` asks for."""
        while data := source.read(CHUNK):
            self.server.pace(len(data))
            outputfile.write(data)

    def policies(self, path: str) -> dict[str, str]:
        """Return the site's headers; the page is no part of the site."""
        if path.startswith(PREFIX):
            return SHARED
        encoding = {"Content-Encoding": "gzip"} if self._is_compressed(path) else {}
        return super().policies(path) | encoding

    def _is_compressed(self, path: str) -> bool:
        return path.lstrip("/") in self.server.compressed_names

    def do_POST(self) -> None:
        """Take a line of the log, rows, or the facts at the end."""
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length).decode()
        self.send_response(204)
        self.end_headers()
        if self.path == f"{PREFIX}rows":
            self.server.rows += json.loads(body)
        elif self.path == f"{PREFIX}results":
            self.server.facts = json.loads(body)
            self.server.done.set()
        else:
            print(body, flush=True)


class BenchServer(SiteServer):
    """A site's server that also takes results.

    Attributes:
        folder: files for the page.
        compressed, compressed_names: the site's files that are sent compressed.
        rows, facts: what it has posted; `done` is set when it has finished.
    """

    def __init__(self, site: Path, folder: Path, mbit: float | None = None) -> None:
        """Serve a site, with `mbit` limited to that many megabits per second."""
        super().__init__(site)
        self.folder = folder
        self.compressed = folder / "compressed"
        self.compressed_names = compress(site, self.compressed)
        self.rows: list[dict[str, Any]] = []
        self.facts: dict[str, Any] = {}
        self.done = threading.Event()
        self._seconds = 8e-6 / mbit if mbit else 0.0  # per byte
        self._free_at = 0.0
        self._lock = threading.Lock()
        self.RequestHandlerClass = partial(
            BenchHandler, directory=str(site), isolated=True
        )

    def pace(self, size: int) -> None:
        """Wait until the network has sent the bytes before these and these."""
        with self._lock:
            self._free_at = max(self._free_at, monotonic()) + size * self._seconds
            rest = self._free_at - monotonic()
        if rest > 0:
            sleep(rest)
