"""Assertions about arrays: `np.testing`."""

from __future__ import annotations

from typing import Any

from tensorweb.numpy.arguments import as_tensors
from tensorweb.numpy.mathematics import allclose, array_equal
from tensorweb.public_names import declare_public
from tensorweb.shapes import broadcast_shapes
from tensorweb.tensor.convert import ArrayLike


def _check(is_true: bool, actual: Any, desired: Any, err_msg: str, words: str) -> None:
    if not is_true:
        raise AssertionError(
            f"{err_msg or 'arrays differ'}: {words}\n actual: {actual}\n"
            f" desired: {desired}"
        )


def assert_allclose(
    actual: ArrayLike,
    desired: ArrayLike,
    rtol: float = 1e-7,
    atol: float = 0,
    equal_nan: bool = True,
    err_msg: str = "",
    verbose: bool = True,
) -> None:
    """Raise unless `|actual - desired| <= atol + rtol |desired|` everywhere.

    The default is about one ULP of float32.

    Raises:
        AssertionError: it does not hold somewhere, or shapes differ and neither is 0-d.

    >>> np.testing.assert_allclose([1.0, 2.0], [1.0, 2.00001], rtol=1e-4)
    """
    x, y = as_tensors((actual, desired))
    alike = x.shape == y.shape or not x.ndim or not y.ndim
    _check(
        alike and allclose(x, y, rtol, atol, equal_nan),
        x,
        y,
        err_msg,
        f"not within rtol={rtol}, atol={atol}",
    )


def assert_array_equal(
    actual: ArrayLike,
    desired: ArrayLike,
    err_msg: str = "",
    verbose: bool = True,
    *,
    strict: bool = False,
) -> None:
    """Raise unless all elements are equal; NaN equals NaN.

    Raises:
        AssertionError: shapes or elements differ.

    >>> np.testing.assert_array_equal([1, 2], [1, 2])
    """
    x, y = as_tensors((actual, desired))
    if not strict and (not x.ndim or not y.ndim):
        shape = broadcast_shapes(x.shape, y.shape)
        x, y = x.broadcast_to(shape), y.broadcast_to(shape)
    same = not strict or x.dtype is y.dtype
    equal = same and array_equal(x, y, equal_nan=True)
    _check(equal, x, y, err_msg, "not equal")


def assert_equal(actual: Any, desired: Any, err_msg: str = "") -> None:
    """Raise unless two arrays, or any other objects, are equal.

    Raises:
        AssertionError: they are not.

    >>> np.testing.assert_equal(np.ones(2).shape, (2,))
    """
    if isinstance(desired, str | dict | None | tuple):
        _check(actual == desired, actual, desired, err_msg, "not equal")
        return
    assert_array_equal(actual, desired, err_msg)


def assert_almost_equal(
    actual: ArrayLike, desired: ArrayLike, decimal: int = 7, err_msg: str = ""
) -> None:
    """Raise unless elements differ by less than `1.5 * 10**-decimal`.

    Raises:
        AssertionError: some differ by more.

    >>> np.testing.assert_almost_equal(1.0, 1.00000005)
    """
    assert_array_almost_equal(actual, desired, decimal, err_msg)


def assert_array_almost_equal(
    actual: ArrayLike, desired: ArrayLike, decimal: int = 6, err_msg: str = ""
) -> None:
    """Raise unless elements differ by less than `1.5 * 10**-decimal`.

    Raises:
        AssertionError: some differ by more.

    >>> np.testing.assert_array_almost_equal([1.0], [1.0000001])
    """
    assert_allclose(actual, desired, 0, 1.5 * 10.0**-decimal, err_msg=err_msg)


declare_public(__name__)
