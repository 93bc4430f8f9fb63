"""The device memory of a run: which line held how much, when, and what freed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tensorweb.backends.kernel_backend import KernelBackend
from tensorweb.backends.pool import Buffer
from tensorweb.devices import all_opened
from tensorweb.frames import Line, Location, line_of
from tensorweb.memory_log import Block, MemoryLog, Value

from . import policy, sources
from .device_records import DeviceMemory, MemoryBlock, MemoryRecord, MemoryValue
from .sources import is_main, name_of
from .tensors import Entry

Names = Mapping[tuple[str, int], Sequence[str]]
"""Names of the tensors in a buffer, by device and handle."""


def record(log: MemoryLog, entries: Sequence[Entry]) -> MemoryRecord:
    """Return the record of a log; `entries` are the tensors at the end of the run."""
    names = _names(entries)
    found = {
        backend.traits.device: backend
        for backend in all_opened()
        if isinstance(backend, KernelBackend)
    }
    return {
        "kernels": log.step,
        "flushes": log.flushes,
        "unlisted": log.unlisted,
        "devices": [
            _device(log, found[device], names)
            for device in log.peaks
            if device in found
        ],
    }


def _device(log: MemoryLog, backend: KernelBackend, names: Names) -> DeviceMemory:
    device = backend.traits.device
    peak = log.peaks[device]
    at_peak = {id(block) for block in log.alive_at_peak(device)}
    blocks = [block for block in log.blocks if block.device == device]
    return {
        "device": device,
        "peak": peak.nbytes,
        "step": peak.step,
        "atPeak": [at for at, block in enumerate(blocks) if id(block) in at_peak],
        "before": peak.before,
        "allocated": peak.allocated,
        "memory": backend.driver.counters().get("memory_bytes"),
        "budget": backend.pool.budget,
        "blocks": [_block(block, log.ended, names) for block in blocks],
    }


def _block(block: Block, ended: float, names: Names) -> MemoryBlock:
    values = block.values()
    is_alive = block.end is None
    known = names.get((block.device, block.handle), ()) if is_alive else ()
    is_inner = block.use == "flush" and not any(value.is_result for value in values)
    freed = None
    if block.code is not None and is_main(block.code.co_filename) and not is_inner:
        freed = line_of((block.code, block.instruction, 0))
    return {
        "bytes": block.nbytes,
        "use": block.use,
        "begin": block.begin,
        "end": block.end,
        "seconds": (ended if block.freed is None else block.freed) - block.taken,
        "isInner": is_inner,
        "freedLine": None if freed is None else freed.number,
        "names": list(known)[: policy.MOST_NAMES],
        "values": [_value(value) for value in values[: policy.MOST_MEMORY_VALUES]],
    }


def _value(value: Value) -> MemoryValue:
    line = _line(value.location)
    return {
        "op": value.op,
        "shape": list(value.shape),
        "dtype": value.dtype,
        "begin": value.begin,
        "end": value.end,
        "file": name_of(line.file) if line else "",
        "line": line.number if line else None,
    }


def _line(location: Location | None) -> Line | None:
    line = None if location is None else line_of(location)
    return line if line is not None and sources.is_program(line.file) else None


def _names(entries: Sequence[Entry]) -> Names:
    """Return the names of tensors by the buffer in which they lie, views as well."""
    names: dict[tuple[str, int], list[str]] = {}
    for entry in entries:
        node = entry.tensor.node.base
        if isinstance(node.storage, Buffer):
            names.setdefault((node.device, node.storage.handle), []).extend(entry.names)
    return names
