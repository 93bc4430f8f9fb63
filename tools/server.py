"""Serve a built site while somebody works on it: `build.py serve`."""

from __future__ import annotations

import contextlib
import errno
from pathlib import Path

from tensorweb.site_server import SiteServer
from tools.process import BuildError


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
