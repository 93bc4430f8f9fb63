"""Read bytes back through wgpu-py by cached mappable buffers.

Called by `tensorweb.drivers.native`, which translates errors.
"""

from __future__ import annotations

from tensorweb.drivers.native_adapter import Wgpu

SMALLEST = 4096
KEPT_BYTES = 64 << 20
"""Most bytes of cached buffers; larger reads allocate their own."""


class ReadBack:
    """The mappable buffers of one device."""

    def __init__(self, wgpu: Wgpu, device: Wgpu) -> None:
        """Begin without buffers."""
        self._device = device
        self._usage = wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.MAP_READ
        self._idle: dict[int, list[Wgpu]] = {}
        self._idle_bytes = 0

    def copy(self, source: Wgpu, offset: int, size: int) -> Wgpu:
        """Submit a copy of bytes into a mappable buffer and return it."""
        size = (size + 3) & ~3
        capacity = max(SMALLEST, 1 << (size - 1).bit_length())
        free = self._idle.get(capacity)
        if free:
            staging = free.pop()
            self._idle_bytes -= capacity
        else:
            staging = self._device.create_buffer(size=capacity, usage=self._usage)
        encoder = self._device.create_command_encoder()
        encoder.copy_buffer_to_buffer(source, offset, staging, 0, size)
        self._device.queue.submit([encoder.finish()])
        return staging

    def take(self, staging: Wgpu, start: int, size: int) -> bytes:
        """Return mapped bytes and keep the buffer for the next read."""
        view = staging.read_mapped(0, (start + size + 3) & ~3, copy=False)
        data = bytes(view[start : start + size])
        staging.unmap()
        capacity = staging.size
        if self._idle_bytes + capacity <= KEPT_BYTES:
            self._idle.setdefault(capacity, []).append(staging)
            self._idle_bytes += capacity
        else:
            staging.destroy()
        return data

    def close(self) -> None:
        """Destroy the cached buffers."""
        for buffers in self._idle.values():
            for buffer in buffers:
                buffer.destroy()
        self._idle.clear()
