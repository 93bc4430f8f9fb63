"""Functions that become complex where real numbers have no result; `np.emath`.

Each reads one number to check whether an operand is outside the domain of the real
function; only then the result is complex.
"""

from __future__ import annotations

from collections.abc import Callable

from tensorweb import dtypes
from tensorweb import functions as tw
from tensorweb.numpy.arguments import as_first_operand, as_floats
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike


def _complex_if_outside(x: ArrayLike, is_outside: Callable[[Tensor], Tensor]) -> Tensor:
    """Return a tensor, complex if one of its elements is outside the domain."""
    values = as_floats(tw.asarray(x))
    if values.dtype.kind == "complex" or not bool(is_outside(values).any()):
        return values
    wide = values.dtype is dtypes.float64
    return values.astype("complex128" if wide else "complex64")


def _is_negative(x: Tensor) -> Tensor:
    return x < 0


def _is_beyond_one(x: Tensor) -> Tensor:
    return tw.abs(x) > 1


def sqrt(x: ArrayLike) -> Tensor:
    """Return the square root, complex where a number is negative.

    >>> np.emath.sqrt([4.0, 1.0])
    tensor([2., 1.])
    """
    return tw.sqrt(_complex_if_outside(x, _is_negative))


def log(x: ArrayLike) -> Tensor:
    """Return the natural logarithm, complex where a number is negative.

    >>> np.emath.log(1.0)
    tensor(0.)
    """
    return tw.log(_complex_if_outside(x, _is_negative))


def log2(x: ArrayLike) -> Tensor:
    """Return the logarithm to base 2, complex where a number is negative.

    >>> np.emath.log2(8.0)
    tensor(3.)
    """
    return tw.log2(_complex_if_outside(x, _is_negative))


def log10(x: ArrayLike) -> Tensor:
    """Return the logarithm to base 10, complex where a number is negative.

    >>> np.emath.log10(1.0)
    tensor(0.)
    """
    return tw.log10(_complex_if_outside(x, _is_negative))


def power(x: ArrayLike, p: ArrayLike) -> Tensor:
    """Return `x` to the power `p`, complex where a number is negative.

    >>> np.emath.power([2.0, 4.0], 2)
    tensor([ 4., 16.])
    """
    return tw.pow(_complex_if_outside(as_first_operand(x, p), _is_negative), p)


def arccos(x: ArrayLike) -> Tensor:
    """Return the angle of a cosine, complex beyond 1.

    >>> np.emath.arccos(1.0)
    tensor(0.)
    """
    return tw.acos(_complex_if_outside(x, _is_beyond_one))


def arcsin(x: ArrayLike) -> Tensor:
    """Return the angle of a sine, complex beyond 1.

    >>> np.emath.arcsin(0.0)
    tensor(0.)
    """
    return tw.asin(_complex_if_outside(x, _is_beyond_one))


def arctanh(x: ArrayLike) -> Tensor:
    """Return the inverse hyperbolic tangent, complex beyond 1.

    >>> np.emath.arctanh(0.0)
    tensor(0.)
    """
    return tw.atanh(_complex_if_outside(x, _is_beyond_one))


declare_public(__name__)
