"""Schedules in PyTorch's style: objects whose `step` sets an optimiser's rate.

Each is a function of `tw.optim` that a program advances itself; give such a function
as `lr=` where the optimiser's own count of steps shall advance it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tensorweb import dtypes
from tensorweb.errors import DataError, TraceError
from tensorweb.evaluate import plain_number
from tensorweb.functions import asarray, cos
from tensorweb.graph.tracing import is_tracing
from tensorweb.optim import schedules
from tensorweb.optim.optimizer import Optimizer
from tensorweb.optim.options import count
from tensorweb.optim.schedules import Rate, Schedule
from tensorweb.tensor import Tensor

__all__ = [
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "OneCycleLR",
    "ReduceLROnPlateau",
    "StepLR",
]


class LRScheduler:
    """Base class: the rate of each parameter group by a schedule of its first rate.

    Attributes:
        optimizer: the optimiser whose rates it sets.
        base_lrs: the rate of each parameter group that the schedule begins with.
        last_epoch: count of steps done.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
    >>> tw.optim.lr_scheduler.StepLR(opt, 2).base_lrs
    [0.5]
    """

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
        self.base_lrs = [_number(name, g["lr"]) for g in optimizer.param_groups]
        self.last_epoch = 0
        self._set(self._rates())

    def step(self) -> None:
        """Set the rates of the next step, after `optimizer.step()`.

        Raises:
            TraceError: `jit` is tracing: the count would advance once only.

        >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
        >>> scheduler = tw.optim.lr_scheduler.StepLR(opt, step_size=1, gamma=0.5)
        >>> scheduler.step()
        >>> opt.lr
        tensor(0.25)
        """
        if is_tracing():
            raise TraceError(
                f"{type(self).__name__}: step() inside of jit would happen once only; "
                "call it outside, or give the optimiser a schedule as lr=."
            )
        self.last_epoch += 1
        self._set(self._rates())

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

    def _rates(self) -> list[float]:
        return [self._value(self._schedule_of(base)) for base in self.base_lrs]

    def _value(self, schedule: Schedule) -> float:
        """Return the value of a schedule now, computed in float64."""
        step = asarray(float(self.last_epoch), dtypes.float64, device="cpu")
        return float(schedule(step))

    def _set(self, rates: Sequence[float]) -> None:
        self._last_lr = list(rates)
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate


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


class StepLR(LRScheduler):
    """The rate times `gamma` after every `step_size` steps.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
    >>> scheduler = tw.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
    >>> for _ in range(4):
    ...     opt.params[0].sum().backward()
    ...     opt.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [0.125]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1
    ) -> None:
        """Set the first rates."""
        super().__init__(
            optimizer, lambda base: schedules.step_decay(base, step_size, rate=gamma)
        )


class MultiStepLR(LRScheduler):
    """The rate times `gamma` at each of the milestones.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
    >>> scheduler = tw.optim.lr_scheduler.MultiStepLR(opt, milestones=[1, 3], gamma=0.5)
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1
    ) -> None:
        """Set the first rates."""
        super().__init__(
            optimizer, lambda base: schedules.multistep(base, milestones, rate=gamma)
        )


class ExponentialLR(LRScheduler):
    """The rate times `gamma` after every step.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
    >>> scheduler = tw.optim.lr_scheduler.ExponentialLR(opt, gamma=0.5)
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, gamma: float) -> None:
        """Set the first rates."""
        super().__init__(optimizer, lambda base: schedules.exponential(base, gamma))


class LinearLR(LRScheduler):
    """The rate times a factor that goes linearly from one number to another.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
    >>> tw.optim.lr_scheduler.LinearLR(opt, start_factor=0.5).get_last_lr()
    [0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
    ) -> None:
        """Set the first rates."""
        super().__init__(
            optimizer,
            lambda base: schedules.linear(
                base * start_factor, base * end_factor, total_iters
            ),
        )


class LambdaLR(LRScheduler):
    """The rate times a function of the count of steps, an int.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
    >>> tw.optim.lr_scheduler.LambdaLR(opt, lambda epoch: 0.5**epoch).get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float]) -> None:
        """Set the first rates.

        Raises:
            DataError: the function is none.
        """
        if not callable(lr_lambda):
            raise DataError(
                f"LambdaLR: lr_lambda is {lr_lambda!r}; give one function, for all "
                "groups of parameters."
            )
        super().__init__(
            optimizer, lambda base: lambda _: base * lr_lambda(self.last_epoch)
        )


