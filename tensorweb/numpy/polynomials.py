"""Polynomials by their coefficients, highest power first: fits, values, arithmetic."""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Literal, SupportsIndex, overload

from tensorweb import functions as tw
from tensorweb import linalg
from tensorweb.dtypes import complex_with, finfo
from tensorweb.errors import DataError, ShapeError
from tensorweb.graph.tracing import is_traced
from tensorweb.numpy.arguments import (
    as_first_operand,
    as_floats,
    as_operand_like,
    as_signed_operand,
    as_tensors,
    check_unused,
)
from tensorweb.numpy.matrices import vander
from tensorweb.numpy.sorting import lexsort
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, is_number
from tensorweb.tensor.values import peek

CLOSE = 1e-8
"""Remainders up to here are 0, as `np.allclose` has it."""


def polyval(p: ArrayLike, x: ArrayLike) -> Any:
    """Return the polynomial at `x`, by Horner's rule; of a `poly1d` a `poly1d`.

    >>> np.polyval([3, 0, 1], [0, 5])
    tensor([ 1, 76])
    """
    if isinstance(x, poly1d):
        composed = poly1d(0)
        for coefficient in _coefficient_vector("polyval", p):
            composed = composed * x + poly1d(coefficient)
        return composed
    coefficients, at = as_tensors([_coefficients(p), x])
    total = tw.zeros_like(at)
    for coefficient in _coefficient_vector("polyval", coefficients):
        total = total * at + coefficient
    return total


def _coefficient_vector(name: str, p: ArrayLike) -> Tensor:
    """Return coefficients as a 1-D tensor."""
    x = tw.asarray(_coefficients(p))
    if x.ndim > 1:
        raise ShapeError(
            f"{name}: coefficients have shape {x.shape}; give them in 1-D, the "
            "highest power first."
        )
    return x.reshape(-1)


def _coefficients(p: ArrayLike) -> ArrayLike:
    return p.coeffs if isinstance(p, poly1d) else p


def _coefficient_vectors(
    name: str, a1: ArrayLike, a2: ArrayLike
) -> tuple[Tensor, Tensor]:
    """Return the coefficients of two polynomials as 1-D tensors on one device."""
    first, second = as_tensors([_coefficients(a1), _coefficients(a2)])
    return _coefficient_vector(name, first), _coefficient_vector(name, second)


def _as_given(coefficients: Tensor, *operands: ArrayLike) -> Any:
    """Return coefficients, as a `poly1d` if any of the operands is a `poly1d`."""
    is_polynomial = any(isinstance(operand, poly1d) for operand in operands)
    return poly1d(coefficients) if is_polynomial else coefficients


@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: SupportsIndex,
    rcond: float | None = None,
    full: Literal[False] = False,
    w: ArrayLike = None,
    cov: Literal[False] = False,
) -> Tensor: ...


@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: SupportsIndex,
    rcond: float | None = None,
    full: bool = False,
    w: ArrayLike = None,
    cov: bool | str = False,
) -> Any: ...


