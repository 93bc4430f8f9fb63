"""Schedulers of several schedulers: at once, or one after another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from tensorweb.errors import DataError
from tensorweb.optim.optimizer import Optimizer
from tensorweb.optim.scheduler import LRScheduler


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
