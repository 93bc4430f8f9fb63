"""pygfx draws the buffer of a tensor, in a process that pygfx opens the GPU of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tools.process import ROOT

SIZE = 256


def test_a_tensor_is_drawn_from_its_own_buffer(device: str, tmp_path: Path) -> None:
    if device != "webgpu":
        pytest.skip("pygfx draws on a GPU")
    file = tmp_path / "image.npy"
    command = [sys.executable, "-m", "consumers.drawn_by_pygfx", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    drawn = np.load(file)[..., 2] > 128
    angle = np.linspace(0, 8 * np.pi, 2000)
    radius = np.linspace(0, 1, 2000) * SIZE / 2.2
    column = SIZE / 2 + radius * np.cos(angle)
    row = SIZE / 2 - radius * np.sin(angle)
    assert drawn[row.astype(int), column.astype(int)].mean() > 0.99
    assert drawn.mean() < 0.3
