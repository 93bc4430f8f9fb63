"""Transforms against NumPy in float64: lengths, axes, norms, views, on every device."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.backends.wasm import WasmBackend
from tensorweb.codegen.compiler import compile_kernel
from tensorweb.codegen.fourier import FourierRows, angles_of, radices_of
from tensorweb.devices import backend
from tensorweb.errors import AxisError, DataError, DTypeError, ShapeError
from tensorweb.nodes import fourier_pairs
from tensorweb.nodes.fourier_pairs import units
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize

Array = np.ndarray[Any, Any]

EACH_LENGTH = (*range(1, 21), 30, 49, 64, 97, 210, 243, 1000, 1024)

LONG = (4097, 1 << 14)
"""A length with the prime 241, and more points than one workgroup has."""


def numbers(*shape: int) -> Array:
    """Return complex64 numbers."""
    draw = np.random.default_rng(sum(shape))
    pairs = draw.standard_normal((*shape, 2)).astype(np.float32)
    return pairs.view(np.complex64)[..., 0]


def error(found: tw.Tensor, expected: Array) -> float:
    """Return the error, relative by root mean squares, in units of 1e-7 log2(n)."""
    assert found.shape == expected.shape
    assert (found.dtype is tw.complex64) == (expected.dtype.kind == "c")
    size = np.sqrt(np.mean(np.abs(expected) ** 2))
    off = np.sqrt(np.mean(np.abs(found.numpy() - expected) ** 2))
    assert size > 0
    return float(off / size / 1e-7 / max(math.log2(max(expected.shape)), 1))


def check(name: str, x: Array, **options: Any) -> None:
    """Compare one transform with NumPy's of the same numbers in double precision."""
    wide = x.astype(np.result_type(x.dtype, np.float64))
    expected = getattr(np.fft, name)(wide, **options)
    found = getattr(tw.fft, name)(tw.asarray(x), **options)
    assert error(found, expected) < 1, (name, x.shape, options)


