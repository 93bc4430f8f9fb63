"""Make tensors: from data, filled, counted, or with a pattern."""

from __future__ import annotations

from tensorweb.convert import ArrayLike, DTypeLike, as_node
from tensorweb.tensor import Tensor


def asarray(
    obj: ArrayLike,
    /,
    *,
    dtype: DTypeLike = None,
    device: object = None,
    copy: bool | None = None,
) -> Tensor:
    """Return data as a tensor."""
    if isinstance(obj, Tensor) and dtype is None and device is None and not copy:
        return obj
    return Tensor(as_node(obj, dtype, device, copy))
