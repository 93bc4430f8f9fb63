"""Compiles common kernels after the start, one graph a request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tensorweb import devices
from tensorweb.errors import DeviceError
from tensorweb.performance.warming import Graph, graphs, prepare

from . import policy
from .records import WarmUp

if TYPE_CHECKING:
    from tensorweb.protocol import Preparer


class Warming:
    """The graphs that are not compiled yet."""

    def __init__(self, blocking: bool) -> None:
        """Start with all graphs; `blocking` is whether Python can wait."""
        self._blocking = blocking
        self._left: Iterator[Graph] | None = graphs()

    async def step(self) -> WarmUp:
        """Start to compile the next graph; return whether there is more to do."""
        preparer = await self._preparer() if self._left is not None else None
        if self._left is None or preparer is None:
            self._left = None
            return {"more": False}
        if preparer.prepare([]) <= policy.MOST_PENDING:
            with devices.device(devices.fastest()):
                graph = next(self._left, None)
                if graph is None:
                    self._left = None
                else:
                    prepare(graph)
        return {"more": self._left is not None}

    async def _preparer(self) -> Preparer | None:
        """Open the fastest device; return its preparer if that is worthwhile."""
        name = devices.fastest()
        try:
            if not self._blocking:
                await devices.open_device_async(name)
            found = devices.backend(name).preparer
        except DeviceError:
            return None
        return found if found is not None and found.is_worthwhile else None
