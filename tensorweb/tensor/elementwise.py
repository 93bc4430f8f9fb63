"""Elementwise methods: one per row of the op table, each a node and nothing more."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

from tensorweb.nodes.choice import isin
from tensorweb.nodes.elementwise import elementwise
from tensorweb.nodes.rounding import rounded
from tensorweb.ops import OPS
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import ArrayLike, as_operands
from tensorweb.tensor.numpy_calls import into
from tensorweb.tensor.operations import clipped, operation
from tensorweb.tensor.values import peek

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor


class ElementwiseMethods(TensorBase):
    """Operations on each element; `tensorweb.exp` and the like document them.

    Where two operands appear in a first line, `a` is the tensor and `b` the argument.
    """

    __slots__ = ()

    def _unary(self, name: str) -> Tensor:
        """Return an elementwise operation on this tensor."""
        return self._wrap(elementwise(OPS[name], self.node))

    def _with(self, name: str, other: ArrayLike) -> Tensor:
        """Return an elementwise operation on this tensor and another operand."""
        return self._wrap(operation(name, self, other))

    def exp(self) -> Tensor:
        """Return e to the power x."""
        return self._unary("exp")

    def exp2(self) -> Tensor:
        """Return 2 to the power x."""
        return self._unary("exp2")

    def expm1(self) -> Tensor:
        """Return exp(x) - 1, exact near 0."""
        return self._unary("expm1")

    def log(self) -> Tensor:
        """Return the natural logarithm; -inf for 0."""
        return self._unary("log")

    def log1p(self) -> Tensor:
        """Return log(1 + x), exact near 0."""
        return self._unary("log1p")

    def log2(self) -> Tensor:
        """Return the logarithm to base 2."""
        return self._unary("log2")

    def log10(self) -> Tensor:
        """Return the logarithm to base 10."""
        return self._unary("log10")

    def relu(self) -> Tensor:
        """Return each element where it is positive, else 0."""
        return self._unary("relu")

    def sigmoid(self) -> Tensor:
        """Return 1 / (1 + exp(-x))."""
        return self._unary("sigmoid")

    def erf(self) -> Tensor:
        """Return the error function."""
        return self._unary("erf")

    def erfinv(self) -> Tensor:
        """Return the inverse of the error function; NaN beyond -1 and 1."""
        return self._unary("erfinv")

    def sqrt(self) -> Tensor:
        """Return the square root; NaN below zero."""
        return self._unary("sqrt")

    def rsqrt(self) -> Tensor:
        """Return 1 / sqrt(x)."""
        return self._unary("rsqrt")

    def square(self) -> Tensor:
        """Return x * x."""
        return self._unary("square")

    def reciprocal(self) -> Tensor:
        """Return 1 / x."""
        return self._unary("reciprocal")

    def negative(self) -> Tensor:
        """Return -x."""
        return self._unary("negative")

    def positive(self) -> Tensor:
        """Return x itself."""
        return self._unary("positive")

    def abs(self) -> Tensor:
        """Return the absolute value."""
        return self._unary("abs")

    def sign(self) -> Tensor:
        """Return -1, 0 or 1; NaN stays NaN."""
        return self._unary("sign")

    def sin(self) -> Tensor:
        """Return the sine."""
        return self._unary("sin")

    def cos(self) -> Tensor:
        """Return the cosine."""
        return self._unary("cos")

    def tan(self) -> Tensor:
        """Return the tangent."""
        return self._unary("tan")

    def asin(self) -> Tensor:
        """Return the inverse sine."""
        return self._unary("asin")

    def acos(self) -> Tensor:
        """Return the inverse cosine."""
        return self._unary("acos")

    def atan(self) -> Tensor:
        """Return the inverse tangent."""
        return self._unary("atan")

    def sinh(self) -> Tensor:
        """Return the hyperbolic sine."""
        return self._unary("sinh")

    def cosh(self) -> Tensor:
        """Return the hyperbolic cosine."""
        return self._unary("cosh")

    def tanh(self) -> Tensor:
        """Return the hyperbolic tangent."""
        return self._unary("tanh")

    def asinh(self) -> Tensor:
        """Return the inverse hyperbolic sine."""
        return self._unary("asinh")

    def acosh(self) -> Tensor:
        """Return the inverse hyperbolic cosine."""
        return self._unary("acosh")

    def atanh(self) -> Tensor:
        """Return the inverse hyperbolic tangent."""
        return self._unary("atanh")

    def floor(self) -> Tensor:
        """Return the largest whole number not above x."""
        return self._unary("floor")

    def ceil(self) -> Tensor:
        """Return the smallest whole number not below x."""
        return self._unary("ceil")

    def trunc(self) -> Tensor:
        """Return x without its fraction."""
        return self._unary("trunc")

    def round(
        self, decimals: SupportsIndex = 0, out: TensorBase | None = None
    ) -> Tensor:
        """Return the nearest number with `decimals` decimals, halves to even."""
        return into(self._wrap(rounded(self.node, operator.index(decimals))), out)

    def __round__(self, ndigits: SupportsIndex | None = None) -> Any:
        if ndigits is None and not self.node.shape:
            return round(peek(self))
        return self.round(0 if ndigits is None else ndigits)

    def isnan(self) -> Tensor:
        """Return whether x is not a number."""
        return self._unary("isnan")

    def isinf(self) -> Tensor:
        """Return whether x is infinite."""
        return self._unary("isinf")

    def isfinite(self) -> Tensor:
        """Return whether x is neither NaN nor infinite."""
        return self._unary("isfinite")

    def signbit(self) -> Tensor:
        """Return whether the sign bit is set, also of -0 and NaN."""
        return self._unary("signbit")

    def logical_not(self) -> Tensor:
        """Return whether it is false."""
        return self._unary("logical_not")

    def bitwise_invert(self) -> Tensor:
        """Return every bit inverted."""
        return self._unary("bitwise_invert")

    def add(self, other: ArrayLike, /) -> Tensor:
        """Return a + b."""
        return self._with("add", other)

    def subtract(self, other: ArrayLike, /) -> Tensor:
        """Return a - b."""
        return self._with("subtract", other)

    def multiply(self, other: ArrayLike, /) -> Tensor:
        """Return a * b."""
        return self._with("multiply", other)

    def divide(self, other: ArrayLike, /) -> Tensor:
        """Return a / b, always a float."""
        return self._with("divide", other)

    def floor_divide(self, other: ArrayLike, /) -> Tensor:
        """Return the largest whole number not above a / b."""
        return self._with("floor_divide", other)

    def remainder(self, other: ArrayLike, /) -> Tensor:
        """Return what floor_divide leaves, with the sign of b."""
        return self._with("remainder", other)

    def pow(self, other: ArrayLike, /) -> Tensor:
        """Return a to the power b."""
        return self._with("pow", other)

    def hypot(self, other: ArrayLike, /) -> Tensor:
        """Return sqrt(a² + b²) without overflow."""
        return self._with("hypot", other)

    def copysign(self, other: ArrayLike, /) -> Tensor:
        """Return the size of a with the sign of b."""
        return self._with("copysign", other)

    def nextafter(self, other: ArrayLike, /) -> Tensor:
        """Return the next float from a towards b."""
        return self._with("nextafter", other)

    def maximum(self, other: ArrayLike, /) -> Tensor:
        """Return the larger one; NaN wins."""
        return self._with("maximum", other)

    def minimum(self, other: ArrayLike, /) -> Tensor:
        """Return the smaller one; NaN wins."""
        return self._with("minimum", other)

    def atan2(self, other: ArrayLike, /) -> Tensor:
        """Return the angle of the point (b, a)."""
        return self._with("atan2", other)

    def logaddexp(self, other: ArrayLike, /) -> Tensor:
        """Return log(exp(a) + exp(b)) without overflow."""
        return self._with("logaddexp", other)

    def equal(self, other: ArrayLike, /) -> Tensor:
        """Return a == b."""
        return self._with("equal", other)

    def not_equal(self, other: ArrayLike, /) -> Tensor:
        """Return a != b."""
        return self._with("not_equal", other)

    def less(self, other: ArrayLike, /) -> Tensor:
        """Return a < b."""
        return self._with("less", other)

    def less_equal(self, other: ArrayLike, /) -> Tensor:
        """Return a <= b."""
        return self._with("less_equal", other)

    def greater(self, other: ArrayLike, /) -> Tensor:
        """Return a > b."""
        return self._with("greater", other)

    def greater_equal(self, other: ArrayLike, /) -> Tensor:
        """Return a >= b."""
        return self._with("greater_equal", other)

    def logical_and(self, other: ArrayLike, /) -> Tensor:
        """Return whether both are true."""
        return self._with("logical_and", other)

    def logical_or(self, other: ArrayLike, /) -> Tensor:
        """Return whether one is true."""
        return self._with("logical_or", other)

    def logical_xor(self, other: ArrayLike, /) -> Tensor:
        """Return whether exactly one is true."""
        return self._with("logical_xor", other)

    def bitwise_and(self, other: ArrayLike, /) -> Tensor:
        """Return a & b, bit by bit."""
        return self._with("bitwise_and", other)

    def bitwise_or(self, other: ArrayLike, /) -> Tensor:
        """Return a | b, bit by bit."""
        return self._with("bitwise_or", other)

    def bitwise_xor(self, other: ArrayLike, /) -> Tensor:
        """Return a ^ b, bit by bit."""
        return self._with("bitwise_xor", other)

    def bitwise_left_shift(self, other: ArrayLike, /) -> Tensor:
        """Return a moved b bits up, zeros follow."""
        return self._with("bitwise_left_shift", other)

    def bitwise_right_shift(self, other: ArrayLike, /) -> Tensor:
        """Return a moved b bits down, sign kept."""
        return self._with("bitwise_right_shift", other)

    def clip(
        self,
        min: ArrayLike = None,
        max: ArrayLike = None,
        out: TensorBase | None = None,
        *,
        casting: str = "same_kind",
    ) -> Tensor:
        """Return values below `min` raised to it, values above `max` lowered to it.

        `casting="unsafe"` converts them to the dtype of `out`, whatever that is.
        """
        return into(self._wrap(clipped(self, min, max)), out, casting)

    def isin(self, other: ArrayLike, /, *, invert: bool = False) -> Tensor:
        """Return whether each element is one of `other`; is none of it for `invert`."""
        return self._wrap(isin(*as_operands(self, other), invert=invert))
