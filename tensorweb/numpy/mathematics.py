"""Elementwise functions that are not ufuncs in NumPy, comparisons, and windows."""

from __future__ import annotations

import builtins
import math
import numbers
from collections.abc import Callable
from typing import Any

from tensorweb import functions as tw
from tensorweb.dtypes import finfo
from tensorweb.errors import DataError, ShapeError
from tensorweb.numpy.arguments import (
    Out,
    as_first_operand,
    as_floats,
    as_operand_like,
    as_pair,
    as_real_floats,
    as_tensors,
    into,
    is_inexact,
    signature_of,
)
from tensorweb.numpy.creation import asarray
from tensorweb.public_names import declare_public
from tensorweb.shapes import broadcast_shapes
from tensorweb.special import bessel
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import NumberLike, as_number
from tensorweb.tensor.convert import ArrayLike, is_scalar


def round(a: ArrayLike, decimals: int = 0, out: Out = None) -> Tensor:
    """Round to a count of decimals, halves to even.

    >>> np.round([0.5, 1.5, 2.675], 2), np.round(1234, -2)
    (tensor([0.5 , 1.5 , 2.68]), tensor(1200))
    """
    x = tw.asarray(a)
    return into(tw.round(x, decimals), out)


around = round


def fix(x: ArrayLike, out: Out = None) -> Tensor:
    """Return each element without its fraction.

    >>> np.fix([2.7, -2.7])
    tensor([ 2., -2.])
    """
    return into(tw.trunc(x), out)


def clip(
    a: ArrayLike,
    a_min: ArrayLike = None,
    a_max: ArrayLike = None,
    out: Out = None,
    *,
    min: ArrayLike = None,
    max: ArrayLike = None,
    casting: str = "same_kind",
) -> Tensor:
    """Return values below a limit raised to it, and above the other lowered to it.

    None is no limit; limits may be arrays. `casting="unsafe"` converts the result to
    the dtype of `out`, whatever that is.

    Raises:
        DataError: a limit is given twice.

    >>> np.clip([1, 5, 9], 2, None), np.clip([1, 5, 9], max=6)
    (tensor([2, 5, 9]), tensor([1, 5, 6]))
    """
    low = min if a_min is None else a_min
    high = max if a_max is None else a_max
    if not (a_min is a_max is None or min is max is None):
        raise DataError(
            "clip: limits are given twice, as a_min and a_max and as min and max."
        )
    x = as_first_operand(a, low, high)
    if x.dtype.kind == "bool":
        x = x.astype(int)
    # In the dtype of the result: a limit of a narrower one would round first.
    limits = [as_operand_like(y, x) for y in (low, high) if hasattr(y, "dtype")]
    x = x.astype(tw.result_type(x, *limits))
    return into(x.clip(low, high), out, casting)


