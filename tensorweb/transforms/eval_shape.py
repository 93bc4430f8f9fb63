"""`eval_shape`: the shapes and dtypes of a function's results, without its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorweb import tree
from tensorweb.dtypes import DType, as_dtype
from tensorweb.functions import asarray, zeros
from tensorweb.graph.tracing import tracing
from tensorweb.shapes import as_shape
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import DTypeLike
from tensorweb.transforms.captured_names import CapturedNames
from tensorweb.transforms.inputs import name_of, transformation
from tensorweb.transforms.recordings import inputs_for


class ShapeDtypeStruct:
    """A shape and a dtype, which stand for a tensor.

    >>> tw.ShapeDtypeStruct((2, 3), tw.float32)
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    def __init__(self, shape: Any, dtype: DTypeLike) -> None:
        """Store both.

        Args:
            shape: a number or a tuple of them.
            dtype: of the elements.
        """
        self.shape = as_shape(shape)
        self.dtype: DType = as_dtype(dtype)

    def __repr__(self) -> str:
        """Return the class with its values."""
        return f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        """Whether another has this shape and dtype."""
        return isinstance(other, ShapeDtypeStruct) and vars(self) == vars(other)

    def __hash__(self) -> int:
        """Return a hash of both."""
        return hash((self.shape, self.dtype))


@transformation
def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the shapes and dtypes of what a function would return.

    Nothing is computed, and no memory is used: a large model can be described. What
    the function writes into tensors and modules, as running statistics, is undone.

    Args:
        fun: the function.
        args: its arguments: trees of tensors, numbers and `ShapeDtypeStruct`.
        kwargs: arguments by name.

    Returns:
        The tree of results with a `ShapeDtypeStruct` for each tensor.

    Raises:
        TraceError: the function reads a value that depends on its arguments.

    >>> tw.eval_shape(lambda a, b: a @ b, tw.zeros((2, 3)), tw.zeros((3, 4)))
    ShapeDtypeStruct(shape=(2, 4), dtype=float32)
    """
    leaves, structure = tree.flatten((args, kwargs))
    at = [
        index
        for index, leaf in enumerate(leaves)
        if isinstance(leaf, Tensor | ShapeDtypeStruct)
    ]
    given = [_tensor(leaves[index]).node for index in at]
    inputs, bases = inputs_for(given, [None] * len(at))
    for index, node in zip(at, inputs, strict=True):
        leaves[index] = Tensor(node)
    positional, named = tree.unflatten(structure, leaves)
    arguments = dict(zip(bases, given, strict=True))
    captured = CapturedNames(fun, set())
    with tracing(name_of(fun), arguments, "eval_shape") as trace:
        try:
            result = fun(*positional, **named)
            return tree.map(_described, result)
        finally:
            captured.restore_objects()
            for tensor, old in trace.outside_writes():
                tensor.node = old


def _tensor(leaf: Tensor | ShapeDtypeStruct) -> Tensor:
    return leaf if isinstance(leaf, Tensor) else zeros(leaf.shape, dtype=leaf.dtype)


def _described(leaf: Any) -> Any:
    if not isinstance(leaf, Tensor | int | float | complex):
        return leaf
    tensor = asarray(leaf)
    return ShapeDtypeStruct(tensor.shape, tensor.dtype)
