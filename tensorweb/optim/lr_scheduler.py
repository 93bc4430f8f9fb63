"""Schedules in PyTorch's style: objects whose `step` sets an optimiser's rate.

Each is a function of `tw.optim` that a program advances itself; give such a function
as `lr=` where the optimiser's own count of steps shall advance it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from tensorweb.errors import DataError
from tensorweb.functions import cos
from tensorweb.optim import schedules
from tensorweb.optim.optimizer import Optimizer
from tensorweb.optim.options import count
from tensorweb.optim.scheduler import LRScheduler
from tensorweb.optim.schedules import Schedule
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import answer_torch_words


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


class ConstantLR(LRScheduler):
    """The rate times `factor` for `total_iters` steps, and then the rate itself.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
    >>> scheduler = tw.optim.lr_scheduler.ConstantLR(opt, factor=0.5, total_iters=1)
    >>> scheduler.get_last_lr(), scheduler.step(), scheduler.get_last_lr()
    ([0.25], None, [0.5])
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5
    ) -> None:
        """Set the first rates.

        Raises:
            DataError: the factor is not in [0, 1].
        """
        if not 0 <= factor <= 1:
            raise DataError(f"ConstantLR: factor={factor!r} is no number from 0 to 1.")
        super().__init__(
            optimizer,
            lambda base: (
                lambda _: base * (factor if self.last_epoch < total_iters else 1.0)
            ),
        )


class PolynomialLR(LRScheduler):
    """The rate times `(1 - t / total_iters) ** power` in step `t`, 0 at the end.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
    >>> scheduler = tw.optim.lr_scheduler.PolynomialLR(opt, total_iters=4, power=2.0)
    >>> scheduler.step(), scheduler.step(), scheduler.get_last_lr()
    (None, None, [0.125])
    """

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0
    ) -> None:
        """Set the first rates."""
        length = count("PolynomialLR", "total_iters", total_iters)
        super().__init__(
            optimizer,
            lambda base: (
                lambda _: base * max(0.0, 1 - self.last_epoch / length) ** power
            ),
        )


class LambdaLR(LRScheduler):
    """The rate times a function of the count of steps, an int.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
    >>> tw.optim.lr_scheduler.LambdaLR(opt, lambda epoch: 0.5**epoch).get_last_lr()
    [0.5]
    """

    _scales = False

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
    ) -> None:
        """Set the first rates.

        Args:
            optimizer: the optimiser whose rates it sets.
            lr_lambda: a function from the count of steps to the factor, or one for each
                parameter group.

        Raises:
            DataError: a function is none, or their count is another one.
        """
        name, groups = type(self).__name__, len(optimizer.param_groups)
        given = [lr_lambda] * groups if callable(lr_lambda) else list(lr_lambda)
        if len(given) != groups or not all(map(callable, given)):
            raise DataError(
                f"{name}: lr_lambda is {lr_lambda!r}; give one function, or a list of "
                f"{groups}, one for each group of parameters."
            )
        self._lambdas = tuple(given)
        super().__init__(optimizer, schedules.constant)

    def _rates(self) -> list[float]:
        return [
            base * factor(int(self.last_epoch))
            for base, factor in zip(self.base_lrs, self._lambdas, strict=True)
        ]


class MultiplicativeLR(LambdaLR):
    """The rate times the factor that a function returns for each count of steps.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
    >>> scheduler = tw.optim.lr_scheduler.MultiplicativeLR(opt, lambda epoch: 0.5)
    >>> scheduler.step(), scheduler.step(), scheduler.get_last_lr()
    (None, None, [0.125])
    """

    _scales = True

    def _rates(self) -> list[float]:
        if not self.last_epoch:
            return self.base_lrs
        return [
            rate * factor(int(self.last_epoch))
            for rate, factor in zip(self._own_rates, self._lambdas, strict=True)
        ]


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
        self._floor = eta_min
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

    _scales = False

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


