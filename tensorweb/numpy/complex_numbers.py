"""Parts of complex numbers, and questions about them."""

from __future__ import annotations

import builtins
import math

from tensorweb import functions as tw
from tensorweb.dtypes import complex64, complex128, finfo
from tensorweb.functions import imag, real
from tensorweb.numpy.creation import asarray
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = [
    "angle",
    "cdouble",
    "complex64",
    "complex128",
    "conj",
    "conjugate",
    "csingle",
    "imag",
    "iscomplex",
    "iscomplexobj",
    "isreal",
    "isrealobj",
    "real",
    "real_if_close",
]

csingle, cdouble = complex64, complex128


def conj(x: ArrayLike, /) -> Tensor:
    """Return the conjugates of complex numbers, and real numbers as they are.

    >>> np.conj([1 + 2j, 3.0])
    tensor([1.-2.j, 3.-0.j], dtype=complex64)
    """
    found = tw.conj(x)
    return found.astype(found.dtype)  # a tensor of its own, of real numbers too


conjugate = conj


def angle(z: ArrayLike, deg: builtins.bool = False) -> Tensor:
    """Return the angle of complex numbers in the plane, from -pi to pi, or in degrees.

    >>> np.angle([1.0, 1j, 1 + 1j], deg=True)
    tensor([ 0., 90., 45.])
    """
    x = asarray(z)
    if x.dtype.kind != "complex":
        x = x.astype(float) if x.dtype.kind != "float" else x
        around = tw.atan2(tw.zeros_like(x), x)
        found = tw.where(tw.isnan(x), x, around)
    else:
        found = tw.atan2(tw.imag(x), tw.real(x))
    return found * (180 / math.pi) if deg else found


def iscomplex(x: ArrayLike) -> Tensor:
    """Return whether each element has an imaginary part that is not 0.

    >>> np.iscomplex([1 + 1j, 1 + 0j])
    tensor([ True, False])
    """
    values = asarray(x)
    if values.dtype.kind != "complex":
        return tw.zeros_like(values, bool)
    return tw.imag(values) != 0


def isreal(x: ArrayLike) -> Tensor:
    """Return whether each element has no imaginary part, or one of 0.

    >>> np.isreal([1 + 1j, 1 + 0j])
    tensor([False,  True])
    """
    return tw.logical_not(iscomplex(x))


def iscomplexobj(x: ArrayLike) -> builtins.bool:
    """Return whether the dtype is complex.

    >>> np.iscomplexobj([1.0]), np.iscomplexobj([1j])
    (False, True)
    """
    return asarray(x).dtype.kind == "complex"


def isrealobj(x: ArrayLike) -> builtins.bool:
    """Return whether the dtype is not complex.

    >>> np.isrealobj([1.0])
    True
    """
    return not iscomplexobj(x)


def real_if_close(a: ArrayLike, tol: float = 100) -> Tensor:
    """Return real numbers if all imaginary parts are nearly 0; looks at values.

    `tol` counts in units of the precision, or is a bound itself below 1.

    >>> np.real_if_close([2 + 1e-9j, 3 + 0j])
    tensor([2., 3.])
    """
    x = asarray(a)
    if x.dtype.kind != "complex":
        return x
    part = tw.imag(x)
    bound = tol * finfo(part.dtype).eps if tol > 1 else tol
    return tw.real(x) if tw.all(tw.abs(part) < bound) else x
