"""The hidden, seedable key of generators, and the shapes of samples."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, SupportsIndex

from tensorweb import devices
from tensorweb import functions as tw
from tensorweb.devices import default_device
from tensorweb.errors import DataError, ShapeError, TraceError
from tensorweb.graph.tracing import open_repeat, open_trace
from tensorweb.random.generator import Generator as KeyGenerator
from tensorweb.shapes import Shape, as_shape, broadcast_shapes
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, device_of


class Hidden:
    """Draws from a seed; each device has a key of its own.

    The first device that draws begins with the seed's key, so that a program on one
    device gives the same numbers on any; later ones begin with others, so that draws
    on two devices are independent.
    """

    _seed: int
    _keys: dict[str, KeyGenerator]
    _begun_in: tuple[int, int]

    def __init_subclass__(cls) -> None:
        """Let public methods draw where the tensors among their arguments lie."""
        for name, method in list(vars(cls).items()):
            if callable(method) and not name.startswith("_"):
                setattr(cls, name, _on_device_of_arguments(method))

    def _begin(self, seed: Any) -> None:
        """Take a seed, or one of the system for None."""
        self._seed = new_seed(seed)
        self._keys = {}
        self._begun_in = _open_trace_ids()

    def _draw(self) -> KeyGenerator:
        """Return the generator of keys of the default device."""
        device = default_device()
        if device not in self._keys:
            if _open_trace_ids() not in (self._begun_in, (0, 0)):
                raise TraceError(
                    "np.random: a recorded function draws from the hidden key, and "
                    "would repeat the same numbers at every call. Give it a key of "
                    "tw.random.split as an argument."
                )
            count = len(self._keys)
            seed = new_seed([self._seed, count]) if count else self._seed
            self._keys[device] = KeyGenerator(seed, device=device)
        return self._keys[device]

    def _uniform(self, shape: Shape) -> Tensor:
        return self._draw().uniform(shape)

    def _exponential(
        self, name: str, size: Size, parameter: ArrayLike
    ) -> tuple[Tensor, Tensor]:
        """Return exponentially distributed numbers, and a parameter of 0 or more."""
        check(name, "a", parameter, 0, tw.inf)
        sample = self._draw().exponential(sample_shape(name, size, parameter))
        return sample, as_parameter(parameter, sample)


def _on_device_of_arguments(method: Callable[..., object]) -> Callable[..., object]:
    """Return a method whose default device is that of its first tensor."""

    @wraps(method)
    def draw(self: Hidden, /, *args: Any, **options: Any) -> object:
        device = device_of(*args, *options.values())
        if device is None or device == default_device():
            return method(self, *args, **options)
        with devices.device(device):
            return method(self, *args, **options)

    return draw


def _open_trace_ids() -> tuple[int, int]:
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
        for word in seed:
            mixed = (mixed * 0x9E3779B97F4A7C15 + int(word) + 1) & (2**63 - 1)
        return mixed
    if int(seed) < 0:
        raise DataError(f"seed: {int(seed)} is negative; give 0 or more.")
    return int(seed) & (2**64 - 1)


Size = SupportsIndex | Iterable[SupportsIndex] | None
"""A length, a shape, or None for the common shape of the parameters."""


def sample_shape(name: str, size: Size, *parameters: ArrayLike) -> Shape:
    """Return the shape of a sample; parameters broadcast to it.

    Raises:
        ShapeError: they do not.

    >>> sample_shape("normal", None, [1.0, 2.0], 3.0), sample_shape("normal", 4, 0.0)
    ((2,), (4,))
    """
    common = broadcast_shapes(*(shape_of(value) for value in parameters), ())
    if size is None:
        return common
    shape = as_shape(size)
    if broadcast_shapes(common, shape) != shape:
        raise ShapeError(
            f"{name}: size is {shape}, and the parameters have shape {common}; give a "
            "size that it broadcasts to."
        )
    return shape


def shape_of(value: ArrayLike) -> Shape:
    """Return the shape of a parameter."""
    return () if isinstance(value, int | float) else tw.asarray(value).shape


def is_plain(*parameters: ArrayLike) -> bool:
    """Whether parameters are Python's numbers."""
    return all(isinstance(value, int | float) for value in parameters)


def check(name: str, parameter: str, value: ArrayLike, low: float, high: float) -> None:
    """Raise when a plain number lies outside of its range; tensors are not checked.

    Raises:
        DataError: it does, or is NaN.
    """
    if isinstance(value, int | float) and not low <= value <= high:
        raise DataError(
            f"{name}: {parameter} is {value}; it is from {low:g} to {high:g}."
            if high < tw.inf
            else f"{name}: {parameter} is {value}; it is at least {low:g}."
        )


def scaled(sample: Tensor, loc: ArrayLike, scale: ArrayLike) -> Tensor:
    """Return a sample times its scale, moved to its location."""
    return sample * as_parameter(scale, sample) + as_parameter(loc, sample)


def as_parameter(value: ArrayLike, x: Tensor) -> Tensor:
    """Return a parameter as a tensor of the device and dtype of a sample."""
    if isinstance(value, int | float):
        return tw.full((), value, dtype=x.dtype, device=x.device)
    device = None if isinstance(value, Tensor) else x.device
    return tw.asarray(value, device=device).astype(x.dtype)
