"""Frequencies and shifts against NumPy, on every device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.errors import AxisError, DataError, DTypeError, ShapeError

LENGTHS = (1, 2, 3, 8, 9, 1000, 1023)


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies_are_numpys_rounded_once(name: str, device: str) -> None:
    for n in LENGTHS:
        for d in (1.0, 0.3, -2):
            expected = getattr(np.fft, name)(n, d).astype(np.float32)
            found = getattr(tw.fft, name)(n, d=d)
            assert found.dtype is tw.float32
            np.testing.assert_array_equal(found.numpy(), expected)


def test_long_ones_are_within_one_rounding_more(device: str) -> None:
    expected = np.fft.fftfreq(600_001, 0.3)
    found = tw.fft.fftfreq(600_001, d=0.3).numpy()
    np.testing.assert_allclose(found, expected, rtol=1.3e-7)


def test_float64_has_all_its_digits(cpu: str) -> None:
    found = tw.fft.fftfreq(1023, d=0.7, dtype=tw.float64)
    np.testing.assert_array_equal(found.numpy(), np.fft.fftfreq(1023, 0.7))


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts_are_numpys(name: str, device: str) -> None:
    for shape in ((5,), (2, 3, 4), (1, 0, 7)):
        x = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
        for axes in (None, *range(len(shape)), (0, -1) if len(shape) > 1 else None):
            expected = getattr(np.fft, name)(x, axes)
            found = getattr(tw.fft, name)(tw.asarray(x), axes=axes)
            np.testing.assert_array_equal(found.numpy(), expected)
    assert getattr(tw.fft, name)(3.0).shape == ()


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: tw.fft.fftfreq(0), ShapeError, "n is 0"),
        (lambda: tw.fft.rfftfreq(-3), ShapeError, "n is -3"),
        (lambda: tw.fft.fftfreq(2.5), ShapeError, "an integer"),
        (lambda: tw.fft.fftfreq(4, d=0), DataError, "d is 0"),
        (lambda: tw.fft.fftfreq(4, dtype=tw.int32), DTypeError, "floating dtype"),
        (lambda: tw.fft.fftshift(tw.ones(3), axes=1), AxisError, "axis 1 is out"),
        (lambda: tw.fft.fftshift(tw.ones((2, 3)), axes=(0, -2)), AxisError, "twice"),
        (lambda: tw.fft.rfftn2, AttributeError, "rfftn2"),
    ],
)
def test_bad_input_is_explained(call, error, said: str, cpu: str) -> None:  # type: ignore[no-untyped-def]  # rows of calls
    with pytest.raises(error, match=said):
        call()


def test_the_spacing_of_samples_may_be_given_by_position(device: str) -> None:
    for frequencies in (tw.fft.fftfreq, tw.fft.rfftfreq):
        call: Any = frequencies
        assert call(8, 0.25).tolist() == call(8, d=0.25).tolist()
        with pytest.raises(TypeError, match="positional argument"):
            call(8, 0.25, 1)
