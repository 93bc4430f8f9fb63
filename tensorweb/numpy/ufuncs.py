"""NumPy's ufuncs: the elementwise functions, each with `out=` and its methods.

A row is a name and the function it calls; names that stand for one function share it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorweb.numpy import composition, elementwise
from tensorweb.numpy.universal import ufunc as ufunc

if not TYPE_CHECKING:  # Type checkers take all names, but no sum of lists.
    __all__ = [
        "bitwise_count",
        "frexp",
        "gcd",
        "lcm",
        "ldexp",
        "modf",
        "spacing",
        "ufunc",
    ]
    __all__ += elementwise.__all__

absolute = ufunc(elementwise.absolute, "absolute")
add = ufunc(elementwise.add, "add")
arccos = ufunc(elementwise.arccos, "arccos")
arccosh = ufunc(elementwise.arccosh, "arccosh")
arcsin = ufunc(elementwise.arcsin, "arcsin")
arcsinh = ufunc(elementwise.arcsinh, "arcsinh")
arctan = ufunc(elementwise.arctan, "arctan")
arctan2 = ufunc(elementwise.arctan2, "arctan2")
arctanh = ufunc(elementwise.arctanh, "arctanh")
bitwise_and = ufunc(elementwise.bitwise_and, "bitwise_and")
bitwise_count = ufunc(composition.bitwise_count, "bitwise_count")
bitwise_or = ufunc(elementwise.bitwise_or, "bitwise_or")
bitwise_xor = ufunc(elementwise.bitwise_xor, "bitwise_xor")
cbrt = ufunc(elementwise.cbrt, "cbrt")
ceil = ufunc(elementwise.ceil, "ceil")
copysign = ufunc(elementwise.copysign, "copysign")
cos = ufunc(elementwise.cos, "cos")
cosh = ufunc(elementwise.cosh, "cosh")
degrees = ufunc(elementwise.degrees, "degrees")
deg2rad = ufunc(elementwise.deg2rad, "deg2rad")
divide = ufunc(elementwise.divide, "divide")
divmod = ufunc(elementwise.divmod, "divmod", nout=2)
equal = ufunc(elementwise.equal, "equal")
exp = ufunc(elementwise.exp, "exp")
exp2 = ufunc(elementwise.exp2, "exp2")
expm1 = ufunc(elementwise.expm1, "expm1")
fabs = ufunc(elementwise.fabs, "fabs")
float_power = ufunc(elementwise.float_power, "float_power")
floor = ufunc(elementwise.floor, "floor")
floor_divide = ufunc(elementwise.floor_divide, "floor_divide")
fmax = ufunc(elementwise.fmax, "fmax")
fmin = ufunc(elementwise.fmin, "fmin")
fmod = ufunc(elementwise.fmod, "fmod")
frexp = ufunc(composition.frexp, "frexp", nout=2)
gcd = ufunc(composition.gcd, "gcd")
greater = ufunc(elementwise.greater, "greater")
greater_equal = ufunc(elementwise.greater_equal, "greater_equal")
heaviside = ufunc(elementwise.heaviside, "heaviside")
hypot = ufunc(elementwise.hypot, "hypot")
invert = ufunc(elementwise.invert, "invert")
isfinite = ufunc(elementwise.isfinite, "isfinite")
isinf = ufunc(elementwise.isinf, "isinf")
isnan = ufunc(elementwise.isnan, "isnan")
lcm = ufunc(composition.lcm, "lcm")
ldexp = ufunc(composition.ldexp, "ldexp")
left_shift = ufunc(elementwise.left_shift, "left_shift")
less = ufunc(elementwise.less, "less")
less_equal = ufunc(elementwise.less_equal, "less_equal")
log = ufunc(elementwise.log, "log")
log10 = ufunc(elementwise.log10, "log10")
log1p = ufunc(elementwise.log1p, "log1p")
log2 = ufunc(elementwise.log2, "log2")
logaddexp = ufunc(elementwise.logaddexp, "logaddexp")
logaddexp2 = ufunc(elementwise.logaddexp2, "logaddexp2")
logical_and = ufunc(elementwise.logical_and, "logical_and")
logical_not = ufunc(elementwise.logical_not, "logical_not")
logical_or = ufunc(elementwise.logical_or, "logical_or")
logical_xor = ufunc(elementwise.logical_xor, "logical_xor")
maximum = ufunc(elementwise.maximum, "maximum")
minimum = ufunc(elementwise.minimum, "minimum")
modf = ufunc(composition.modf, "modf", nout=2)
multiply = ufunc(elementwise.multiply, "multiply")
negative = ufunc(elementwise.negative, "negative")
nextafter = ufunc(elementwise.nextafter, "nextafter")
not_equal = ufunc(elementwise.not_equal, "not_equal")
positive = ufunc(elementwise.positive, "positive")
power = ufunc(elementwise.power, "power")
rad2deg = ufunc(elementwise.rad2deg, "rad2deg")
radians = ufunc(elementwise.radians, "radians")
reciprocal = ufunc(elementwise.reciprocal, "reciprocal")
remainder = ufunc(elementwise.remainder, "remainder")
right_shift = ufunc(elementwise.right_shift, "right_shift")
rint = ufunc(elementwise.rint, "rint")
sign = ufunc(elementwise.sign, "sign")
signbit = ufunc(elementwise.signbit, "signbit")
sin = ufunc(elementwise.sin, "sin")
sinh = ufunc(elementwise.sinh, "sinh")
spacing = ufunc(composition.spacing, "spacing")
sqrt = ufunc(elementwise.sqrt, "sqrt")
square = ufunc(elementwise.square, "square")
subtract = ufunc(elementwise.subtract, "subtract")
tan = ufunc(elementwise.tan, "tan")
tanh = ufunc(elementwise.tanh, "tanh")
trunc = ufunc(elementwise.trunc, "trunc")

abs = absolute
acos = arccos
acosh = arccosh
asin = arcsin
asinh = arcsinh
atan = arctan
atan2 = arctan2
atanh = arctanh
bitwise_invert = invert
bitwise_left_shift = left_shift
bitwise_not = invert
bitwise_right_shift = right_shift
mod = remainder
pow = power
true_divide = divide
