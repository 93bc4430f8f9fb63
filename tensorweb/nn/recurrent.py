"""Recurrent layers: RNN, GRU, LSTM.

The input projections of all steps are one matrix product; the hidden projections are
sequential. A sequence of n steps is a graph of n cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, SupportsIndex

from tensorweb import dtypes
from tensorweb.errors import DataError, ShapeError, expected_clash
from tensorweb.functions import (
    concat,
    flip,
    relu,
    sigmoid,
    stack,
    tanh,
    where,
    zeros,
)
from tensorweb.nn import init
from tensorweb.nn.affine import linear
from tensorweb.nn.arguments import as_float, choice, positive
from tensorweb.nn.dropout_layers import dropout as drop
from tensorweb.nn.dropout_layers import training_key
from tensorweb.nn.module import Module
from tensorweb.nn.packing import PackedSequence
from tensorweb.public_names import declare_public
from tensorweb.random import fold_in
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike

State = tuple[Tensor, ...]
"""The state between steps: hidden state, and for an LSTM the cell state."""


GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
"""Rows of a weight per element of the hidden state."""


def _gates(x: Tensor, count: int) -> list[Tensor]:
    """Return equal parts of the last axis, one for each gate."""
    size = x.shape[-1] // count
    return [x[..., gate * size : (gate + 1) * size] for gate in range(count)]


def _gru(x: Tensor, hidden: Tensor, state: State) -> State:
    """Return h = (1 - z) n + z h; r, z = sigmoid(W x + V h), n = tanh(W x + r V h)."""
    a, b = _gates(x, 3), _gates(hidden, 3)
    reset, update = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1])
    new = tanh(a[2] + reset * b[2])
    return (new + update * (state[0] - new),)


def _lstm(x: Tensor, hidden: Tensor, state: State) -> State:
    """Return h = o tanh(c), c = f c + i g; i, f, g, o from W x + V h."""
    i, f, g, o = _gates(x + hidden, 4)
    memory = sigmoid(f) * state[1] + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(memory), memory


STEPS: dict[str, Callable[[Tensor, Tensor, State], State]] = {
    "RNN tanh": lambda x, hidden, state: (tanh(x + hidden),),
    "RNN relu": lambda x, hidden, state: (relu(x + hidden),),
    "GRU": _gru,
    "LSTM": _lstm,
}
"""From input and hidden projections and the state to the next state."""


def _checked_nonlinearity(name: str, nonlinearity: str) -> str:
    """Return the nonlinearity of an RNN.

    Raises:
        DataError: it is neither `tanh` nor `relu`.
    """
    return choice(name, "nonlinearity", nonlinearity, ("tanh", "relu"))


class _Recurrent(Module):
    """Base of recurrent layers, with PyTorch's parameter names."""

    _kind: ClassVar[str] = "RNN"
    _has_memory: ClassVar[bool] = False

    def __init__(
        self,
        input_size: SupportsIndex,
        hidden_size: SupportsIndex,
        num_layers: SupportsIndex = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        *,
        rng: init.Rng = None,
    ) -> None:
        """Make a layer.

        Args:
            input_size: length of one step's input.
            hidden_size: length of the state.
            num_layers: count of layers, each fed with the states of the previous.
            bias: whether there is a bias.
            batch_first: whether inputs are `(n, steps, size)` and not
                `(steps, n, size)`.
            dropout: dropout probability between layers, in calls with `key=`.
            bidirectional: whether sequences are processed in both directions.
            device: device of its tensors.
            dtype: floating-point dtype of its tensors.
            rng: a generator, a key or a seed; None for the program's generator.

        Raises:
            DataError: `dropout` is no probability.
        """
        name = type(self).__name__
        self.input_size = positive(name, "input_size", input_size)
        self.hidden_size = positive(name, "hidden_size", hidden_size)
        self.num_layers = positive(name, "num_layers", num_layers)
        self.bias, self.batch_first = bias, batch_first
        if not 0.0 <= dropout <= 1.0:
            raise DataError(f"{name}: dropout is {dropout}; it is from 0 to 1.")
        self.dropout, self.bidirectional = dropout, bidirectional
        self._make(init.Maker(rng, device, dtype))

    @property
    def _output_size(self) -> int:
        """Length of a step's output."""
        return self.hidden_size

    def _suffixes(self) -> list[str]:
        """Return the parameter name suffix of each layer and direction."""
        directions = ("", "_reverse") if self.bidirectional else ("",)
        layers = range(self.num_layers)
        return [f"_l{layer}{direction}" for layer in layers for direction in directions]

    def _make(self, made: init.Maker) -> None:
        directions = 2 if self.bidirectional else 1
        rows = GATES[self._kind] * self.hidden_size
        bound = 1 / math.sqrt(self.hidden_size)
        for index, suffix in enumerate(self._suffixes()):
            is_first = index < directions
            width = self.input_size if is_first else directions * self._output_size
            shapes: dict[str, tuple[int, ...]] = {
                "weight_ih": (rows, width),
                "weight_hh": (rows, self._output_size),
            }
            if self.bias:
                shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
            if self._output_size != self.hidden_size:
                shapes["weight_hr"] = (self._output_size, self.hidden_size)
            for name, shape in shapes.items():
                setattr(self, name + suffix, made.uniform(shape, bound))

    def _parameter(self, name: str) -> Tensor | None:
        tensor: Tensor | None = vars(self).get(name)
        return tensor

    def forward(
        self, x: ArrayLike, h: ArrayLike = None, *, key: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the states of all steps, and the last of each layer.

        Raises:
            ShapeError: the input or the first state does not fit.
        """
        output, ends = self._run(x, () if h is None else (h,), key)
        return output, ends[0]

    def _run(
        self, x: ArrayLike, states: Sequence[ArrayLike], key: Tensor | None
    ) -> tuple[Any, State]:
        """Return the last layer's outputs, and the final states of all layers."""
        name = type(self).__name__
        if isinstance(x, PackedSequence):
            tensor = as_float(name, x.padded, self._parameter("weight_ih_l0"))
            first = self._states(name, tensor, states, False)
            outputs, last = self._layers(tensor, first, key, x._mask())
            ends = tuple([stack(list(part)) for part in zip(*last, strict=True)])
            return PackedSequence(outputs, x.lengths), ends
        tensor = as_float(name, x, self._parameter("weight_ih_l0"))
        if tensor.ndim not in (2, 3) or tensor.shape[-1] != self.input_size:
            order = "n, steps" if self.batch_first else "steps, n"
            raise ShapeError(
                f"{name}: the input has shape {tensor.shape}; it takes ({order}, "
                f"{self.input_size}) or (steps, {self.input_size}).",
                clash=expected_clash(
                    tensor.shape, (-1, -1, self.input_size), has_one=True, layer=name
                ),
            )
        is_one = tensor.ndim == 2
        if is_one:
            tensor = tensor.expand_dims(axis=1)
        elif self.batch_first:
            tensor = tensor.permute_dims((1, 0, 2))
        if not tensor.shape[0]:
            raise ShapeError(f"{name}: the input has no steps, shape {tensor.shape}.")
        first = self._states(name, tensor, states, is_one)
        inputs, last = self._layers(tensor, first, key)
        ends = tuple([stack(list(part)) for part in zip(*last, strict=True)])
        if is_one:
            return inputs.squeeze(1), tuple([end.squeeze(1) for end in ends])
        return inputs.permute_dims((1, 0, 2)) if self.batch_first else inputs, ends

    def _layers(
        self,
        x: Tensor,
        first: list[State],
        key: Tensor | None,
        mask: Tensor | None = None,
    ) -> tuple[Tensor, list[State]]:
        directions = 2 if self.bidirectional else 1
        suffixes, last = self._suffixes(), []
        key = training_key(self, self.dropout, key, x)
        for layer in range(self.num_layers):
            if layer and self.dropout and key is not None:
                x = drop(x, self.dropout, key=fold_in(key, layer))
            outputs = []
            for direction in range(directions):
                index = layer * directions + direction
                # Backwards the steps behind a sequence come first, and change nothing.
                steps, own = x, mask
                if direction:
                    steps = flip(x, axis=0)
                    own = None if mask is None else flip(mask, axis=0)
                output, end = self._along(steps, first[index], suffixes[index], own)
                outputs.append(flip(output, axis=0) if direction else output)
                last.append(end)
            x = outputs[0] if directions == 1 else concat(outputs, axis=-1)
        return x, last

    def _along(
        self, x: Tensor, state: State, suffix: str, mask: Tensor | None
    ) -> tuple[Tensor, State]:
        """Return the outputs of all steps, and the final state.

        A mask `(steps, n)` says which steps there are; the others change no state.
        """
        parameter, step = self._parameter, STEPS[self._step_kind()]
        weight, bias = parameter("weight_hh" + suffix), parameter("bias_hh" + suffix)
        projection = parameter("weight_hr" + suffix)
        inputs = linear(
            x, parameter("weight_ih" + suffix), parameter("bias_ih" + suffix)
        )
        outputs = []
        for index in range(x.shape[0]):
            before = state
            state = step(inputs[index], linear(state[0], weight, bias), state)
            if projection is not None:
                state = (linear(state[0], projection), *state[1:])
            output = state[0]
            if mask is not None:
                is_there = mask[index][:, None]
                output = where(is_there, output, 0.0)
                pairs = zip(state, before, strict=True)
                state = tuple([where(is_there, new, old) for new, old in pairs])
            outputs.append(output)
        return stack(outputs), state

    def _step_kind(self) -> str:
        return self._kind

    def _states(
        self, name: str, x: Tensor, first: Sequence[ArrayLike], is_one: bool
    ) -> list[State]:
        """Return the initial state of each layer and direction."""
        count = len(self._suffixes())
        sizes = [self._output_size]
        if self._has_memory:
            sizes.append(self.hidden_size)
        shapes = [(count, x.shape[1], size) for size in sizes]
        if not first:
            parts = [zeros(shape, dtype=x.dtype, device=x.device) for shape in shapes]
        else:
            parts = [as_float(name, state, x) for state in first]
            if is_one:
                parts = [part.expand_dims(axis=1) for part in parts]
        for part, shape in zip(parts, shapes, strict=True):
            if part.shape != shape:
                raise ShapeError(
                    f"{name}: a first state has shape {part.shape}; it is {shape}: "
                    "layers and directions, examples, size."
                )
        return [tuple([part[index] for part in parts]) for index in range(count)]

    def extra_repr(self) -> str:
        """Return the settings that differ from the defaults."""
        parts = [f"{self.input_size}, {self.hidden_size}"]
        defaults: dict[str, Any] = {
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0.0,
            "bidirectional": False,
        }
        for name, default in defaults.items():
            if getattr(self, name) != default:
                parts.append(f"{name}={getattr(self, name)}")
        return ", ".join(parts)


class RNN(_Recurrent):
    """`h = tanh(W x + b + V h + c)` along a sequence.

    Attributes:
        weight_ih_l0: `(hidden_size, input_size)`, and so on for each layer `l1` …,
            with `_reverse` for the backward direction.
        weight_hh_l0: `(hidden_size, hidden_size)`.
        bias_ih_l0: `(hidden_size,)`.
        bias_hh_l0: `(hidden_size,)`.

    >>> output, last = tw.nn.RNN(3, 4)(tw.ones((5, 2, 3)))
    >>> output.shape, last.shape
    ((5, 2, 4), (1, 2, 4))
    """

    def __init__(
        self,
        input_size: SupportsIndex,
        hidden_size: SupportsIndex,
        num_layers: SupportsIndex = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        *,
        rng: init.Rng = None,
    ) -> None:
        """Make a layer.

        Args:
            input_size: length of one step's input.
            hidden_size: length of the state.
            num_layers: count of layers, each fed with the states of the previous.
            nonlinearity: the activation, `tanh` or `relu`.
            bias: whether there is a bias.
            batch_first: whether inputs are `(n, steps, size)` and not
                `(steps, n, size)`.
            dropout: dropout probability between layers, in calls with `key=`.
            bidirectional: whether sequences are processed in both directions.
            device: device of its tensors.
            dtype: floating-point dtype of its tensors.
            rng: a generator, a key or a seed; None for the program's generator.
        """
        self.nonlinearity = _checked_nonlinearity("RNN", nonlinearity)
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device,
            dtype,
            rng=rng,
        )

    def _step_kind(self) -> str:
        return f"RNN {self.nonlinearity}"