def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: SupportsIndex,
    rcond: float | None = None,
    full: bool = False,
    w: ArrayLike = None,
    cov: bool | str = False,
) -> Tensor | tuple[Any, ...]:
    """Return the polynomial of degree `deg` with the least squares of errors.

    `y` has shape `(n,)` or `(n, k)` for k polynomials, `w` weighs the errors. `x` is
    centred and scaled for the fit; coefficients are then expanded in powers of `x`.
    With `cov` the coefficients' covariances come as well, with `full` the sum of
    squared errors, the rank and the singular values of the scaled Vandermonde matrix,
    and the precision.

    Raises:
        ShapeError: x is not 1-D, or there are fewer points than coefficients.
        DataError: `rcond` is given, or the degree is negative; with `cov`, there are
            not more points than coefficients.

    >>> tw.round(100 * np.polyfit([0.0, 1.0, 2.0, 3.0], [1.0, 4.0, 11.0, 22.0], 2))
    tensor([200., 100., 100.])
    """
    degree = operator.index(deg)
    check_unused("polyfit", rcond=rcond)
    first = as_first_operand(x, y, w)
    at, values = as_floats(first), as_floats(as_operand_like(y, first))
    if degree < 0:
        raise DataError(f"polyfit: the degree is {degree}; it is 0 or more.")
    if at.ndim != 1 or values.ndim not in (1, 2) or values.shape[0] != at.size:
        raise ShapeError(
            f"polyfit: x and y have shapes {at.shape} and {values.shape}; give (n,) "
            "and (n,) or (n, k)."
        )
    if at.size <= degree:
        raise ShapeError(
            f"polyfit: {at.size} points for degree {degree}, which needs {degree + 1}."
        )
    columns = values[:, None] if values.ndim == 1 else values
    weights = tw.ones_like(at) if w is None else as_floats(as_operand_like(w, at))
    centre = at.mean()
    spread = tw.max(tw.abs(at - centre))
    scale = tw.where(spread == 0, 1.0, spread)
    fitted = _fit_orthogonal((at - centre) / scale, columns, weights, degree)
    coefficients = _expand_powers(fitted, centre, scale)
    result = coefficients[:, 0] if values.ndim == 1 else coefficients
    if not full and not cov:
        return result
    powers = vander(at, degree + 1) * weights[:, None]
    errors = columns * weights[:, None] - tw.matmul(powers, coefficients)
    squares = tw.square(errors).sum(0)
    norms = tw.sqrt(tw.square(powers).sum(0))
    scaled = powers / norms
    if full:
        singular = linalg.svdvals(scaled)
        precision = at.size * finfo(at.dtype).eps
        rank = (singular > singular.max() * precision).sum()
        return result, squares, rank, singular, precision
    covariances = linalg.inv(tw.matmul(scaled.T, scaled)) / (norms[:, None] * norms)
    covariances = covariances[..., None]
    if cov != "unscaled":
        freedom = at.size - degree - 1
        if freedom <= 0:
            raise DataError(
                f"polyfit: cov= with {at.size} points for {degree + 1} coefficients; "
                'give more points, or use cov="unscaled".'
            )
        covariances = covariances * (squares / freedom)
    return result, covariances[..., 0] if values.ndim == 1 else covariances


def _fit_orthogonal(
    at: Tensor, columns: Tensor, weights: Tensor, degree: int
) -> list[Tensor]:
    """Return coefficients of 1, x, x², … of a fit, each of shape (k,).

    Columns of powers are made orthogonal one after the other, twice for each, as
    Gram and Schmidt do; then the triangle is solved from below.
    """
    basis: list[Tensor] = []
    triangle: list[list[Tensor]] = []
    errors = columns * weights[:, None]
    power = weights
    projections: list[Tensor] = []
    for _ in range(degree + 1):
        column, row = power, [tw.zeros_like(at[0]) for _ in basis]
        for _ in range(2):
            for i, unit in enumerate(basis):
                part = (unit * column).sum()
                column = column - part * unit
                row[i] = row[i] + part
        length = tw.sqrt(tw.square(column).sum())
        unit = column / length
        basis.append(unit)
        triangle.append([*row, length])
        projection = (unit[:, None] * errors).sum(0)
        errors = errors - unit[:, None] * projection[None, :]
        projections.append(projection)
        power = power * at
    coefficients = projections[:]
    for i in reversed(range(degree + 1)):
        for j in range(i + 1, degree + 1):
            coefficients[i] = coefficients[i] - triangle[j][i] * coefficients[j]
        coefficients[i] = coefficients[i] / triangle[i][i]
    return coefficients


def _expand_powers(fitted: list[Tensor], centre: Tensor, scale: Tensor) -> Tensor:
    """Expand a polynomial of (x - centre) / scale in powers of x, highest first."""
    unscaled = [coefficient / scale**i for i, coefficient in enumerate(fitted)]
    coefficients = []
    for i, total in reversed(list(enumerate(unscaled))):
        for j in range(i + 1, len(unscaled)):
            total = total + unscaled[j] * math.comb(j, i) * (-centre) ** (j - i)
        coefficients.append(total)
    return tw.stack(coefficients)


