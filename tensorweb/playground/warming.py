"""Compiles kernels while nobody runs anything, a graph at a time.

Called by the page's worker between questions. A step plans one graph, which takes
milliseconds; its kernels compile in the background.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from tensorweb import devices
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.errors import DeviceError
from tensorweb.performance.warming import Graph, graphs, prepare

MOST_PENDING = 2
"""With more kernels than this in the making a step leaves the GPU process alone."""


class Warming:
    """What is left to compile."""

    def __init__(self, blocking: bool) -> None:
        """Begin with everything; `blocking` tells whether Python can wait."""
        self._blocking = blocking
        self._left: Iterator[Graph] | None = graphs()

    async def step(self) -> dict[str, object]:
        """Begin to compile the next graph; returns whether there is more to do."""
        if self._left is None or not await self._is_useful():
            self._left = None
            return {"more": False}
        backend = devices.backend("webgpu")
        if backend.prepare([]) <= MOST_PENDING:
            graph = next(self._left, None)
            if graph is None:
                self._left = None
            else:
                prepare(graph)
        return {"more": self._left is not None}

    async def _is_useful(self) -> bool:
        """Open the GPU and tell whether it is one that is worth warming up."""
        try:
            if self._blocking:
                backend = devices.backend("webgpu")
            else:
                await devices.open_device_async("webgpu")
                backend = devices.backend("webgpu")
        except DeviceError:
            return False
        return not cast(WebGpuBackend, backend).driver.is_software
