"""einops on tensors: `einops.rearrange(x, "b (h w) -> b h w", h=2)`.

einops asks subclasses of its `AbstractBackend` whose name is an imported module. Ours
is made when einops is imported, see `tensorweb/exchange/arrivals.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorweb.functions.creation import arange, asarray
from tensorweb.functions.joining import concat, stack
from tensorweb.functions.linear_algebra import einsum
from tensorweb.tensor import Tensor


def register(backends: Any) -> None:
    """Give einops a backend for tensors; `backends` is its module of that name."""

    class TensorwebBackend(backends.AbstractBackend):  # type: ignore[misc]  # einops has no types
        """What einops asks of a library of tensors."""

        framework_name = "tensorweb"

        def is_appropriate_type(self, tensor: object) -> bool:
            """Whether something is a tensor."""
            return isinstance(tensor, Tensor)

        def from_numpy(self, x: object) -> Tensor:
            """Return an array as a tensor."""
            return asarray(x)

        def to_numpy(self, x: Tensor) -> Any:
            """Return a tensor as an array."""
            return x.numpy()

        def arange(self, start: int, stop: int) -> Tensor:
            """Return whole numbers."""
            return arange(start, stop)

        def transpose(self, x: Tensor, axes: Sequence[int]) -> Tensor:
            """Return a tensor with its axes in another order."""
            return x.permute(*axes)

        def stack_on_zeroth_dimension(self, tensors: list[Tensor]) -> Tensor:
            """Return tensors of one shape as one with a new first axis."""
            return stack(tensors)

        def add_axes(
            self, x: Tensor, n_axes: int, pos2len: Mapping[int, int]
        ) -> Tensor:
            """Return a tensor repeated along new axes, as a view."""
            wide = x.expand_dims(tuple(pos2len))
            lengths = enumerate(wide.shape)
            return wide.broadcast_to(tuple(pos2len.get(i, n) for i, n in lengths))

        def tile(self, x: Tensor, repeats: Sequence[int]) -> Tensor:
            """Return a tensor repeated as a whole along each axis."""
            return x.tile(tuple(repeats))

        def concat(self, tensors: list[Tensor], axis: int) -> Tensor:
            """Return tensors joined along an axis."""
            return concat(tensors, axis=axis)

        def is_float_type(self, x: Tensor) -> bool:
            """Whether means can be taken."""
            return x.dtype.kind in ("float", "complex")

        def einsum(self, pattern: str, *x: Tensor) -> Tensor:
            """Return a sum of products."""
            return einsum(pattern, *x)

    # Python knows subclasses by weak references only.
    backends.TensorwebBackend = TensorwebBackend
