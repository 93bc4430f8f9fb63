"""Serve a built site locally, by default isolated from other origins.

Isolation gives the page SharedArrayBuffer, so that Stop can interrupt a busy loop. What
else a site wants to be sent stands in its `_headers`, as on other hosts. Only
requests for this machine by name are answered: another site whose name resolves to this
address could read along otherwise. Used by `python -m tensorweb`, `build.py serve` and
the browser tests; not meant for the open internet.
"""

from __future__ import annotations

import contextlib
import errno
import http.server
import sys
from fnmatch import fnmatchcase
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO

HEADERS_FILE = "_headers"
HEADER = "Content-Security-Policy"

ISOLATION = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
}
RESOURCE = "Cross-Origin-Resource-Policy"
SHARED = {name: value for name, value in ISOLATION.items() if name != RESOURCE} | {
    "X-Content-Type-Options": "nosniff"
}
"""Headers of every file; a host would join values of the others with them."""

NOTHING = "default-src 'none'; frame-ancestors 'none'"
"""For an address that is no file of the site."""

HOSTS = ("localhost", "127.0.0.1", "[::1]")

MIME_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".py": "text/x-python; charset=utf-8",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".wgsl": "text/plain; charset=utf-8",
    ".webp": "image/webp",
    ".whl": "application/zip",
    ".zip": "application/zip",
    "": "application/octet-stream",
}


class SiteHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files with the right types, unchanged files as 304, and no log lines."""

    server: SiteServer
    protocol_version = "HTTP/1.1"
    extensions_map = MIME_TYPES

    def __init__(self, *args: object, isolated: bool, **options: object) -> None:
        self.isolated = isolated
        super().__init__(*args, **options)  # type: ignore[arg-type]  # passed through

    def parse_request(self) -> bool:
        """Read the request's lines; refuse requests that name another host."""
        if not super().parse_request():
            return False
        host = self.headers.get("Host", "").lower()
        if host in self.server.hosts:
            return True
        explain = f"This server answers as localhost:{self.server.server_port} only."
        self.send_error(HTTPStatus.MISDIRECTED_REQUEST, explain=explain)
        return False

    def send_head(self) -> BinaryIO | None:
        """Open the file; a name that no file can have is not found."""
        try:
            return super().send_head()
        except ValueError:
            self.send_error(HTTPStatus.NOT_FOUND)
            return None

    def list_directory(self, path: object) -> None:
        """Show no folder's content: a static host does not either."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def end_headers(self) -> None:
        """Add the site's own headers and ours to every answer, errors included."""
        path = getattr(self, "path", "").partition("?")[0]
        for name, value in self.policies(path).items():
            if self.isolated or name not in ISOLATION:
                self.send_header(name, value)
        # The browser keeps files and asks each time whether they changed.
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def policies(self, path: str) -> dict[str, str]:
        """Return the headers that say what a path of the site may do."""
        rules = read_rules(Path(self.directory))
        headers = SHARED | headers_of(rules, path)
        headers.setdefault(RESOURCE, ISOLATION[RESOURCE])
        if rules:  # what the site does not know may do nothing
            headers.setdefault(HEADER, NOTHING)
        return headers

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet: the browser's own tools show requests."""


class SiteServer(http.server.ThreadingHTTPServer):
    """A server of `folder` on localhost; port 0 takes any free port, see `url`.

    Raises:
        OSError: the port is taken.
    """

    daemon_threads = True

    def __init__(self, folder: Path, port: int = 0, *, isolated: bool = True) -> None:
        handler = partial(SiteHandler, directory=str(folder), isolated=isolated)
        try:
            super().__init__(("127.0.0.1", port), handler)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            text = f"port {port} is in use; choose another by --port"
            raise OSError(text) from None
        self.isolated = isolated
        self.hosts = {f"{host}:{self.server_port}" for host in HOSTS}
        if self.server_port == 80:  # browsers leave it out
            self.hosts.update(HOSTS)

    def handle_error(self, request: object, client_address: object) -> None:
        """Tell what went wrong, but nothing of a browser that hangs up."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # passed through

    @property
    def url(self) -> str:
        """The address to open, with a slash at the end."""
        return f"http://localhost:{self.server_port}/"

    def run(self) -> None:
        """Print the address and serve until interrupted."""
        with contextlib.suppress(KeyboardInterrupt):
            print(f"tensorweb is at {self.url} (Ctrl+C stops)", flush=True)
            self.serve_forever()


Rules = list[tuple[str, str, str]]


def read_rules(site: Path) -> Rules:
    """Return the rules of a folder's `_headers`: path, name and value of each header.

    A folder without the file has no rules.
    """
    file = site / HEADERS_FILE
    rules: Rules = []
    path = ""
    for line in file.read_text("utf-8").splitlines() if file.is_file() else ():
        name, _, value = line.strip().partition(": ")
        if line.startswith("/"):
            path = line.strip()
        elif name:
            rules.append((path, name, value))
    return rules


def headers_of(rules: Rules, address: str) -> dict[str, str]:
    """Return the headers for the path of an address, as hosts put them together."""
    found: dict[str, str] = {}
    for path, name, value in rules:
        if fnmatchcase(address, path):
            found[name] = f"{found[name]}, {value}" if name in found else value
    return found