def nan_to_num(
    x: ArrayLike,
    copy: builtins.bool = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Tensor:
    """Replace NaN and infinities, by default by 0 and the largest floats.

    Of complex numbers each part is replaced.

    With `copy=False` they are written into `x`, which must be a tensor then.

    >>> np.nan_to_num([np.nan, 1.0, np.inf], posinf=9.0)
    tensor([0., 1., 9.])
    """
    values = as_first_operand(x, nan, posinf, neginf)
    values = values.astype(values.dtype)  # a tensor of its own, of integers too
    if values.dtype.kind == "complex":
        real, imaginary = (
            nan_to_num(part, True, nan, posinf, neginf)
            for part in (tw.real(values), tw.imag(values))
        )
        values = real + 1j * imaginary
    elif values.dtype.kind == "float":
        largest = finfo(values.dtype).max
        high = largest if posinf is None else posinf
        low = -largest if neginf is None else neginf
        finite = tw.where(tw.isnan(values), nan, values)
        finite = tw.where(values == -math.inf, low, finite)
        values = tw.where(values == math.inf, high, finite)
    return values if copy or not isinstance(x, Tensor) else into(values, x)


def isposinf(x: ArrayLike, out: Out = None) -> Tensor:
    """Return whether each element is infinity.

    Raises:
        DTypeError: the elements are complex.

    >>> np.isposinf([np.inf, -np.inf, 1.0])
    tensor([ True, False, False])
    """
    real = as_real_floats("isposinf", x)
    return into(tw.isinf(real) & ~tw.signbit(real), out)


def isneginf(x: ArrayLike, out: Out = None) -> Tensor:
    """Return whether each element is minus infinity.

    Raises:
        DTypeError: the elements are complex.

    >>> np.isneginf([np.inf, -np.inf, 1.0])
    tensor([False,  True, False])
    """
    real = as_real_floats("isneginf", x)
    return into(tw.isinf(real) & tw.signbit(real), out)


def isscalar(element: object) -> builtins.bool:
    """Return whether a value is a number or text; 0-d tensors are numbers.

    >>> np.isscalar(3.1), np.isscalar(np.float32(3.1)), np.isscalar(np.ones(2))
    (True, True, False)
    """
    if isinstance(element, Tensor):
        return not element.shape
    return is_scalar(element) or isinstance(element, str | bytes | numbers.Number)


def sinc(x: ArrayLike) -> Tensor:
    """Return `sin(pi x) / (pi x)`, 1 at 0.

    >>> np.sinc([0.0, 0.5])
    tensor([1.        , 0.63661975])
    """
    return bessel.sinc_of(tw.asarray(x))


def i0(x: ArrayLike) -> Tensor:
    """Return the modified Bessel function of the first kind, order 0.

    >>> np.round(np.i0([0.0, 1.0]), 4)
    tensor([1.    , 1.2661])
    """
    return bessel.i0(as_real_floats("i0", x))


def isclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: builtins.bool = False,
) -> Tensor:
    """Return whether `|a - b| <= atol + rtol |b|` for each pair of elements.

    Infinities are close to themselves only; NaN to NaN for `equal_nan`.

    >>> np.isclose([1.0, 1e10], [1.000001, 1.1e10])
    tensor([ True, False])
    """
    x, y = as_pair(a, b)
    if not is_inexact(x.dtype):
        return _integer_distance(x, y) <= tw.abs(y.astype(float)) * rtol + atol
    is_near = tw.abs(x - y) <= tw.abs(y) * rtol + atol
    are_close = (is_near & tw.isfinite(y)) | (x == y)
    return are_close | (tw.isnan(x) & tw.isnan(y)) if equal_nan else are_close


def _integer_distance(x: Tensor, y: Tensor) -> Tensor:
    """Return how far integers are from each other, as floats, without overflow."""
    if x.dtype.kind == "bool":
        x, y = x.astype(int), y.astype(int)
    name = x.dtype.name if x.dtype.kind == "uint" else f"u{x.dtype.name}"
    larger, smaller = tw.maximum(x, y), tw.minimum(x, y)
    return (larger.astype(name) - smaller.astype(name)).astype(float)


@signature_of(isclose)
def allclose(*args: Any, **options: Any) -> builtins.bool:
    """Return whether all pairs of elements are close; reads the answer.

    >>> np.allclose([1.0, 2.0], [1.0, 2.000001])
    True
    """
    return builtins.bool(tw.all(isclose(*args, **options)))


def array_equal(
    a1: ArrayLike, a2: ArrayLike, equal_nan: builtins.bool = False
) -> builtins.bool:
    """Return whether shapes and all elements are equal; reads the answer.

    >>> np.array_equal([1, 2], [1, 2]), np.array_equal([1, 2], [[1, 2]])
    (True, False)
    """
    x, y = as_tensors((a1, a2))
    if x.shape != y.shape:
        return False
    are_equal = tw.equal(x, y)
    if equal_nan and is_inexact(x.dtype) and is_inexact(y.dtype):
        are_equal = are_equal | (tw.isnan(x) & tw.isnan(y))
    return builtins.bool(tw.all(are_equal))


def array_equiv(a1: ArrayLike, a2: ArrayLike) -> builtins.bool:
    """Return whether arrays broadcast and all elements are equal; reads the answer.

    >>> np.array_equiv([1, 2], [[1, 2], [1, 2]])
    True
    """
    x, y = as_tensors((a1, a2))
    try:
        broadcast_shapes(x.shape, y.shape)
    except ShapeError:
        return False
    return builtins.bool(tw.all(tw.equal(x, y)))


