"""Compute now, or say in words what computing would do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

from tensorweb import evaluate
from tensorweb.devices import backend
from tensorweb.errors import DataError
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase


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
