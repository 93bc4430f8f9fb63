"""`bench page`: measures in a browser, whose page posts its results to a small server.

No browser driver is needed: the page drives itself, so that the same runs on machines
that have a browser and Python alone.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import queue
import subprocess
import tempfile
import threading
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from bench import kit, results
from bench.ceilings import ceilings, warming
from bench.kit import BENCH, ROOT, BenchError
from bench.workloads import chosen
from tools import machine, policy
from tools.server import SiteHandler, SiteServer

SOFTWARE_FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
]

ALWAYS = [
    "--disable-popup-blocking",  # the playground opens in windows of its own
    # Chromium cuts the GPU's times to 0.1 ms without it.
    "--disable-dawn-features=timestamp_quantization",
]

CHUNK = 1 << 14
PLACE = "/bench/"
LOG = "browser.log"
OURS = ("page", "js", "node_modules")
"""Folders of `bench/` that the page may fetch from."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    add_browser_arguments(parser)
    parser.add_argument("--kernels", action="store_true", help="the kernel table too")
    parser.add_argument("--w", metavar="PATTERN", help="only workloads that match")
    parser.add_argument("--tiny", action="store_true", help="sizes for a software GPU")
    parser.add_argument("--ms", type=int, default=250, help="milliseconds a case")
    parser.add_argument("--no-starts", action="store_true", help="leave the page out")
    parser.add_argument(
        "--mbit",
        type=float,
        metavar="N",
        help="a network of so many megabits a second, for all connections together",
    )
    parser.add_argument("--no-looks", action="store_true", help="no pictures either")
    parser.add_argument("--no-launches", action="store_true", help="leave these out")
    parser.add_argument("--profile", action="store_true", help="print Python's profile")
    parser.add_argument("--seconds", type=float, default=900, help="stop after these")