def conj(x: ArrayLike, /) -> Tensor:
    """Return the conjugates of complex numbers, and real numbers as they are.

    >>> np.conj([1 + 2j, 3.0])
    tensor([1.-2.j, 3.-0.j], dtype=complex64)
    """
    values = tw.conj(x)
    return values.astype(values.dtype)  # a tensor of its own, of real numbers too


conjugate = conj


def angle(z: ArrayLike, deg: builtins.bool = False) -> Tensor:
    """Return the angle of complex numbers in the plane, from -pi to pi, or in degrees.

    >>> np.angle([1.0, 1j, 1 + 1j], deg=True)
    tensor([ 0., 90., 45.])
    """
    x = as_floats(z)
    if x.dtype.kind == "complex":
        angles = tw.atan2(tw.imag(x), tw.real(x))
    else:
        angles = tw.where(tw.isnan(x), x, tw.atan2(tw.zeros_like(x), x))
    return angles * (180 / math.pi) if deg else angles


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
    """Return real numbers if all imaginary parts are nearly 0; reads values.

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


def _window(
    name: str, M: NumberLike, shape: Callable[[Tensor, float], Tensor]
) -> Tensor:
    """Return a window, a function of `1 - M, 3 - M, …` below `M` and of `M - 1`.

    Raises:
        DTypeError: the length is complex.
    """
    length = as_number(M, f"{name}: M")
    if not length > 1:
        return tw.ones(int(length == 1))
    steps = tw.arange(math.ceil(length - 0.5)) * 2.0 + (1 - length)
    return shape(steps, length - 1)


def _cosine_sum(name: str, M: NumberLike, *weights: float) -> Tensor:
    """Return `sum w_k cos(k pi n / (M - 1))` for n from 1 - M to M - 1."""

    def shape(steps: Tensor, span: float) -> Tensor:
        window = tw.full(steps.shape[0], weights[0])
        for k, weight in enumerate(weights[1:], 1):
            window = window + tw.cos(steps * (math.pi / span) * k) * weight
        return window

    return _window(name, M, shape)


def hanning(M: NumberLike) -> Tensor:
    """Return the Hann window, `0.5 + 0.5 cos(pi n / (M - 1))`.

    >>> np.round(np.hanning(3), 2)
    tensor([0., 1., 0.])
    """
    return _cosine_sum("hanning", M, 0.5, 0.5)


def hamming(M: NumberLike) -> Tensor:
    """Return the Hamming window, `0.54 + 0.46 cos(pi n / (M - 1))`.

    >>> np.round(np.hamming(3), 2)
    tensor([0.08, 1.  , 0.08])
    """
    return _cosine_sum("hamming", M, 0.54, 0.46)


def blackman(M: NumberLike) -> Tensor:
    """Return the Blackman window, of three cosines.

    >>> np.round(np.blackman(5), 2) + 0
    tensor([0.  , 0.34, 1.  , 0.34, 0.  ])
    """
    return _cosine_sum("blackman", M, 0.42, 0.5, 0.08)


def bartlett(M: NumberLike) -> Tensor:
    """Return the triangle that is 0 at both ends.

    >>> np.bartlett(5)
    tensor([0. , 0.5, 1. , 0.5, 0. ])
    """
    return _window("bartlett", M, lambda steps, span: 1 - tw.abs(steps) * (1 / span))


def kaiser(M: NumberLike, beta: NumberLike) -> Tensor:
    """Return the Kaiser window, `i0(beta sqrt(1 - x**2)) / i0(beta)`, x from -1 to 1.

    >>> np.round(np.kaiser(3, 2.0), 3)
    tensor([0.439, 1.   , 0.439])
    """
    length, width = as_number(M, "kaiser: M"), as_number(beta, "kaiser: beta")
    if length == 1:
        return tw.ones(1)
    middle = (length - 1) / 2
    position = tw.arange(max(0, math.ceil(length))) * 1.0 - middle
    position = position * (1 / middle) if middle else position
    inside = tw.sqrt(tw.maximum(1 - position * position, 0.0))
    return i0(inside * width) / i0(width)


declare_public(__name__)
