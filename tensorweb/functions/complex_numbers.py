"""Parts of complex numbers; real numbers have an imaginary part of 0."""

from __future__ import annotations

from tensorweb.functions.creation import asarray
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike


def conj(x: ArrayLike, /) -> Tensor:
    """Return the complex conjugate, `a - bj` of `a + bj`; real numbers are their own.

    Shape and dtype are kept.

    >>> tw.conj([1 + 2j, 3 - 4j])
    tensor([1.-2.j, 3.+4.j], dtype=complex64)
    """
    return asarray(x).conj()


def imag(x: ArrayLike, /) -> Tensor:
    """Return the imaginary parts: floats of half the bits; zeros of real numbers.

    Shape is kept.

    >>> tw.imag([1 + 2j, 3 - 4j])
    tensor([ 2., -4.])
    """
    return asarray(x).imag


def real(x: ArrayLike, /) -> Tensor:
    """Return the real parts: floats of half the bits; real numbers themselves.

    Shape is kept.

    >>> tw.real([1 + 2j, 3 - 4j])
    tensor([1., 3.])
    """
    return asarray(x).real


declare_public(__name__)
