"""`vmap`: vectorize a function of one example over a batch.

The function runs once, on placeholders without the batch axis. Its graph is then
rebuilt with that axis in front (`rules/batch.py`). Values that depend on no batched
argument are computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from tensorweb import tree
from tensorweb.errors import TransformError
from tensorweb.functions import asarray
from tensorweb.graph.autograd import reaches_leaf
from tensorweb.graph.node import DERIVED, Node, leaf, like, pair_of
from tensorweb.graph.tracing import Placeholder, tracing
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import taking_torch_words
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import device_of
from tensorweb.transforms.inputs import name_of, transformation, wraps_function
from tensorweb.transforms.rules.batch import batched, dependent_nodes, moved, of_batch

P = ParamSpec("P")
R = TypeVar("R")

Axes = Any
"""An axis, None for an argument that is not batched, or a tree of them."""


@taking_torch_words
@transformation
def vmap(
    function: Callable[P, R], in_axes: Axes = 0, out_axes: Axes = 0
) -> Callable[P, R]:
    """Return a function that maps another over a batch axis of its arguments.

    Args:
        function: takes tensors or trees of them; it runs once and cannot read values.
        in_axes: the batch axis of each positional argument, None where an argument is
            shared by all examples; one axis for all arguments, or a tuple with an axis
            (or a tree of axes) per argument. Keyword arguments are batched along axis
            0.
        out_axes: the batch axis of the results; one axis, or a tree like the result.

    Returns:
        A function of the same arguments; results are stacked along the batch axis.

    Raises:
        TransformError: nothing is batched, lengths differ, or an axis does not exist.
        TraceError: the function reads a value that depends on the batch.

    >>> vmap(lambda row: row.sum())(tw.asarray([[1, 2], [3, 4]]))
    tensor([3, 7])
    >>> vmap(lambda a, b: a @ b, (0, None))(tw.ones((4, 3)), tw.ones(3)).shape
    (4,)
    """
    name = name_of(function)

    @wraps_function(function)
    def wrapped(*arguments: Any, **keywords: Any) -> Any:
        leaves, structure = tree.flatten((arguments, keywords))
        axes = _spread(
            (_per_argument(in_axes, len(arguments)), 0), structure, "in_axes"
        )
        batches: dict[Node, Node] = {}
        size: int | None = None
        values: list[Any] = []
        device = device_of(*leaves)
        for value, axis in zip(leaves, axes, strict=True):
            if axis is None or not _is_array(value):
                values.append(value)
                continue
            whole = (
                value
                if isinstance(value, TensorBase)
                else asarray(value, device=device)
            )
            node = whole.node
            at = _checked_axis(axis, len(node.shape), node.shape, "in_axes")
            if size is not None and node.shape[at] != size:
                raise TransformError(
                    f"vmap: axis {axis} of shape {node.shape} has length "
                    f"{node.shape[at]}, and another argument's batch is {size} long; "
                    "all must be equal, None in in_axes leaves an argument as it is."
                )
            size = node.shape[at]
            front = moved(node, at, 0)
            one = leaf(Placeholder(), front.shape[1:], node.dtype, node.device)
            one.history = DERIVED if reaches_leaf(node) else None
            batches[pair_of(one)] = pair_of(front)
            values.append(Tensor(one))
        if size is None:
            raise TransformError(
                f"vmap: no tensor of {name}'s arguments is batched; give in_axes an "
                "axis for one, or call the function itself."
            )
        positional, named = tree.unflatten(structure, values)
        with tracing(name, batches, "vmap", of_batch=of_batch(batches, size)):
            result = function(*positional, **named)
        return _batched_result(result, batches, size, out_axes)

    return wrapped


def _batched_result(
    result: Any, batches: dict[Node, Node], size: int, out_axes: Axes
) -> Any:
    """Return the tree of results for the full batch."""
    leaves, structure = tree.flatten(result)
    axes = _spread(out_axes, structure, "out_axes")
    tensors = [pair_of(v.node) for v in leaves if isinstance(v, TensorBase)]
    order = dependent_nodes(tensors, list(batches))
    nodes = iter(batched(tensors, order, dict(batches), size))
    created: list[Any] = []
    for value, axis in zip(leaves, axes, strict=True):
        if not isinstance(value, TensorBase):
            created.append(value)
            continue
        node = like(value.node, next(nodes))
        rank = len(node.shape)
        at = _checked_axis(axis or 0, rank, node.shape, "out_axes")
        created.append(Tensor(moved(node, 0, at)))
    return tree.unflatten(structure, created)


def _is_array(value: Any) -> bool:
    return isinstance(value, TensorBase) or hasattr(value, "__array__")


def _per_argument(in_axes: Axes, count: int) -> tuple[Axes, ...]:
    """Return the axes of each positional argument."""
    if not isinstance(in_axes, tuple | list):
        return (in_axes,) * count
    if len(in_axes) != count:
        raise TransformError(
            f"vmap: in_axes has {len(in_axes)} entries for {count} positional "
            "arguments; give one for each, or one for all."
        )
    return tuple(in_axes)


def _spread(axes: Axes, structure: tree.Structure, name: str) -> list[int | None]:
    """Return the axis of every leaf; an axis of a subtree applies to all of its leaves.

    Raises:
        TransformError: the tree of axes does not match the structure.
    """
    if axes is None or isinstance(axes, int):
        return [axes] * structure.count
    parts = tree.children(axes)
    if parts is None or len(parts) != len(structure.parts):
        raise TransformError(
            f"vmap: {name} does not fit {structure}; give an axis, None, or a tree of "
            "them of the same structure."
        )
    spread: list[int | None] = []
    for part, below in zip(parts, structure.parts, strict=True):
        spread += _spread(part, below, name)
    return spread


def _checked_axis(axis: int, rank: int, shape: Sequence[int], name: str) -> int:
    """Return a nonnegative axis.

    Raises:
        TransformError: there is no such axis.
    """
    at = axis + rank if axis < 0 else axis
    if not 0 <= at < rank:
        raise TransformError(
            f"vmap: {name} names axis {axis} of shape {tuple(shape)}, which has {rank}."
        )
    return at