class CosineAnnealingLR(LRScheduler):
    """A cosine between the first rate and `eta_min`, which it reaches at `T_max`.

    After `T_max` steps the rate rises again, as in PyTorch; `tw.optim.cosine` stays.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
    >>> scheduler = tw.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=2)
    >>> scheduler.step()
    >>> round(scheduler.get_last_lr()[0], 6)
    0.25
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,
        eta_min: float = 0.0,
    ) -> None:
        """Set the first rates.

        Raises:
            DataError: `T_max` is no count from 1 on.
        """
        count("CosineAnnealingLR", "T_max", T_max)
        super().__init__(
            optimizer,
            lambda base: (
                lambda step: (
                    eta_min + (base - eta_min) * (1 + cos(step * (math.pi / T_max))) / 2
                )
            ),
        )


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half cosines from the first rate to `eta_min`, each `T_mult` times as long.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
    >>> make = tw.optim.lr_scheduler.CosineAnnealingWarmRestarts
    >>> scheduler = make(opt, T_0=2, T_mult=2)
    >>> scheduler.step()
    >>> round(scheduler.get_last_lr()[0], 6)
    0.25
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
    ) -> None:
        """Set the first rates."""
        super().__init__(
            optimizer,
            lambda base: schedules.warm_restarts(base, T_0, factor=T_mult, end=eta_min),
        )


class OneCycleLR(LRScheduler):
    """A rise to `max_lr` and a long fall, with momentum in the opposite direction.

    The momentum is an option, which `jit` does not take as an argument: a step that
    `jit` compiled is recorded again at each change; give `cycle_momentum=False` there.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5, momentum=0.9)
    >>> scheduler = tw.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.25, total_steps=20)
    >>> [round(rate, 6) for rate in scheduler.get_last_lr()]
    [0.01]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float = 0.85,
        max_momentum: float = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
    ) -> None:
        """Set the first rates and momenta.

        Args:
            optimizer: the optimiser whose rates it sets.
            max_lr: the largest rate.
            total_steps: count of all steps; else `epochs` times `steps_per_epoch`.
            epochs: count of passes over the data.
            steps_per_epoch: count of steps of a pass.
            pct_start: the fraction of the steps in which the rate rises.
            anneal_strategy: `"cos"` for half cosines, `"linear"` for lines.
            cycle_momentum: lower the momentum, or the first beta, as the rate rises.
            base_momentum: the smallest momentum.
            max_momentum: the largest momentum.
            div_factor: the largest rate divided by the first.
            final_div_factor: the first rate divided by the last.
            three_phase: fall to the first rate as fast as it rose, and then on.

        Raises:
            DataError: there is no count of steps, or no momentum.
        """
        steps = total_steps or (epochs or 0) * (steps_per_epoch or 0)
        if not steps:
            raise DataError(
                "OneCycleLR: give total_steps=, or epochs= and steps_per_epoch=."
            )
        levels = [max_momentum, base_momentum, max_momentum]
        levels += [max_momentum] * three_phase
        self._momentum = (
            schedules.cycle_of(levels, steps, pct_start, anneal_strategy)
            if cycle_momentum
            else None
        )
        if cycle_momentum and not {"betas", "momentum"} & {*optimizer.options}:
            raise DataError(
                f"OneCycleLR: {type(optimizer).__name__} has no momentum; give "
                "cycle_momentum=False."
            )
        super().__init__(
            optimizer,
            lambda _: schedules.one_cycle(
                max_lr,
                steps,
                pct_start=pct_start,
                div_factor=div_factor,
                final_div_factor=final_div_factor,
                anneal_strategy=anneal_strategy,
                three_phase=three_phase,
            ),
        )

    def _set(self, rates: Sequence[float]) -> None:
        super()._set(rates)
        if self._momentum is None:
            return
        momentum = self._value(self._momentum)
        for group in self.optimizer.param_groups:
            if "betas" in group:
                group["betas"] = (momentum, *group["betas"][1:])
            else:
                group["momentum"] = momentum


class ReduceLROnPlateau(LRScheduler):
    """The rate times `factor` when a number has not improved for `patience` steps.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
    >>> make = tw.optim.lr_scheduler.ReduceLROnPlateau
    >>> scheduler = make(opt, factor=0.5, patience=1)
    >>> for loss in (3.0, 2.0, 2.0, 2.5):
    ...     scheduler.step(loss)
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0.0,
        eps: float = 1e-8,
    ) -> None:
        """Keep the rates at first.

        Args:
            optimizer: the optimiser whose rates it sets.
            mode: `"min"` if the number shall fall, `"max"` if it shall rise.
            factor: of the rate, below 1.
            patience: count of steps without improvement that change nothing.
            threshold: the smallest change that is an improvement.
            threshold_mode: `"rel"` for a fraction of the best number, or `"abs"`.
            cooldown: count of steps after a change that are not judged.
            min_lr: the smallest rate.
            eps: the smallest change of a rate.

        Raises:
            DataError: a mode is unknown, or the factor is not below 1.
        """
        modes = (mode in ("min", "max"), threshold_mode in ("rel", "abs"))
        if not all(modes) or factor >= 1:
            raise DataError(
                f"ReduceLROnPlateau: mode={mode!r}, threshold_mode={threshold_mode!r}, "
                f"factor={factor}: modes are 'min', 'max' and 'rel', 'abs', and the "
                "factor is below 1."
            )
        self._sign = 1.0 if mode == "min" else -1.0
        self._is_relative = threshold_mode == "rel"
        self.factor, self.patience, self.threshold = factor, patience, threshold
        self.cooldown, self.min_lr, self.eps = cooldown, min_lr, eps
        self.best = math.inf * self._sign
        self.cooldown_counter = self.num_bad_epochs = 0
        super().__init__(optimizer, schedules.constant)

    def step(self, metrics: float | Tensor) -> None:  # type: ignore[override]
        """Set the rates of the next step by the number that shall improve.

        >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
        >>> scheduler = tw.optim.lr_scheduler.ReduceLROnPlateau(opt)
        >>> scheduler.step(tw.asarray(2.0))
        >>> scheduler.best
        2.0
        """
        self.last_epoch += 1
        value, margin = float(metrics), self.threshold * self._sign
        edge = self.best * (1 - margin) if self._is_relative else self.best - margin
        is_better = value * self._sign < edge * self._sign
        if is_better:
            self.best = value
        self.num_bad_epochs = 0 if is_better else self.num_bad_epochs + 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
            lower = [max(rate * self.factor, self.min_lr) for rate in self._last_lr]
            self._set(
                [
                    new if old - new > self.eps else old
                    for old, new in zip(self._last_lr, lower, strict=True)
                ]
            )
