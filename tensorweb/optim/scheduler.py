"""The base class of schedulers in PyTorch's style, which set an optimiser's rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

from tensorweb import dtypes
from tensorweb.errors import DataError, TraceError
from tensorweb.evaluate import plain_number
from tensorweb.functions import asarray
from tensorweb.graph.tracing import is_tracing
from tensorweb.optim.optimizer import Optimizer
from tensorweb.optim.schedules import Rate, Schedule
from tensorweb.tensor import Tensor


class _Written(NamedTuple):
    """A group's rate as a number: before all schedulers, and now with its tensor."""

    first: float
    rate: Rate
    now: float


# By optimiser and group: a rate that `jit` has updated would be read from the device.
_written: WeakKeyDictionary[Optimizer, dict[int, _Written]] = WeakKeyDictionary()


class LRScheduler:
    """Base class: the rate of each parameter group by a schedule of its first rate.

    Two schedulers of one optimiser that both scale its rate multiply their factors.

    Attributes:
        optimizer: the optimiser whose rates it sets.
        base_lrs: the rate of each parameter group that the schedule begins with.
        last_epoch: count of steps done.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
    >>> tw.optim.lr_scheduler.StepLR(opt, 2).base_lrs
    [0.5]
    """

    # Whether a step scales the rate that it finds, which others may have set.
    _scales: ClassVar[bool] = True

    # Whether `SequentialLR` may begin it at any time.
    can_begin_anew: ClassVar[bool] = True

    # The rate that is not scaled.
    _floor = 0.0

    last_epoch: float
    _own_rates: list[float]

    def __init__(
        self, optimizer: Optimizer, schedule_of: Callable[[float], Schedule]
    ) -> None:
        """Set the first rates.

        Raises:
            DataError: the optimiser has no parameters, or follows a schedule already.
        """
        name = type(self).__name__
        if not optimizer.params:
            raise DataError(
                f"{name}: give an optimiser with parameters, such as "
                "tw.optim.SGD(model.parameters(), lr=0.1)."
            )
        self.optimizer = optimizer
        self._schedule_of = schedule_of
        self.base_lrs = [written.first for written in self._written_rates()]
        self._advance(0, self.base_lrs)

    def step(self, epoch: float | None = None) -> None:
        """Set the rates of the next step, after `optimizer.step()`.

        Args:
            epoch: count of steps done, which may have a fraction; None for one more.

        Raises:
            TraceError: `jit` is tracing: the count would advance once only.

        >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
        >>> scheduler = tw.optim.lr_scheduler.StepLR(opt, step_size=1, gamma=0.5)
        >>> scheduler.step()
        >>> opt.lr
        tensor(0.25)
        """
        self._check_not_tracing()
        if epoch is None:
            self._advance(self.last_epoch + 1, self._own_rates)
        else:
            self.last_epoch = epoch
            self._own_rates = self._rates()
            self._set(self._own_rates)

    def _check_not_tracing(self) -> None:
        if is_tracing():
            raise TraceError(
                f"{type(self).__name__}: step() inside of jit would happen once only; "
                "call it outside, or give the optimiser a schedule as lr=."
            )

    def _advance(self, epoch: float, old: Sequence[float]) -> None:
        """Set the rates of a step, given what the schedule alone had set before."""
        self.last_epoch = epoch
        rates = self._own_rates = self._rates()
        if self._scales:
            now = [written.now for written in self._written_rates()]
            rates = list(map(self._scaled, now, old, rates))
        self._set(rates)

    def _scaled(self, now: float, old: float, new: float) -> float:
        """Return the rate that is now there, scaled as from `old` to `new`."""
        # A rate that was loaded is a float32.
        if math.isclose(now, old, rel_tol=1e-6) or old == self._floor:
            return new
        floor = self._floor
        return floor + (now - floor) * (new - floor) / (old - floor)

    def get_last_lr(self) -> list[float]:
        """Return the rate of each parameter group.

        >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
        >>> tw.optim.lr_scheduler.StepLR(opt, step_size=1).get_last_lr()
        [0.5]
        """
        return list(self._last_lr)

    def state_dict(self) -> dict[str, Any]:
        """Return the numbers of the scheduler by name.

        >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
        >>> tw.optim.lr_scheduler.StepLR(opt, step_size=1).state_dict()["last_epoch"]
        0
        """
        kinds = (int, float, list)
        return {key: v for key, v in vars(self).items() if isinstance(v, kinds)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` returned; the optimiser has a state of its own.

        >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
        >>> scheduler = tw.optim.lr_scheduler.StepLR(opt, step_size=1)
        >>> scheduler.load_state_dict({"last_epoch": 3})
        >>> scheduler.last_epoch
        3
        """
        vars(self).update(state_dict)
        self._set(self._last_lr)

    def _rates(self) -> list[float]:
        return [self._value(self._schedule_of(base)) for base in self.base_lrs]

    def _value(self, schedule: Schedule) -> float:
        """Return the value of a schedule now, computed in float64."""
        step = asarray(float(self.last_epoch), dtypes.float64, device="cpu")
        return float(schedule(step))

    def _set(self, rates: Sequence[float]) -> None:
        self._last_lr = list(rates)
        known, groups = _written[self.optimizer], self.optimizer.param_groups
        for group, rate in zip(groups, rates, strict=True):
            group["lr"] = rate
        for index, (group, rate) in enumerate(zip(groups, rates, strict=True)):
            known[index] = known[index]._replace(rate=group["lr"], now=rate)

    def _written_rates(self) -> list[_Written]:
        """Return the rate of each group, which a program may have set."""
        known = _written.setdefault(self.optimizer, {})
        for index, group in enumerate(self.optimizer.param_groups):
            rate, old = group["lr"], known.get(index)
            if old is None or old.rate is not rate:
                now = _number(type(self).__name__, rate)
                known[index] = _Written(old.first if old else now, rate, now)
        return list(known.values())


def _number(name: str, rate: Rate) -> float:
    """Return the rate that a program wrote; a tensor's own float32 is another one.

    Raises:
        DataError: the optimiser follows a schedule.
    """
    if isinstance(rate, Tensor):
        written = plain_number(rate.node)
        return float(rate) if written is None else written
    if callable(rate):
        raise DataError(
            f"{name}: the optimiser follows a schedule already; give it a number as "
            "lr=."
        )
    return rate