def _align_degrees(name: str, a1: ArrayLike, a2: ArrayLike) -> tuple[Tensor, Tensor]:
    """Return coefficients of equal length, padded with zeros in front."""
    first, second = _coefficient_vectors(name, a1, a2)
    length = max(first.size, second.size)
    return _pad_front(first, length), _pad_front(second, length)


def _pad_front(x: Tensor, length: int) -> Tensor:
    zeros = tw.zeros(length - x.size, dtype=x.dtype, device=x.device)
    return tw.concat([zeros, x])


def polyadd(a1: ArrayLike, a2: ArrayLike) -> Any:
    """Return the sum of two polynomials; a `poly1d` if one of them is.

    >>> np.polyadd([1, 2], [9, 5, 4])
    tensor([9, 6, 6])
    """
    first, second = _align_degrees("polyadd", a1, a2)
    return _as_given(first + second, a1, a2)


def polysub(a1: ArrayLike, a2: ArrayLike) -> Any:
    """Return the difference of two polynomials; a `poly1d` if one of them is.

    >>> np.polysub([2, 10, -2], [3, 10, -4])
    tensor([-1,  0,  2])
    """
    operands = _coefficients(a1), _coefficients(a2)
    first, second = _align_degrees(
        "polysub", *(as_signed_operand(operand, *operands) for operand in operands)
    )
    return _as_given(first - second, a1, a2)


def polymul(a1: ArrayLike, a2: ArrayLike) -> Any:
    """Return the product of two polynomials; a `poly1d` if one of them is.

    >>> np.polymul([1, 2, 3], [9, 5, 1])
    tensor([ 9, 23, 38, 17,  3])
    """
    first, second = _coefficient_vectors("polymul", a1, a2)
    products = first[:, None] * second[None, :]
    powers = [tw.arange(x.size, device=first.device) for x in (first, second)]
    indices = powers[0][:, None] + powers[1][None, :]
    length = max(first.size + second.size - 1, 0)
    empty = tw.zeros(length, dtype=products.dtype, device=first.device)
    return _as_given(empty.at[indices].add(products), a1, a2)


def polydiv(u: ArrayLike, v: ArrayLike) -> tuple[Any, Any]:
    """Return quotient and remainder of two polynomials; their coefficients are read.

    Raises:
        DataError: the divisor is 0.

    >>> np.polydiv([3.0, 5.0, 2.0], [2.0, 1.0])
    (tensor([1.5 , 1.75]), tensor([0.25]))
    """
    top, bottom = map(as_floats, _coefficient_vectors("polydiv", u, v))
    dtype = tw.result_type(top, bottom)
    remainder, divisor = top.tolist(), bottom.tolist()
    if not divisor or divisor[0] == 0:
        raise DataError("polydiv: the divisor's highest coefficient is 0; trim it.")
    quotient = []
    for i in range(len(remainder) - len(divisor) + 1):
        quotient.append(remainder[i] / divisor[0])
        for j, coefficient in enumerate(divisor):
            remainder[i + j] -= quotient[-1] * coefficient
    remainder = remainder[len(quotient) :]
    while len(remainder) > 1 and abs(remainder[0]) <= CLOSE:
        remainder.pop(0)
    first, second = (
        tw.asarray(values or [0.0], dtype=dtype, device=top.device)
        for values in (quotient, remainder)
    )
    return _as_given(first, u, v), _as_given(second, u, v)


def polyder(p: ArrayLike, m: SupportsIndex = 1) -> Any:
    """Return the m-th derivative of a polynomial.

    >>> np.polyder([1, 1, 1, 1])
    tensor([3, 2, 1])
    """
    coefficients = _coefficient_vector("polyder", p)
    for _ in range(_check_repetitions("polyder", m)):
        powers = tw.arange(coefficients.size - 1, 0, -1, device=coefficients.device)
        coefficients = coefficients[:-1] * powers
    return _as_given(coefficients, p)


