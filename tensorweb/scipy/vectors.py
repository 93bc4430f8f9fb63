"""Trees of tensors as one vector, for the methods that solve and minimise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorweb import tree
from tensorweb.errors import DataError
from tensorweb.functions import asarray, concat, result_type
from tensorweb.tensor import Tensor


def vector_of(name: str, value: Any) -> tuple[Tensor, Callable[[Tensor], Any]]:
    """Return the numbers of a tree as one vector, and the function back to the tree.

    Integers become float32; a list of numbers is one leaf, as for SciPy.

    Raises:
        DataError: there is no number in the tree.
    """
    if isinstance(value, list | tuple) and all(
        isinstance(part, int | float) for part in value
    ):
        value = asarray(value)
    leaves, structure = tree.flatten(value)
    tensors = [asarray(leaf) for leaf in leaves]
    if not tensors:
        raise DataError(f"{name}: there is no number in the tree; give tensors.")
    dtype = result_type(*tensors, "float32")
    shapes = [tensor.shape for tensor in tensors]
    sizes = [tensor.size for tensor in tensors]

    def back(vector: Tensor) -> Any:
        parts, end = [], 0
        for shape, size in zip(shapes, sizes, strict=True):
            part = vector if len(sizes) == 1 else vector[..., end : end + size]
            parts.append(part.reshape((*vector.shape[:-1], *shape)))
            end += size
        return tree.unflatten(structure, parts)

    parts = [tensor.astype(dtype).reshape(-1) for tensor in tensors]
    return concat(parts) if len(parts) > 1 else parts[0], back
