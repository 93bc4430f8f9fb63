"""A signal, and options of its short-time Fourier transforms; PyTorch's words."""

from __future__ import annotations

import math
from typing import Any

SIGNAL = [[math.sin(0.37 * k * k), 0.1 * k] for k in range(25)]
SIGNAL = [[row[axis] for row in SIGNAL] for axis in range(2)]
"""Of shape (2, 25)."""

CASES: dict[str, dict[str, Any]] = {
    "plain": {"n_fft": 8},
    "odd": {"n_fft": 7, "hop_length": 3, "win_length": 5},
    "zeros": {"n_fft": 8, "hop_length": 3, "pad_mode": "constant"},
    "edges": {"n_fft": 8, "pad_mode": "replicate", "normalized": True},
    "periodic": {"n_fft": 8, "hop_length": 4, "pad_mode": "circular"},
    "from the start": {"n_fft": 6, "center": False, "onesided": False},
}


def window_of(options: dict[str, Any]) -> list[float]:
    """Return a window that is not symmetric and nowhere 0."""
    width = options.get("win_length", options["n_fft"])
    return [1.0 + 0.5 * math.cos(k) for k in range(width)]
