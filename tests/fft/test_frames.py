"""Short-time Fourier transforms are PyTorch's, and their inverses return the signal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from frame_cases import CASES, SIGNAL, window_of

import tensorweb as tw

FILE = Path(__file__).parents[1] / "references" / "frames.json"
RECORDED: dict[str, Any] = json.loads(FILE.read_text("utf-8"))["cases"]


@pytest.mark.parametrize("name", CASES)
def test_transforms_are_those_of_pytorch(name: str, device: str) -> None:
    with tw.device(device):
        options = CASES[name]
        x, window = tw.asarray(SIGNAL), tw.asarray(window_of(options))
        found = tw.fft.stft(x, window=window, **options)
        shape, parts = RECORDED[name]
        assert list(found.shape) == shape
        got = tw.stack([tw.real(found), tw.imag(found)], axis=-1).reshape(-1)
        assert got.tolist() == pytest.approx(parts, rel=1e-5, abs=1e-5)
        if options.get("center", True):
            given = {k: v for k, v in options.items() if k != "pad_mode"}
            back = tw.fft.istft(found, window=window, length=25, **given)
            assert (back - x).abs().max().item() < 1e-5


def test_frames_have_derivatives_and_batches(cpu: str) -> None:
    x = tw.asarray(SIGNAL, "float64")

    def power(x: tw.Tensor) -> tw.Tensor:
        return (tw.abs(tw.fft.stft(x, 8)) ** 2).sum()

    tw.check_grads(power, (x[0],))
    tw.check_grads(lambda x: tw.fft.istft(tw.fft.stft(x, 8) ** 2, 8), (x[0],))
    each = tw.vmap(lambda x: tw.abs(tw.fft.stft(x, 8)))(x)
    assert (each - tw.abs(tw.fft.stft(x, 8))).abs().max().item() < 1e-12


def test_a_complex_signal_comes_back(cpu: str) -> None:
    x = tw.asarray(SIGNAL[0]) + 1j * tw.asarray(SIGNAL[1])
    found = tw.fft.stft(x, 8)
    assert found.shape == (8, 13)
    back = tw.fft.istft(found, 8, length=30, return_complex=True)
    assert tw.abs(back[:25] - x).max().item() < 1e-5
    assert tw.abs(back[28:]).max().item() == 0
    assert tw.fft.istft(tw.fft.stft(tw.ones(16), 8), 8).shape == (16,)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: tw.fft.stft(x, 8, 0), tw.DataError, "hop_length=0"),
        (lambda x: tw.fft.stft(x, 8, win_length=9), tw.DataError, "win_length=9"),
        (lambda x: tw.fft.stft(x, 8, window=tw.ones(4)), tw.ShapeError, "win_length=8"),
        (lambda x: tw.fft.stft(x, 80), tw.ShapeError, "reflected"),
        (lambda x: tw.fft.stft(x, 80, center=False), tw.ShapeError, "transforms of 80"),
        (lambda x: tw.fft.stft(x, 8, pad_mode="wrap"), tw.DataError, "circular"),
        (lambda x: tw.fft.istft(tw.fft.stft(x, 8), 16), tw.ShapeError, "frequencies"),
    ],
)
def test_mistakes_are_named(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(tw.asarray(SIGNAL[0]))
