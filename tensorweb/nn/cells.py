"""Single steps of recurrent layers, as functions and as layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar, SupportsIndex

from tensorweb import dtypes
from tensorweb.errors import DataError, ShapeError
from tensorweb.functions import relu, sigmoid, tanh, zeros
from tensorweb.nn import init
from tensorweb.nn.affine import linear
from tensorweb.nn.arguments import as_float, positive
from tensorweb.nn.module import Module
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike

__all__ = ["GRUCell", "LSTMCell", "RNNCell"]

State = tuple[Tensor, ...]
"""The state between steps: hidden state, and for an LSTM the cell state."""

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
"""Rows of a weight per element of the hidden state."""


def _parts(x: Tensor, count: int) -> list[Tensor]:
    size = x.shape[-1] // count
    return [x[..., place * size : (place + 1) * size] for place in range(count)]


def _gru(given: Tensor, kept: Tensor, state: State) -> State:
    """Return h = (1 - z) n + z h; r, z = sigmoid(W x + V h), n = tanh(W x + r V h)."""
    a, b = _parts(given, 3), _parts(kept, 3)
    reset, update = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1])
    fresh = tanh(a[2] + reset * b[2])
    return (fresh + update * (state[0] - fresh),)


def _lstm(given: Tensor, kept: Tensor, state: State) -> State:
    """Return h = o tanh(c), c = f c + i g; i, f, g, o from W x + V h."""
    i, f, g, o = _parts(given + kept, 4)
    memory = sigmoid(f) * state[1] + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(memory), memory


STEPS: dict[str, Callable[[Tensor, Tensor, State], State]] = {
    "RNN tanh": lambda given, kept, state: (tanh(given + kept),),
    "RNN relu": lambda given, kept, state: (relu(given + kept),),
    "GRU": _gru,
    "LSTM": _lstm,
}
"""From input and hidden projections and the state to the next state."""


class _Cell(Module):
    """One recurrent step, with PyTorch's parameter names."""

    _kind: ClassVar[str] = "RNN"

    def __init__(
        self,
        input_size: SupportsIndex,
        hidden_size: SupportsIndex,
        bias: bool = True,
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        *,
        rng: init.Rng = None,
    ) -> None:
        """Make a cell; arguments as those of the layer."""
        name = type(self).__name__
        self.input_size = positive(name, "input_size", input_size)
        self.hidden_size = positive(name, "hidden_size", hidden_size)
        made = init.Maker(rng, device, dtype)
        rows = GATES[self._kind] * self.hidden_size
        bound = 1 / math.sqrt(self.hidden_size)
        self.weight_ih = made.uniform((rows, self.input_size), bound)
        self.weight_hh = made.uniform((rows, self.hidden_size), bound)
        self.bias_ih = made.uniform((rows,), bound) if bias else None
        self.bias_hh = made.uniform((rows,), bound) if bias else None

    def _next(self, x: ArrayLike, given: tuple[ArrayLike, ...], step: str) -> State:
        name = type(self).__name__
        inputs = as_float(name, x, self.weight_ih)
        if inputs.ndim not in (1, 2) or inputs.shape[-1] != self.input_size:
            raise ShapeError(
                f"{name}: the input has shape {inputs.shape}; it takes "
                f"(n, {self.input_size}) or ({self.input_size},)."
            )
        shape = (*inputs.shape[:-1], self.hidden_size)
        none = zeros(shape, dtype=inputs.dtype, device=inputs.device)
        state = tuple(
            [none if each is None else as_float(name, each, inputs) for each in given]
        )
        for each in state:
            if each.shape != shape:
                raise ShapeError(
                    f"{name}: the state has shape {each.shape}, not {shape}."
                )
        kept = linear(state[0], self.weight_hh, self.bias_hh)
        return STEPS[step](linear(inputs, self.weight_ih, self.bias_ih), kept, state)

    def extra_repr(self) -> str:
        """Return the settings."""
        text = f"{self.input_size}, {self.hidden_size}"
        return text if self.bias_ih is not None else f"{text}, bias=False"


class RNNCell(_Cell):
    """One step of an RNN: `(n, input_size)`, `(n, hidden_size)` to the next state.

    >>> tw.nn.RNNCell(3, 4)(tw.ones((2, 3))).shape
    (2, 4)
    """

    def __init__(
        self,
        input_size: SupportsIndex,
        hidden_size: SupportsIndex,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        *,
        rng: init.Rng = None,
    ) -> None:
        """Make a cell; `nonlinearity` is `tanh` or `relu`."""
        if nonlinearity not in ("tanh", "relu"):
            raise DataError(
                f"RNNCell: nonlinearity is {nonlinearity!r}; it is 'tanh' or 'relu'."
            )
        self.nonlinearity = nonlinearity
        super().__init__(input_size, hidden_size, bias, device, dtype, rng=rng)

    def forward(self, x: ArrayLike, h: ArrayLike = None) -> Tensor:
        """Return the next state; without one it begins with zeros."""
        return self._next(x, (h,), f"RNN {self.nonlinearity}")[0]


class GRUCell(_Cell):
    """One step of a GRU: `(n, input_size)`, `(n, hidden_size)` to the next state.

    >>> tw.nn.GRUCell(3, 4)(tw.ones((2, 3))).shape
    (2, 4)
    """

    _kind = "GRU"

    def forward(self, x: ArrayLike, h: ArrayLike = None) -> Tensor:
        """Return the next state; without one it begins with zeros."""
        return self._next(x, (h,), "GRU")[0]


class LSTMCell(_Cell):
    """One step of an LSTM, from `(state, memory)` to the next ones.

    >>> h, c = tw.nn.LSTMCell(3, 4)(tw.ones((2, 3)))
    >>> h.shape, c.shape
    ((2, 4), (2, 4))
    """

    _kind = "LSTM"

    def forward(
        self, x: ArrayLike, hx: tuple[ArrayLike, ArrayLike] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the next state and memory; without them they begin with zeros."""
        state = self._next(x, (None, None) if hx is None else tuple(hx), "LSTM")
        return state[0], state[1]
