"""Minima of functions of trees: `minimize` with the names of SciPy and JAX."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from tensorweb.advice import unknown
from tensorweb.errors import DataError, TraceError
from tensorweb.functions import eye, zeros_like
from tensorweb.graph.tracing import is_tracing
from tensorweb.optim.lbfgs import Curvature, Point, dot, largest, strong_wolfe
from tensorweb.scipy.vectors import vector_of
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import answering_keywords
from tensorweb.transforms.gradients import grad, jvp, value_and_grad

__all__ = ["OptimizeResult", "minimize"]

MESSAGES = {
    0: "Optimization terminated successfully.",
    1: "Maximum number of iterations has been exceeded.",
    2: "Desired error not necessarily achieved due to precision loss.",
    3: "NaN result encountered.",
    99: "`callback` raised `StopIteration`.",
}

# Evaluations of one line search, and the difference of steps that ends it.
MOST_TRIALS, STILL = 25, 1e-9


@dataclass(frozen=True, slots=True)
class OptimizeResult:
    """What `minimize` found.

    Attributes:
        x: the tree at the minimum.
        fun: the value there, 0-d.
        jac: the gradient there, a tree like `x`.
        hess_inv: of `"BFGS"` an approximation of the inverse Hessian of the tree as one
            vector, else None.
        nit: count of iterations.
        nfev: count of evaluations of the function and its gradient.
        status: 0 if the gradient is small, 1 after all iterations, 2 if rounding ended
            the search, 3 for NaN, 99 if the callback did.
        message: the same in words.
        success: whether the gradient is small.

    >>> found = tw.scipy.optimize.minimize(lambda x: (x**2).sum(), tw.ones(2))
    >>> found.success, found.fun
    (True, tensor(0.))
    """

    x: Any
    fun: Tensor
    jac: Any
    hess_inv: Tensor | None
    nit: int
    nfev: int
    status: int
    message: str
    success: bool


class _Objective:
    """A function of vectors, and along a line.

    Attributes:
        x: the point.
        loss: the value there.
        grad: the gradient there.
        direction: of the line.
        count: of the evaluations.
    """

    def __init__(self, fun: Callable[..., Any], x0: Any, args: tuple[Any, ...]) -> None:
        vector, self.back = vector_of("minimize", x0)
        if not vector.size:
            raise DataError("minimize: x0 has no numbers; give one to change at least.")
        self._fun = lambda x: fun(self.back(x), *args)
        self._value_and_grad = value_and_grad(self._fun)
        self.count = 0
        self.x = self.direction = vector.detach()
        self.loss, self.grad = self.evaluated(self.x)

    def evaluated(self, x: Tensor) -> tuple[float, Tensor]:
        """Return value and gradient."""
        self.count += 1
        value, gradient = self._value_and_grad(x)
        return float(value), gradient.detach()

    def at(self, t: float) -> Point:
        """Return the point a step along the direction."""
        loss, gradient = self.evaluated(self.x + t * self.direction)
        return Point(t, loss, gradient, dot(gradient, self.direction))

    def curved(self, p: Tensor) -> Tensor:
        """Return the product of the Hessian with a vector."""
        product: Tensor = jvp(grad(self._fun), (self.x,), (p,))[1]
        return product.detach()


@answering_keywords
def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    method: str = "BFGS",
    *,
    tol: float | None = None,
    callback: Callable[[Any], object] | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResult:
    """Return a local minimum of a function of a tree, from a point on.

    Gradients are those of `tw.grad`, products with the Hessian those of `tw.jvp`; a
    line search finds steps of the strong Wolfe conditions. Nocedal and Wright 2006,
    chapters 3, 6 and 7. Values are read, so `jit` cannot record it, and the result has
    no derivative; `fun` may be a recorded function.

    Args:
        fun: a function of a tree and `args` to one number.
        x0: where to begin, a tree of tensors or numbers.
        args: further arguments of `fun`; one alone need be no tuple.
        method: `"BFGS"` with the inverse Hessian as a matrix, `"L-BFGS"` with the last
            gradients instead (`"L-BFGS-B"` is the same, without bounds), or
            `"Newton-CG"` with products with the Hessian.
        tol: sets the option `gtol`.
        callback: a function of the tree after each iteration; it ends the search by
            `raise StopIteration`, what it returns is ignored.
        options: `gtol`, the largest gradient of a minimum, 1e-5; `maxiter`, 200 for
            each number of the tree; `maxcor`, count of gradients of `"L-BFGS"`, 10.

    Raises:
        DataError: there is no such method or option, or no number in `x0`.
        TraceError: `jit` or `vmap` is tracing.

    >>> def valley(p):
    ...     return (1 - p["x"]) ** 2 + 10 * (p["y"] - p["x"] ** 2) ** 2
    >>> start = {"x": tw.asarray(-1.0), "y": tw.asarray(2.0)}
    >>> found = tw.scipy.optimize.minimize(valley, start, tol=1e-3)
    >>> found.success, round(found.x["x"].item(), 2), round(found.x["y"].item(), 2)
    (True, 1.0, 1.0)
    """
    if is_tracing():
        raise TraceError(
            "minimize: it reads values, which jit and vmap do not have; call it "
            "outside, with a function that is recorded, for a batch of its sum, or "
            "take a count of steps: tw.fori_loop(0, 100, lambda i, x: x - 0.1 * "
            "tw.grad(fun)(x), x0)."
        )
    known = METHODS.get(method.upper().removesuffix("-B"))
    given = {**({} if tol is None else {"gtol": tol}), **(options or {})}
    unknown = sorted(given.keys() - {"gtol", "maxiter", "maxcor"})
    if known is None or unknown:
        what = f"option {unknown[0]!r}" if known else f"method {method!r}"
        raise DataError(
            f"minimize: there is no {what}; methods are 'BFGS', 'L-BFGS' and "
            "'Newton-CG', options 'gtol', 'maxiter' and 'maxcor'."
        )
    objective = _Objective(fun, x0, args if isinstance(args, tuple) else (args,))
    model = known(objective, given.get("maxcor", 10))
    count, status = 0, 1
    most = given.get("maxiter", 200 * objective.x.size)
    gtol = given.get("gtol", 1e-5)
    while True:
        if not math.isfinite(objective.loss):
            status = 3
        elif largest(objective.grad) <= gtol:
            status = 0
        elif count < most:
            if _moved(objective, model, is_first=not count):
                count += 1
                try:
                    if callback is not None:
                        callback(objective.back(objective.x))
                    continue
                except StopIteration:
                    status = 99
            else:
                status = 2
        break
    value, _ = value_and_grad(objective._fun)(objective.x)
    return OptimizeResult(
        x=objective.back(objective.x),
        fun=value.detach(),
        jac=objective.back(objective.grad),
        hess_inv=getattr(model, "inverse", None),
        nit=count,
        nfev=objective.count,
        status=status,
        message=MESSAGES[status],
        success=status == 0,
    )


def _moved(objective: _Objective, model: Any, is_first: bool) -> bool:
    """Take a step, and return whether there was one."""
    gradient = objective.grad
    direction = model.direction(gradient)
    derivative = dot(gradient, direction)
    if not derivative < 0:
        direction, derivative = -gradient, -dot(gradient, gradient)
    objective.direction = direction
    begin = Point(0.0, objective.loss, gradient, derivative)
    t = model.first_length(derivative) if is_first else 1.0
    end = strong_wolfe(objective, begin, t, MOST_TRIALS, STILL)
    if not end.t or not end.loss <= begin.loss:
        return False
    step = end.t * direction
    model.learn(step, gradient, end.grad)
    objective.x, objective.loss, objective.grad = objective.x + step, end.loss, end.grad
    return True


class _Model:
    """How a method finds directions, and what it learns of a step."""

    def first_length(self, derivative: float) -> float:
        """Return the part of the first direction to try: without scale, a unit step."""
        return min(1.0, 1.0 / math.sqrt(-derivative))

    def learn(self, step: Tensor, before: Tensor, after: Tensor) -> None:
        """Take note of a step, and of the gradients at its ends."""


class _Dense(_Model):
    """The inverse Hessian as a matrix, which each step corrects.

    Attributes:
        inverse: the matrix.
    """

    def __init__(self, objective: _Objective, maxcor: int) -> None:
        x = objective.x
        self.inverse = eye(x.size, dtype=x.dtype, device=x.device)

    def direction(self, gradient: Tensor) -> Tensor:
        return -(self.inverse @ gradient)

    # H ← (I - s yᵀ/ys) H (I - y sᵀ/ys) + s sᵀ/ys
    def learn(self, step: Tensor, before: Tensor, after: Tensor) -> None:
        change = after - before
        curvature = dot(change, step)
        if curvature <= 0:
            return
        product = self.inverse @ change
        factor = (curvature + (change * product).sum()) / curvature**2
        outer = product[:, None] * step[None] / curvature
        squares = step[:, None] * step[None]
        self.inverse = self.inverse + factor * squares - outer - outer.mT


class _Limited(_Model):
    """The inverse Hessian by the last gradients."""

    def __init__(self, objective: _Objective, maxcor: int) -> None:
        self._curvature = Curvature(maxcor)

    def direction(self, gradient: Tensor) -> Tensor:
        return self._curvature.direction(gradient)

    def learn(self, step: Tensor, before: Tensor, after: Tensor) -> None:
        self._curvature.last = (before, step)


class _Newton(_Model):
    """Newton's equations solved by conjugate gradients, as far as they descend."""

    def __init__(self, objective: _Objective, maxcor: int) -> None:
        self._objective = objective

    def direction(self, gradient: Tensor) -> Tensor:
        size = float(abs(gradient).sum())
        enough = min(0.5, math.sqrt(size)) * size
        found, rest, search = zeros_like(gradient), gradient, -gradient
        square = dot(rest, rest)
        for index in range(20 * gradient.size):
            if float(abs(rest).sum()) <= enough:
                break
            product = self._objective.curved(search)
            curvature = dot(search, product)
            if curvature <= 0:
                return found if index else search
            length = square / curvature
            found, rest = found + length * search, rest + length * product
            square, before = dot(rest, rest), square
            search = square / before * search - rest
        return found

    def first_length(self, derivative: float) -> float:
        return 1.0


METHODS: dict[str, Callable[[_Objective, int], Any]] = {
    "BFGS": _Dense,
    "L-BFGS": _Limited,
    "NEWTON-CG": _Newton,
}


if not TYPE_CHECKING:  # A type checker shall find names that are not there.

    def __getattr__(name: str) -> NoReturn:
        """Answer a name of SciPy with what there is."""
        raise unknown("tensorweb.scipy.optimize", name, __all__)