def polyint(p: ArrayLike, m: SupportsIndex = 1, k: ArrayLike = None) -> Any:
    """Return the m-th integral of a polynomial, with constants `k`, zeros without.

    Raises:
        DataError: there are not `m` constants.

    >>> np.polyint([3, 2, 1], k=5)
    tensor([1., 1., 1., 5.])
    """
    first = as_first_operand(_coefficients(p), k)
    coefficients = as_floats(_coefficient_vector("polyint", first))
    times = _check_repetitions("polyint", m)
    constants = as_operand_like(0 if k is None else k, coefficients).reshape(-1)
    if constants.size == 1:
        constants = tw.broadcast_to(constants, (times,))
    if constants.size < times:
        raise DataError(f"polyint: {constants.size} constants for {times} integrals.")
    for i in range(times):
        powers = tw.arange(coefficients.size, 0, -1, device=coefficients.device)
        constant = constants[i : i + 1].astype(coefficients.dtype)
        coefficients = tw.concat([coefficients / powers, constant])
    return _as_given(coefficients, p)


def _check_repetitions(name: str, m: SupportsIndex) -> int:
    times = operator.index(m)
    if times < 0:
        raise DataError(f"{name}: m is {times}; it is 0 or more.")
    return times


def poly(seq_of_zeros: ArrayLike) -> Tensor:
    """Return the polynomial with given zeros and highest coefficient 1.

    Of a square matrix it is the one of its eigenvalues. Complex zeros are read: where
    they come in conjugate pairs, it is real.

    Raises:
        ShapeError: the zeros are neither 1-D nor a square matrix.

    >>> np.poly([1.0, 2.0, 3.0])
    tensor([  1.,  -6.,  11.,  -6.])
    """
    zeros = tw.asarray(seq_of_zeros)
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1]:
        is_real = zeros.dtype.kind != "complex"
        result = poly(linalg.eigvals(as_floats(zeros)))
        return tw.real(result) if is_real and result.dtype.kind == "complex" else result
    if zeros.ndim != 1:
        raise ShapeError(
            f"poly: shape {zeros.shape}; give zeros in 1-D, or a square matrix."
        )
    result = one = as_floats(tw.ones(1, device=zeros.device))
    for i in range(zeros.size):
        result = polymul(result, tw.concat([one, -as_floats(zeros)[i : i + 1]]))
    is_known = zeros.dtype.kind == "complex" and not is_traced(zeros.node)
    count = Counter(peek(zeros) if is_known else ())
    is_paired = is_known and all(count[z] == count[z.conjugate()] for z in count)
    return tw.real(result) if is_paired else result


def _trim_leading_zeros(p: ArrayLike) -> Tensor:
    """Remove leading zeros of coefficients, where their values are known.

    Without coefficients it is one 0.
    """
    coefficients = _coefficient_vector("poly1d", p)
    if not coefficients.size:
        return _pad_front(coefficients, 1)
    values = [] if is_traced(coefficients.node) else peek(coefficients)
    first = next((i for i, value in enumerate(values) if value), len(values) - 1)
    return coefficients[max(first, 0) :]


