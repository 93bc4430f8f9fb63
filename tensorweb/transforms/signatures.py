"""The types of what `grad`, `value_and_grad` and `hessian` return, for type checkers.

A gradient has the type of the first argument, and parameters keep their names.
"""

from __future__ import annotations

from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from tensorweb.tensor import Tensor

P = ParamSpec("P")
Q = ParamSpec("Q")
X = TypeVar("X")
A = TypeVar("A", covariant=True)


class Gradient(Protocol[P]):
    """Returns something of the type of its first argument."""

    def __call__(
        self: Gradient[Concatenate[X, Q]], x: X, /, *args: Q.args, **keywords: Q.kwargs
    ) -> X:
        """Return the gradient."""
        ...


class GradientWith(Protocol[P, A]):
    """Returns a gradient and a second value of the function."""

    def __call__(
        self: GradientWith[Concatenate[X, Q], A],
        x: X,
        /,
        *args: Q.args,
        **keywords: Q.kwargs,
    ) -> tuple[X, A]:
        """Return the gradient and the second value."""
        ...


class ValueWithGradient(Protocol[P, A]):
    """Returns the function's value and a gradient."""

    def __call__(
        self: ValueWithGradient[Concatenate[X, Q], A],
        x: X,
        /,
        *args: Q.args,
        **keywords: Q.kwargs,
    ) -> tuple[A, X]:
        """Return the value and the gradient."""
        ...


class Hessian(Protocol[P]):
    """Returns a tensor for a tensor, and trees of trees for trees."""

    @overload
    def __call__(
        self: Hessian[Concatenate[Tensor, Q]],
        x: Tensor,
        /,
        *args: Q.args,
        **keywords: Q.kwargs,
    ) -> Tensor: ...

    @overload
    def __call__(self, *args: P.args, **keywords: P.kwargs) -> Any: ...
