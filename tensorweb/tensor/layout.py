"""Shape, dtype, device and parts of a tensor, and its view of the storage."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any, SupportsIndex

from tensorweb.devices import as_device
from tensorweb.dtypes import DType, as_dtype
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.graph.node import Node, element_view
from tensorweb.nodes.complex_parts import (
    conjugate,
    imaginary_part,
    join_parts,
    real_part,
)
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.movement import copy, expand, permute, reshape
from tensorweb.ops import OPS
from tensorweb.shapes import infer_reshape
from tensorweb.tensor.arguments import ROW_MAJOR, check_casting
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import (
    ArrayLike,
    DTypeLike,
    as_node,
    as_operands,
    as_shape_arguments,
)
from tensorweb.tensor.views import IMAGINARY, ORDER, REAL, reshape_in_place
from tensorweb.view import View

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor


API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


class Size(int):
    """How many elements a tensor has; `x.size()` and `x.size(0)` are as in PyTorch.

    >>> x = tw.ones((2, 3))
    >>> x.size, x.size(), x.size(-1)
    (6, (2, 3), 3)
    """

    _lengths: tuple[int, ...]  # Not `shape`, which only arrays have.

    def __call__(self, dim: SupportsIndex | None = None) -> Any:
        """Return the shape, or the length of an axis."""
        return self._lengths if dim is None else self._lengths[dim]

    def __reduce__(self) -> tuple[type, tuple[int]]:
        """Copy and pickle it as a number."""
        return int, (int(self),)


class LayoutMethods(TensorBase):
    """Properties of a tensor that need no computation."""

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis; `x.shape = (2, 3)` gives the elements another one."""
        return self.node.shape

    @shape.setter
    def shape(self, shape: SupportsIndex | Iterable[SupportsIndex]) -> None:
        new = infer_reshape(self.node.shape, as_shape_arguments((shape,), "shape"))
        reshape_in_place(self, reshape(self.node, new))

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.node.shape)

    @property
    def size(self) -> Size:
        """Number of elements; a call of it as in PyTorch is the shape, or a length."""
        size = Size(self.node.size)
        size._lengths = self.node.shape
        return size

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.node.dtype

    @property
    def device(self) -> str:
        """Name of the device it lives on."""
        return self.node.device

    @property
    def nbytes(self) -> int:
        """Bytes of all elements on the host, whether storage is shared or not."""
        return self.node.size * self.node.dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Steps in storage, in elements: 0 where an axis repeats, < 0 if flipped."""
        return element_view(self.node).strides

    @property
    def offset(self) -> int:
        """Storage position of the first element."""
        return element_view(self.node).offset

    @property
    def is_contiguous(self) -> bool:
        """Whether row-major order visits consecutive storage elements."""
        return element_view(self.node).is_contiguous

    @property
    def T(self) -> Tensor:
        """The axes in reverse order, as a view: of a matrix the transpose."""
        order = tuple(range(len(self.node.shape) - 1, -1, -1))
        return self._view(permute(self.node, order), ORDER, order)

    @property
    def mT(self) -> Tensor:
        """The transpose of each matrix of a stack (the last two axes), as a view."""
        rank = len(self.node.shape)
        if rank < 2:
            raise ShapeError(
                f"mT: shape {self.node.shape} has fewer than the two axes of a matrix."
            )
        order = (*range(rank - 2), rank - 1, rank - 2)
        return self._view(permute(self.node, order), ORDER, order)

    def shares_memory_with(self, other: TensorBase) -> bool:
        """Whether both tensors view overlapping parts of the same storage.

        Raises:
            DTypeError: `other` is no tensor.

        >>> x = tw.zeros((2, 3))
        >>> x.shares_memory_with(x.T)
        True
        """
        if not isinstance(other, TensorBase):
            raise DTypeError(
                f"shares_memory_with: other is of type {type(other).__name__}; data of "
                "the host are copied when they become one."
            )
        if self.node.base is not other.node.base:
            return False
        low, high = self.node.view.extent()
        other_low, other_high = other.node.view.extent()
        return max(low, other_low) <= min(high, other_high)

    def contiguous(self) -> Tensor:
        """Return the values in row-major storage; the tensor itself if they are so.

        >>> tw.zeros((2, 3)).T.contiguous().strides
        (2, 1)
        """
        node = self.node
        return (
            self if element_view(node) == View.contiguous(node.shape) else self.copy()  # type: ignore[return-value]  # all tensors are Tensor
        )

    def copy(self, order: str = "C") -> Tensor:
        """Return the values in storage of their own.

        Raises:
            DataError: `order` is column-major.

        >>> x = tw.tensor([1, 2])
        >>> y = x.copy()
        >>> y[0] = 9
        >>> x, y
        (tensor([1, 2]), tensor([9, 2]))
        """
        if order not in ROW_MAJOR:
            raise DataError(
                f"copy: order={order!r}, but elements lie in row-major order here; "
                "leave it out, or copy the transposed tensor."
            )
        return self._wrap(copy(self.node))

    def astype(
        self,
        dtype: DTypeLike,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
        *,
        device: object = None,
    ) -> Tensor:
        """Return the values in another dtype; floats become integers by truncation.

        Tensors are immutable, so `copy` only decides whether storage may be shared, and
        `subok` says nothing. `casting` is a rule of `np.can_cast`.

        Raises:
            DTypeError: the rule does not allow it, or the device has no such dtype.
            DataError: `order` is column-major.

        >>> tw.tensor([1.7, -1.7]).astype(tw.int32)
        tensor([ 1, -1])
        """
        new_dtype = as_dtype(dtype)
        if casting != "unsafe":
            check_casting("astype", self.node.dtype, new_dtype, casting)
        if order not in ROW_MAJOR:
            raise DataError(
                f"astype: order={order!r}, but elements lie in row-major order here; "
                "leave it out, or work on the transposed tensor."
            )
        if not copy and new_dtype is self.node.dtype and self._lies_on(device):
            return self  # type: ignore[return-value]  # all tensors are Tensor
        return self._wrap(as_node(self, new_dtype, device))

    def to_device(self, device: object, /, *, stream: object = None) -> Tensor:
        """Return the tensor on another device; itself when it is there already.

        Raises:
            DTypeError: the device cannot store the dtype.
            DataError: `stream` is given.

        >>> tw.tensor([1, 2]).to_device("cpu").device
        'cpu'
        """
        if stream is not None:
            raise DataError(
                "to_device: devices here have no streams; leave stream out."
            )
        return (
            self if self._lies_on(device) else self._wrap(as_node(self, None, device))  # type: ignore[return-value]  # all tensors are Tensor
        )

    def _lies_on(self, device: object) -> bool:
        """Whether this is the device it lies on already; None stands for that."""
        return device is None or as_device(device) == self.node.device

    def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType:
        """Return the module that holds the Array API's functions."""
        if api_version is not None and api_version not in API_VERSIONS:
            raise DataError(
                f"__array_namespace__: version {api_version!r}; known are "
                f"{', '.join(API_VERSIONS)}."
            )
        return sys.modules["tensorweb"]

    def __len__(self) -> int:
        if not self.node.shape:
            raise DataError("len(): a 0-d tensor has no length; use size.")
        return self.node.shape[0]

    @property
    def real(self) -> Tensor:
        """The real parts; of a real tensor itself."""
        part = real_part(self.node)
        return self if part is self.node else self._view(part, REAL, None)  # type: ignore[return-value]  # all tensors are Tensor

    @real.setter
    def real(self, value: ArrayLike) -> None:
        node = self.node
        part = self._written(value, real_part(node))
        self._replace(
            part
            if node.dtype.kind != "complex"
            else join_parts(part, imaginary_part(node))
        )

    @property
    def imag(self) -> Tensor:
        """The imaginary parts; zeros for a real tensor."""
        part = imaginary_part(self.node)
        if self.node.dtype.kind != "complex":
            return self._wrap(part)
        return self._view(part, IMAGINARY, None)

    @imag.setter
    def imag(self, value: ArrayLike) -> None:
        if self.node.dtype.kind != "complex":
            raise DTypeError(
                f"x.imag = v: x is {self.node.dtype} and has no imaginary part; "
                "write x = x + v * 1j."
            )
        real = real_part(self.node)
        self._replace(join_parts(real, self._written(value, real)))

    def _written(self, value: ArrayLike, part: Node) -> Node:
        """Return a value cast to the dtype of a part and broadcast to its shape."""
        (node,) = as_operands(value, device=part.device)
        return expand(cast(node, part.dtype), part.shape)

    def conj(self) -> Tensor:
        """Return the complex conjugate; of a real tensor itself.

        >>> tw.tensor([1 + 2j, 3 - 4j]).conj()
        tensor([1.-2.j, 3.+4.j], dtype=complex64)
        """
        if self.node.dtype.kind != "complex":
            return self  # type: ignore[return-value]  # all tensors are Tensor
        negative = OPS["negative"]
        return self._wrap(conjugate(self.node, lambda n: elementwise(negative, n)))
