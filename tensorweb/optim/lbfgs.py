"""L-BFGS: steps along the curvature that the last gradients show."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, Protocol

from tensorweb.errors import DataError, TraceError
from tensorweb.functions import concat, zeros_like
from tensorweb.graph.autograd import grad_disabled
from tensorweb.graph.tracing import is_tracing
from tensorweb.optim.optimizer import Optimizer, Options
from tensorweb.optim.schedules import Rate
from tensorweb.optim.state import finish_step, incremented
from tensorweb.tensor import Tensor
from tensorweb.trees import register

# A step is accepted if the loss falls by this part of what the derivative promises, and
# the derivative by this factor: the constants c1 and c2 of Nocedal and Wright.
DECREASE = 1e-4
CURVATURE = 0.9

# Pairs of less curvature would make the direction no descent.
LEAST_CURVATURE = 1e-10


class Point(NamedTuple):
    """A step of length `t`: loss, gradient, and the derivative along the step."""

    t: float
    loss: float
    grad: Tensor
    derivative: float


class LBFGS(Optimizer):
    """L-BFGS: `step` minimises a loss of few parameters, by its value and gradient.

    Each `step` takes up to `max_iter` iterations, which call the closure. It reads
    values, so `jit` cannot record it; the closure may call a recorded function. The
    last gradients are not part of `state_dict`. Liu and Nocedal 1989.

    >>> w = tw.asarray([-1.0, 2.0])
    >>> opt = tw.optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     opt.zero_grad()
    ...     loss = (1 - w[0]) ** 2 + 10 * (w[1] - w[0] ** 2) ** 2
    ...     loss.backward()
    ...     return loss
    >>> first = opt.step(closure)
    >>> [round(number, 2) for number in w.tolist()]
    [1.0, 1.0]
    """

    def __init__(
        self,
        params: object = None,
        lr: Rate = 1.0,
        *,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
        maximize: bool = False,
    ) -> None:
        """Make an optimiser of parameters.

        Args:
            params: a model, a tree of tensors or several tensors.
            lr: the length of a step, or with a line search of its first attempt.
            max_iter: largest count of iterations of a step.
            max_eval: largest count of calls of the closure; None for `1.25·max_iter`.
            tolerance_grad: a step ends where no gradient is larger.
            tolerance_change: a step ends where loss and parameters change by less.
            history_size: count of gradients that the curvature comes from.
            line_search_fn: `"strong_wolfe"`, or None for steps of length `lr`.
            maximize: ascend the gradient instead of descending.

        Raises:
            DataError: an option is out of its range.
        """
        self._begin(locals())
        self._curvature = Curvature(history_size)

    @staticmethod
    def _initial_moments(options: Options) -> dict[str, float]:
        return {}

    def _check_functional(self, name: str) -> None:
        raise DataError(
            f"{name}: LBFGS computes the loss itself, several times a step; give it "
            "the parameters and write opt.step(closure)."
        )

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor:
        """Minimise the loss for some iterations.

        Args:
            closure: a function that sets the gradients to zero, computes the loss,
                calls `backward()` and returns the loss.

        Returns:
            The loss before.

        Raises:
            DataError: there is no closure, or there are several parameter groups.
            TraceError: `jit` is tracing.

        >>> w = tw.asarray([3.0])
        >>> opt = tw.optim.LBFGS([w])
        >>> def closure():
        ...     opt.zero_grad()
        ...     loss = (w**2).sum()
        ...     loss.backward()
        ...     return loss
        >>> opt.step(closure)
        tensor(9.)
        """
        if closure is None:
            raise DataError(
                "LBFGS: step() needs a closure, a function that calls zero_grad() and "
                "backward() and returns the loss."
            )
        if is_tracing():
            raise TraceError(
                "LBFGS: step() reads the loss, which has no value inside of jit; call "
                "it outside, with a closure that calls the recorded function."
            )
        state = self._checked_state("step")
        self._check_one_group("step")
        search = _Search(self, closure)
        loss = self._minimise(search, float(self._rate_at(state, 0)))
        self.state = state.replaced_by(replace(state, step=incremented(state.step)))
        finish_step(self.params, self.state)
        return loss

    def _minimise(self, search: _Search, lr: float) -> Tensor:
        """Move the parameters, and return the loss before."""
        options, curvature = self.options, self._curvature
        most = options["max_eval"] or options["max_iter"] * 5 // 4
        still, flat = options["tolerance_change"], options["tolerance_grad"]
        first, loss, grad = search.evaluated()
        for left in reversed(range(options["max_iter"])):
            if (search.count > 1 and search.count >= most) or largest(grad) <= flat:
                break
            direction, t = curvature.direction(grad), lr
            if curvature.last is None:
                t *= min(1.0, 1.0 / float(abs(grad).sum()))
            begin = Point(0.0, loss, grad, dot(grad, direction))
            curvature.last = (grad, direction * t)
            if begin.derivative > -still:
                break
            search.begin(direction)
            if options["line_search_fn"]:
                end = strong_wolfe(search, begin, t, most - search.count, still)
                t, loss, grad = end.t, end.loss, end.grad
                curvature.last = (begin.grad, direction * t)
                search.move(t)
            else:
                search.move(t)
                if left:
                    _, loss, grad = search.evaluated()
            if not left or largest(direction) * t <= still:
                break
            if abs(loss - begin.loss) < still:
                break
        return first


@register
class Curvature:
    """The curvature that the last gradients show, as directions of descent.

    Attributes:
        last: the last gradient and the step from it; None before the first step.
    """

    def __init__(self, history_size: int) -> None:
        """Remember nothing."""
        self.last: tuple[Tensor, Tensor] | None = None
        self._size, self._scale = history_size, 1.0
        self._pairs: list[tuple[Tensor, Tensor, float]] = []

    def direction(self, grad: Tensor) -> Tensor:
        """Return the direction of the next step: two loops over the last gradients."""
        if self.last is None:
            return -grad
        before, moved = self.last
        change = grad - before
        curvature = dot(change, moved)
        if curvature > LEAST_CURVATURE:
            self._pairs.append((change, moved, 1.0 / curvature))
            del self._pairs[: -self._size]
            self._scale = curvature / dot(change, change)
        q, factors = -grad, []
        for change, moved, inverse in reversed(self._pairs):
            factors.append((moved * q).sum() * inverse)
            q = q - change * factors[-1]
        q = q * self._scale
        for (change, moved, inverse), factor in zip(
            self._pairs, reversed(factors), strict=True
        ):
            q = q + moved * (factor - (change * q).sum() * inverse)
        return q


class Line(Protocol):
    """The loss along a direction, which a line search evaluates."""

    direction: Tensor

    def at(self, t: float) -> Point:
        """Return the loss and its gradient after a step of length `t`."""


class _Search:
    """The loss of an optimiser's parameters along a direction.

    Attributes:
        count: of the calls of the closure.
    """

    def __init__(self, owner: Optimizer, closure: Callable[[], Tensor]) -> None:
        self._owner, self._closure = owner, closure
        self._sign = -1.0 if owner.options["maximize"] else 1.0
        self.count = 0

    def begin(self, direction: Tensor) -> None:
        """Set the direction from where the parameters are now."""
        self.direction, end = direction, 0
        self._starts: list[tuple[Tensor, Tensor]] = []
        for param in self._owner.params:
            part = direction[end : end + param.size].reshape(param.shape)
            start = Tensor.without_registering(param.node)
            self._starts.append((start, part.astype(param.dtype)))
            end += param.size

    def move(self, t: float) -> None:
        """Put the parameters a step of length `t` from the start."""
        with grad_disabled():
            for param, (start, part) in zip(
                self._owner.params, self._starts, strict=True
            ):
                param._replace((start + part * t).node)

    def at(self, t: float) -> Point:
        """Return the loss and its gradient after a step of length `t`."""
        self.move(t)
        _, loss, grad = self.evaluated()
        return Point(t, loss, grad, dot(grad, self.direction))

    def evaluated(self) -> tuple[Tensor, float, Tensor]:
        """Return what the closure returns, its number to minimise, and its gradient."""
        self.count += 1
        loss = self._closure()
        with grad_disabled():
            parts = [
                (zeros_like(p) if p.grad is None else p.grad).reshape(-1)
                for p in self._owner.params
            ]
            grad = concat(parts) * self._sign
        return loss, float(loss) * self._sign, grad


def strong_wolfe(
    search: Line, first: Point, t: float, most: int, still: float
) -> Point:
    """Return a point that satisfies the strong Wolfe conditions, or the lowest found.

    Nocedal and Wright 2006, algorithms 3.5 and 3.6, with cubic interpolation.
    """

    def is_high(point: Point) -> bool:
        return point.loss > first.loss + DECREASE * point.t * first.derivative

    def is_flat(point: Point) -> bool:
        return abs(point.derivative) <= -CURVATURE * first.derivative

    before, now, trials = first, search.at(t), 0
    while trials < most:
        rises = is_high(now) or (trials > 1 and now.loss >= before.loss)
        if not rises and is_flat(now):
            return now
        if rises or now.derivative >= 0:
            break
        t = _cubic_minimum(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10)
        before, now, trials = now, search.at(t), trials + 1
    else:
        before = first
    low, high = (before, now) if before.loss <= now.loss else (now, before)
    size, is_stalled = largest(search.direction), False
    while trials < most and abs(high.t - low.t) * size >= still:
        left, right = min(low.t, high.t), max(low.t, high.t)
        t, margin = _cubic_minimum(low, high, left, right), 0.1 * (right - left)
        is_near = min(right - t, t - left) < margin
        if is_near and (is_stalled or not left < t < right):
            t = right - margin if right - t < t - left else left + margin
            is_near = False
        is_stalled = is_near
        now, trials = search.at(t), trials + 1
        if is_high(now) or now.loss >= low.loss:
            low, high = (low, now) if low.loss <= now.loss else (now, low)
            continue
        if is_flat(now):
            return now
        if now.derivative * (high.t - low.t) >= 0:
            high = low
        low = now
    return low


def _cubic_minimum(one: Point, two: Point, least: float, most: float) -> float:
    """Return where the cubic with two losses and derivatives is least, in bounds."""
    left, right = (one, two) if one.t <= two.t else (two, one)
    width = right.t - left.t
    mean = left.derivative + right.derivative - 3 * (right.loss - left.loss) / width
    square = mean**2 - left.derivative * right.derivative
    if square < 0:
        return (least + most) / 2
    root = math.sqrt(square)
    rise = right.derivative - left.derivative + 2 * root
    if not rise:  # a straight line
        return (least + most) / 2
    part = (right.derivative + root - mean) / rise
    return min(max(right.t - width * part, least), most)


def dot(x: Tensor, y: Tensor) -> float:
    """Return a product of vectors as a number."""
    return float((x * y).sum())


def largest(x: Tensor) -> float:
    """Return the largest magnitude."""
    return float(abs(x).max())