class GRU(_Recurrent):
    """Gated recurrent units along a sequence.

    `r` and `z` are `sigmoid(W x + V h)`, `n = tanh(W x + r (V h + c))` and
    `h = (1 - z) n + z h`; weights hold the rows of r, z and n one below the other.
    Source: K. Cho and others, Learning phrase representations, 2014.

    Attributes:
        weight_ih_l0: `(3 hidden_size, input_size)`, and so on for each layer `l1` …,
            with `_reverse` for the backward direction.
        weight_hh_l0: `(3 hidden_size, hidden_size)`.
        bias_ih_l0: `(3 hidden_size,)`.
        bias_hh_l0: `(3 hidden_size,)`.

    >>> output, last = tw.nn.GRU(3, 4, num_layers=2)(tw.ones((5, 2, 3)))
    >>> output.shape, last.shape
    ((5, 2, 4), (2, 2, 4))
    """

    _kind = "GRU"


class LSTM(_Recurrent):
    """Long short-term memory along a sequence.

    `i`, `f`, `o` are `sigmoid(W x + V h)` and `g = tanh(W x + V h)`, then
    `c = f c + i g` and `h = o tanh(c)`; weights hold the rows of i, f, g and o one
    below the other. Source: S. Hochreiter, J. Schmidhuber, Long short-term memory,
    1997.

    Attributes:
        weight_ih_l0: `(4 hidden_size, input_size)`, and so on for each layer `l1` …,
            with `_reverse` for the backward direction.
        weight_hh_l0: `(4 hidden_size, hidden_size)`.
        bias_ih_l0: `(4 hidden_size,)`.
        bias_hh_l0: `(4 hidden_size,)`.
        weight_hr_l0: `(proj_size, hidden_size)`, with `proj_size`.

    >>> output, (last, memory) = tw.nn.LSTM(3, 4)(tw.ones((5, 2, 3)))
    >>> output.shape, last.shape, memory.shape
    ((5, 2, 4), (1, 2, 4), (1, 2, 4))
    """

    _kind = "LSTM"
    _has_memory = True

    def __init__(
        self,
        input_size: SupportsIndex,
        hidden_size: SupportsIndex,
        num_layers: SupportsIndex = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        *,
        rng: init.Rng = None,
    ) -> None:
        """Make a layer.

        Args:
            input_size: length of one step's input.
            hidden_size: length of the state.
            num_layers: count of layers, each fed with the states of the previous.
            bias: whether there is a bias.
            batch_first: whether inputs are `(n, steps, size)` and not
                `(steps, n, size)`.
            dropout: dropout probability between layers, in calls with `key=`.
            bidirectional: whether sequences are processed in both directions.
            proj_size: length to which states are projected, below `hidden_size`; 0 for
                no projection.
            device: device of its tensors.
            dtype: floating-point dtype of its tensors.
            rng: a generator, a key or a seed; None for the program's generator.

        Raises:
            DataError: `proj_size` is not below `hidden_size`.
        """
        self.proj_size = proj_size
        size = positive("LSTM", "hidden_size", hidden_size)
        if not 0 <= proj_size < size:
            raise DataError(
                f"LSTM: proj_size is {proj_size}; it is below hidden_size {size}."
            )
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device,
            dtype,
            rng=rng,
        )

    @property
    def _output_size(self) -> int:
        return self.proj_size or self.hidden_size

    def forward(  # type: ignore[override]  # a pair
        self,
        x: ArrayLike,
        hx: tuple[ArrayLike, ArrayLike] | None = None,
        *,
        key: Tensor | None = None,
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return the states of all steps, and the last state and memory of each layer.

        Raises:
            ShapeError: the input or a first state does not fit.
        """
        if hx is not None and len(hx) != 2:
            raise ShapeError(
                f"LSTM: hx has {len(hx)} parts; give a pair, states and memories."
            )
        output, ends = self._run(x, () if hx is None else tuple(hx), key)
        return output, (ends[0], ends[1])


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
        """Make a cell.

        Args:
            input_size: length of one step's input.
            hidden_size: length of the state.
            bias: whether there is a bias.
            device: device of its tensors.
            dtype: floating-point dtype of its tensors.
            rng: a generator, a key or a seed; None for the program's generator.
        """
        name = type(self).__name__
        self.input_size = positive(name, "input_size", input_size)
        self.hidden_size = positive(name, "hidden_size", hidden_size)
        maker = init.Maker(rng, device, dtype)
        rows = GATES[self._kind] * self.hidden_size
        bound = 1 / math.sqrt(self.hidden_size)
        self.weight_ih = maker.uniform((rows, self.input_size), bound)
        self.weight_hh = maker.uniform((rows, self.hidden_size), bound)
        self.bias_ih = maker.uniform((rows,), bound) if bias else None
        self.bias_hh = maker.uniform((rows,), bound) if bias else None

    def _next(self, x: ArrayLike, state: tuple[ArrayLike, ...], step: str) -> State:
        """Return the next state; None in a state is zeros."""
        name = type(self).__name__
        inputs = as_float(name, x, self.weight_ih)
        if inputs.ndim not in (1, 2) or inputs.shape[-1] != self.input_size:
            raise ShapeError(
                f"{name}: the input has shape {inputs.shape}; it takes "
                f"(n, {self.input_size}) or ({self.input_size},).",
                clash=expected_clash(
                    inputs.shape, (-1, self.input_size), has_one=True, layer=name
                ),
            )
        shape = (*inputs.shape[:-1], self.hidden_size)
        parts = [
            zeros(shape, dtype=inputs.dtype, device=inputs.device)
            if part is None
            else as_float(name, part, inputs)
            for part in state
        ]
        for part in parts:
            if part.shape != shape:
                raise ShapeError(
                    f"{name}: the state has shape {part.shape}, not {shape}."
                )
        hidden = linear(parts[0], self.weight_hh, self.bias_hh)
        x = linear(inputs, self.weight_ih, self.bias_ih)
        return STEPS[step](x, hidden, tuple(parts))

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
        """Make a cell.

        Args:
            input_size: length of one step's input.
            hidden_size: length of the state.
            bias: whether there is a bias.
            nonlinearity: the activation, `tanh` or `relu`.
            device: device of its tensors.
            dtype: floating-point dtype of its tensors.
            rng: a generator, a key or a seed; None for the program's generator.
        """
        self.nonlinearity = _checked_nonlinearity("RNNCell", nonlinearity)
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


declare_public(__name__)
