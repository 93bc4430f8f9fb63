"""Compiles kernels while nobody runs anything, a graph at a time.

Called by the page's worker between questions. A step plans one graph, which takes
milliseconds; its kernels compile in the background.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tensorweb import devices
from tensorweb.errors import DeviceError
from tensorweb.performance.warming import Graph, graphs, prepare

from .records import WarmUp

if TYPE_CHECKING:
    from tensorweb.protocol import Preparer

MOST_PENDING = 2
"""With more kernels than this in the making a step leaves the GPU process alone."""


class Warming:
    """What is left to compile."""

    def __init__(self, blocking: bool) -> None:
        """Begin with everything; `blocking` tells whether Python can wait."""
        self._blocking = blocking
        self._left: Iterator[Graph] | None = graphs()

    async def step(self) -> WarmUp:
        """Begin to compile the next graph; returns whether there is more to do."""
        preparer = await self._preparer() if self._left is not None else None
        if self._left is None or preparer is None:
            self._left = None
            return {"more": False}
        if preparer.prepare([]) <= MOST_PENDING:
            with devices.device(devices.fastest()):
                graph = next(self._left, None)
                if graph is None:
                    self._left = None
                else:
                    prepare(graph)
        return {"more": self._left is not None}

    async def _preparer(self) -> Preparer | None:
        """Open the fastest device; return what compiles ahead if that is worth it."""
        name = devices.fastest()
        try:
            if not self._blocking:
                await devices.open_device_async(name)
            found = devices.backend(name).preparer
        except DeviceError:
            return None
        return found if found is not None and found.is_worthwhile else None