def add_browser_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe what `measured` needs to know of the site and the browser."""
    parser.add_argument("--site", type=Path, default=ROOT / "dist", metavar="DIR")
    parser.add_argument(
        "--chrome-gpu",
        type=Path,
        metavar="PATH",
        help="a program that opens a browser with a GPU at the address it is given; "
        "without it Chromium computes on SwiftShader",
    )
    parser.add_argument(
        "--url", action="store_true", help="print the address and open no browser"
    )


def run(options: argparse.Namespace) -> None:
    """Measure and save.

    Raises:
        BenchError: the site or the browser is missing, or the page failed.
    """
    found = measured(options, "index.html", write_specification, options.mbit)
    found["versions"] = {**kit.versions(), "browser": found.pop("browser")}
    about = {key: value for key, value in found.items() if key != "rows"}
    print(f"\nsaved to {results.save(options, 'chromium', about, found['rows'])}")


def measured(
    options: argparse.Namespace,
    page: str,
    specify: Callable[[Path, argparse.Namespace], None],
    mbit: float | None = None,
) -> dict[str, Any]:
    """Open a page of `page/` in a browser, beside a site, and return what it posts.

    Args:
        options: `site`, `chrome_gpu`, `url`, `seconds` and those of `specify`.
        page: its file.
        specify: writes what the page shall do into the folder it is given.
        mbit: megabits a second of the network.

    Raises:
        BenchError: the site or the browser is missing, or the page failed.
    """
    if not (options.site / "build.json").is_file():
        raise BenchError(f"{options.site} is no site; run `python3 build.py site`")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = BenchServer(options.site.resolve(), folder, mbit)
        specify(folder, options)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"{server.url}{PLACE.strip('/')}/page/{page}"
        print(f"measuring at {address}", flush=True)
        browser = None if options.url else open_browser(options, address, folder)
        try:
            found = await_answer(server, browser, folder, options.seconds)
        finally:
            if browser:
                browser.terminate()
                browser.wait()
            server.shutdown()
    if "error" in found:
        raise BenchError(f"the page failed: {found['error']}")
    return found


def await_answer(
    server: BenchServer,
    browser: subprocess.Popen[bytes] | None,
    folder: Path,
    seconds: float,
) -> dict[str, Any]:
    """Return what the page posts.

    Raises:
        BenchError: it posts nothing in time, or the browser ends; says what it printed.
    """
    deadline = monotonic() + seconds
    while monotonic() < deadline:
        with contextlib.suppress(queue.Empty):
            return server.answers.get(timeout=1)
        if browser and browser.poll() is not None:
            break
    log = folder / LOG
    printed = log.read_text("utf-8", "replace")[-2000:] if log.is_file() else ""
    raise BenchError(f"the browser posted no results\n{printed}")


def write_specification(folder: Path, options: argparse.Namespace) -> None:
    """Write what the page shall do, and the files that it fetches."""
    wheel = kit.wheel(options.wheel, folder)
    if wheel.parent != folder:
        (folder / wheel.name).write_bytes(wheel.read_bytes())
    specification = {
        "site": "../../index.html",
        "base": "../../",
        "host": "Chromium",
        "wheel": f"../{wheel.name}",
        "sources": f"../{kit.sources(folder).name}",
        "starts": not options.no_starts,
        "network": f"_{options.mbit:g}_mbit" if options.mbit else "",
        "looks": not options.no_looks,
        "launches": not options.no_launches,
        "kernels": options.kernels,
        "profile": options.profile,
        "tiny": options.tiny,
        "budget": options.ms,
        "warming": warming(tiny=options.tiny),
        "ceilings": [asdict(row) for row in ceilings(tiny=options.tiny)],
        "workloads": [row.as_json() for row in chosen(options.w, tiny=options.tiny)],
    }
    (folder / "specification.json").write_text(json.dumps(specification), "utf-8")


def open_browser(
    options: argparse.Namespace, address: str, profile: Path
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
        command = [program, *SOFTWARE_FLAGS, f"--user-data-dir={profile / 'profile'}"]
    command += [*ALWAYS, address]
    try:
        with open(profile / LOG, "wb") as log:
            return subprocess.Popen(command, stdout=log, stderr=log)
    except OSError as error:
        raise BenchError(f"cannot start {command[0]}: {error.strerror}") from None


class BenchHandler(SiteHandler):
    """Serves the site, and below `/bench/` our page, its modules and the kit."""

    server: BenchServer

    def __init__(
        self, *args: object, kit_folder: Path, answers: Any, **options: object
    ) -> None:
        self.kit_folder = kit_folder
        self.answers = answers
        super().__init__(*args, isolated=True, **options)

    def translate_path(self, path: str) -> str:
        """Return the file of an address; our own files lie outside the site."""
        plain = path.partition("?")[0]
        if not plain.startswith(PLACE):
            return super().translate_path(path)
        inner = plain.removeprefix(PLACE)
        first = inner.partition("/")[0]
        folder = BENCH if first in OURS else self.kit_folder
        file = (folder / inner).resolve()
        return str(file if file.is_relative_to(folder) else folder / "missing")

    def copyfile(self, source: Any, outputfile: Any) -> None:
        """Send a file, no faster than the network that is asked for."""
        while data := source.read(CHUNK):
            self.server.pace(len(data))
            outputfile.write(data)

    def policies(self, path: str) -> dict[str, str]:
        """Return the site's headers; our own page is no part of the site."""
        return policy.SHARED if path.startswith(PLACE) else super().policies(path)

    def do_POST(self) -> None:
        """Take a line of the log, or the results."""
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length).decode()
        self.send_response(204)
        self.end_headers()
        if self.path == f"{PLACE}results":
            self.answers.put(json.loads(body))
        else:
            print(body, flush=True)


class BenchServer(SiteServer):
    """A site's server that also takes results; `answers` holds them.

    With `mbit` it sends so many megabits a second, to all together.
    """

    def __init__(self, site: Path, kit_folder: Path, mbit: float | None = None) -> None:
        super().__init__(site)
        self.answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._seconds = 8e-6 / mbit if mbit else 0.0  # for a byte
        self._free_at = 0.0
        self._lock = threading.Lock()
        self.RequestHandlerClass = partial(
            BenchHandler,
            directory=str(site),
            kit_folder=kit_folder,
            answers=self.answers,
        )

    def pace(self, size: int) -> None:
        """Wait until so many bytes more have had their time on the network."""
        with self._lock:
            self._free_at = max(self._free_at, monotonic()) + size * self._seconds
            rest = self._free_at - monotonic()
        if rest > 0:
            sleep(rest)
