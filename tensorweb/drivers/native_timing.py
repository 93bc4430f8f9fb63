"""How long launches took, by timestamps that the GPU writes around each.

Called by `tensorweb.drivers.native` for flushes that somebody wants timed: every launch
is then a pass of its own, because WebGPU writes timestamps at the ends of passes.
"""

from __future__ import annotations

import importlib
from array import array

from tensorweb.drivers.native_adapter import Wgpu
from tensorweb.drivers.native_reads import ReadBack

MOST = 4096
"""Timestamps of one set, WebGPU's limit; a tape has at most 1024 launches."""


class Timing:
    """The timestamps of one tape."""

    def __init__(self, wgpu: Wgpu, device: Wgpu) -> None:
        """Make room for as many timestamps as a tape can have."""
        native = importlib.import_module("wgpu.backends.wgpu_native")
        period = native.lib.wgpuQueueGetTimestampPeriod(device.queue._internal)
        self._seconds_per_tick = float(period) * 1e-9
        self._set = device.create_query_set(type="timestamp", count=MOST)
        usage = wgpu.BufferUsage
        self._resolved = device.create_buffer(
            size=MOST * 8, usage=usage.QUERY_RESOLVE | usage.COPY_SRC
        )
        self._used = 0

    def begin(self) -> None:
        """Begin the next tape."""
        self._used = 0

    def next_pass(self) -> dict[str, object]:
        """Return what a pass needs to write its two timestamps."""
        first = self._used
        self._used += 2
        return {
            "query_set": self._set,
            "beginning_of_pass_write_index": first,
            "end_of_pass_write_index": first + 1,
        }

    def resolve(self, encoder: Wgpu) -> None:
        """Let the encoder write the timestamps into a buffer."""
        if self._used:
            encoder.resolve_query_set(self._set, 0, self._used, self._resolved, 0)

    def take(self, read_back: ReadBack) -> list[float]:
        """Wait and return the seconds of each pass."""
        if not self._used:
            return []
        staging = read_back.copy(self._resolved, 0, self._used * 8)
        staging.map_async("READ").sync_wait()
        ticks = array("Q", read_back.take(staging, 0, self._used * 8))
        pairs = zip(ticks[::2], ticks[1::2], strict=True)
        return [max(end - begin, 0) * self._seconds_per_tick for begin, end in pairs]