class _Cycle(LRScheduler):
    """Base class: rates without regard to others, and momentum as a schedule, if any.

    The momentum is an option, which `jit` does not take as an argument: a step that
    `jit` compiled is recorded again at each change; give `cycle_momentum=False` there.
    """

    _scales = False

    def __init__(
        self,
        optimizer: Optimizer,
        schedule_of: Callable[[float], Schedule],
        momentum: Schedule | None,
    ) -> None:
        """Set the first rates and momenta.

        Raises:
            DataError: the optimiser has no momentum, and there is a schedule of it.
        """
        if momentum and not {"betas", "momentum"} & {*optimizer.options}:
            raise DataError(
                f"{type(self).__name__}: {type(optimizer).__name__} has no momentum; "
                "give cycle_momentum=False."
            )
        self._momentum = momentum
        super().__init__(optimizer, schedule_of)

    def _set(self, rates: Sequence[float]) -> None:
        if self._momentum is not None:
            momentum = self._value(self._momentum)
            for group in self.optimizer.param_groups:
                if "betas" in group:
                    group["betas"] = (momentum, *group["betas"][1:])
                else:
                    group["momentum"] = momentum
        super()._set(rates)


class OneCycleLR(_Cycle):
    """A rise to `max_lr` and a long fall, with momentum in the opposite direction.

    A step that `jit` compiled is recorded again at each change of the momentum; give
    `cycle_momentum=False` there.

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
        momentum = (
            schedules.cycle_of(levels, steps, pct_start, anneal_strategy)
            if cycle_momentum
            else None
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
            momentum,
        )


class CyclicLR(_Cycle):
    """The rate between two bounds, up and down along lines. Smith 2015.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5, momentum=0.9)
    >>> make = tw.optim.lr_scheduler.CyclicLR
    >>> scheduler = make(opt, base_lr=0.125, max_lr=0.625, step_size_up=2)
    >>> scheduler.step(), scheduler.get_last_lr()
    (None, [0.375])
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float,
        max_lr: float,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
    ) -> None:
        """Set the first rates and momenta.

        Args:
            optimizer: the optimiser whose rates it sets.
            base_lr: the smallest rate.
            max_lr: the largest rate.
            step_size_up: count of steps in which it rises.
            step_size_down: count of steps in which it falls; None for as many.
            mode: `"triangular"`, `"triangular2"` for half the height after each cycle,
                or `"exp_range"` for a height times `gamma` in each step.
            gamma: the factor of `"exp_range"`.
            scale_fn: a function to the factor of the height, instead of a mode.
            scale_mode: what it is a function of, the `"cycle"` from 1 on, or the count
                of `"iterations"`.
            cycle_momentum: lower the momentum, or the first beta, as the rate rises.
            base_momentum: the smallest momentum.
            max_momentum: the largest momentum.

        Raises:
            DataError: a mode is unknown, or there is no momentum.
        """
        modes: dict[str, Callable[[float, float], float]] = {
            "triangular": lambda cycle, step: 1.0,
            "triangular2": lambda cycle, step: 0.5 ** (cycle - 1),
            "exp_range": lambda cycle, step: gamma**step,
        }
        if mode not in modes or scale_mode not in ("cycle", "iterations"):
            raise DataError(
                f"CyclicLR: mode={mode!r}, scale_mode={scale_mode!r}: modes are "
                f"{', '.join(map(repr, modes))} and 'cycle', 'iterations'."
            )
        total = step_size_up + (step_size_down or step_size_up)

        def height() -> float:
            step = self.last_epoch
            cycle = math.floor(1 + step / total)
            part, top = 1 + step / total - cycle, step_size_up / total
            height = part / top if part <= top else (part - 1) / (top - 1)
            if scale_fn is None:
                return height * modes[mode](cycle, step)
            return height * scale_fn(cycle if scale_mode == "cycle" else step)

        super().__init__(
            optimizer,
            lambda _: lambda _: base_lr + (max_lr - base_lr) * height(),
            (lambda _: max_momentum - (max_momentum - base_momentum) * height())
            if cycle_momentum
            else None,
        )


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

    can_begin_anew = False

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
            old = [written.now for written in self._written_rates()]
            lower = [max(rate * self.factor, self.min_lr) for rate in old]
            self._set(
                [
                    new if rate - new > self.eps else rate
                    for rate, new in zip(old, lower, strict=True)
                ]
            )


