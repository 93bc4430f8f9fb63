"""The tensor: what it can do, by topic, and how values become one."""

from tensorweb.tensor.tensor import Tensor

__all__ = ["Tensor"]
