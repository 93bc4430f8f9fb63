"""A driver without a device: it remembers what it was asked to compile."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from tensorweb.waits import Steps

LIMITS = {
    "maxStorageBuffersPerShaderStage": 10,
    "maxComputeInvocationsPerWorkgroup": 1024,
    "maxComputeWorkgroupStorageSize": 32768,
    "maxBufferSize": 4 << 30,
    "maxStorageBufferBindingSize": 2 << 30,
}


class PretendDriver:
    """A large GPU that is not there; see `tensorweb.drivers.protocol.Driver`.

    Attributes:
        sources: of every pipeline, in order.
        pending: pipelines that are being compiled in the background.
        waits: which pipelines somebody waited for.
        blocks: whether Python can wait.
    """

    def __init__(self) -> None:
        self.description = "pretended (none)"
        self.names = {"vendor": "pretended", "architecture": "", "description": ""}
        self.texts: dict[str, str] = {}
        self.is_software = False
        self.shared_memory: int | None = None
        self.limits = dict(LIMITS)
        self.features: frozenset[str] = frozenset()
        self.has_subgroup_matrices = False
        self.is_lost = False
        self.shader_header = ""
        self.sources: list[str] = []
        self.pending: set[int] = set()
        self.waits: list[list[int]] = []
        self.blocks = True
        self.buffers = 0

    def create_buffer(self, size: int) -> int:
        self.buffers += 1
        return self.buffers

    def destroy_buffer(self, buffer: int) -> None:
        pass

    def write_buffer(self, buffer: int, offset: int, data: bytes | memoryview) -> None:
        pass

    def create_pipeline(self, source: str, access: str, label: str) -> int:
        self.sources.append(source)
        return len(self.sources) - 1

    def begin_pipeline(self, source: str, access: str, label: str) -> int:
        number = self.create_pipeline(source, access, label)
        self.pending.add(number)
        return number

    def pending_pipelines(self) -> int:
        return len(self.pending)

    def finish_pipelines(self, pipelines: Sequence[int] = ()) -> Steps[None]:
        yield from ()
        self.waits.append(list(pipelines))
        self.pending -= set(pipelines) if pipelines else set(self.pending)

    def pace(self) -> None:
        pass

    def submit(self, tape: array[int]) -> None:
        pass

    def submit_timed(self, tape: array[int]) -> list[float] | None:
        return None

    def read(self, buffer: int, offset: int, size: int) -> bytes:
        return bytes(size)

    def read_steps(self, buffer: int, offset: int, size: int) -> Steps[bytes]:
        yield from ()
        return self.read(buffer, offset, size)

    def can_block(self) -> bool:
        return self.blocks

    def check(self) -> None:
        pass

    def counters(self) -> dict[str, int]:
        return {"pipelines": len(self.sources), "buffers": self.buffers}

    def kept(self, key: str) -> str | None:
        return self.texts.get(key)

    def keep(self, key: str, text: str | None) -> bool:
        if text is None:
            self.texts.pop(key, None)
        else:
            self.texts[key] = text
        return True

    def close(self) -> None:
        pass
