"""Elementwise functions, made from the op table by `python3 build.py docs`."""

from __future__ import annotations

from tensorweb.nodes.elementwise import elementwise
from tensorweb.ops import OPS
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, as_node
from tensorweb.tensor.operators import operation


def add(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 + x2`.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's dtype.
    Integers wrap around.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.add([1, 2, 3], 10)
    tensor([11, 12, 13])
    """
    return Tensor(operation("add", x1, x2))


def subtract(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 - x2`.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.subtract([5, 7], 4)
    tensor([1, 3])
    """
    return Tensor(operation("subtract", x1, x2))


def multiply(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 * x2`, element by element; `matmul` is the matrix product.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.multiply([1, 2, 3], 2.5)
    tensor([2.5, 5. , 7.5])
    """
    return Tensor(operation("multiply", x1, x2))


def divide(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 / x2`, always a float.

    Shapes broadcast; integers and bool become float32. Division by 0 gives infinity or
    NaN.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.divide([1, 2, 3], 2)
    tensor([0.5, 1. , 1.5])
    """
    return Tensor(operation("divide", x1, x2))


def floor_divide(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the largest whole number not above `x1 / x2`.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's dtype.
    An integer divided by 0 gives 0. With an infinity it is `floor(x1 / x2)`, as the
    Array API prefers: `inf // 2` is inf, `1 // -inf` is -0.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.floor_divide([7, -7], 2)
    tensor([ 3, -4])
    """
    return Tensor(operation("floor_divide", x1, x2))


def remainder(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the remainder of `floor_divide`, with the sign of `x2`.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.remainder([7, -7], 3)
    tensor([1, 2])
    """
    return Tensor(operation("remainder", x1, x2))


def pow(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1` to the power `x2`.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.pow([1, 2, 3], 2)
    tensor([1, 4, 9])
    """
    return Tensor(operation("pow", x1, x2))


def negative(x: ArrayLike, /) -> Tensor:
    """Return `-x`.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are bool.

    >>> tw.negative([1, -2])
    tensor([-1,  2])
    """
    return Tensor(elementwise(OPS["negative"], as_node(x)))


def positive(x: ArrayLike, /) -> Tensor:
    """Return `x` itself.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are bool.

    >>> tw.positive([1, -2])
    tensor([ 1, -2])
    """
    return Tensor(elementwise(OPS["positive"], as_node(x)))


def abs(x: ArrayLike, /) -> Tensor:
    """Return the absolute value of each element.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are bool.

    >>> tw.abs([-2.5, 3.0])
    tensor([2.5, 3. ])
    """
    return Tensor(elementwise(OPS["abs"], as_node(x)))


def sign(x: ArrayLike, /) -> Tensor:
    """Return -1, 0 or 1 for each element; NaN stays NaN.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are bool.

    >>> tw.sign([-3, 0, 8])
    tensor([-1,  0,  1])
    """
    return Tensor(elementwise(OPS["sign"], as_node(x)))


def reciprocal(x: ArrayLike, /) -> Tensor:
    """Return `1 / x`.

    Integers and bool become float32. Shape is kept.

    >>> tw.reciprocal([2.0, 4.0])
    tensor([0.5 , 0.25])
    """
    return Tensor(elementwise(OPS["reciprocal"], as_node(x)))


def square(x: ArrayLike, /) -> Tensor:
    """Return `x * x`.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are bool.

    >>> tw.square([1, 2, 3])
    tensor([1, 4, 9])
    """
    return Tensor(elementwise(OPS["square"], as_node(x)))


def sqrt(x: ArrayLike, /) -> Tensor:
    """Return the square root of each element; NaN below zero.

    Integers and bool become float32. Shape is kept.

    >>> tw.sqrt([4, 9])
    tensor([2., 3.])
    """
    return Tensor(elementwise(OPS["sqrt"], as_node(x)))


def rsqrt(x: ArrayLike, /) -> Tensor:
    """Return `1 / sqrt(x)`.

    Integers and bool become float32. Shape is kept.

    >>> tw.rsqrt([4.0, 16.0])
    tensor([0.5 , 0.25])
    """
    return Tensor(elementwise(OPS["rsqrt"], as_node(x)))


def cbrt(x: ArrayLike, /) -> Tensor:
    """Return the cube root, also of negative numbers.

    Integers and bool become float32. Shape is kept.

    >>> tw.cbrt([-8.0, 0.0, 1.0])
    tensor([-2.,  0.,  1.])
    """
    return Tensor(elementwise(OPS["cbrt"], as_node(x)))


def hypot(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `sqrt(x1**2 + x2**2)` without overflow in between.

    Shapes broadcast; integers and bool become float32.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.hypot([3.0, 5.0], [4.0, 12.0])
    tensor([ 5., 13.])
    """
    return Tensor(operation("hypot", x1, x2))


def copysign(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the size of `x1` with the sign of `x2`, also of -0.

    Shapes broadcast; integers and bool become float32.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.copysign([1.0, 2.0], -0.0)
    tensor([-1., -2.])
    """
    return Tensor(operation("copysign", x1, x2))


def nextafter(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the next float from `x1` towards `x2`.

    Shapes broadcast; integers and bool become float32.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.nextafter(1.0, 2.0) > 1.0
    tensor(True)
    """
    return Tensor(operation("nextafter", x1, x2))


def maximum(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the larger of two elements; NaN wins.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.maximum([1, 5], [4, 2])
    tensor([4, 5])
    """
    return Tensor(operation("maximum", x1, x2))


def minimum(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the smaller of two elements; NaN wins.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.minimum([1, 5], [4, 2])
    tensor([1, 2])
    """
    return Tensor(operation("minimum", x1, x2))


def relu(x: ArrayLike, /) -> Tensor:
    """Return each element where it is positive, else 0.

    Integers and bool become float32. Shape is kept. Its derivative at 0 is 0.

    >>> tw.relu([-1.0, 0.0, 2.0])
    tensor([0., 0., 2.])
    """
    return Tensor(elementwise(OPS["relu"], as_node(x)))


def exp(x: ArrayLike, /) -> Tensor:
    """Return e to the power of each element.

    Integers and bool become float32. Shape is kept.

    >>> tw.round(tw.exp([0.0, 1.0]) * 1000)
    tensor([1000., 2718.])
    """
    return Tensor(elementwise(OPS["exp"], as_node(x)))


def exp2(x: ArrayLike, /) -> Tensor:
    """Return 2 to the power of each element.

    Integers and bool become float32. Shape is kept.

    >>> tw.exp2([0, 3])
    tensor([1., 8.])
    """
    return Tensor(elementwise(OPS["exp2"], as_node(x)))


def expm1(x: ArrayLike, /) -> Tensor:
    """Return `exp(x) - 1`, exact near 0.

    Integers and bool become float32. Shape is kept.

    >>> tw.expm1([0.0, 1e-8])
    tensor([0.e+00, 1.e-08])
    """
    return Tensor(elementwise(OPS["expm1"], as_node(x)))


def log(x: ArrayLike, /) -> Tensor:
    """Return the natural logarithm; `log(0)` is -inf, below 0 it is NaN.

    Integers and bool become float32. Shape is kept.

    >>> tw.log([1.0, 0.0])
    tensor([  0., -inf])
    """
    return Tensor(elementwise(OPS["log"], as_node(x)))


def log1p(x: ArrayLike, /) -> Tensor:
    """Return `log(1 + x)`, exact near 0.

    Integers and bool become float32. Shape is kept.

    >>> tw.log1p([0.0, 1e-8])
    tensor([0.e+00, 1.e-08])
    """
    return Tensor(elementwise(OPS["log1p"], as_node(x)))


def log2(x: ArrayLike, /) -> Tensor:
    """Return the logarithm to base 2.

    Integers and bool become float32. Shape is kept.

    >>> tw.log2([1, 8])
    tensor([0., 3.])
    """
    return Tensor(elementwise(OPS["log2"], as_node(x)))


def log10(x: ArrayLike, /) -> Tensor:
    """Return the logarithm to base 10.

    Integers and bool become float32. Shape is kept.

    >>> tw.log10([1, 10])
    tensor([0., 1.])
    """
    return Tensor(elementwise(OPS["log10"], as_node(x)))


def logaddexp(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `log(exp(x1) + exp(x2))` without overflow.

    Shapes broadcast; integers and bool become float32.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.logaddexp(1000.0, -1000.0)
    tensor(1000.)
    """
    return Tensor(operation("logaddexp", x1, x2))


def sigmoid(x: ArrayLike, /) -> Tensor:
    """Return `1 / (1 + exp(-x))`, between 0 and 1 without overflow.

    Integers and bool become float32. Shape is kept.

    >>> tw.sigmoid([0.0, 1000.0])
    tensor([0.5, 1. ])
    """
    return Tensor(elementwise(OPS["sigmoid"], as_node(x)))


def erf(x: ArrayLike, /) -> Tensor:
    """Return the error function of each element.

    Integers and bool become float32. Shape is kept.

    >>> tw.erf([0.0, tw.inf])
    tensor([0., 1.])
    """
    return Tensor(elementwise(OPS["erf"], as_node(x)))


def erfinv(x: ArrayLike, /) -> Tensor:
    """Return the inverse of the error function: `erf` of the result is `x`.

    Integers and bool become float32. Shape is kept. It is infinite at -1 and 1, and NaN
    beyond.

    >>> tw.round(tw.erfinv([0.0, 0.5, 1.0]) * 10_000)
    tensor([   0., 4769.,   inf])
    """
    return Tensor(elementwise(OPS["erfinv"], as_node(x)))


def sin(x: ArrayLike, /) -> Tensor:
    """Return the sine.

    Integers and bool become float32. Shape is kept.

    >>> tw.sin([0.0])
    tensor([0.])
    """
    return Tensor(elementwise(OPS["sin"], as_node(x)))


def cos(x: ArrayLike, /) -> Tensor:
    """Return the cosine.

    Integers and bool become float32. Shape is kept.

    >>> tw.cos([0.0])
    tensor([1.])
    """
    return Tensor(elementwise(OPS["cos"], as_node(x)))


def tan(x: ArrayLike, /) -> Tensor:
    """Return the tangent.

    Integers and bool become float32. Shape is kept.

    >>> tw.tan([0.0])
    tensor([0.])
    """
    return Tensor(elementwise(OPS["tan"], as_node(x)))


def asin(x: ArrayLike, /) -> Tensor:
    """Return the angle of a sine, from -pi/2 to pi/2; NaN outside [-1, 1].

    Integers and bool become float32. Shape is kept.

    >>> tw.round(tw.asin([0.0, 1.0]) * 1000)
    tensor([   0., 1571.])
    """
    return Tensor(elementwise(OPS["asin"], as_node(x)))


def acos(x: ArrayLike, /) -> Tensor:
    """Return the angle of a cosine, from 0 to pi; NaN outside [-1, 1].

    Integers and bool become float32. Shape is kept.

    >>> tw.round(tw.acos([1.0, 0.0]) * 1000)
    tensor([   0., 1571.])
    """
    return Tensor(elementwise(OPS["acos"], as_node(x)))


def atan(x: ArrayLike, /) -> Tensor:
    """Return the angle of a tangent, from -pi/2 to pi/2.

    Integers and bool become float32. Shape is kept.

    >>> tw.round(tw.atan([0.0, 1.0]) * 1000)
    tensor([  0., 785.])
    """
    return Tensor(elementwise(OPS["atan"], as_node(x)))


def sinh(x: ArrayLike, /) -> Tensor:
    """Return the hyperbolic sine.

    Integers and bool become float32. Shape is kept.

    >>> tw.sinh([0.0])
    tensor([0.])
    """
    return Tensor(elementwise(OPS["sinh"], as_node(x)))


def cosh(x: ArrayLike, /) -> Tensor:
    """Return the hyperbolic cosine.

    Integers and bool become float32. Shape is kept.

    >>> tw.cosh([0.0])
    tensor([1.])
    """
    return Tensor(elementwise(OPS["cosh"], as_node(x)))


def tanh(x: ArrayLike, /) -> Tensor:
    """Return the hyperbolic tangent.

    Integers and bool become float32. Shape is kept.

    >>> tw.tanh([0.0, tw.inf])
    tensor([0., 1.])
    """
    return Tensor(elementwise(OPS["tanh"], as_node(x)))


def asinh(x: ArrayLike, /) -> Tensor:
    """Return the inverse hyperbolic sine.

    Integers and bool become float32. Shape is kept.

    >>> tw.asinh([0.0])
    tensor([0.])
    """
    return Tensor(elementwise(OPS["asinh"], as_node(x)))


def acosh(x: ArrayLike, /) -> Tensor:
    """Return the inverse hyperbolic cosine; NaN below 1.

    Integers and bool become float32. Shape is kept.

    >>> tw.acosh([1.0])
    tensor([0.])
    """
    return Tensor(elementwise(OPS["acosh"], as_node(x)))


def atanh(x: ArrayLike, /) -> Tensor:
    """Return the inverse hyperbolic tangent; infinite at -1 and 1.

    Integers and bool become float32. Shape is kept.

    >>> tw.atanh([0.0, 1.0])
    tensor([ 0., inf])
    """
    return Tensor(elementwise(OPS["atanh"], as_node(x)))


def atan2(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the angle of the point `(x2, x1)`, from -pi to pi.

    Shapes broadcast; integers and bool become float32.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.round(tw.atan2([1.0, 0.0], [0.0, -1.0]) * 1000)
    tensor([1571., 3142.])
    """
    return Tensor(operation("atan2", x1, x2))


def floor(x: ArrayLike, /) -> Tensor:
    """Return the largest whole number not above each element.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are bool.

    >>> tw.floor([1.5, -1.5])
    tensor([ 1., -2.])
    """
    return Tensor(elementwise(OPS["floor"], as_node(x)))


def ceil(x: ArrayLike, /) -> Tensor:
    """Return the smallest whole number not below each element.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are bool.

    >>> tw.ceil([1.5, -1.5])
    tensor([ 2., -1.])
    """
    return Tensor(elementwise(OPS["ceil"], as_node(x)))


def trunc(x: ArrayLike, /) -> Tensor:
    """Return each element without its fraction.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are bool.

    >>> tw.trunc([1.5, -1.5])
    tensor([ 1., -1.])
    """
    return Tensor(elementwise(OPS["trunc"], as_node(x)))


def isnan(x: ArrayLike, /) -> Tensor:
    """Return whether each element is not a number.

    Bool, of the same shape.

    >>> tw.isnan([1.0, tw.nan])
    tensor([False,  True])
    """
    return Tensor(elementwise(OPS["isnan"], as_node(x)))


def isinf(x: ArrayLike, /) -> Tensor:
    """Return whether each element is infinite.

    Bool, of the same shape.

    >>> tw.isinf([1.0, -tw.inf])
    tensor([False,  True])
    """
    return Tensor(elementwise(OPS["isinf"], as_node(x)))


def isfinite(x: ArrayLike, /) -> Tensor:
    """Return whether each element is neither infinite nor NaN.

    Bool, of the same shape.

    >>> tw.isfinite([1.0, tw.inf, tw.nan])
    tensor([ True, False, False])
    """
    return Tensor(elementwise(OPS["isfinite"], as_node(x)))


def signbit(x: ArrayLike, /) -> Tensor:
    """Return whether the sign bit of each float is set, also of -0 and NaN.

    Bool, of the same shape.

    Raises:
        DTypeError: the elements are no floats.

    >>> tw.signbit([-0.0, 0.0, -3.0])
    tensor([ True, False,  True])
    """
    return Tensor(elementwise(OPS["signbit"], as_node(x)))


def equal(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether `x1 == x2`, element by element.

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.equal([1, 2, 3], [1, 0, 3])
    tensor([ True, False,  True])
    """
    return Tensor(operation("equal", x1, x2))


def not_equal(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether `x1 != x2`, element by element.

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.not_equal([1, 2, 3], [1, 0, 3])
    tensor([False,  True, False])
    """
    return Tensor(operation("not_equal", x1, x2))


def less(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether `x1 < x2`, element by element.

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.less([1, 2, 3], 2)
    tensor([ True, False, False])
    """
    return Tensor(operation("less", x1, x2))


def less_equal(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether `x1 <= x2`, element by element.

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.less_equal([1, 2, 3], 2)
    tensor([ True,  True, False])
    """
    return Tensor(operation("less_equal", x1, x2))


def greater(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether `x1 > x2`, element by element.

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.greater([1, 2, 3], 2)
    tensor([False, False,  True])
    """
    return Tensor(operation("greater", x1, x2))


def greater_equal(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether `x1 >= x2`, element by element.

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.greater_equal([1, 2, 3], 2)
    tensor([False,  True,  True])
    """
    return Tensor(operation("greater_equal", x1, x2))


def logical_and(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether both elements are true (not zero).

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.logical_and([True, True], [True, False])
    tensor([ True, False])
    """
    return Tensor(operation("logical_and", x1, x2))


def logical_or(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether one of two elements is true (not zero).

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.logical_or([True, False], [False, False])
    tensor([ True, False])
    """
    return Tensor(operation("logical_or", x1, x2))


def logical_xor(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return whether exactly one of two elements is true (not zero).

    Shapes broadcast; the result is bool.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.logical_xor([True, True], [True, False])
    tensor([False,  True])
    """
    return Tensor(operation("logical_xor", x1, x2))


def logical_not(x: ArrayLike, /) -> Tensor:
    """Return whether each element is false (zero).

    Bool, of the same shape.

    >>> tw.logical_not([True, False])
    tensor([False,  True])
    """
    return Tensor(elementwise(OPS["logical_not"], as_node(x)))


def bitwise_and(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 & x2`, bit by bit, for integers and bool.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.bitwise_and([12, 10], 6)
    tensor([4, 2])
    """
    return Tensor(operation("bitwise_and", x1, x2))


def bitwise_or(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 | x2`, bit by bit, for integers and bool.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.bitwise_or([12, 10], 6)
    tensor([14, 14])
    """
    return Tensor(operation("bitwise_or", x1, x2))


def bitwise_xor(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 ^ x2`, bit by bit, for integers and bool.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.bitwise_xor([12, 10], 6)
    tensor([10, 12])
    """
    return Tensor(operation("bitwise_xor", x1, x2))


def bitwise_invert(x: ArrayLike, /) -> Tensor:
    """Return `~x`, every bit inverted, for integers and bool.

    Shape and dtype are kept.

    Raises:
        DTypeError: the elements are floats.

    >>> tw.bitwise_invert([0, 5])
    tensor([-1, -6])
    """
    return Tensor(elementwise(OPS["bitwise_invert"], as_node(x)))


def bitwise_left_shift(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 << x2`: bits moved up, zeros follow.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.bitwise_left_shift([1, 3], 2)
    tensor([ 4, 12])
    """
    return Tensor(operation("bitwise_left_shift", x1, x2))


def bitwise_right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return `x1 >> x2`: bits moved down, with the sign of `x1`.

    Shapes broadcast and dtypes are promoted; a Python number takes the other's dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes do not fit the operation.
        DeviceError: the operands lie on different devices.

    >>> tw.bitwise_right_shift([8, -8], 2)
    tensor([ 2, -2])
    """
    return Tensor(operation("bitwise_right_shift", x1, x2))


declare_public(__name__)
