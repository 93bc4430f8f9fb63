"""What may have gone wrong with a result, asked when somebody reads it.

A device cannot stop in the middle: a singular matrix gives infinities or NaN. Whoever
builds such a result tells how to find out. Nothing is read for it alone: the answer
comes with the next read of what hangs on the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from weakref import ref

from tensorweb.errors import LinAlgError
from tensorweb.graph.node import Node
from tensorweb.graph.tracing import is_tracing
from tensorweb.graph.walks import ancestors

MOST = 256
"""Results in doubt; of more, the oldest are believed."""


@dataclass(slots=True, eq=False)
class Doubt:
    """One result that may be none.

    Attributes:
        result: the node; nobody is kept alive by a doubt.
        failed: a node of bool, true where the result is none.
        error: from the first such position to what is raised.
        is_told: whether it was raised already.
    """

    result: ref[Node]
    failed: Node
    error: Callable[[int], LinAlgError]
    is_told: bool = False


_doubts: list[Doubt] = []


def doubt(result: Node, failed: Node, error: Callable[[int], LinAlgError]) -> None:
    """Note that a result may be none; inside of recorded functions nobody asks."""
    if is_tracing():
        return
    # How to find out holds what was computed on the way: of the dead nothing stays.
    alive = [one for one in _doubts if one.result() is not None]
    _doubts[:] = alive if len(alive) < MOST else alive[-MOST // 2 :]
    _doubts.append(Doubt(ref(result), failed, error))


def forget(device: str) -> None:
    """Believe what was computed on a device that is lost: it cannot be asked."""
    _doubts[:] = [
        one
        for one in _doubts
        if (result := one.result()) is not None
        and (one.failed.device != device or not result.is_computed)
    ]


def concerning(nodes: Sequence[Node]) -> list[Doubt]:
    """Return the doubts about what some nodes hang on, or about what is computed.

    What was told once is told again to those who read the result itself. Devices that
    are not read are not asked: what comes from one to another was read before.
    """
    if not _doubts:
        return []
    devices = {node.device for node in nodes}
    _doubts[:] = [one for one in _doubts if one.result() is not None]
    wanted = {node.base for node in nodes}
    needed = set(ancestors(nodes)) if _doubts else set()
    found = []
    for one in _doubts:
        result = one.result()
        if result is None or one.failed.device not in devices:
            continue
        is_new = result in needed or result.is_computed
        if result.base in wanted or (is_new and not one.is_told):
            found.append(one)
    return found


def require_sound(doubts: Sequence[Doubt], answers: Sequence[bytes]) -> None:
    """Raise the first error that answers tell of; forget doubts that were groundless.

    Args:
        doubts: that were asked about.
        answers: the bytes of each one's `failed`.
    """
    failed: LinAlgError | None = None
    for one, answer in zip(doubts, answers, strict=True):
        place = answer.find(1)
        if place < 0:
            _doubts[:] = [other for other in _doubts if other is not one]
            continue
        one.is_told = True
        if failed is None:
            failed = one.error(place)
            failed.location = getattr(one.failed, "location", None)
    if failed is not None:
        raise failed
