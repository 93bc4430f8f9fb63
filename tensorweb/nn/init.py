"""Initial values of parameters: PyTorch's distributions, drawn from a generator.

A function fills a tensor in place, as PyTorch's do, and returns it; its name may end in
`_`. Without `rng` the numbers come from the program's generator, whose seed is 0:
programs repeat.
"""

from __future__ import annotations

import math
from typing import Any

from tensorweb import frames
from tensorweb.devices import as_device, default_device, losses, require_dtype
from tensorweb.dtypes import as_dtype
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.functions import asarray, full, full_like
from tensorweb.functions import eye as make_eye
from tensorweb.nn.module import replace
from tensorweb.public_names import declare_public
from tensorweb.random import Generator
from tensorweb.shapes import Shape
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import DTypeLike

Rng = Generator | Tensor | int | None
"""A generator, a key, a seed, or None for the program's generator."""

_programs: dict[str, tuple[int, int, Generator]] = {}
"""By device, the count of programs, how often the device was lost, and the generator
of the running program."""


def generator(rng: Rng = None, device: str | None = None) -> Generator:
    """Return the generator to draw from."""
    if isinstance(rng, Generator):
        return rng
    where = device or default_device()
    if rng is not None:
        if not isinstance(rng, TensorBase | int):
            raise DTypeError(
                f"rng is a {type(rng).__name__}; give a tw.random.Generator, a key or "
                "a seed."
            )
        return Generator(rng, device=None if isinstance(rng, TensorBase) else where)
    # A lost device takes the generator's state with it, so another generator begins.
    current = frames.programs(), losses(where)
    *state, cached = _programs.get(where, (-1, -1, None))
    if cached is None or tuple(state) != current:
        cached = Generator(0, device=where)
        _programs[where] = (*current, cached)
    return cached


class Maker:
    """Makes a layer's tensors with given device, dtype and generator."""

    def __init__(self, rng: Rng, device: object, dtype: DTypeLike) -> None:
        """Store device, dtype and generator.

        Raises:
            DTypeError: the dtype is no float, or the device does not support it.
        """
        self.dtype = as_dtype(dtype)
        if self.dtype.kind != "float":
            raise DTypeError(f"dtype is {self.dtype}; parameters are floats.")
        self._rng = rng
        self._device = None if device is None else as_device(device)
        if isinstance(rng, Generator) and self._device is None:
            self._device = rng.key.device
        if self._device is None and isinstance(rng, TensorBase):
            self._device = rng.node.device
        self.device = self._device or default_device()
        require_dtype(self.dtype, self.device)
        self._source: Generator | None = None

    @property
    def source(self) -> Generator:
        """The generator, made on first use."""
        if self._source is None:
            self._source = generator(self._rng, self.device)
        return self._source

    def uniform(self, shape: Shape, bound: float) -> Tensor:
        """Return numbers from `-bound` to `bound`."""
        drawn = self.source.uniform(shape, self.dtype, -bound, bound)
        return drawn.to_device(self.device)

    def normal(self, shape: Shape, std: float = 1.0) -> Tensor:
        """Return normally distributed numbers."""
        drawn = self.source.normal(shape, self.dtype)
        return (drawn if std == 1.0 else drawn * std).to_device(self.device)

    def full(self, shape: Shape, value: float) -> Tensor:
        """Return a tensor filled with one number."""
        return full(shape, value, dtype=self.dtype, device=self.device)


def zeros(tensor: Tensor) -> Tensor:
    """Fill a tensor with zeros.

    >>> tw.nn.init.zeros(tw.ones(2))
    tensor([0., 0.])
    """
    return constant(tensor, 0.0)


def ones(tensor: Tensor) -> Tensor:
    """Fill a tensor with ones.

    >>> tw.nn.init.ones(tw.zeros(2))
    tensor([1., 1.])
    """
    return constant(tensor, 1.0)


