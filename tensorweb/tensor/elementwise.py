"""Elementwise methods, made from the op table by `python3 build.py docs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorweb.nodes.elementwise import elementwise
from tensorweb.ops import OPS
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.operations import operation

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor


class ElementwiseMethods(TensorBase):
    """Operations on each element; `tensorweb.exp` and the like document them.

    In first lines `x` is the tensor.
    """

    __slots__ = ()

    def add(self, other: ArrayLike, /) -> Tensor:
        """Return `x + other`."""
        return self._wrap(operation("add", self, other))

    def subtract(self, other: ArrayLike, /) -> Tensor:
        """Return `x - other`."""
        return self._wrap(operation("subtract", self, other))

    def multiply(self, other: ArrayLike, /) -> Tensor:
        """Return `x * other`, element by element; `matmul` is the matrix product."""
        return self._wrap(operation("multiply", self, other))

    def divide(self, other: ArrayLike, /) -> Tensor:
        """Return `x / other`, always a float."""
        return self._wrap(operation("divide", self, other))

    def floor_divide(self, other: ArrayLike, /) -> Tensor:
        """Return the largest whole number not above `x / other`."""
        return self._wrap(operation("floor_divide", self, other))

    def remainder(self, other: ArrayLike, /) -> Tensor:
        """Return the remainder of `floor_divide`, with the sign of `other`."""
        return self._wrap(operation("remainder", self, other))

    def pow(self, other: ArrayLike, /) -> Tensor:
        """Return `x` to the power `other`."""
        return self._wrap(operation("pow", self, other))

    def negative(self) -> Tensor:
        """Return `-x`."""
        return self._wrap(elementwise(OPS["negative"], self.node))

    def positive(self) -> Tensor:
        """Return `x` itself."""
        return self._wrap(elementwise(OPS["positive"], self.node))

    def abs(self) -> Tensor:
        """Return the absolute value of each element."""
        return self._wrap(elementwise(OPS["abs"], self.node))

    def sign(self) -> Tensor:
        """Return -1, 0 or 1 for each element; NaN stays NaN."""
        return self._wrap(elementwise(OPS["sign"], self.node))

    def reciprocal(self) -> Tensor:
        """Return `1 / x`."""
        return self._wrap(elementwise(OPS["reciprocal"], self.node))

    def square(self) -> Tensor:
        """Return `x * x`."""
        return self._wrap(elementwise(OPS["square"], self.node))

    def sqrt(self) -> Tensor:
        """Return the square root of each element; NaN below zero."""
        return self._wrap(elementwise(OPS["sqrt"], self.node))

    def rsqrt(self) -> Tensor:
        """Return `1 / sqrt(x)`."""
        return self._wrap(elementwise(OPS["rsqrt"], self.node))

    def cbrt(self) -> Tensor:
        """Return the cube root, also of negative numbers."""
        return self._wrap(elementwise(OPS["cbrt"], self.node))

    def hypot(self, other: ArrayLike, /) -> Tensor:
        """Return `sqrt(x**2 + other**2)` without overflow in between."""
        return self._wrap(operation("hypot", self, other))

    def copysign(self, other: ArrayLike, /) -> Tensor:
        """Return the size of `x` with the sign of `other`, also of -0."""
        return self._wrap(operation("copysign", self, other))

    def nextafter(self, other: ArrayLike, /) -> Tensor:
        """Return the next float from `x` towards `other`."""
        return self._wrap(operation("nextafter", self, other))

    def maximum(self, other: ArrayLike, /) -> Tensor:
        """Return the larger of two elements; NaN wins."""
        return self._wrap(operation("maximum", self, other))

    def minimum(self, other: ArrayLike, /) -> Tensor:
        """Return the smaller of two elements; NaN wins."""
        return self._wrap(operation("minimum", self, other))

    def relu(self) -> Tensor:
        """Return each element where it is positive, else 0."""
        return self._wrap(elementwise(OPS["relu"], self.node))

    def exp(self) -> Tensor:
        """Return e to the power of each element."""
        return self._wrap(elementwise(OPS["exp"], self.node))

    def exp2(self) -> Tensor:
        """Return 2 to the power of each element."""
        return self._wrap(elementwise(OPS["exp2"], self.node))

    def expm1(self) -> Tensor:
        """Return `exp(x) - 1`, exact near 0."""
        return self._wrap(elementwise(OPS["expm1"], self.node))

    def log(self) -> Tensor:
        """Return the natural logarithm; `log(0)` is -inf, below 0 it is NaN."""
        return self._wrap(elementwise(OPS["log"], self.node))

    def log1p(self) -> Tensor:
        """Return `log(1 + x)`, exact near 0."""
        return self._wrap(elementwise(OPS["log1p"], self.node))

    def log2(self) -> Tensor:
        """Return the logarithm to base 2."""
        return self._wrap(elementwise(OPS["log2"], self.node))

    def log10(self) -> Tensor:
        """Return the logarithm to base 10."""
        return self._wrap(elementwise(OPS["log10"], self.node))

    def logaddexp(self, other: ArrayLike, /) -> Tensor:
        """Return `log(exp(x) + exp(other))` without overflow."""
        return self._wrap(operation("logaddexp", self, other))

    def sigmoid(self) -> Tensor:
        """Return `1 / (1 + exp(-x))`, between 0 and 1 without overflow."""
        return self._wrap(elementwise(OPS["sigmoid"], self.node))

    def erf(self) -> Tensor:
        """Return the error function of each element."""
        return self._wrap(elementwise(OPS["erf"], self.node))

    def erfinv(self) -> Tensor:
        """Return the inverse of the error function: `erf` of the result is `x`."""
        return self._wrap(elementwise(OPS["erfinv"], self.node))

    def sin(self) -> Tensor:
        """Return the sine."""
        return self._wrap(elementwise(OPS["sin"], self.node))

    def cos(self) -> Tensor:
        """Return the cosine."""
        return self._wrap(elementwise(OPS["cos"], self.node))

    def tan(self) -> Tensor:
        """Return the tangent."""
        return self._wrap(elementwise(OPS["tan"], self.node))

    def asin(self) -> Tensor:
        """Return the angle of a sine, from -pi/2 to pi/2; NaN outside [-1, 1]."""
        return self._wrap(elementwise(OPS["asin"], self.node))

    def acos(self) -> Tensor:
        """Return the angle of a cosine, from 0 to pi; NaN outside [-1, 1]."""
        return self._wrap(elementwise(OPS["acos"], self.node))

    def atan(self) -> Tensor:
        """Return the angle of a tangent, from -pi/2 to pi/2."""
        return self._wrap(elementwise(OPS["atan"], self.node))

    def sinh(self) -> Tensor:
        """Return the hyperbolic sine."""
        return self._wrap(elementwise(OPS["sinh"], self.node))

    def cosh(self) -> Tensor:
        """Return the hyperbolic cosine."""
        return self._wrap(elementwise(OPS["cosh"], self.node))

    def tanh(self) -> Tensor:
        """Return the hyperbolic tangent."""
        return self._wrap(elementwise(OPS["tanh"], self.node))

    def asinh(self) -> Tensor:
        """Return the inverse hyperbolic sine."""
        return self._wrap(elementwise(OPS["asinh"], self.node))

    def acosh(self) -> Tensor:
        """Return the inverse hyperbolic cosine; NaN below 1."""
        return self._wrap(elementwise(OPS["acosh"], self.node))

    def atanh(self) -> Tensor:
        """Return the inverse hyperbolic tangent; infinite at -1 and 1."""
        return self._wrap(elementwise(OPS["atanh"], self.node))

    def atan2(self, other: ArrayLike, /) -> Tensor:
        """Return the angle of the point `(other, x)`, from -pi to pi."""
        return self._wrap(operation("atan2", self, other))

    def floor(self) -> Tensor:
        """Return the largest whole number not above each element."""
        return self._wrap(elementwise(OPS["floor"], self.node))

    def ceil(self) -> Tensor:
        """Return the smallest whole number not below each element."""
        return self._wrap(elementwise(OPS["ceil"], self.node))

    def trunc(self) -> Tensor:
        """Return each element without its fraction."""
        return self._wrap(elementwise(OPS["trunc"], self.node))

    def isnan(self) -> Tensor:
        """Return whether each element is not a number."""
        return self._wrap(elementwise(OPS["isnan"], self.node))

    def isinf(self) -> Tensor:
        """Return whether each element is infinite."""
        return self._wrap(elementwise(OPS["isinf"], self.node))

    def isfinite(self) -> Tensor:
        """Return whether each element is neither infinite nor NaN."""
        return self._wrap(elementwise(OPS["isfinite"], self.node))

    def signbit(self) -> Tensor:
        """Return whether the sign bit of each float is set, also of -0 and NaN."""
        return self._wrap(elementwise(OPS["signbit"], self.node))

    def equal(self, other: ArrayLike, /) -> Tensor:
        """Return whether `x == other`, element by element."""
        return self._wrap(operation("equal", self, other))

    def not_equal(self, other: ArrayLike, /) -> Tensor:
        """Return whether `x != other`, element by element."""
        return self._wrap(operation("not_equal", self, other))

    def less(self, other: ArrayLike, /) -> Tensor:
        """Return whether `x < other`, element by element."""
        return self._wrap(operation("less", self, other))

    def less_equal(self, other: ArrayLike, /) -> Tensor:
        """Return whether `x <= other`, element by element."""
        return self._wrap(operation("less_equal", self, other))

    def greater(self, other: ArrayLike, /) -> Tensor:
        """Return whether `x > other`, element by element."""
        return self._wrap(operation("greater", self, other))

    def greater_equal(self, other: ArrayLike, /) -> Tensor:
        """Return whether `x >= other`, element by element."""
        return self._wrap(operation("greater_equal", self, other))

    def logical_and(self, other: ArrayLike, /) -> Tensor:
        """Return whether both elements are true (not zero)."""
        return self._wrap(operation("logical_and", self, other))

    def logical_or(self, other: ArrayLike, /) -> Tensor:
        """Return whether one of two elements is true (not zero)."""
        return self._wrap(operation("logical_or", self, other))

    def logical_xor(self, other: ArrayLike, /) -> Tensor:
        """Return whether exactly one of two elements is true (not zero)."""
        return self._wrap(operation("logical_xor", self, other))

    def logical_not(self) -> Tensor:
        """Return whether each element is false (zero)."""
        return self._wrap(elementwise(OPS["logical_not"], self.node))

    def bitwise_and(self, other: ArrayLike, /) -> Tensor:
        """Return `x & other`, bit by bit, for integers and bool."""
        return self._wrap(operation("bitwise_and", self, other))

    def bitwise_or(self, other: ArrayLike, /) -> Tensor:
        """Return `x | other`, bit by bit, for integers and bool."""
        return self._wrap(operation("bitwise_or", self, other))

    def bitwise_xor(self, other: ArrayLike, /) -> Tensor:
        """Return `x ^ other`, bit by bit, for integers and bool."""
        return self._wrap(operation("bitwise_xor", self, other))

    def bitwise_invert(self) -> Tensor:
        """Return `~x`, every bit inverted, for integers and bool."""
        return self._wrap(elementwise(OPS["bitwise_invert"], self.node))

    def bitwise_left_shift(self, other: ArrayLike, /) -> Tensor:
        """Return `x << other`: bits moved up, zeros follow."""
        return self._wrap(operation("bitwise_left_shift", self, other))

    def bitwise_right_shift(self, other: ArrayLike, /) -> Tensor:
        """Return `x >> other`: bits moved down, with the sign of `x`."""
        return self._wrap(operation("bitwise_right_shift", self, other))
