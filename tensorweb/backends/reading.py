"""Bytes between host and device: how they differ, and one read for several tensors."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from tensorweb.backends.machine import Machine
from tensorweb.backends.pool import Buffer, Pool
from tensorweb.drivers.protocol import COPY
from tensorweb.graph.node import Node
from tensorweb.graph.storage import HostData
from tensorweb.nodes.movement import copy

MOST_TOGETHER = 1 << 20
"""Bytes of several tensors that are copied together to be read at once."""

Region = tuple[Buffer, int, int]
"""A buffer, an offset and a number of bytes."""


def readable(node: Node, machine: Machine) -> Node:
    """Return a node, or a copy where its elements do not lie in one piece."""
    start = node.view.offset * machine.itemsize(node.dtype)
    is_plain = node.view.is_contiguous and start % machine.alignment == 0
    return node if is_plain or not node.size else copy(node)


def region(node: Node, buffer: Buffer, machine: Machine) -> Region:
    """Return where a readable node lies in the buffer of its base."""
    offset = node.view.offset * machine.itemsize(node.dtype) if node.size else 0
    return buffer, offset, machine.storage_bytes(node)


def device_pieces(
    node: Node, storage: HostData, machine: Machine
) -> Iterator[bytes | memoryview]:
    """Yield host bytes as the device stores them: padded to 4, bool at times as u32.

    No other dtype that a device stores is wider there than on the host.
    """
    is_wider = machine.itemsize(node.dtype) != node.dtype.itemsize
    for piece in storage.pieces():
        if is_wider:
            yield array("I", list(bytes(piece))).tobytes()
        else:
            missing = -len(piece) % 4
            yield bytes(piece) + bytes(missing) if missing else piece


def host_bytes(node: Node, data: bytes, machine: Machine) -> bytes:
    """Return device bytes as the host stores them."""
    if machine.itemsize(node.dtype) != node.dtype.itemsize:
        return bytes(memoryview(data).cast("I").tolist())
    return data[: node.size * node.dtype.itemsize]


def read_together(pool: Pool, regions: Sequence[Region]) -> tuple[Buffer, int] | None:
    """Copy several regions into one buffer, so that one read fetches all.

    Returns the buffer and its bytes; None where each is better read alone.
    """
    total = sum(size for _, _, size in regions)
    if len(regions) < 2 or total > MOST_TOGETHER or total == 0:
        return None
    target = pool.take(total, str, "a buffer for reading several tensors")
    words = [0]
    at = 0
    for buffer, offset, size in regions:
        if size:
            words += [COPY, buffer.handle, offset, target.handle, at, size]
        at += size
    pool.driver.submit(array("i", words))
    return target, total


def split(nodes: Sequence[Node], data: bytes, machine: Machine) -> list[bytes]:
    """Return the parts of bytes that were read together."""
    parts, at = [], 0
    for node in nodes:
        size = machine.storage_bytes(node)
        parts.append(host_bytes(node, data[at : at + size], machine))
        at += size
    return parts
