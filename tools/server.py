"""Serve a built site locally, isolated from other origins unless told otherwise.

Isolation gives the page SharedArrayBuffer, so that Stop can interrupt a busy loop.
Used by `build.py serve` and by the browser tests; not meant for the open internet.
"""

from __future__ import annotations

import contextlib
import errno
import http.server
from functools import partial
from pathlib import Path

from tools.process import BuildError

ISOLATION = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
}

MIME_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".py": "text/x-python; charset=utf-8",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".wgsl": "text/plain; charset=utf-8",
    ".whl": "application/zip",
    ".zip": "application/zip",
    "": "application/octet-stream",
}


class SiteHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files with the right types, unchanged files as 304, and no log lines."""

    protocol_version = "HTTP/1.1"
    extensions_map = MIME_TYPES

    def __init__(self, *args: object, isolated: bool, **options: object) -> None:
        self.isolated = isolated
        super().__init__(*args, **options)  # type: ignore[arg-type]  # passed through

    def end_headers(self) -> None:
        """Add our headers to every answer, errors included."""
        for name, value in ISOLATION.items() if self.isolated else ():
            self.send_header(name, value)
        # The browser keeps files and asks each time whether they changed.
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet: the browser's own tools show requests."""


class SiteServer(http.server.ThreadingHTTPServer):
    """A server of `folder` on localhost; port 0 takes any free port, see `url`."""

    daemon_threads = True

    def __init__(self, folder: Path, port: int = 0, *, isolated: bool = True) -> None:
        handler = partial(SiteHandler, directory=str(folder), isolated=isolated)
        super().__init__(("127.0.0.1", port), handler)
        self.isolated = isolated

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