def check_length(n: int, rows: int) -> None:
    """Compare all transforms of a length."""
    x = numbers(rows, n)
    check("fft", x)
    check("ifft", x)
    check("rfft", x.real.copy())
    check("irfft", x[:, : n // 2 + 1], n=n)


@pytest.mark.parametrize("rows", [1, 3])
def test_every_length_on_the_cpu(rows: int, cpu: str) -> None:
    for n in (*EACH_LENGTH, *LONG, 10007, 100_002):
        check_length(n, rows)


def test_every_length_in_webassembly(wasm: WasmBackend) -> None:
    for n in (1, 2, 3, 5, 8, 11, 12, 30, 97, 210, 1000):
        check_length(n, 2)
    for n in (4097, 1 << 16, 32_771):
        check("fft", numbers(n))


def test_long_primes_need_small_tables(
    webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host computes few roots, once; the device makes the chirp of them."""
    made: list[int] = []

    def counted(numerators: Iterable[int], order: int) -> list[tuple[float, float]]:
        found = units(numerators, order)
        made.append(len(found))
        return found

    monkeypatch.setattr(fourier_pairs, "units", counted)
    x = tw.zeros(1_000_003, dtype=tw.complex64)
    tw.fft.fft(x)
    assert 0 < sum(made) < 300_000
    made.clear()
    tw.fft.fft(x)
    assert made == []
    check("fft", numbers(40_009))


def test_lengths_of_a_gpu(webgpu: str) -> None:
    for n in (*range(2, 11), 12, 49, 64, 210, 1000, 4096):
        check("fft", numbers(3, n))
    check_length(30, 3)
    for n in (97, 1 << 14):
        check("fft", numbers(n))
    with tw.record_kernels() as kernels:
        tw.realize(tw.fft.fft(tw.asarray(numbers(300, 64))))
    assert [kernel.kind for kernel in kernels] == ["fourier"]


@pytest.mark.parametrize(
    ("shape", "axis", "launches"),
    [((1 << 16,), 0, 2), ((8192, 3), 0, 2), ((7, 8), 0, 1)],
)
def test_rotations_are_fused_into_the_next_step(
    shape: tuple[int, ...], axis: int, launches: int, webgpu: str
) -> None:
    with tw.record_kernels() as kernels:
        tw.realize(tw.fft.fft(tw.asarray(numbers(*shape)), axis=axis))
    assert [kernel.kind for kernel in kernels] == ["fourier"] * launches
    check("fft", numbers(*shape), axis=axis)


def test_neighbours_in_memory_are_read_together(webgpu: str) -> None:
    """Parts of complex numbers alternate, so that neighbours are two apart there."""
    for x in (numbers(64, 96), numbers(64, 96).real.copy()):
        for axis in (0, 1):
            node = tw.fft.fft(tw.asarray(x).astype(tw.complex64), axis=axis).node.base
            (planned,) = plan(linearize([node]), 6)
            (launch,) = compile_kernel(planned.kernel).launches
            expected = str(axis == 0).lower()
            assert f"const READS_ACROSS: bool = {expected};" in str(launch.source)


def test_rows_that_do_not_fill_workgroups(webgpu: str) -> None:
    """Workgroups and threads with too few rows and butterflies, along and across."""
    for shape in ((1, 6), (131, 64), (50, 105), (3, 1000), (2, 4096)):
        check("fft", numbers(*shape))
        check("ifft", numbers(*shape[::-1]), axis=0)


@pytest.mark.parametrize("length", [2, 8, 64, 105, 1000, 4096])
def test_every_pass_has_its_own_twiddle_angles(length: int) -> None:
    """The angle of point j of butterfly k is j k times the unit angle of its pass."""
    angles, radices = angles_of(length), radices_of(length)
    assert radices is not None
    assert len(angles) == length - 1
    done = 1
    for radix in radices:
        for j in range(1, radix):
            for k in range(done):
                assert angles[j * done + k - 1] * radix * done == j * k * length
        done *= radix
    assert done == length


def test_tables_of_tables(webgpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend(webgpu), "row_transformer", FourierRows(16, 16))
    check("fft", numbers(2, 1000))
    check("fft", numbers(1000, 2), axis=0)
    check("fft", numbers(3, 200, 5), axis=1)


CUBE = numbers(4, 6, 5)
"""Numbers of which each axis has another length."""

ROWS: tuple[tuple[str, Array, dict[str, Any]], ...] = (
    ("fft", CUBE, {"axis": 0, "norm": "ortho"}),
    ("fft", CUBE, {"axis": 1, "n": 4, "norm": "forward"}),
    ("ifft", CUBE, {"axis": -2, "n": 9, "norm": "forward"}),
    ("ifft", CUBE, {"n": 5, "norm": "ortho"}),
    ("fft", CUBE.real, {}),
    ("fftn", CUBE, {}),
    ("fftn", CUBE, {"s": (3, 8), "axes": (0, 1), "norm": "ortho"}),
    ("fftn", CUBE, {"axes": (2, 0), "norm": "forward"}),
    ("ifftn", CUBE, {"s": (3, -1), "axes": (0, 2)}),
    ("rfft", CUBE.real, {"axis": 1, "norm": "ortho"}),
    ("rfft", CUBE.real, {"axis": 0, "n": 7, "norm": "forward"}),
    ("irfft", CUBE, {"axis": 1, "norm": "forward"}),
    ("irfft", CUBE, {"axis": 1, "n": 7, "norm": "ortho"}),
    ("irfft", CUBE.real, {}),
    ("irfft", CUBE[:, :, :1], {"n": 1}),
    ("rfftn", CUBE.real, {}),
    ("rfftn", CUBE.real, {"axes": (2, 0), "s": (8, 3), "norm": "ortho"}),
    ("irfftn", CUBE, {}),
    ("irfftn", CUBE, {"axes": (2, 1), "s": (4, 7), "norm": "forward"}),
    ("irfftn", CUBE, {"axes": (1, 2), "s": (-1, -1)}),
    ("hfft", CUBE, {}),
    ("hfft", CUBE, {"n": 5, "axis": 1, "norm": "ortho"}),
    ("hfft", CUBE.real, {"n": 4, "norm": "forward"}),
    ("ihfft", CUBE.real, {"norm": "forward"}),
    ("ihfft", CUBE.real, {"n": 3, "axis": 0}),
)


def test_axes_lengths_and_norms(device: str) -> None:
    for name, x, options in ROWS if device == "cpu" else ROWS[1::4]:
        check(name, x, **options)


def test_axes_lengths_and_norms_in_webassembly(wasm: WasmBackend) -> None:
    test_axes_lengths_and_norms("cpu")


def test_views_are_read_in_place(device: str) -> None:
    x = numbers(6, 8, 4)
    wide = x.astype(np.complex128)
    t = tw.asarray(x)
    for seen, expected in (
        (t[::2, ::-1], wide[::2, ::-1]),
        (t.permute(2, 0, 1), wide.transpose(2, 0, 1)),
        (tw.broadcast_to(t[:1], (3, 8, 4)), np.broadcast_to(wide[:1], (3, 8, 4))),
        (t[1:, 2] * 2 + 1, wide[1:, 2] * 2 + 1),
    ):
        assert error(tw.fft.fft(seen, axis=1), np.fft.fft(expected, axis=1)) < 1
    assert tw.fft.fft(t[:0]).shape == (0, 8, 4)
    assert tw.fft.rfftn(t[:0].real, axes=(1, 2)).shape == (0, 8, 3)
    assert tw.fft.irfft(t[:0]).shape == (0, 8, 6)


def test_float64_has_all_its_digits(cpu: str, wasm: WasmBackend) -> None:
    for n in (7, 48, 97, 509, 1000):
        x = numbers(n).astype(np.complex128)
        found = tw.fft.ifft(tw.fft.fft(tw.asarray(x)))
        assert found.dtype is tw.complex128
        np.testing.assert_allclose(found.numpy(), x, atol=1e-14)
        real = tw.asarray(x.real.copy())
        assert tw.fft.irfft(tw.fft.rfft(real), n=n).dtype is tw.float64


@pytest.mark.parametrize("n", [6, 7, 131])
def test_derivatives_and_batches(n: int, cpu: str) -> None:
    x = tw.asarray(numbers(2, n).real.astype(np.float64))
    weights = tw.asarray(numbers(2, n).imag.astype(np.float64))

    def there_and_back(x: tw.Tensor) -> tw.Tensor:
        spectrum = tw.fft.rfft(x, axis=-1)
        power = spectrum.real**2 + 2 * spectrum.imag**2
        bent = tw.fft.irfft(spectrum * power, n=n, norm="ortho")
        return (bent * weights[0]).sum() + tw.fft.hfft(x, n=4).sum()

    tw.check_grads(there_and_back, [x[0]])
    found = tw.vmap(there_and_back)(x)
    one_by_one = tw.stack([there_and_back(row) for row in x])
    np.testing.assert_allclose(found.numpy(), one_by_one.numpy(), rtol=1e-12)
    np.testing.assert_allclose(
        tw.jit(there_and_back)(x[0]).numpy(), one_by_one[0].numpy(), rtol=1e-12
    )


def test_derivatives_of_kernels_and_of_products(webgpu: str) -> None:
    x = numbers(12).real.copy()

    def energy(x: tw.Tensor) -> tw.Tensor:
        found = tw.fft.fft(x, n=15)
        return (found.real * tw.arange(15, device=x.device)).sum() + found.imag.sum()

    expected = tw.grad(energy)(tw.asarray(x, device="cpu", dtype=tw.float64))
    found = tw.grad(energy)(tw.asarray(x))
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-4)


BAD = (
    (lambda: tw.fft.fft(tw.ones(4), n=0), ShapeError, "n is 0"),
    (lambda: tw.fft.rfft(tw.ones(4), n=-1), ShapeError, "n is -1"),
    (lambda: tw.fft.ifft(tw.ones(4), n=2.5), ShapeError, "give an integer"),
    (lambda: tw.fft.fft(tw.ones((2, 0))), ShapeError, "is empty"),
    (lambda: tw.fft.fft(tw.ones(4), axis=1), AxisError, "axis 1 is out of range"),
    (lambda: tw.fft.fft(tw.asarray(1.0)), AxisError, "no axes"),
    (lambda: tw.fft.fftn(tw.ones((2, 3)), axes=(0, -2)), AxisError, "same axis twice"),
    (lambda: tw.fft.rfftn(tw.ones((2, 3)), axes=()), AxisError, "at least one axis"),
    (lambda: tw.fft.fftn(tw.ones((2, 3)), s=(2, 3, 4)), ShapeError, "3 lengths"),
    (lambda: tw.fft.fftn(tw.ones((2, 3)), s=(2,), axes=(0, 1)), ShapeError, "axes 2"),
    (lambda: tw.fft.fft([1, 2, 3]), DTypeError, "int32 operands"),
    (lambda: tw.fft.irfft([True, False]), DTypeError, "bool operands"),
    (lambda: tw.fft.rfft([1j, 2]), DTypeError, "tw.fft.fft for complex"),
    (lambda: tw.fft.ihfft([1j, 2]), DTypeError, "tw.fft.ifft for complex"),
    (lambda: tw.fft.irfft(tw.ones((3, 1))), ShapeError, "2 \\* \\(1 - 1\\) = 0 points"),
    (lambda: tw.fft.fft(tw.ones(4), norm="half"), DataError, "norm 'half'"),
)


def test_bad_input_is_explained(cpu: str) -> None:
    for call, kind, said in BAD:
        with pytest.raises(kind, match=said):
            call()
