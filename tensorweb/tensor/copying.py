"""Copies of tensors through `copy` and `pickle`: values travel, graphs never do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorweb.devices import as_device, backend, require_dtype
from tensorweb.dtypes import DType
from tensorweb.errors import BlockingError, DeviceError, DTypeError
from tensorweb.evaluate import plain_number, read
from tensorweb.graph.autograd import is_leaf_of
from tensorweb.graph.node import constant, leaf
from tensorweb.graph.storage import HostData
from tensorweb.nodes.movement import stopped
from tensorweb.shapes import Shape
from tensorweb.tensor.base import TensorBase, become_leaf

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor

Saved = tuple[
    type[TensorBase],
    Shape,
    DType,
    str,
    float | None,
    bytes | None,
    str | None,
    bool,
]


class CopyingMethods(TensorBase):
    """Methods that the standard library's `copy` and `pickle` call."""

    __slots__ = ()

    def __copy__(self) -> Tensor:
        return self._another()

    def __deepcopy__(self, memo: object) -> Tensor:
        # A value never changes, so that two tensors can share it.
        return self._another()

    def _another(self) -> Tensor:
        """Return a new tensor of the same value; the copy of a leaf is a leaf."""
        tensor = type(self)(self.node, self.name)
        if is_leaf_of(self.node, self):
            become_leaf(tensor, stopped(self.node))
            tensor._grad = getattr(self, "_grad", None)
        return tensor  # type: ignore[return-value]  # all tensors are Tensor

    def __reduce__(self) -> tuple[object, Saved]:
        node = self.node
        number = plain_number(node)
        data = read([node])[0] if number is None else None
        saved = (type(self), node.shape, node.dtype, node.device, number, data)
        return restored, (*saved, self.name, is_leaf_of(node, self))


def restored(
    kind: type[TensorBase],
    shape: Shape,
    dtype: DType,
    device: str,
    number: float | None,
    data: bytes | None,
    name: str | None,
    requires_grad: bool = False,
) -> TensorBase:
    """Return a tensor from its pickled content: one number or row-major bytes.

    Raises:
        DeviceError: the device of the pickled tensor is not available.
        DTypeError: the device here cannot store the dtype.
    """
    try:
        as_device(device)
        backend(device)
    except BlockingError:
        pass  # The device may well come; its first use says so if it does not.
    except DeviceError as error:
        raise DeviceError(
            f"unpickle: a {dtype} tensor of shape {shape} was pickled on device "
            f'{device!r}, which is not here; pickle x.to_device("cpu") or '
            f"x.tolist() there. {error}"
        ) from error
    try:
        require_dtype(dtype, device)
    except DTypeError as error:
        raise DTypeError(f"unpickle: {error}") from None
    if data is None:
        assert number is not None, "internal: neither a number nor bytes were pickled"
        node = constant(number, dtype, device, shape)
    else:
        node = leaf(HostData(data), shape, dtype, device)
    tensor = kind(node, name)
    if requires_grad:
        become_leaf(tensor, node)
    return tensor
