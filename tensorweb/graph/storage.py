"""Where a computed value lies: on the host, on a device, or not yet anywhere."""

from __future__ import annotations


class Storage:
    """Where a computed value lies; backends and `HostData` subclass it."""

    __slots__ = ("__weakref__",)


class HostData(Storage):
    """Row-major bytes on the host, before a device needs them."""

    __slots__ = ("data",)

    def __init__(self, data: bytes | memoryview) -> None:
        """Keep the bytes; nobody changes them afterwards."""
        self.data = data
