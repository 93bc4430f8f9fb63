"""Types of the functions that `grad`, `value_and_grad` and `hessian` return.

A gradient has the type of the first argument; parameters retain their names.
"""

from __future__ import annotations

from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from tensorweb.tensor import Tensor

P = ParamSpec("P")
Q = ParamSpec("Q")
X = TypeVar("X")
A = TypeVar("A", covariant=True)


class Gradient(Protocol[P]):
    """A function that returns a gradient of the type of its first argument."""

    def __call__(
        self: Gradient[Concatenate[X, Q]], x: X, /, *args: Q.args, **keywords: Q.kwargs
    ) -> X:
        """Return the gradient."""
        ...


class GradientWith(Protocol[P, A]):
    """A function that returns a gradient and an auxiliary value."""

    def __call__(
        self: GradientWith[Concatenate[X, Q], A],
        x: X,
        /,
        *args: Q.args,
        **keywords: Q.kwargs,
    ) -> tuple[X, A]:
        """Return the gradient and the auxiliary value."""
        ...


class ValueWithGradient(Protocol[P, A]):
    """A function that returns a value and a gradient."""

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
    """A function that returns a tensor for a tensor, and a tree of trees for a tree."""

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
