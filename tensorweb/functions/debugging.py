"""Compute now, explain what that would do, and stop where a NaN is made."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import ClassVar, overload

from tensorweb import evaluate
from tensorweb.devices import backend
from tensorweb.errors import DataError, NonFiniteError
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
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase, compute_at_once

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


@overload
def realize(tensors: Tensor, /) -> Tensor: ...


@overload
def realize(*tensors: Tensor) -> Tensor | tuple[Tensor, ...]: ...


def realize(*tensors: Tensor) -> Tensor | tuple[Tensor, ...]:
    """Start computing tensors together and return them; does not wait for the device.

    One flush per device, and what several of them need is computed once.

    >>> x = tw.asarray([1, 2]) + 1
    >>> tw.realize(x)
    tensor([2, 3])
    """
    _check("realize", tensors)
    evaluate.realize([x.node for x in tensors])
    return tensors[0] if len(tensors) == 1 else tensors


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """What computing tensors would run, as text; printing shows it.

    Attributes:
        text: graph, kernels and their source, or the calls of NumPy where it computes.

    >>> tw.explain(tw.zeros(2) + 1).text.count("add") > 0
    True
    """

    text: str

    def __repr__(self) -> str:
        """Return the text, so that a bare expression shows it."""
        return self.text

    def __str__(self) -> str:
        """Return the text."""
        return self.text


def explain(*tensors: Tensor) -> Explanation:
    """Return what computing the tensors would run, in words, without running it.

    >>> "add" in tw.explain(tw.asarray([1, 2]) + 1).text
    True
    """
    _check("explain", tensors)
    by_device: dict[str, list[Tensor]] = {}
    for x in tensors:
        by_device.setdefault(x.device, []).append(x)
    parts = [
        backend(device).explain([x.node for x in group])
        for device, group in by_device.items()
    ]
    return Explanation("\n\n".join(parts))


def _check(name: str, tensors: tuple[object, ...]) -> None:
    for x in tensors:
        if not isinstance(x, TensorBase):
            raise DataError(f"{name}: {type(x).__name__} given; it takes tensors.")


declare_public(__name__, "Explanation")
