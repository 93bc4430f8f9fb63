"""Stop a program at the operation that makes a NaN or an infinity."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import ClassVar

from tensorweb.errors import NonFiniteError
from tensorweb.frames import noting
from tensorweb.graph.node import Node
from tensorweb.graph.nonfinite import (
    Found,
    Look,
    Origin,
    Origins,
    Search,
    not_searching,
    search,
    start_search,
)
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import compute_at_once

__all__ = ["debug_nans"]

# Longer operands are shown by their shape and range.
LONGEST_TEXT = 300


class _Watch(Search):
    """A search that raises where an operation makes what its inputs do not have."""

    def made(
        self, node: Node, inputs: Sequence[Node], found: Found, look: Look
    ) -> Origins:
        origins = super().made(node, inputs, found, look)
        known = {id(o) for source in inputs for o in self.origins(source).values()}
        for origin in origins.values():
            if inputs and id(origin) not in known:
                with not_searching():
                    raise NonFiniteError(_sentence(origin, inputs))
        return origins


def _sentence(origin: Origin, inputs: Sequence[Node]) -> str:
    kind = "NaN" if origin.kind == "nan" else "an infinity"
    lines = [f"{line.file}:{line.number}" for line in origin.lines]
    where = f" in {lines[0]}" if lines else ""
    operands = " and ".join(_shown(node) for node in inputs)
    return f"{origin.op}: it made {kind}{where}, of {operands}."


def _shown(node: Node) -> str:
    """Return an operand's values, or their range if they are many."""
    x = Tensor.without_registering(node)
    if node.size * 4 < LONGEST_TEXT or not node.size:
        return repr(x)
    ends = f"from {x.min().item():.6g} to {x.max().item():.6g}"
    return f"a tensor of shape {node.shape}, {ends}"


class debug_nans(AbstractContextManager[None]):
    """Raise an error at the first operation that makes a NaN or an infinity.

    Inside of the `with` block, or from a plain call on, each operation is computed at
    its line and checked; functions under `jit` run as plain Python. So it is slow. What
    data or written numbers contain is no error, and nor is what comes from it: a mask
    of `-inf` may be added. On a device that Python cannot wait for nothing is checked.

    >>> with tw.debug_nans():
    ...     x = tw.asarray([1.0, -1.0])
    ...     y = tw.log(x)
    Traceback (most recent call last):
    ...
    tensorweb.errors.NonFiniteError: log: it made NaN in <doctest ...tensor([ 1., -1.]).
    """

    _open: ClassVar[list[debug_nans]] = []

    def __init__(self, is_on: bool = True) -> None:
        """Begin at once.

        Args:
            is_on: False ends what plain calls began.
        """
        if not is_on:
            while self._open:
                self._open[-1].__exit__(None, None, None)
            return
        self._before = search()
        self._noting = noting(sys.maxsize)
        self._noting.__enter__()
        compute_at_once(True)
        start_search(_Watch())
        self._open.append(self)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the checks."""
        if self not in self._open:
            return
        self._open.remove(self)
        start_search(self._before)
        compute_at_once(bool(self._open))
        self._noting.__exit__(None, None, None)
