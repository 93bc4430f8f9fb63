"""Make values exist: ask each node's backend, and answer from host bytes where we can.

Builders of `nodes/` never come here; reading, printing, unbounded loops and the
builders of `lookups/`, which must look at values, do.
"""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb.devices import DEVICES, backend, opened
from tensorweb.graph.history import Mark, is_kept, mark
from tensorweb.graph.node import Node, constant, leaf, number_of_constant
from tensorweb.graph.storage import HostData
from tensorweb.graph.tracing import is_tracing, require_values
from tensorweb.hostdata import pack

DEEPEST = 128
"""A graph deeper than this is computed at once, so that loops stay bounded."""

SMALL_CONSTANT = 1024
"""A constant of so many elements is read without a device."""


def realize(nodes: Sequence[Node]) -> None:
    """Compute nodes; one flush per device. Returns before the device is done.

    Raises:
        TraceError: a value hangs on an argument of a function that is traced.
    """
    require_values(nodes)
    pending = [node for node in nodes if (node.owner or node).storage is None]
    devices = {node.device for node in pending}
    if len(devices) == 1:
        backend(*devices).realize(pending)
    else:
        for device in devices:
            chosen = [node for node in pending if node.device == device]
            backend(device).realize(chosen)
    for node in pending:
        node.depth = 0


def bound_depth(node: Node) -> None:
    """Compute a node whose history has grown too deep, except while tracing."""
    if node.depth > DEEPEST and not is_tracing():
        realize([node])


def host_bytes(node: Node) -> bytes | None:
    """Return the row-major bytes of a node that lies on the host, None if it does not.

    Contiguous views and small constants are answered; the rest needs a backend.
    """
    number = plain_number(node)
    if number is not None:
        is_small = node.size <= SMALL_CONSTANT
        return (
            pack([number] * node.size, node.dtype, (node.size,)) if is_small else None
        )
    storage = node.base.storage
    if not isinstance(storage, HostData) or not node.view.is_contiguous:
        return None
    width = node.dtype.itemsize
    start = node.view.offset * width if node.size else 0
    if start == 0 and len(storage.data) == node.size * width:
        return bytes(storage.data)
    return bytes(memoryview(storage.data)[start : start + node.size * width])


def plain_number(node: Node) -> float | None:
    """Return the number that a node is everywhere, if it looks at a constant."""
    base = node.base
    if base.op.kind != "constant" or base.storage is not None:
        return None
    return number_of_constant(base)


def _without_waste(node: Node) -> Node:
    """Return a view of a constant as a constant of its own, anything else as it is."""
    number = None if node.base is node else plain_number(node)
    if number is None:
        return node
    return constant(number, node.dtype, node.device, node.shape)


def read(nodes: Sequence[Node]) -> list[bytes]:
    """Return row-major bytes of each node, waiting for the devices.

    Raises:
        BlockingError: Python cannot wait here; use `read_async`.
        TraceError: a value hangs on an argument of a function that is traced.
    """
    require_values(nodes)
    found = [host_bytes(node) for node in nodes]
    for device, indices in _missing(nodes, found).items():
        data = backend(device).read([_without_waste(nodes[i]) for i in indices])
        for index, part in zip(indices, data, strict=True):
            found[index] = part
    return [data for data in found if data is not None]


async def read_async(nodes: Sequence[Node]) -> list[bytes]:
    """Return row-major bytes of each node by awaiting the devices."""
    require_values(nodes)
    found = [host_bytes(node) for node in nodes]
    for device, indices in _missing(nodes, found).items():
        data = await backend(device).read_async(
            [_without_waste(nodes[i]) for i in indices]
        )
        for index, part in zip(indices, data, strict=True):
            found[index] = part
    return [data for data in found if data is not None]


def _missing(
    nodes: Sequence[Node], found: Sequence[bytes | None]
) -> dict[str, list[int]]:
    """Return by device the indices of nodes that only a backend can answer."""
    groups: dict[str, list[int]] = {}
    for index, (node, data) in enumerate(zip(nodes, found, strict=True)):
        if data is None:
            groups.setdefault(node.device, []).append(index)
    return groups


def transfer(node: Node, device: str) -> Node:
    """Return a node's value on another device, read and handed over as host bytes.

    A derivative goes back the same way.
    """
    if node.device == device:
        return node
    number = plain_number(node)
    if number is not None:
        found = constant(number, node.dtype, device, node.shape)
    else:
        found = leaf(HostData(read([node])[0]), node.shape, node.dtype, device)
    if node.dtype.kind == "float" and (is_kept() or node.past is not None):
        mark(found, Mark((node,), lambda part: (transfer(part, node.device),)))
    return found


def synchronize() -> None:
    """Wait until every opened device has done its work; raise what went wrong there.

    >>> synchronize()
    """
    for device in DEVICES:
        found = opened(device)
        if found is not None:
            found.synchronize()
