"""Elementwise methods, made from the op table by `python3 build.py docs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorweb.nodes.elementwise import elementwise
from tensorweb.ops import OPS
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.operators import operation

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor


class ElementwiseMethods(TensorBase):
    """Operations on each element; `tensorweb.exp` and the like document them.

    In first lines `x` is the tensor.
    """

    __slots__ = ()

    def add(self, other: ArrayLike, /) -> Tensor:
        """Return `x + other`.

        >>> tw.tensor([1, 2, 3]).add(10)
        tensor([11, 12, 13])
        """
        return self._wrap(operation("add", self, other))

    def subtract(self, other: ArrayLike, /) -> Tensor:
        """Return `x - other`.

        >>> tw.tensor([5, 7]).subtract(4)
        tensor([1, 3])
        """
        return self._wrap(operation("subtract", self, other))

    def multiply(self, other: ArrayLike, /) -> Tensor:
        """Return `x * other`, element by element; `matmul` is the matrix product.

        >>> tw.tensor([1, 2, 3]).multiply(2.5)
        tensor([2.5, 5. , 7.5])
        """
        return self._wrap(operation("multiply", self, other))

    def divide(self, other: ArrayLike, /) -> Tensor:
        """Return `x / other`, always a float.

        >>> tw.tensor([1, 2, 3]).divide(2)
        tensor([0.5, 1. , 1.5])
        """
        return self._wrap(operation("divide", self, other))

    def floor_divide(self, other: ArrayLike, /) -> Tensor:
        """Return the largest whole number not above `x / other`.

        >>> tw.tensor([7, -7]).floor_divide(2)
        tensor([ 3, -4])
        """
        return self._wrap(operation("floor_divide", self, other))

    def remainder(self, other: ArrayLike, /) -> Tensor:
        """Return the remainder of `floor_divide`, with the sign of `other`.

        >>> tw.tensor([7, -7]).remainder(3)
        tensor([1, 2])
        """
        return self._wrap(operation("remainder", self, other))

    def pow(self, other: ArrayLike, /) -> Tensor:
        """Return `x` to the power `other`.

        >>> tw.tensor([1, 2, 3]).pow(2)
        tensor([1, 4, 9])
        """
        return self._wrap(operation("pow", self, other))

    def negative(self) -> Tensor:
        """Return `-x`.

        >>> tw.tensor([1, -2]).negative()
        tensor([-1,  2])
        """
        return self._wrap(elementwise(OPS["negative"], self.node))

    def positive(self) -> Tensor:
        """Return `x` itself.

        >>> tw.tensor([1, -2]).positive()
        tensor([ 1, -2])
        """
        return self._wrap(elementwise(OPS["positive"], self.node))

    def abs(self) -> Tensor:
        """Return the absolute value of each element.

        >>> tw.tensor([-2.5, 3.0]).abs()
        tensor([2.5, 3. ])
        """
        return self._wrap(elementwise(OPS["abs"], self.node))

    def sign(self) -> Tensor:
        """Return -1, 0 or 1 for each element; NaN stays NaN.

        >>> tw.tensor([-3, 0, 8]).sign()
        tensor([-1,  0,  1])
        """
        return self._wrap(elementwise(OPS["sign"], self.node))

    def reciprocal(self) -> Tensor:
        """Return `1 / x`.

        >>> tw.tensor([2.0, 4.0]).reciprocal()
        tensor([0.5 , 0.25])
        """
        return self._wrap(elementwise(OPS["reciprocal"], self.node))

    def square(self) -> Tensor:
        """Return `x * x`.

        >>> tw.tensor([1, 2, 3]).square()
        tensor([1, 4, 9])
        """
        return self._wrap(elementwise(OPS["square"], self.node))

    def sqrt(self) -> Tensor:
        """Return the square root of each element; NaN below zero.

        >>> tw.tensor([4, 9]).sqrt()
        tensor([2., 3.])
        """
        return self._wrap(elementwise(OPS["sqrt"], self.node))

    def rsqrt(self) -> Tensor:
        """Return `1 / sqrt(x)`.

        >>> tw.tensor([4.0, 16.0]).rsqrt()
        tensor([0.5 , 0.25])
        """
        return self._wrap(elementwise(OPS["rsqrt"], self.node))

    def cbrt(self) -> Tensor:
        """Return the cube root, also of negative numbers.

        >>> tw.tensor([-8.0, 0.0, 1.0]).cbrt()
        tensor([-2.,  0.,  1.])
        """
        return self._wrap(elementwise(OPS["cbrt"], self.node))

    def hypot(self, other: ArrayLike, /) -> Tensor:
        """Return `sqrt(x**2 + other**2)` without overflow in between.

        >>> tw.tensor([3.0, 5.0]).hypot([4.0, 12.0])
        tensor([ 5., 13.])
        """
        return self._wrap(operation("hypot", self, other))

    def copysign(self, other: ArrayLike, /) -> Tensor:
        """Return the size of `x` with the sign of `other`, also of -0.

        >>> tw.tensor([1.0, 2.0]).copysign(-0.0)
        tensor([-1., -2.])
        """
        return self._wrap(operation("copysign", self, other))

    def nextafter(self, other: ArrayLike, /) -> Tensor:
        """Return the next float from `x` towards `other`.

        >>> tw.tensor(1.0).nextafter(2.0) > 1.0
        tensor(True)
        """
        return self._wrap(operation("nextafter", self, other))

    def maximum(self, other: ArrayLike, /) -> Tensor:
        """Return the larger of two elements; NaN wins.

        >>> tw.tensor([1, 5]).maximum([4, 2])
        tensor([4, 5])
        """
        return self._wrap(operation("maximum", self, other))

    def minimum(self, other: ArrayLike, /) -> Tensor:
        """Return the smaller of two elements; NaN wins.

        >>> tw.tensor([1, 5]).minimum([4, 2])
        tensor([1, 2])
        """
        return self._wrap(operation("minimum", self, other))

    def relu(self) -> Tensor:
        """Return each element where it is positive, else 0.

        >>> tw.tensor([-1.0, 0.0, 2.0]).relu()
        tensor([0., 0., 2.])
        """
        return self._wrap(elementwise(OPS["relu"], self.node))

    def exp(self) -> Tensor:
        """Return e to the power of each element.

        >>> tw.round(tw.tensor([0.0, 1.0]).exp() * 1000)
        tensor([1000., 2718.])
        """
        return self._wrap(elementwise(OPS["exp"], self.node))

    def exp2(self) -> Tensor:
        """Return 2 to the power of each element.

        >>> tw.tensor([0, 3]).exp2()
        tensor([1., 8.])
        """
        return self._wrap(elementwise(OPS["exp2"], self.node))

    def expm1(self) -> Tensor:
        """Return `exp(x) - 1`, exact near 0.

        >>> tw.tensor([0.0, 1e-08]).expm1()
        tensor([0.e+00, 1.e-08])
        """
        return self._wrap(elementwise(OPS["expm1"], self.node))

    def log(self) -> Tensor:
        """Return the natural logarithm; `log(0)` is -inf, below 0 it is NaN.

        >>> tw.tensor([1.0, 0.0]).log()
        tensor([  0., -inf])
        """
        return self._wrap(elementwise(OPS["log"], self.node))

    def log1p(self) -> Tensor:
        """Return `log(1 + x)`, exact near 0.

        >>> tw.tensor([0.0, 1e-08]).log1p()
        tensor([0.e+00, 1.e-08])
        """
        return self._wrap(elementwise(OPS["log1p"], self.node))

    def log2(self) -> Tensor:
        """Return the logarithm to base 2.

        >>> tw.tensor([1, 8]).log2()
        tensor([0., 3.])
        """
        return self._wrap(elementwise(OPS["log2"], self.node))

    def log10(self) -> Tensor:
        """Return the logarithm to base 10.

        >>> tw.tensor([1, 10]).log10()
        tensor([0., 1.])
        """
        return self._wrap(elementwise(OPS["log10"], self.node))

    def logaddexp(self, other: ArrayLike, /) -> Tensor:
        """Return `log(exp(x) + exp(other))` without overflow.

        >>> tw.tensor(1000.0).logaddexp(-1000.0)
        tensor(1000.)
        """
        return self._wrap(operation("logaddexp", self, other))

    def sigmoid(self) -> Tensor:
        """Return `1 / (1 + exp(-x))`, between 0 and 1 without overflow.

        >>> tw.tensor([0.0, 1000.0]).sigmoid()
        tensor([0.5, 1. ])
        """
        return self._wrap(elementwise(OPS["sigmoid"], self.node))

    def erf(self) -> Tensor:
        """Return the error function of each element.

        >>> tw.tensor([0.0, tw.inf]).erf()
        tensor([0., 1.])
        """
        return self._wrap(elementwise(OPS["erf"], self.node))

    def erfinv(self) -> Tensor:
        """Return the inverse of the error function: `erf` of the result is `x`.

        >>> tw.round(tw.tensor([0.0, 0.5, 1.0]).erfinv() * 10000)
        tensor([   0., 4769.,   inf])
        """
        return self._wrap(elementwise(OPS["erfinv"], self.node))

    def sin(self) -> Tensor:
        """Return the sine.

        >>> tw.tensor([0.0]).sin()
        tensor([0.])
        """
        return self._wrap(elementwise(OPS["sin"], self.node))

    def cos(self) -> Tensor:
        """Return the cosine.

        >>> tw.tensor([0.0]).cos()
        tensor([1.])
        """
        return self._wrap(elementwise(OPS["cos"], self.node))

    def tan(self) -> Tensor:
        """Return the tangent.

        >>> tw.tensor([0.0]).tan()
        tensor([0.])
        """
        return self._wrap(elementwise(OPS["tan"], self.node))

    def asin(self) -> Tensor:
        """Return the angle of a sine, from -pi/2 to pi/2; NaN outside [-1, 1].

        >>> tw.round(tw.tensor([0.0, 1.0]).asin() * 1000)
        tensor([   0., 1571.])
        """
        return self._wrap(elementwise(OPS["asin"], self.node))

    def acos(self) -> Tensor:
        """Return the angle of a cosine, from 0 to pi; NaN outside [-1, 1].

        >>> tw.round(tw.tensor([1.0, 0.0]).acos() * 1000)
        tensor([   0., 1571.])
        """
        return self._wrap(elementwise(OPS["acos"], self.node))

    def atan(self) -> Tensor:
        """Return the angle of a tangent, from -pi/2 to pi/2.

        >>> tw.round(tw.tensor([0.0, 1.0]).atan() * 1000)
        tensor([  0., 785.])
        """
        return self._wrap(elementwise(OPS["atan"], self.node))

    def sinh(self) -> Tensor:
        """Return the hyperbolic sine.

        >>> tw.tensor([0.0]).sinh()
        tensor([0.])
        """
        return self._wrap(elementwise(OPS["sinh"], self.node))

    def cosh(self) -> Tensor:
        """Return the hyperbolic cosine.

        >>> tw.tensor([0.0]).cosh()
        tensor([1.])
        """
        return self._wrap(elementwise(OPS["cosh"], self.node))

    def tanh(self) -> Tensor:
        """Return the hyperbolic tangent.

        >>> tw.tensor([0.0, tw.inf]).tanh()
        tensor([0., 1.])
        """
        return self._wrap(elementwise(OPS["tanh"], self.node))

    def asinh(self) -> Tensor:
        """Return the inverse hyperbolic sine.

        >>> tw.tensor([0.0]).asinh()
        tensor([0.])
        """
        return self._wrap(elementwise(OPS["asinh"], self.node))

    def acosh(self) -> Tensor:
        """Return the inverse hyperbolic cosine; NaN below 1.

        >>> tw.tensor([1.0]).acosh()
        tensor([0.])
        """
        return self._wrap(elementwise(OPS["acosh"], self.node))

    def atanh(self) -> Tensor:
        """Return the inverse hyperbolic tangent; infinite at -1 and 1.

        >>> tw.tensor([0.0, 1.0]).atanh()
        tensor([ 0., inf])
        """
        return self._wrap(elementwise(OPS["atanh"], self.node))

    def atan2(self, other: ArrayLike, /) -> Tensor:
        """Return the angle of the point `(other, x)`, from -pi to pi.

        >>> tw.round(tw.tensor([1.0, 0.0]).atan2([0.0, -1.0]) * 1000)
        tensor([1571., 3142.])
        """
        return self._wrap(operation("atan2", self, other))

    def floor(self) -> Tensor:
        """Return the largest whole number not above each element.

        >>> tw.tensor([1.5, -1.5]).floor()
        tensor([ 1., -2.])
        """
        return self._wrap(elementwise(OPS["floor"], self.node))

    def ceil(self) -> Tensor:
        """Return the smallest whole number not below each element.

        >>> tw.tensor([1.5, -1.5]).ceil()
        tensor([ 2., -1.])
        """
        return self._wrap(elementwise(OPS["ceil"], self.node))

    def trunc(self) -> Tensor:
        """Return each element without its fraction.

        >>> tw.tensor([1.5, -1.5]).trunc()
        tensor([ 1., -1.])
        """
        return self._wrap(elementwise(OPS["trunc"], self.node))

    def isnan(self) -> Tensor:
        """Return whether each element is not a number.

        >>> tw.tensor([1.0, tw.nan]).isnan()
        tensor([False,  True])
        """
        return self._wrap(elementwise(OPS["isnan"], self.node))

    def isinf(self) -> Tensor:
        """Return whether each element is infinite.

        >>> tw.tensor([1.0, -tw.inf]).isinf()
        tensor([False,  True])
        """
        return self._wrap(elementwise(OPS["isinf"], self.node))

    def isfinite(self) -> Tensor:
        """Return whether each element is neither infinite nor NaN.

        >>> tw.tensor([1.0, tw.inf, tw.nan]).isfinite()
        tensor([ True, False, False])
        """
        return self._wrap(elementwise(OPS["isfinite"], self.node))

    def signbit(self) -> Tensor:
        """Return whether the sign bit of each float is set, also of -0 and NaN.

        >>> tw.tensor([-0.0, 0.0, -3.0]).signbit()
        tensor([ True, False,  True])
        """
        return self._wrap(elementwise(OPS["signbit"], self.node))

    def equal(self, other: ArrayLike, /) -> Tensor:
        """Return whether `x == other`, element by element.

        >>> tw.tensor([1, 2, 3]).equal([1, 0, 3])
        tensor([ True, False,  True])
        """
        return self._wrap(operation("equal", self, other))

    def not_equal(self, other: ArrayLike, /) -> Tensor:
        """Return whether `x != other`, element by element.

        >>> tw.tensor([1, 2, 3]).not_equal([1, 0, 3])
        tensor([False,  True, False])
        """
        return self._wrap(operation("not_equal", self, other))

    def less(self, other: ArrayLike, /) -> Tensor:
        """Return whether `x < other`, element by element.

        >>> tw.tensor([1, 2, 3]).less(2)
        tensor([ True, False, False])
        """
        return self._wrap(operation("less", self, other))

    def less_equal(self, other: ArrayLike, /) -> Tensor:
        """Return whether `x <= other`, element by element.

        >>> tw.tensor([1, 2, 3]).less_equal(2)
        tensor([ True,  True, False])
        """
        return self._wrap(operation("less_equal", self, other))

    def greater(self, other: ArrayLike, /) -> Tensor:
        """Return whether `x > other`, element by element.

        >>> tw.tensor([1, 2, 3]).greater(2)
        tensor([False, False,  True])
        """
        return self._wrap(operation("greater", self, other))

    def greater_equal(self, other: ArrayLike, /) -> Tensor:
        """Return whether `x >= other`, element by element.

        >>> tw.tensor([1, 2, 3]).greater_equal(2)
        tensor([False,  True,  True])
        """
        return self._wrap(operation("greater_equal", self, other))

    def logical_and(self, other: ArrayLike, /) -> Tensor:
        """Return whether both elements are true (not zero).

        >>> tw.tensor([True, True]).logical_and([True, False])
        tensor([ True, False])
        """
        return self._wrap(operation("logical_and", self, other))

    def logical_or(self, other: ArrayLike, /) -> Tensor:
        """Return whether one of two elements is true (not zero).

        >>> tw.tensor([True, False]).logical_or([False, False])
        tensor([ True, False])
        """
        return self._wrap(operation("logical_or", self, other))

    def logical_xor(self, other: ArrayLike, /) -> Tensor:
        """Return whether exactly one of two elements is true (not zero).

        >>> tw.tensor([True, True]).logical_xor([True, False])
        tensor([False,  True])
        """
        return self._wrap(operation("logical_xor", self, other))

    def logical_not(self) -> Tensor:
        """Return whether each element is false (zero).

        >>> tw.tensor([True, False]).logical_not()
        tensor([False,  True])
        """
        return self._wrap(elementwise(OPS["logical_not"], self.node))

    def bitwise_and(self, other: ArrayLike, /) -> Tensor:
        """Return `x & other`, bit by bit, for integers and bool.

        >>> tw.tensor([12, 10]).bitwise_and(6)
        tensor([4, 2])
        """
        return self._wrap(operation("bitwise_and", self, other))

    def bitwise_or(self, other: ArrayLike, /) -> Tensor:
        """Return `x | other`, bit by bit, for integers and bool.

        >>> tw.tensor([12, 10]).bitwise_or(6)
        tensor([14, 14])
        """
        return self._wrap(operation("bitwise_or", self, other))

    def bitwise_xor(self, other: ArrayLike, /) -> Tensor:
        """Return `x ^ other`, bit by bit, for integers and bool.

        >>> tw.tensor([12, 10]).bitwise_xor(6)
        tensor([10, 12])
        """
        return self._wrap(operation("bitwise_xor", self, other))

    def bitwise_invert(self) -> Tensor:
        """Return `~x`, every bit inverted, for integers and bool.

        >>> tw.tensor([0, 5]).bitwise_invert()
        tensor([-1, -6])
        """
        return self._wrap(elementwise(OPS["bitwise_invert"], self.node))

    def bitwise_left_shift(self, other: ArrayLike, /) -> Tensor:
        """Return `x << other`: bits moved up, zeros follow.

        >>> tw.tensor([1, 3]).bitwise_left_shift(2)
        tensor([ 4, 12])
        """
        return self._wrap(operation("bitwise_left_shift", self, other))

    def bitwise_right_shift(self, other: ArrayLike, /) -> Tensor:
        """Return `x >> other`: bits moved down, with the sign of `x`.

        >>> tw.tensor([8, -8]).bitwise_right_shift(2)
        tensor([ 2, -2])
        """
        return self._wrap(operation("bitwise_right_shift", self, other))
