"""A hidden, seedable key: what generators of NumPy's names draw from."""

from __future__ import annotations

import secrets
from typing import Any

from tensorweb.devices import default_device
from tensorweb.errors import DataError, TraceError
from tensorweb.graph.tracing import open_repeat, open_trace
from tensorweb.random.generator import Generator as KeyGenerator
from tensorweb.shapes import Shape
from tensorweb.tensor import Tensor


class Hidden:
    """Draws from a seed; each device has a key of its own, the same one at first."""

    _seed: int
    _keys: dict[str, KeyGenerator]
    _begun_in: tuple[int, int]

    def _begin(self, seed: Any) -> None:
        """Take a seed, or one of the system for None."""
        self._seed = new_seed(seed)
        self._keys = {}
        self._begun_in = _runs()

    def _draw(self) -> KeyGenerator:
        """Return the generator of keys of the default device."""
        device = default_device()
        if device not in self._keys:
            if _runs() not in (self._begun_in, (0, 0)):
                raise TraceError(
                    "np.random: a recorded function draws from the hidden key, and "
                    "would repeat the same numbers at every call. Give it a key of "
                    "tw.random.split as an argument."
                )
            self._keys[device] = KeyGenerator(self._seed, device=device)
        return self._keys[device]

    def _uniform(self, shape: Shape) -> Tensor:
        return self._draw().uniform(shape)

    def _positive(self, shape: Shape) -> Tensor:
        """Return uniform numbers above 0 and up to 1, whose logarithm is finite."""
        return 1.0 - self._draw().uniform(shape)


def _runs() -> tuple[int, int]:
    """Return which recording and which repetition is open, zeros for none."""
    trace, repeat = open_trace(), open_repeat()
    return 0 if trace is None else id(trace), 0 if repeat is None else id(repeat)


def new_seed(seed: Any) -> int:
    """Return a seed of 64 bits: of an integer, of several, or of the system for None.

    >>> new_seed(7), new_seed([1, 2]) == new_seed((1, 2))
    (7, True)
    """
    if seed is None:
        return secrets.randbits(63)
    if hasattr(seed, "tolist"):
        seed = seed.tolist()
    if isinstance(seed, list | tuple):
        mixed = 0
        for each in seed:
            mixed = (mixed * 0x9E3779B97F4A7C15 + int(each) + 1) & (2**63 - 1)
        return mixed
    number = int(seed)
    if number < 0:
        raise DataError(f"seed: {number} is negative; give 0 or more.")
    return number & (2**64 - 1)
