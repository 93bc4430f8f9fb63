"""Immutable options of optimisers, and learning rates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from tensorweb import dtypes
from tensorweb.errors import DataError
from tensorweb.optim.checks import is_finite
from tensorweb.optim.schedules import Schedule
from tensorweb.optim.state import number
from tensorweb.tensor import Tensor

Rate: TypeAlias = float | Schedule | Tensor
"""A learning rate: a number, or a function from the step count to one."""


class FixedOptions(Mapping[str, Any]):
    """An immutable, hashable mapping of options, which can be part of a recording."""

    __slots__ = ("_hash", "_items")

    def __init__(self, items: Mapping[str, Any]) -> None:
        """Copy the options."""
        self._items = dict(items)
        self._hash = hash(tuple(self._items.items()))

    def __getitem__(self, name: str) -> Any:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        """Return a hash, equal for equal options."""
        return self._hash

    def __repr__(self) -> str:
        """Return the options as a dict."""
        return repr(self._items)


def checked_rate(name: str, lr: Rate) -> Rate:
    """Return a validated learning rate.

    Raises:
        DataError: it is negative, not finite, or neither number nor function.
    """
    if callable(lr) or (isinstance(lr, Tensor) and not lr.shape):
        return lr
    if not is_finite(lr) or lr < 0:
        raise DataError(
            f"{name}: lr={lr!r} is no learning rate; give a finite number from 0 on, "
            "or a function of the step such as tw.optim.cosine(0.001, steps=1000)."
        )
    return float(lr)


def as_schedule(rate: Rate) -> Schedule | None:
    """Return the schedule, None if the learning rate is a number."""
    return rate if callable(rate) else None


def number_of_rate(rate: float | Tensor, leaves: Iterable[Tensor]) -> Tensor:
    """Return a learning rate as a tensor on the parameters' device."""
    first, *others = leaves
    is_wide = any(leaf.dtype.part is dtypes.float64 for leaf in (first, *others))
    dtype = dtypes.float64 if is_wide else dtypes.float32
    if isinstance(rate, Tensor):
        return rate.astype(dtype).to_device(first.device)
    return number(rate, first.device, dtype)
