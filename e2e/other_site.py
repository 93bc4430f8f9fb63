"""Two more servers for tests: a host without headers, and another site that listens."""

from __future__ import annotations

import http.server
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path


class PlainHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files with no header of ours, as simple hosts do, but for given ones."""

    def __init__(
        self, *args: object, headers: Mapping[str, str], **options: object
    ) -> None:
        self._sent = headers
        super().__init__(*args, **options)  # type: ignore[arg-type]  # passed through

    def end_headers(self) -> None:
        """Add the given headers."""
        for name, value in self._sent.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


class OtherSite(http.server.ThreadingHTTPServer):
    """Answers every request, lets every site read the answer, and notes its path.

    Connections are counted by themselves: some browsers open one without a request.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), OtherHandler)
        self.heard: list[str] = []
        self.connections = 0

    def get_request(self) -> tuple[socket.socket, object]:
        """Count a connection."""
        found = super().get_request()
        self.connections += 1
        return found

    @property
    def url(self) -> str:
        """The address, another origin than any other server's."""
        return f"http://localhost:{self.server_port}/"


class OtherHandler(http.server.BaseHTTPRequestHandler):
    """Takes what a program tries to send out."""

    server: OtherSite

    def do_GET(self) -> None:
        """Note the path and answer with a module that any page may use."""
        self.server.heard.append(self.path)
        body = b"export const answer = 42;"
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Cross-Origin-Resource-Policy", "cross-origin")
        self.send_header("Content-Type", "text/javascript")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


@contextmanager
def running(server: http.server.HTTPServer) -> Iterator[None]:
    """Serve in a thread of its own."""
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def plain_host(
    folder: Path, port: int = 0, headers: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Serve a folder with these headers alone; return its address."""
    handler = partial(PlainHandler, directory=str(folder), headers=headers or {})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    with running(server):
        yield f"http://localhost:{server.server_port}/"
