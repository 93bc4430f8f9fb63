"""Zeros of polynomials, and complex numbers in order."""

from __future__ import annotations

from tensorweb import functions as tw
from tensorweb import linalg
from tensorweb.dtypes import complex_with
from tensorweb.errors import ShapeError
from tensorweb.numpy.arguments import as_floats
from tensorweb.numpy.sorting import lexsort
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.values import peek

__all__ = [
    "roots",
    "sort_complex",
]


def roots(p: ArrayLike) -> Tensor:
    """Return the zeros of a polynomial, the eigenvalues of its companion matrix.

    They are complex, unless all are real. The coefficients are read for zeros at both
    ends, which are zeros of the polynomial or nothing.

    Raises:
        ShapeError: the coefficients are not 1-D.

    >>> tw.round(100 * np.roots([1.0, -3.0, 2.0]))
    tensor([200., 100.])
    """
    given = as_floats(tw.asarray(getattr(p, "coeffs", p)))
    if given.ndim > 1:
        raise ShapeError(f"roots: coefficients have shape {given.shape}; give 1-D.")
    line = given.reshape(-1)
    places = [i for i, value in enumerate(peek(line)) if value != 0]
    if not places:
        return line[:0]
    behind = tw.zeros(line.size - 1 - places[-1], dtype=line.dtype, device=line.device)
    line = line[places[0] : places[-1] + 1]
    degree = line.size - 1
    if not degree:
        return behind
    first = -line[1:] / line[0]
    below = tw.eye(degree - 1, degree, dtype=line.dtype, device=line.device)
    found = linalg.eigvals(tw.concat([first[None, :], below], 0))
    if not bool((tw.imag(found) != 0).any()):
        return tw.concat([tw.real(found), behind])
    return tw.concat([found, behind.astype(found.dtype)])


def sort_complex(a: ArrayLike) -> Tensor:
    """Return complex numbers in order of their real parts, then of the imaginary ones.

    >>> np.sort_complex([3, 1, 2])
    tensor([1.+0.j, 2.+0.j, 3.+0.j], dtype=complex64)
    """
    x = tw.asarray(a)
    narrow = x.dtype.kind in ("bool", "int", "uint") and x.dtype.itemsize < 4
    x = x.astype("complex64" if narrow else complex_with(x.dtype))
    return tw.take_along_axis(x, lexsort([tw.imag(x), tw.real(x)]), -1)