def eye(tensor: Tensor) -> Tensor:
    """Fill a matrix with ones on the diagonal, zeros elsewhere.

    Raises:
        ShapeError: the tensor is no matrix.

    >>> tw.nn.init.eye_(tw.zeros((2, 3)))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    _check("init.eye", tensor)
    if tensor.ndim != 2:
        raise ShapeError(f"init.eye: shape {tensor.shape} is no matrix.")
    diagonal = make_eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device)
    return _filled(tensor, diagonal)


def constant(tensor: Tensor, val: float) -> Tensor:
    """Fill a tensor with one number.

    >>> tw.nn.init.constant(tw.zeros(2), 3.0)
    tensor([3., 3.])
    """
    _check("constant", tensor)
    return _filled(tensor, full_like(tensor, val))


def uniform(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, *, rng: Rng = None
) -> Tensor:
    """Fill a tensor with uniformly distributed numbers from `a` to `b`.

    >>> tw.nn.init.uniform(tw.zeros((2, 3)), -1.0, 1.0).shape
    (2, 3)
    """
    _check("uniform", tensor)
    drawn = generator(rng, tensor.device).uniform(tensor.shape, tensor.dtype, a, b)
    return _filled(tensor, drawn)


def normal(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, *, rng: Rng = None
) -> Tensor:
    """Fill a tensor with normally distributed numbers.

    >>> tw.nn.init.normal(tw.zeros((2, 3)), std=0.02).shape
    (2, 3)
    """
    _check("normal", tensor)
    drawn = generator(rng, tensor.device).normal(tensor.shape, tensor.dtype)
    return _filled(tensor, drawn * std + mean)


def trunc_normal(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    *,
    rng: Rng = None,
) -> Tensor:
    """Fill a tensor with normally distributed numbers between `a` and `b`.

    >>> abs(tw.nn.init.trunc_normal(tw.zeros(100))).max() < 2
    tensor(True)
    """
    _check("trunc_normal", tensor)
    low, high = (a - mean) / std, (b - mean) / std
    drawn = generator(rng, tensor.device).truncated_normal(
        low, high, tensor.shape, tensor.dtype
    )
    return _filled(tensor, drawn * std + mean)


def xavier_uniform(tensor: Tensor, gain: float = 1.0, *, rng: Rng = None) -> Tensor:
    """Fill with `U(-a, a)`, `a = gain sqrt(6 / (fan_in + fan_out))`.

    Source: X. Glorot, Y. Bengio, Understanding the difficulty of training deep
    feedforward neural networks, 2010.

    >>> abs(tw.nn.init.xavier_uniform(tw.zeros((3, 3)))).max() < 1
    tensor(True)
    """
    fan_in, fan_out = _fans("xavier_uniform", tensor)
    bound = gain * math.sqrt(6.0 / (fan_in + fan_out))
    return uniform(tensor, -bound, bound, rng=rng)


def xavier_normal(tensor: Tensor, gain: float = 1.0, *, rng: Rng = None) -> Tensor:
    """Fill with normal numbers of spread `gain sqrt(2 / (fan_in + fan_out))`.

    >>> tw.nn.init.xavier_normal(tw.zeros((3, 3))).shape
    (3, 3)
    """
    fan_in, fan_out = _fans("xavier_normal", tensor)
    return normal(tensor, 0.0, gain * math.sqrt(2.0 / (fan_in + fan_out)), rng=rng)


def kaiming_uniform(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    *,
    rng: Rng = None,
) -> Tensor:
    """Fill with `U(-b, b)`, `b = gain sqrt(3 / fan)`; leaky_relu multiplies by `a`.

    Source: K. He, X. Zhang, S. Ren, J. Sun, Delving deep into rectifiers, 2015.

    >>> abs(tw.nn.init.kaiming_uniform(tw.zeros((2, 6)))).max() <= 1
    tensor(True)
    """
    spread = _kaiming("kaiming_uniform", tensor, a, mode, nonlinearity)
    bound = math.sqrt(3.0) * spread
    return uniform(tensor, -bound, bound, rng=rng)


def kaiming_normal(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    *,
    rng: Rng = None,
) -> Tensor:
    """Fill with normal numbers of spread `gain / sqrt(fan)`.

    >>> tw.nn.init.kaiming_normal(tw.zeros((2, 6))).shape
    (2, 6)
    """
    spread = _kaiming("kaiming_normal", tensor, a, mode, nonlinearity)
    return normal(tensor, 0.0, spread, rng=rng)


def orthogonal(tensor: Tensor, gain: float = 1.0, *, rng: Rng = None) -> Tensor:
    """Fill a matrix with orthogonal rows, or columns where there are more rows.

    Further axes count as columns. It is computed on the host, one vector after the
    other. Source: A. Saxe, J. McClelland, S. Ganguli, Exact solutions to the nonlinear
    dynamics of learning in deep linear neural networks, 2013.

    Raises:
        ShapeError: the tensor has less than two axes.

    >>> w = tw.nn.init.orthogonal(tw.zeros((2, 5)))
    >>> bool(abs(w @ w.T - tw.eye(2)).max() < 1e-6)
    True
    """
    _check("orthogonal", tensor)
    if tensor.ndim < 2:
        raise ShapeError(
            f"orthogonal: shape {tensor.shape}; rows are orthogonal to each other, so "
            "it needs two axes or more."
        )
    rows, columns = tensor.shape[0], math.prod(tensor.shape[1:])
    many, length = min(rows, columns), max(rows, columns)
    drawn: Any = generator(rng, tensor.device).normal((many, length)).tolist()
    values = [[gain * x for x in row] for row in _orthonormal(drawn)]
    basis = asarray(values, dtype=tensor.dtype, device=tensor.device)
    return _filled(
        tensor, (basis if rows <= columns else basis.T).reshape(tensor.shape)
    )


# PyTorch's names, whose `_` says that they fill in place.
constant_ = constant
eye_ = eye
kaiming_normal_ = kaiming_normal
kaiming_uniform_ = kaiming_uniform
normal_ = normal
ones_ = ones
orthogonal_ = orthogonal
trunc_normal_ = trunc_normal
uniform_ = uniform
xavier_normal_ = xavier_normal
xavier_uniform_ = xavier_uniform
zeros_ = zeros


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the recommended gain of a nonlinearity.

    Raises:
        DataError: the nonlinearity is unknown.

    >>> tw.nn.init.calculate_gain("leaky_relu", 1.0)
    1.0
    """
    factor = 0.01 if param is None else param
    gains = {
        "linear": 1.0,
        "conv1d": 1.0,
        "conv2d": 1.0,
        "sigmoid": 1.0,
        "tanh": 5.0 / 3,
        "relu": math.sqrt(2.0),
        "leaky_relu": math.sqrt(2.0 / (1 + factor**2)),
        "selu": 0.75,
    }
    if nonlinearity not in gains:
        raise DataError(
            f"calculate_gain: nonlinearity {nonlinearity!r}; it is one of "
            f"{', '.join(gains)}."
        )
    return gains[nonlinearity]


