"""Evaluate nodes: compute them on their backends, and read their bytes.

Builders of `nodes/` never import this module. Reading, printing, the depth limit and
the builders of `lookups/`, which read values, use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorweb.devices import all_opened, backend
from tensorweb.graph.autograd import is_recording, may_differentiate, set_rule
from tensorweb.graph.deferred_errors import concerning, require_sound
from tensorweb.graph.node import (
    Node,
    complex_of,
    constant,
    leaf,
    number_of_constant,
    pair_of,
    pairs_of,
)
from tensorweb.graph.nonfinite import search
from tensorweb.graph.op import COMPLEX, CONSTANT
from tensorweb.graph.provenance import open_provenance
from tensorweb.graph.storage import HostData
from tensorweb.graph.tracing import is_tracing, require_values
from tensorweb.hostdata import pack
from tensorweb.waits import Steps, run_async, run_blocking

DEEPEST = 256
"""A node deeper than this is computed at once, which bounds the graphs of loops."""

STEP = 32
"""A node deeper than this is computed by `end_step`."""

SMALL_CONSTANT = 1024
"""Largest size of a constant that is read without a backend."""


def realize(nodes: Sequence[Node], *, alive: bool = False, step: bool = False) -> None:
    """Compute nodes, one flush per device. Returns before the device is done.

    With `alive` and `step`, devices may compute additional nodes; see
    `tensorweb.protocol.Backend`.

    Raises:
        TraceError: a value depends on an argument of a function that is traced.
    """
    nodes = pairs_of(nodes)
    require_values(nodes)
    pending = [node for node in nodes if (node.owner or node).storage is None]
    devices = {node.device for node in pending}
    if len(devices) == 1:
        backend(*devices).realize(pending, alive=alive, step=step)
    else:
        for device in devices:
            chosen = [node for node in pending if node.device == device]
            backend(device).realize(chosen, alive=alive, step=step)
    for node in pending:
        node.depth = 0


def bound_depth(node: Node) -> None:
    """Compute a node whose graph is too deep, except while tracing."""
    if not is_tracing():
        realize([node], alive=True)


def end_step(nodes: Sequence[Node]) -> None:
    """Compute the results of a loop's iteration if one is deeper than `STEP`.

    Does nothing while a function is traced or a history is open.
    """
    # Without this, a loop whose values are not read is cut by the depth limit at
    # another point of each iteration, and every cut needs its own plan and kernels.
    if is_tracing() or is_recording():
        return
    left = [node for node in nodes if not node.is_computed and node.op is not CONSTANT]
    if any(node.depth > STEP for node in left):
        realize(left, step=True)


def host_bytes(node: Node) -> bytes | None:
    """Return the row-major bytes of a node if the host has them, else None.

    The host has those of contiguous views of host data and of small constants.
    """
    node = pair_of(node)
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
    return storage.part(start, start + node.size * width)


def plain_number(node: Node) -> float | None:
    """Return the value of a constant or of a view of one, None for other nodes."""
    base = node.base
    if base.op.kind != "constant" or base.storage is not None:
        return None
    return number_of_constant(base)


def _without_waste(node: Node) -> Node:
    """Return a view of a constant as a constant, any other node unchanged."""
    number = None if node.base is node else plain_number(node)
    if number is None:
        return node
    return constant(number, node.dtype, node.device, node.shape)


def read(nodes: Sequence[Node]) -> list[bytes]:
    """Return row-major bytes of each node, waiting for the devices.

    Raises:
        BlockingError: Python cannot wait here; use `read_async`.
        LinAlgError: a value depends on a matrix without inverse or factorization.
        TraceError: a value depends on an argument of a function that is traced.
    """
    return run_blocking(read_steps(nodes))


async def read_async(nodes: Sequence[Node]) -> list[bytes]:
    """Return row-major bytes of each node by awaiting the devices."""
    return await run_async(read_steps(nodes))


def look(nodes: Sequence[Node]) -> list[bytes]:
    """Return the bytes that `read` returns, without raising `LinAlgError`.

    For displays, which show infinities and NaN.
    """
    return run_blocking(read_steps(nodes, is_display=True))


async def look_async(nodes: Sequence[Node]) -> list[bytes]:
    """Return the bytes that `look` returns by awaiting the devices."""
    return await run_async(read_steps(nodes, is_display=True))


def read_steps(
    nodes: Sequence[Node], *, is_display: bool = False
) -> Steps[list[bytes]]:
    """Read nodes; the body of `read` and, for a display, of `look`."""
    nodes = pairs_of(nodes)
    require_values(nodes)
    deferred = () if is_display else concerning(nodes)
    count = len(nodes)
    if deferred:
        nodes = [*nodes, *[one.failed for one in deferred]]
    # None where only a backend has the bytes, until it is read.
    found: list[Any] = [host_bytes(node) for node in nodes]
    if None in found:
        groups: dict[str, list[int]] = {}
        for index, data in enumerate(found):
            if data is None:
                groups.setdefault(nodes[index].device, []).append(index)
        for device, indices in groups.items():
            chosen = [_without_waste(nodes[index]) for index in indices]
            parts = yield from backend(device).read_steps(chosen)
            for index, part in zip(indices, parts, strict=True):
                found[index] = part
    seeker = search()
    if seeker is not None:
        for node, data in zip(nodes, found, strict=True):
            seeker.note_read(node, data)
    if deferred:
        require_sound(deferred, found[count:])
        del found[count:]
    return found


def transfer(node: Node, device: str) -> Node:
    """Return a node's value on another device, copied through host bytes.

    The backward pass copies the cotangent to the first device.
    """
    if node.device == device:
        return node
    if node.op is COMPLEX:
        return complex_of(transfer(node.inputs[0], device))
    number = plain_number(node)
    if number is not None:
        found = constant(number, node.dtype, device, node.shape)
    else:
        found = leaf(HostData(read([node])[0]), node.shape, node.dtype, device)
        seeker = search()
        if seeker is not None:
            seeker.inherit(found, seeker.origins(node))
        provenance = open_provenance()
        if provenance is not None:
            provenance.retain(found, (node,))
    if node.dtype.kind == "float" and may_differentiate(node):
        set_rule(found, (node,), lambda part: (transfer(part, node.device),))
    return found


def synchronize() -> None:
    """Wait until every opened device has done its work; raise what went wrong there.

    >>> synchronize()
    """
    for found in all_opened():
        found.synchronize()
