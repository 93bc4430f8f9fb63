"""Lets imports wait for the part of the standard library that the page loads last.

A start reads few of the standard library's modules, so that the page starts Python with
an archive whose directory is complete, but which has zeros where the other modules are
(`tools/bytecode.mjs`). They follow at once (`web/src/worker/loading.ts`).
"""

from __future__ import annotations

import json
import sys
import zlib
from importlib.abc import MetaPathFinder
from pathlib import Path

HEADER = b"PK\3\4"
"""What an entry of a zip archive begins with."""

GZIP = 16 + zlib.MAX_WBITS


def expect(described: str) -> None:
    """Let imports of some modules wait until the standard library's archive has them.

    Args:
        described: in JSON the path of the archive, the offset of the missing bytes in
            it, the modules among these bytes, and the address, relative to the site,
            of a compressed file with them: a line of JSON with sizes, then the bytes.
    """
    archive, start, modules, address = json.loads(described)
    finder = LateModules(Path(archive), start, frozenset(modules), address)
    sys.meta_path.insert(0, finder)


class LateModules(MetaPathFinder):
    """Finds nothing itself: completes the archive before the next finder reads it."""

    def __init__(
        self, archive: Path, start: int, modules: frozenset[str], address: str
    ) -> None:
        self._archive = archive
        self._start = start
        self._modules = modules
        self._address = address

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> None:
        """Load the missing bytes if the module is one of them.

        Raises:
            ImportError: the site does not send them.
        """
        if fullname in self._modules and not self._is_complete():
            self._complete(fullname)

    def _is_complete(self) -> bool:
        with self._archive.open("rb") as file:
            file.seek(self._start)
            return file.read(len(HEADER)) == HEADER

    def _complete(self, module: str) -> None:
        # The browser blocks here, because not every browser can suspend an import.
        from js import XMLHttpRequest

        request = XMLHttpRequest.new()
        request.open("GET", self._address, False)
        request.responseType = "arraybuffer"
        request.send()
        if request.status != 200:
            raise ImportError(
                f"{module} could not be loaded: the server answered {request.status}"
            )
        head, _, rest = zlib.decompress(request.response.to_bytes(), GZIP).partition(
            b"\n"
        )
        size = next(iter(json.loads(head).values()))
        with self._archive.open("r+b") as file:
            file.seek(self._start)
            file.write(rest[:size])
