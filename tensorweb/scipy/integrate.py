"""Initial value problems: SciPy's `solve_ivp` and JAX's `odeint`, with derivatives.

The method is that of Dormand and Prince of order 5(4) with adaptive steps, as `RK45` of
SciPy. Steps are chosen by values, so `jit` cannot record a solution; let `fun` call a
recorded function. Under `vmap` all examples take the same steps, which are as short as
one of them needs. Derivatives go through the accepted steps, whose lengths
count as constants: they are exact for the computed solution, in reverse and forward
mode, and of any order; the memory of a gradient grows with the count of steps.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from tensorweb.advice import unknown
from tensorweb.dtypes import finfo
from tensorweb.errors import DataError, TraceError
from tensorweb.functions import abs, asarray, concat, maximum, moveaxis, sqrt, stack
from tensorweb.graph.tracing import is_traced, outside_of_vmap
from tensorweb.plots import numbers_of
from tensorweb.scipy.vectors import vector_of
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import answering_keywords
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tree import map as map_tree

__all__ = ["OdeResult", "OdeSolution", "odeint", "solve_ivp"]

# Dormand and Prince 1980; the last row of stages is the step of order 5.
NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERROR = (-71 / 57600, 0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40)

# The interpolant of order 4 of Shampine 1986: by power of the part of the step.
DENSE = (
    (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (
        *(-8048581381 / 2820520608, 0.0, 131558114200 / 32700410799),
        *(-1754552775 / 470086768, 127303824393 / 49829197408),
        *(-282668133 / 205662961, 40617522 / 29380423),
    ),
    (
        *(8663915743 / 2820520608, 0.0, -68118460800 / 10900136933),
        *(14199869525 / 1410260304, -318862633887 / 49829197408),
        *(2019193451 / 616988883, -110615467 / 29380423),
    ),
    (
        *(-12715105075 / 11282082432, 0.0, 87487479700 / 32700410799),
        *(-10690763975 / 1880347072, 701980252875 / 199316789632),
        *(-1453857185 / 822651844, 69997945 / 29380423),
    ),
)

# Factors of a step's length, as in SciPy.
SAFETY, LEAST_FACTOR, MOST_FACTOR = 0.9, 0.2, 10.0


class _Step(NamedTuple):
    """An accepted step: its begin and end, the value at its begin, its rates."""

    t: float
    end: float
    y: Tensor
    rates: list[Tensor]

    def at(self, times: Sequence[float]) -> Tensor:
        """Return the interpolant, `(len(times), n)`."""
        length = self.end - self.t or 1.0
        parts = [(time - self.t) / length for time in times]
        powers = asarray(
            [[length * part**n for part in parts] for n in (1, 2, 3, 4)],
            self.y.dtype.part,
            device=self.y.device,
        )[..., None]
        terms = [
            power * _combined(weights, self.rates)
            for power, weights in zip(powers, DENSE, strict=True)
        ]
        return self.y + (terms[0] + terms[1] + terms[2] + terms[3])


class OdeSolution:
    """A solution as a function of time, by interpolation of order 4.

    >>> solve = tw.scipy.integrate.solve_ivp
    >>> sol = solve(lambda t, y: -y, (0.0, 2.0), [1.0], dense_output=True).sol
    >>> sol(1.0).shape, sol([0.5, 1.0]).shape
    ((1,), (1, 2))
    """

    def __init__(self, steps: Sequence[_Step], back: Callable[[Tensor], Any]) -> None:
        """Make a function; `solve_ivp` does.

        Args:
            steps: the accepted steps.
            back: a function from a vector to the tree of values.
        """
        self._steps, self._back = list(steps), back

    def __call__(self, t: ArrayLike) -> Any:
        """Return the tree of values at a time, or at several, which are the last axis.

        Outside of the interval the first or last step is extrapolated.
        """
        times = numbers_of(t)
        values = concat([self._row(time) for time in times])
        if not asarray(t).shape:
            return self._back(values[0])
        return _times_last(self._back(values))

    def _row(self, time: float) -> Tensor:
        sign = 1.0 if self._steps[-1].end >= self._steps[0].t else -1.0
        begins = [sign * step.t for step in self._steps]
        index = max(bisect_right(begins, sign * time) - 1, 0)
        return self._steps[index].at([time])


@dataclass(frozen=True, slots=True)
class OdeResult:
    """What `solve_ivp` found.

    Attributes:
        t: the times, `(m,)`.
        y: the tree of values, with the times as last axis.
        sol: the solution as a function, None without `dense_output` or any step.
        nfev: count of calls of the right-hand side.
        status: 0 at the end of the interval, -1 if the steps became too small.
        message: the same in words.
        success: whether the end was reached.

    >>> solve = tw.scipy.integrate.solve_ivp
    >>> solve(lambda t, y: -y, (0.0, 1.0), [1.0], t_eval=[0.0, 1.0]).success
    True
    """

    t: Tensor
    y: Any
    sol: OdeSolution | None
    nfev: int
    status: int
    message: str
    success: bool


class _Problem:
    """The right-hand side of vectors, and how steps are chosen.

    Attributes:
        calls: count of calls of the right-hand side.
    """

    def __init__(
        self,
        name: str,
        fun: Callable[[Tensor, Any], Any],
        y0: Any,
        tolerances: tuple[float, float],
        longest: float,
    ) -> None:
        if not longest > 0:
            raise DataError(f"{name}: the longest step, {longest}, is not above 0.")
        self.name, self._fun, self._longest = name, fun, longest
        self.y, self.back = vector_of(name, y0)
        # Below it rounding would decide on the steps.
        eps = float(finfo(self.y.dtype.part).eps)
        self._rtol, self._atol = max(tolerances[0], 100 * eps), tolerances[1]
        # The function gets times in this dtype, whose neighbours are that much farther.
        self._spacing = eps / sys.float_info.epsilon
        self.calls = 0

    def rate(self, t: float, y: Tensor) -> Tensor:
        """Return the right-hand side.

        Raises:
            DataError: it is no tree like the values.
        """
        self.calls += 1
        time = asarray(t, y.dtype.part, device=y.device)
        rate, _ = vector_of(self.name, self._fun(time, self.back(y)))
        if rate.shape != y.shape:
            raise DataError(
                f"{self.name}: the function returned {rate.size} numbers for "
                f"{y.size}; return the derivative of each."
            )
        return rate.astype(y.dtype)

    def steps(self, t: float, end: float) -> Iterator[_Step]:
        """Yield accepted steps, up to the end or until they become too small.

        Raises:
            DataError: a time is not finite.
        """
        if not math.isfinite(end - t):
            raise DataError(f"{self.name}: the times {t} to {end} are not finite.")
        y, rate = self.y, self.rate(t, self.y)
        if not y.size or t == end:
            yield _Step(t, end, y, [rate] * len(ERROR))
            return
        sign = 1.0 if end >= t else -1.0
        length = self._first_length(t, end, sign, rate)
        while t != end:
            least, is_rejected = 10 * math.ulp(t) * self._spacing, False
            length = min(max(length, least), self._longest)
            while True:
                if not length >= least:  # NaN too: the rates are no numbers
                    return
                then = t + sign * length
                if sign * (then - end) > 0:
                    then = end
                length = math.fabs(then - t)
                new, rates, error = self._tried(t, y, rate, then - t)
                factor = SAFETY * error**-0.2 if error else MOST_FACTOR
                if error < 1:
                    break
                # NaN is no error below 1.
                length *= factor if factor > LEAST_FACTOR else LEAST_FACTOR
                is_rejected = True
            yield _Step(t, then, y, rates)
            length *= min(1.0 if is_rejected else MOST_FACTOR, factor)
            t, y, rate = then, new, rates[-1]

    def _tried(
        self, t: float, y: Tensor, rate: Tensor, length: float
    ) -> tuple[Tensor, list[Tensor], float]:
        """Return value and rates of a step, and its error by the tolerances."""
        rates, new = [rate], y
        for node, weights in zip(NODES, STAGES, strict=True):
            new = y + length * _combined(weights, rates)
            rates.append(self.rate(t + node * length, new))
        values = [value.detach() for value in (y, new, *rates)]
        error = length * _combined(ERROR, values[2:])
        scale = self._scale(maximum(abs(values[0]), abs(values[1])))
        return new, rates, self._largest(_norm(error / scale))

    def _first_length(self, t: float, end: float, sign: float, rate: Tensor) -> float:
        """Return the length of the first step: Hairer, Nørsett and Wanner, II.4."""
        whole = math.fabs(end - t)
        y, rate = self.y.detach(), rate.detach()
        scale = self._scale(abs(y))
        size, speed = map(self._largest, (_norm(y / scale), _norm(rate / scale)))
        guess = 1e-6 if min(size, speed) < 1e-5 else 0.01 * size / speed
        guess = min(guess, whole) or 1.0
        later = self.rate(t + sign * guess, y + sign * guess * rate)
        change = self._largest(_norm((later.detach() - rate) / scale)) / guess
        if max(speed, change) <= 1e-15:
            best = max(1e-6, guess * 1e-3)
        else:
            best = (0.01 / max(speed, change)) ** 0.2
        return min(100 * guess, best, whole, self._longest)

    def _largest(self, value: Tensor) -> float:
        """Return a number, the largest of the examples that `vmap` maps over.

        Raises:
            TraceError: `jit` is recording it.
        """
        if not is_traced(value.node):
            return float(value)
        batch, trace = outside_of_vmap(value.node)
        if trace is not None:
            raise TraceError(
                f"{self.name}: steps are chosen by values, which jit does not have; "
                "call it outside, with a function that is recorded, or make steps of "
                "equal length: y, ys = tw.scan(lambda y, t: (y + h * f(y, t), y), y0, "
                "ts)."
            )
        return float(Tensor(batch).max())

    def _scale(self, size: Tensor) -> Tensor:
        return self._atol + self._rtol * size


@answering_keywords
def solve_ivp(
    fun: Callable[..., Any],
    t_span: tuple[float, float],
    y0: Any,
    method: str = "RK45",
    t_eval: ArrayLike | None = None,
    dense_output: bool = False,
    *,
    args: tuple[Any, ...] = (),
    rtol: float = 1e-3,
    atol: float = 1e-6,
    max_step: float = math.inf,
) -> OdeResult:
    """Solve `dy/dt = fun(t, y)` from a value at the begin, as `scipy.integrate` does.

    Derivatives of `y` by `y0`, `args` and what `fun` uses go through the steps.

    Args:
        fun: a function of a 0-d tensor and a tree to a tree like it.
        t_span: begin and end; the end may be smaller.
        y0: the values at the begin, a tree of tensors or numbers.
        method: `"RK45"`.
        t_eval: the times of the result, in order; None for the ends of the steps.
        dense_output: whether the result has `sol`, the solution as a function.
        args: further arguments of `fun`.
        rtol: error of a step relative to the values; at least 100 roundings.
        atol: error of a step in addition.
        max_step: the longest step.

    Raises:
        DataError: there is no such method, a time is outside of the interval or not
            finite, or the longest step is not above 0.
        TraceError: `jit` is recording it.

    >>> solve = tw.scipy.integrate.solve_ivp
    >>> found = solve(lambda t, y: -y, (0.0, 1.0), [1.0], t_eval=[0.5, 1.0], rtol=1e-4)
    >>> [round(value, 3) for value in found.y[0].tolist()]
    [0.607, 0.368]
    """
    if method != "RK45":
        raise DataError(f"solve_ivp: method={method!r}; there is 'RK45' only.")
    begin, end = map(float, t_span)
    times = None if t_eval is None else numbers_of(t_eval)
    if times is not None and (
        any(not min(begin, end) <= time <= max(begin, end) for time in times)
        or list(times) != sorted(times, reverse=end < begin)
    ):
        raise DataError("solve_ivp: t_eval has times outside of t_span, or unsorted.")
    problem = _Problem(
        "solve_ivp", lambda t, y: fun(t, y, *args), y0, (rtol, atol), max_step
    )
    steps = list(problem.steps(begin, end))
    reached = steps[-1].end if steps else begin
    sign = 1.0 if end >= begin else -1.0
    if times is None:
        times = (begin, *(step.end for step in steps))
    times = tuple(time for time in times if sign * time <= sign * reached)
    is_done = reached == end
    return OdeResult(
        t=asarray(times, problem.y.dtype.part, device=problem.y.device),
        y=_times_last(problem.back(_values(problem.y, steps, times))),
        sol=OdeSolution(steps, problem.back) if dense_output and steps else None,
        nfev=problem.calls,
        status=0 if is_done else -1,
        message="The solver successfully reached the end of the integration interval."
        if is_done
        else "Required step size is less than spacing between numbers.",
        success=is_done,
    )


@answering_keywords
def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: ArrayLike,
    *args: Any,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    hmax: float = math.inf,
) -> Any:
    """Solve `dy/dt = func(y, t, *args)`, with JAX's arguments.

    Args:
        func: a function of a tree, a 0-d tensor and `args` to a tree like the first.
        y0: the values at the first time, a tree of tensors or numbers.
        t: the times, increasing or decreasing.
        args: further arguments of `func`, trees of tensors.
        rtol: error of a step relative to the values; at least 100 roundings.
        atol: error of a step in addition.
        hmax: the longest step.

    Returns:
        The tree of values, with the times as first axis.

    Raises:
        DataError: the steps became too small, the times are not sorted or finite, or
            there are none.
        TraceError: `jit` is recording it.

    >>> def fall(y, t, rate):
    ...     return -rate * y
    >>> y = tw.scipy.integrate.odeint(fall, tw.asarray(1.0), [0.0, 1.0], 2.0)
    >>> [round(value, 3) for value in y.tolist()]
    [1.0, 0.135]
    """
    times = numbers_of(t)
    if not times:
        raise DataError("odeint: there are no times; give the first one at least.")
    if list(times) != sorted(times, reverse=times[-1] < times[0]):
        raise DataError("odeint: the times are not sorted.")
    problem = _Problem("odeint", lambda t, y: func(y, t, *args), y0, (rtol, atol), hmax)
    steps = list(problem.steps(times[0], times[-1]))
    reached = steps[-1].end if steps else times[0]
    if reached != times[-1]:
        raise DataError(
            f"odeint: the steps at t={reached} became too small; the solution may be "
            "infinite there, or stiff."
        )
    return problem.back(_values(problem.y, steps, times))


def _values(y0: Tensor, steps: Sequence[_Step], times: Sequence[float]) -> Tensor:
    """Return the values at sorted times, `(len(times), n)`."""
    begin = [time for time in times if not steps or time == steps[0].t]
    rows = [stack([y0] * len(begin))] if begin else []
    rest = list(times[len(begin) :])
    for step in steps:
        sign = 1.0 if step.end >= step.t else -1.0
        count = sum(sign * time <= sign * step.end for time in rest)
        if count:
            rows.append(step.at(rest[:count]))
            rest = rest[count:]
    return concat(rows) if rows else y0[None][:0]


def _times_last(tree: Any) -> Any:
    """Return a tree whose leaves have their first axis last."""
    return map_tree(lambda leaf: moveaxis(leaf, 0, -1), tree)


def _combined(weights: Sequence[float], rates: Sequence[Tensor]) -> Tensor:
    """Return the sum of rates by their weights."""
    total: Tensor | None = None
    for weight, rate in zip(weights, rates, strict=True):
        if weight:
            total = weight * rate if total is None else total + weight * rate
    assert total is not None, "internal: all weights are 0"
    return total


def _norm(x: Tensor) -> Tensor:
    """Return the root mean square."""
    size = abs(x)
    return sqrt((size * size).mean())


if not TYPE_CHECKING:  # A type checker shall find names that are not there.

    def __getattr__(name: str) -> NoReturn:
        """Answer a name of SciPy with what there is."""
        raise unknown("tensorweb.scipy.integrate", name, __all__)
