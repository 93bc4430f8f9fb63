"""The tensor: its methods by topic, and the conversion of data to tensors.

The package can be called, as PyTorch's `tensor`: a copy of `data` as a tensor, with
`dtype=`, `device=` and `requires_grad=`.

>>> tw.tensor([1.0, 2.0], requires_grad=True).requires_grad
True
"""

from tensorweb.tensor.tensor import Tensor

__all__ = ["Tensor"]
