"""Serve a built site locally, by default isolated from other origins.

Isolation gives the page SharedArrayBuffer, so that Stop can interrupt a busy loop. What
else a site wants to be sent stands in its `_headers`, as on other hosts. Only
requests for this machine by name are answered: another site whose name resolves to this
address could read along otherwise. Used by `build.py serve` and by the browser tests;
not meant for the open internet.
"""

from __future__ import annotations

import contextlib
import errno
import http.server
import sys
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO

from tools import policy
from tools.process import BuildError

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
            if self.isolated or name not in policy.ISOLATION:
                self.send_header(name, value)
        # The browser keeps files and asks each time whether they changed.
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def policies(self, path: str) -> dict[str, str]:
        """Return the headers that say what a path of the site may do."""
        rules = policy.read(Path(self.directory))
        headers = policy.SHARED | policy.headers(rules, path)
        headers.setdefault(policy.RESOURCE, policy.ISOLATION[policy.RESOURCE])
        if rules:  # what the site does not know may do nothing
            headers.setdefault(policy.HEADER, policy.NOTHING)
        return headers

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet: the browser's own tools show requests."""


class SiteServer(http.server.ThreadingHTTPServer):
    """A server of `folder` on localhost; port 0 takes any free port, see `url`."""

    daemon_threads = True

    def __init__(self, folder: Path, port: int = 0, *, isolated: bool = True) -> None:
        handler = partial(SiteHandler, directory=str(folder), isolated=isolated)
        super().__init__(("127.0.0.1", port), handler)
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


def serve(folder: Path, port: int, *, isolated: bool) -> None:
    """Serve `folder` until interrupted.

    Raises:
        BuildError: the port is taken.
    """
    try:
        server = SiteServer(folder, port, isolated=isolated)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise BuildError(f"port {port} is in use; choose another by --port") from None
    with server, contextlib.suppress(KeyboardInterrupt):
        print(f"\ntensorweb is at {server.url} (Ctrl+C stops)", flush=True)
        server.serve_forever()