class ChainedScheduler(LRScheduler):
    """Several schedulers at once: the rate times the factors of all of them.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
    >>> every = tw.optim.lr_scheduler
    >>> parts = [every.ConstantLR(opt, 0.5, 4), every.ExponentialLR(opt, 0.5)]
    >>> scheduler = every.ChainedScheduler(parts)
    >>> scheduler.step(), scheduler.get_last_lr()
    (None, [0.125])
    """

    can_begin_anew = False

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        """Follow schedulers of one optimiser.

        Args:
            schedulers: the schedulers, which `step` advances.
            optimizer: their optimiser, which may be omitted.

        Raises:
            DataError: there is no scheduler, or they have several optimisers.
        """
        owners = [*[optimizer] * (optimizer is not None)]
        owners += [scheduler.optimizer for scheduler in schedulers]
        if not schedulers or any(owner is not owners[0] for owner in owners):
            raise DataError(f"{type(self).__name__}: give schedulers of one optimiser.")
        self.schedulers = tuple(schedulers)
        self.optimizer, self.last_epoch = schedulers[0].optimizer, 0
        self.base_lrs = schedulers[0].base_lrs
        self._read()

    def step(self) -> None:  # type: ignore[override]
        """Set the rates of the next step.

        Raises:
            TraceError: `jit` is tracing: the count would advance once only.

        >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
        >>> parts = [tw.optim.lr_scheduler.ExponentialLR(opt, 0.5)]
        >>> tw.optim.lr_scheduler.ChainedScheduler(parts).step()
        >>> opt.lr
        tensor(0.25)
        """
        self._check_not_tracing()
        self.last_epoch += 1
        self._step_parts()
        self._read()

    def _step_parts(self) -> None:
        for scheduler in self.schedulers:
            scheduler.step()

    def _read(self) -> None:
        self._last_lr = [written.now for written in self._written_rates()]

    def state_dict(self) -> dict[str, Any]:
        """Return the numbers of the scheduler by name, and of its parts.

        >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
        >>> parts = [tw.optim.lr_scheduler.ExponentialLR(opt, 0.5)]
        >>> state = tw.optim.lr_scheduler.ChainedScheduler(parts).state_dict()
        >>> len(state["schedulers"])
        1
        """
        parts = [scheduler.state_dict() for scheduler in self.schedulers]
        return {**super().state_dict(), "schedulers": parts}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` returned; the optimiser has a state of its own.

        >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
        >>> parts = [tw.optim.lr_scheduler.ExponentialLR(opt, 0.5)]
        >>> scheduler = tw.optim.lr_scheduler.ChainedScheduler(parts)
        >>> scheduler.load_state_dict(scheduler.state_dict() | {"last_epoch": 3})
        >>> scheduler.last_epoch
        3
        """
        own = dict(state_dict)
        for scheduler, part in zip(self.schedulers, own.pop("schedulers"), strict=True):
            scheduler.load_state_dict(part)
        super().load_state_dict(own)


class SequentialLR(ChainedScheduler):
    """One scheduler after another, each from its first step on.

    >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
    >>> every = tw.optim.lr_scheduler
    >>> parts = [every.LinearLR(opt, 0.5, total_iters=2), every.ExponentialLR(opt, 0.5)]
    >>> scheduler = every.SequentialLR(opt, parts, milestones=[2])
    >>> for _ in range(4):
    ...     print(scheduler.get_last_lr(), scheduler.step())
    [0.25] None
    [0.375] None
    [0.5] None
    [0.25] None
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
    ) -> None:
        """Set the first rates by the first scheduler.

        Args:
            optimizer: the optimiser whose rates they set.
            schedulers: the schedulers.
            milestones: the counts of steps after which the next one begins.

        Raises:
            DataError: there is another count of milestones than of changes, or one of
                the schedulers cannot begin anew.
        """
        if len(milestones) != len(schedulers) - 1 or any(
            not part.can_begin_anew for part in schedulers
        ):
            raise DataError(
                f"SequentialLR: {len(schedulers)} schedulers and {len(milestones)} "
                "milestones; give one milestone for each scheduler after the first, "
                "and no ChainedScheduler, SequentialLR or ReduceLROnPlateau."
            )
        self.milestones = list(milestones)
        super().__init__(schedulers, optimizer)
        schedulers[0].step(0)
        self._read()

    def _step_parts(self) -> None:
        index = bisect_right(self.milestones, self.last_epoch)
        begins = index > 0 and self.milestones[index - 1] == self.last_epoch
        self.schedulers[index].step(0 if begins else None)


answer_torch_words(globals(), declare_public(__name__, "LRScheduler"))