class poly1d:
    """A polynomial that can be called: `p(x)`, `p + q`, `p * q`, `p ** n`, `p.deriv()`.

    `p[power]` is a coefficient, to read and write; `p / q` is quotient and remainder.

    Attributes:
        coeffs: the coefficients, highest power first.
        variable: the name that text has for it.

    >>> p = np.poly1d([1, 2, 3])
    >>> p(2), p.order, (p * p).coeffs, p == np.poly1d([0, 1, 2, 3])
    (tensor(11), 2, tensor([ 1,  4, 10, 12,  9]), True)
    >>> print(p)
       2
    1 x + 2 x + 3
    """

    __hash__ = None  # type: ignore[assignment]  # it can be changed, as in NumPy

    def __init__(
        self, c_or_r: ArrayLike, r: bool = False, variable: str | None = None
    ) -> None:
        """Make a polynomial of coefficients, or of its zeros with `r`; reads them.

        Raises:
            ShapeError: coefficients have more than one axis.
        """
        self.variable = variable or "x"
        if isinstance(c_or_r, poly1d):
            self.variable = variable or c_or_r.variable
            c_or_r = c_or_r.coeffs
        self.coeffs: Tensor = poly(c_or_r) if r else _trim_leading_zeros(c_or_r)

    @property
    def order(self) -> int:
        """The highest power."""
        return max(self.coeffs.size - 1, 0)

    @property
    def roots(self) -> Tensor:
        """The zeros of the polynomial."""
        return roots(self.coeffs)

    @property
    def c(self) -> Tensor:
        """The coefficients, highest power first."""
        return self.coeffs

    o, r = order, roots
    coef = coefficients = c

    def __call__(self, x: ArrayLike) -> Any:
        """Return the value at `x`; of a polynomial the elementwise."""
        return polyval(self.coeffs, x)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the coefficients as an array of NumPy."""
        return self.coeffs.__array__(dtype, copy)

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.coeffs)

    def __getitem__(self, power: int) -> Tensor:
        """Return the coefficient of a power; 0 beyond the order."""
        if not 0 <= power <= self.order:
            return tw.zeros((), dtype=self.coeffs.dtype, device=self.coeffs.device)
        return self.coeffs[self.order - power]

    def __setitem__(self, power: int, value: ArrayLike) -> None:
        """Write the coefficient of a power; the order grows if necessary.

        Raises:
            DataError: the power is negative.
        """
        if power < 0:
            raise DataError(f"poly1d: power {power}; powers are 0 or more.")
        if power > self.order:
            self.coeffs = _pad_front(self.coeffs, power + 1)
        self.coeffs[self.order - power] = value

    def __eq__(self, other: object) -> Any:
        """Return whether the coefficients are equal; reads them."""
        if not isinstance(other, poly1d):
            return NotImplemented
        if self.coeffs.shape != other.coeffs.shape:
            return False
        return bool((self.coeffs == other.coeffs).all())

    def __add__(self, other: ArrayLike) -> poly1d:
        return poly1d(polyadd(self, other))

    __radd__ = __add__

    def __sub__(self, other: ArrayLike) -> poly1d:
        return poly1d(polysub(self, other))

    def __rsub__(self, other: ArrayLike) -> poly1d:
        return poly1d(polysub(other, self))

    def __mul__(self, other: ArrayLike) -> poly1d:
        if is_number(other):
            return poly1d(self.coeffs * other)
        return poly1d(polymul(self, other))

    __rmul__ = __mul__

    def __truediv__(self, other: ArrayLike) -> Any:
        """Return a polynomial divided by a number; else quotient and remainder."""
        if is_number(other):
            return poly1d(self.coeffs / other)
        return polydiv(self, other)

    def __rtruediv__(self, other: ArrayLike) -> Any:
        if is_number(other):
            return poly1d(other / self.coeffs)
        return polydiv(other, self)

    def __neg__(self) -> poly1d:
        return poly1d(-self.coeffs)

    def __pos__(self) -> poly1d:
        return self

    def __pow__(self, n: SupportsIndex) -> poly1d:
        result = poly1d([1])
        for _ in range(_check_repetitions("poly1d", n)):
            result = result * self
        return result

    def deriv(self, m: SupportsIndex = 1) -> poly1d:
        """Return the m-th derivative.

        >>> np.poly1d([1, 2, 3]).deriv()
        poly1d([2, 2])
        """
        return poly1d(polyder(self.coeffs, m))

    def integ(self, m: SupportsIndex = 1, k: ArrayLike = None) -> poly1d:
        """Return the m-th integral.

        >>> np.poly1d([2, 2]).integ()
        poly1d([1., 2., 0.])
        """
        return poly1d(polyint(self.coeffs, m, k))

    def __str__(self) -> str:
        return _polynomial_text(self.coeffs.tolist(), self.variable)

    def __repr__(self) -> str:
        return f"poly1d({repr(self.coeffs).removeprefix('tensor(')}"


def roots(p: ArrayLike) -> Tensor:
    """Return the zeros of a polynomial, the eigenvalues of its companion matrix.

    They are complex, unless all are real. The coefficients are read for zeros at both
    ends, which are zeros of the polynomial or nothing.

    Raises:
        ShapeError: the coefficients are not 1-D.

    >>> tw.round(100 * np.roots([1.0, -3.0, 2.0]))
    tensor([200., 100.])
    """
    line = as_floats(_coefficient_vector("roots", p))
    indices = [i for i, value in enumerate(peek(line)) if value != 0]
    if not indices:
        return line[:0]
    zero_roots = tw.zeros_like(line[indices[-1] + 1 :])
    line = line[indices[0] : indices[-1] + 1]
    degree = line.size - 1
    if not degree:
        return zero_roots
    first = -line[1:] / line[0]
    below = tw.eye(degree - 1, degree, dtype=line.dtype, device=line.device)
    eigenvalues = linalg.eigvals(tw.concat([first[None, :], below], 0))
    if not bool((tw.imag(eigenvalues) != 0).any()):
        eigenvalues = tw.real(eigenvalues)
    return tw.concat([eigenvalues, zero_roots.astype(eigenvalues.dtype)])


def sort_complex(a: ArrayLike) -> Tensor:
    """Return complex numbers in order of their real parts, then of the imaginary ones.

    >>> np.sort_complex([3, 1, 2])
    tensor([1.+0.j, 2.+0.j, 3.+0.j], dtype=complex64)
    """
    x = tw.asarray(a)
    narrow = x.dtype.kind in ("bool", "int", "uint") and x.dtype.itemsize < 4
    x = x.astype("complex64" if narrow else complex_with(x.dtype))
    return tw.take_along_axis(x, lexsort([tw.imag(x), tw.real(x)]), -1)


WIDTH = 70
"""The longest line; a term that exceeds it begins another pair of lines."""


def _polynomial_text(coefficients: Sequence[complex], variable: str) -> str:
    """Return a polynomial as text, the highest power first, without leading zeros.

    >>> print(_polynomial_text([1, 0, -2.5], "x"))
       2
    1 x - 2.5
    """
    text = ""
    for i, value in enumerate(coefficients):
        power = len(coefficients) - 1 - i
        number = _format_coefficient(value)
        if number == "0" and (power or text):
            continue
        factor = {0: "", 1: f" {variable}"}.get(power, f" {variable}**{power}")
        term = number + factor
        if not text:
            text = term
        elif term.startswith("-"):
            text += f" - {term[1:]}"
        else:
            text += f" + {term}"
    return _raise_exponents(text or "0")


def _format_coefficient(value: complex) -> str:
    """Return a coefficient with four digits."""
    number = complex(value)
    real, imaginary = f"{number.real:.4g}", f"{number.imag:.4g}"
    if not number.imag:
        return real
    return f"({real} + {imaginary}j)" if number.real else f"{imaginary}j"


def _raise_exponents(text: str) -> str:
    """Write exponents, marked by `**n`, on a line above."""
    done, above, below = " ", "", ""
    parts = re.split(r"\*\*(\d+)", text)
    for part, power in zip(parts[:-1:2], parts[1::2], strict=True):
        more_above = " " * (len(part) - 1) + power
        more_below = part + " " * (len(power) - 1)
        if max(len(above) + len(more_above), len(below) + len(more_below)) > WIDTH:
            done += f"{above}\n{below}\n "
            above = below = ""
        above += more_above
        below += more_below
    return f"{done}{above}\n{below}{parts[-1]}"


declare_public(__name__)
