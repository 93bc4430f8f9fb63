"""Record PyTorch's short-time Fourier transforms, in `frames.json` of this folder.

No test runs it. In an environment that has PyTorch, from the root of the repository:

    PYTHONPATH=tests python tests/references/record_frames.py > found.json
"""

from __future__ import annotations

import json
from importlib import import_module

from frame_cases import CASES, SIGNAL, window_of


def main() -> None:
    """Print what was recorded, real and imaginary parts of 12 digits."""
    torch = import_module("torch")
    cases = {}
    for name, options in CASES.items():
        window = torch.tensor(window_of(options), dtype=torch.float64)
        signal = torch.tensor(SIGNAL, dtype=torch.float64)
        found = torch.stft(signal, window=window, return_complex=True, **options)
        parts = torch.view_as_real(found).reshape(-1).tolist()
        cases[name] = [[*found.shape], [float(f"{x:.12g}") for x in parts]]
    version = torch.__version__.partition("+")[0]
    print(json.dumps({"version": version, "cases": cases}, separators=(",", ":")))


if __name__ == "__main__":
    main()
