"""`jit`: record what a function of tensors does once, replay it without Python.

The first call with arguments of some shapes and dtypes records the graph; later calls
fill the recorded command tape with the new arguments' buffers and submit it. Python
inside the function does not run again until shapes, dtypes or other arguments change.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import update_wrapper
from typing import Generic, ParamSpec, Protocol, TypeVar, cast

from tensorweb import devices
from tensorweb.errors import TraceError
from tensorweb.evaluate import recording
from tensorweb.graph import Node, Placeholder, leaf
from tensorweb.methods.base import TensorBase
from tensorweb.tensor import Tensor

P = ParamSpec("P")
R = TypeVar("R")

RECORDS_KEPT = 64
"""Recordings of one function, for different shapes and settings."""


class Replay(Protocol):
    """A recording of a backend."""

    @property
    def is_alive(self) -> bool:
        """Whether its device still exists."""

    def __call__(self, inputs: Sequence[Node]) -> list[Node]:
        """Return the results for other arguments."""


class Recorder(Protocol):
    """A backend that can record."""

    def record(self, inputs: Sequence[Node], outputs: Sequence[Node]) -> Replay:
        """Return how to compute outputs again for other inputs."""


def flatten(value: object, tensors: list[Node]) -> Hashable:
    """Return a value's structure and collect its tensors' nodes in order.

    Tuples, lists and dicts are opened; everything else must be hashable and counts as
    part of the structure.

    Raises:
        TraceError: something is neither a tensor nor hashable.
    """
    if isinstance(value, TensorBase):
        node = value.node
        tensors.append(node)
        return ("tensor", node.shape, node.dtype.name, node.device)
    if isinstance(value, tuple | list):
        parts = tuple([flatten(part, tensors) for part in value])
        return (type(value).__name__, parts)
    if isinstance(value, dict):
        keys = tuple(value)
        return ("dict", keys, tuple([flatten(value[key], tensors) for key in keys]))
    try:
        hash(value)
    except TypeError:
        raise TraceError(
            f"jit: an argument or result of type {type(value).__name__} is neither a "
            "tensor nor hashable; pass tensors, numbers, text, or tuples, lists and "
            "dicts of them."
        ) from None
    return ("value", type(value).__name__, value)


def rebuild(value: object, nodes: list[Node]) -> object:
    """Return a value of the same structure around other nodes, taken in order."""
    if isinstance(value, TensorBase):
        return Tensor(nodes.pop(0))
    if isinstance(value, tuple | list):
        parts = [rebuild(part, nodes) for part in value]
        return tuple(parts) if isinstance(value, tuple) else parts
    if isinstance(value, dict):
        return {key: rebuild(part, nodes) for key, part in value.items()}
    return value


class Jitted(Generic[P, R]):
    """A function that records itself; made by `jit`.

    Attributes:
        recordings: how often the function itself has run.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        """Wrap a function."""
        self._function = function
        self._known: OrderedDict[Hashable, tuple[Replay, object]] = OrderedDict()
        self.recordings = 0
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return what the function returns, replayed where it is known."""
        nodes: list[Node] = []
        key = (flatten(args, nodes), flatten(kwargs, nodes))
        if not nodes or any(node.device != "webgpu" for node in nodes):
            return self._function(*args, **kwargs)
        found = self._known.get(key)
        if found is None or not found[0].is_alive:
            found = self._known[key] = self._record(args, kwargs, nodes)
            if len(self._known) > RECORDS_KEPT:
                self._known.popitem(last=False)
        replay, pattern = found
        return cast(R, rebuild(pattern, replay(nodes)))

    def _record(
        self, args: object, kwargs: object, nodes: Sequence[Node]
    ) -> tuple[Replay, object]:
        """Run the function on placeholders and return its replay."""
        inputs = [
            leaf(Placeholder(), node.shape, node.dtype, node.device) for node in nodes
        ]
        given = list(inputs)
        new_args = cast(tuple[object, ...], rebuild(args, given))
        new_kwargs = cast(dict[str, object], rebuild(kwargs, given))
        self.recordings += 1
        name = getattr(self._function, "__name__", "function")
        function = cast(Callable[..., object], self._function)
        with recording(name):
            result = function(*new_args, **new_kwargs)
        outputs: list[Node] = []
        flatten(result, outputs)
        if not outputs:
            raise TraceError(f"jit: {name} returns no tensor; there is nothing to run.")
        if any(node.device != "webgpu" for node in outputs):
            raise TraceError(f"jit: {name} returns a tensor of another device.")
        backend = cast(Recorder, devices.backend("webgpu"))
        return backend.record(inputs, outputs), result


def jit(function: Callable[P, R]) -> Jitted[P, R]:
    """Return a function that runs as one recorded batch of GPU commands.

    Arguments may be tensors and tuples, lists and dicts of them; other arguments are
    part of the recording and must be hashable. Shapes, dtypes and such arguments that
    were not seen before record again. Inside, values cannot be read: `if x > 0` and
    `print(x)` raise `TraceError`. Tensors that the function takes from outside keep the
    values they had when it was recorded. On the cpu device the function simply runs.

    >>> @jit
    ... def step(w, gradient):
    ...     return w - 0.1 * gradient
    >>> step(tw.ones(3), tw.ones(3))
    tensor([0.9, 0.9, 0.9])

    Raises:
        TraceError: the function asks for a value, or returns no tensor.
    """
    return Jitted(function)