def _fans(name: str, tensor: Tensor) -> tuple[int, int]:
    """Return the counts of inputs and outputs of a weight `(out, in, ...)`.

    Raises:
        ShapeError: it has fewer than two axes.
    """
    _check(name, tensor)
    if tensor.ndim < 2:
        raise ShapeError(
            f"{name}: shape {tensor.shape}; inputs and outputs are counted along two "
            "axes, so the tensor needs two or more."
        )
    window = math.prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window


def _kaiming(
    name: str, tensor: Tensor, a: float, mode: str, nonlinearity: str
) -> float:
    """Return the standard deviation `gain / sqrt(fan)`."""
    modes = dict(zip(("fan_in", "fan_out"), _fans(name, tensor), strict=True))
    if mode not in modes:
        raise DataError(f"{name}: mode {mode!r}; it is 'fan_in' or 'fan_out'.")
    return calculate_gain(nonlinearity, a) / math.sqrt(modes[mode])


def _check(name: str, tensor: object) -> None:
    """Raise a `DTypeError` unless it is a floating-point tensor."""
    if not isinstance(tensor, TensorBase):
        raise DTypeError(
            f"{name}: what is filled is of type {type(tensor).__name__}; give a "
            "tensor, such as a layer's weight."
        )
    if tensor.node.dtype.kind != "float":
        raise DTypeError(
            f"{name}: the tensor is {tensor.node.dtype}; parameters are floats."
        )


def _filled(tensor: Tensor, value: Tensor) -> Tensor:
    replace(tensor, value)
    return tensor


def _orthonormal(rows: list[list[float]]) -> list[list[float]]:
    """Return orthonormal rows by Gram-Schmidt, repeated once for accuracy."""
    basis: list[list[float]] = []
    for row in rows:
        for _ in range(2):
            for other in basis:
                part = _dot(row, other)
                row = [x - part * y for x, y in zip(row, other, strict=True)]
        size = math.sqrt(_dot(row, row))
        basis.append([x / size for x in row])
    return basis


def _dot(a: list[float], b: list[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


declare_public(__name__, hidden="Maker generator")
