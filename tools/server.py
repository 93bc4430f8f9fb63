"""Serve a built site while somebody works on it: `build.py serve`."""

from __future__ import annotations

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
        raise BuildError(str(error)) from None
    with server:
        print(flush=True)
        server.run()
