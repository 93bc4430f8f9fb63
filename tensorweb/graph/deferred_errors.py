"""Errors of device computations, checked when a dependent value is read.

A kernel cannot raise: a singular matrix gives infinities or NaN. The builder of such a
result registers a bool node that is true where the computation failed. The node is read
together with the next value that depends on the result, never on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from weakref import ref

from tensorweb.errors import LinAlgError
from tensorweb.graph.node import Node, ancestors
from tensorweb.graph.tracing import is_tracing

MOST = 256
"""Unchecked results per process; above this limit the older half is dropped."""


@dataclass(slots=True, eq=False)
class Doubt:
    """A result that may have failed.

    Attributes:
        result: weak reference to the node.
        failed: a bool node, true where the computation failed.
        error: maps the flat index of the first failure to the error to raise.
        is_told: whether the error was raised already.
    """

    result: ref[Node]
    failed: Node
    error: Callable[[int], LinAlgError]
    is_told: bool = False


_doubts: list[Doubt] = []


def doubt(result: Node, failed: Node, error: Callable[[int], LinAlgError]) -> None:
    """Register a result that may have failed; does nothing while tracing."""
    if is_tracing():
        return
    # `failed` retains intermediate values, so drop the entries of freed results.
    alive = [one for one in _doubts if one.result() is not None]
    _doubts[:] = alive if len(alive) < MOST else alive[-MOST // 2 :]
    _doubts.append(Doubt(ref(result), failed, error))


def forget(device: str) -> None:
    """Drop the checks of computed results on a lost device, which cannot be read."""
    _doubts[:] = [
        one
        for one in _doubts
        if (result := one.result()) is not None
        and (one.failed.device != device or not result.is_computed)
    ]


def concerning(nodes: Sequence[Node]) -> list[Doubt]:
    """Return the checks to read together with `nodes`.

    These are checks of results that the nodes depend on and of results already
    computed, on the devices of the nodes. (A value copied from another device was read
    there before.) An error already raised is raised again only for the result itself.
    """
    if not _doubts:
        return []
    devices = {node.device for node in nodes}
    _doubts[:] = [one for one in _doubts if one.result() is not None]
    bases = {node.base for node in nodes}
    needed = set(ancestors(nodes)) if _doubts else set()
    found = []
    for one in _doubts:
        result = one.result()
        if result is None or one.failed.device not in devices:
            continue
        is_new = result in needed or result.is_computed
        if result.base in bases or (is_new and not one.is_told):
            found.append(one)
    return found


def require_sound(doubts: Sequence[Doubt], answers: Sequence[bytes]) -> None:
    """Raise the first error that the checks report; drop the checks that passed.

    Args:
        doubts: the checks that were read.
        answers: the bytes of the `failed` node of each check.
    """
    failed: LinAlgError | None = None
    for one, answer in zip(doubts, answers, strict=True):
        index = answer.find(1)
        if index < 0:
            _doubts[:] = [other for other in _doubts if other is not one]
            continue
        one.is_told = True
        if failed is None:
            failed = one.error(index)
            failed.location = getattr(one.failed, "location", None)
    if failed is not None:
        raise failed
