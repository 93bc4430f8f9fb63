"""Methods of PyTorch's tensors that NumPy's arrays and the Array API lack.

Most are another name of a method, some are functions of `tw.nn` and `tw.linalg`, which
are imported when a program first calls one.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

from tensorweb import dtypes
from tensorweb.devices import stores
from tensorweb.errors import DataError, ShapeError
from tensorweb.tensor.algebra import AlgebraMethods
from tensorweb.tensor.arguments import library
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import ArrayLike, DTypeLike, as_node
from tensorweb.tensor.elementwise import ElementwiseMethods
from tensorweb.tensor.indexing import IndexingMethods
from tensorweb.tensor.layout import LayoutMethods
from tensorweb.tensor.movement import MovementMethods
from tensorweb.tensor.operators import InPlaceOperators, OperationMethods
from tensorweb.tensor.rearrangement import RearrangementMethods

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor

Length = int  # In the class below `int` is a method.


class TorchMethods(
    InPlaceOperators,
    ElementwiseMethods,
    OperationMethods,
    LayoutMethods,
    MovementMethods,
    RearrangementMethods,
    IndexingMethods,
    AlgebraMethods,
):
    """What programs written for PyTorch ask of tensors."""

    __slots__ = ()

    clone = LayoutMethods.copy
    type = LayoutMethods.astype
    clamp = OperationMethods.clip
    mul = ElementwiseMethods.multiply
    neg = ElementwiseMethods.negative
    eq = ElementwiseMethods.equal
    ne = ElementwiseMethods.not_equal
    lt = ElementwiseMethods.less
    le = ElementwiseMethods.less_equal
    gt = ElementwiseMethods.greater
    ge = ElementwiseMethods.greater_equal
    mm = bmm = mv = AlgebraMethods.matmul
    movedim = MovementMethods.moveaxis
    swapdims = MovementMethods.swapaxes
    unbind = RearrangementMethods.unstack
    repeat_interleave = RearrangementMethods.repeat

    def to(
        self,
        *target: object,
        device: object = None,
        dtype: DTypeLike = None,
        non_blocking: object = False,
        copy: object = False,
    ) -> Tensor:
        """Return the tensor on a device, in a dtype, or as another tensor is.

        Errors are those of `astype` and `to_device`.

        >>> tw.ones(2).to(tw.int32), tw.ones(2).to("cpu", tw.float64).dtype
        (tensor([1, 1]), tensorweb.float64)
        """
        for one in target:
            if isinstance(one, TensorBase):
                device, dtype = one.node.device, one.node.dtype
            elif isinstance(one, str) and one not in dtypes.BY_NAME:
                device = one
            elif one not in (None, True, False):
                dtype = one
        node = as_node(self, dtype, device, True if copy else None)
        return self if node is self.node else self._wrap(node)  # type: ignore[return-value]  # all tensors are Tensor

    def cpu(self) -> Tensor:
        """Return the tensor on the CPU.

        >>> tw.ones(2).cpu().device
        'cpu'
        """
        return self.to_device("cpu")

    def float(self) -> Tensor:
        """Return the tensor in float32.

        >>> (tw.tensor([1, 2]) == 2).float()
        tensor([0., 1.])
        """
        return self.astype(dtypes.float32)

    def double(self) -> Tensor:
        """Return the tensor in float64, which `webgpu` lacks.

        >>> tw.ones(2, device="cpu").double().dtype
        tensorweb.float64
        """
        return self.astype(dtypes.float64)

    def half(self) -> Tensor:
        """Return the tensor in float16.

        >>> tw.ones(2, device="cpu").half().dtype
        tensorweb.float16
        """
        return self.astype(dtypes.float16)

    def bfloat16(self) -> Tensor:
        """Return the tensor in bfloat16.

        >>> tw.tensor([1.0, 0.1]).bfloat16()
        tensor([1. , 0.1], dtype=bfloat16)
        """
        return self.astype(dtypes.bfloat16)

    def long(self) -> Tensor:
        """Return the tensor in int64, in int32 on a device without it.

        >>> tw.tensor([1.0, 2.0]).long().tolist()
        [1, 2]
        """
        has_long = stores(dtypes.int64, self.node.device)
        return self.astype(dtypes.int64 if has_long else dtypes.int32)

    def int(self) -> Tensor:
        """Return the tensor in int32.

        >>> tw.tensor([1.5, 2.5]).int()
        tensor([1, 2])
        """
        return self.astype(dtypes.int32)

    def bool(self) -> Tensor:
        """Return whether each element is not 0.

        >>> tw.tensor([0, 2]).bool()
        tensor([False,  True])
        """
        return self.astype(dtypes.bool)

    def type_as(self, other: Tensor) -> Tensor:
        """Return the tensor in the dtype of another.

        >>> tw.tensor([1, 2]).type_as(tw.ones(1))
        tensor([1., 2.])
        """
        return self.astype(other.dtype)

    def dim(self) -> Length:
        """Return the number of axes.

        >>> tw.ones((2, 3)).dim()
        2
        """
        return len(self.node.shape)

    def numel(self) -> Length:
        """Return the number of elements.

        >>> tw.ones((2, 3)).numel()
        6
        """
        return self.node.size

    nelement = numel

    def t(self) -> Tensor:
        """Return the transpose of a matrix; a vector stays as it is.

        Raises:
            ShapeError: there are more than two axes.

        >>> tw.ones((2, 3)).t().shape
        (3, 2)
        """
        if len(self.node.shape) > 2:
            raise ShapeError(f"t: shape {self.node.shape} is no matrix; use x.mT.")
        return self.transpose()

    def expand_as(self, other: Tensor) -> Tensor:
        """Return the tensor broadcast to the shape of another.

        >>> tw.ones((2, 1)).expand_as(tw.ones((2, 3))).shape
        (2, 3)
        """
        return self.broadcast_to(other.shape)

    def view_as(self, other: Tensor) -> Tensor:
        """Return the elements in the shape of another tensor.

        >>> tw.arange(4).view_as(tw.ones((2, 2))).shape
        (2, 2)
        """
        return self.reshape(other.shape)

    reshape_as = view_as

    def narrow(self, dim: Length, start: Length, length: Length) -> Tensor:
        """Return `length` slices along an axis, from `start` on, as a view.

        A negative start counts from the end.

        >>> tw.arange(5).narrow(0, 1, 3)
        tensor([1, 2, 3])
        """
        ranges: list[Any] = [None] * len(self.node.shape)
        first = start + self.node.shape[dim] if start < 0 else start
        ranges[dim] = (first, first + length)
        return self.crop(ranges)

    def masked_select(self, mask: Tensor) -> Tensor:
        """Return the elements where a mask is True.

        >>> tw.arange(4).masked_select(tw.arange(4) > 1)
        tensor([2, 3])
        """
        return self[mask]

    def index_select(self, dim: SupportsIndex, index: ArrayLike) -> Tensor:
        """Return the slices at indices along an axis.

        >>> tw.tensor([[1, 2], [3, 4]]).index_select(1, tw.tensor([1]))
        tensor([[2],
                [4]])
        """
        return self.take(index, axis=dim)

    def gather(self, dim: Length, index: Tensor) -> Tensor:
        """Return elements at indices along an axis; other axes are matched one to one.

        The index may be shorter than the tensor along other axes.

        >>> tw.tensor([[1, 2], [3, 4]]).gather(1, tw.tensor([[1], [0]]))
        tensor([[2],
                [3]])
        """
        spans = [slice(length) for length in index.shape]
        spans[dim] = slice(None)
        return self[tuple(spans)].take_along_axis(index, dim)

    def topk(self, k: SupportsIndex, dim: Length = -1, largest: Any = True) -> Any:
        """Return the largest values along an axis, and their indices.

        >>> tw.tensor([3, 1, 2]).topk(2)
        ValuesAndIndices(values=tensor([3, 2]), indices=tensor([0, 2]))
        """
        return library("tensorweb", "top_k")(self, k, dim, largest=largest)

    def norm(self, p: Any = 2, dim: Any = None, keepdim: Any = False) -> Tensor:
        """Return the norm of vectors along axes, of all elements without one.

        >>> tw.tensor([3.0, 4.0]).norm()
        tensor(5.)
        """
        norm = library("tensorweb.linalg", "vector_norm")
        return norm(self, axis=dim, keepdims=keepdim, ord=2 if p == "fro" else p)

    def softmax(self, dim: SupportsIndex) -> Tensor:
        """Return `exp(x)` divided by its sum along an axis.

        >>> tw.zeros(2).softmax(0)
        tensor([0.5, 0.5])
        """
        return library("tensorweb.nn", "softmax")(self, dim)

    def log_softmax(self, dim: SupportsIndex) -> Tensor:
        """Return the logarithm of `softmax`.

        >>> tw.zeros(1).log_softmax(0)
        tensor([0.])
        """
        return library("tensorweb.nn", "log_softmax")(self, dim)

    def logsumexp(self, dim: Any, keepdim: Any = False) -> Tensor:
        """Return the logarithm of the sum of `exp(x)` along axes.

        >>> tw.tensor([1000.0, -1000.0]).logsumexp(0)
        tensor(1000.)
        """
        return library("tensorweb.nn", "logsumexp")(self, dim, keepdims=keepdim)

    def add(self, other: Any, *, alpha: Any = 1) -> Any:
        """Return the sum with another, `alpha` times.

        >>> tw.ones(2).add(tw.ones(2), alpha=3)
        tensor([4., 4.])
        """
        return operator.add(self, other if alpha == 1 else other * alpha)

    def sub(self, other: Any, *, alpha: Any = 1) -> Any:
        """Return the difference to another, `alpha` times.

        >>> tw.ones(2).sub(tw.ones(2), alpha=3)
        tensor([-2., -2.])
        """
        return operator.sub(self, other if alpha == 1 else other * alpha)

    def div(self, other: Any, *, rounding_mode: str | None = None) -> Any:
        """Return the quotient, rounded down (`"floor"`) or towards 0 (`"trunc"`).

        Raises:
            DataError: there is no such rounding.

        >>> tw.tensor([-3, 3]).div(2, rounding_mode="trunc")
        tensor([-1,  1])
        """
        if rounding_mode is None:
            return operator.truediv(self, other)
        if rounding_mode not in ("floor", "trunc"):
            raise DataError(
                f"div: rounding_mode={rounding_mode!r}; it is 'floor', 'trunc' or None."
            )
        down: Any = operator.floordiv(self, other)
        if rounding_mode == "floor":
            return down
        is_below = (down < 0) & (down * other != self)
        return down + is_below.astype(down.dtype)

    def add_(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """Add to this tensor in place.

        >>> tw.ones(2).add_(tw.ones(2), alpha=3)
        tensor([4., 4.])
        """
        return self.__iadd__(other if alpha == 1 else other * alpha)

    def sub_(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """Subtract from this tensor in place.

        >>> tw.ones(2).sub_(tw.ones(2), alpha=3)
        tensor([-2., -2.])
        """
        return self.__isub__(other if alpha == 1 else other * alpha)

    def mul_(self, other: ArrayLike) -> Tensor:
        """Multiply this tensor in place.

        >>> tw.ones(2).mul_(3)
        tensor([3., 3.])
        """
        return self.__imul__(other)

    def div_(self, other: ArrayLike, *, rounding_mode: str | None = None) -> Tensor:
        """Divide this tensor in place; see `div`.

        >>> tw.ones(2).div_(2)
        tensor([0.5, 0.5])
        """
        if rounding_mode is not None:
            return self.copy_(self.div(other, rounding_mode=rounding_mode))
        return self.__itruediv__(other)

    def copy_(self, source: ArrayLike, non_blocking: object = False) -> Tensor:
        """Write values into this tensor, broadcast to its shape.

        >>> tw.zeros(2).copy_(tw.tensor([1.0, 2.0]))
        tensor([1., 2.])
        """
        self[...] = source
        return self  # type: ignore[return-value]  # all tensors are Tensor

    def fill_(self, value: ArrayLike) -> Tensor:
        """Write one value everywhere.

        >>> tw.zeros(2).fill_(3)
        tensor([3., 3.])
        """
        return self.copy_(value)

    def zero_(self) -> Tensor:
        """Write 0 everywhere.

        >>> tw.ones(2).zero_()
        tensor([0., 0.])
        """
        return self.copy_(0)

    def clamp_(self, min: ArrayLike = None, max: ArrayLike = None) -> Tensor:
        """Limit the elements in place.

        >>> tw.tensor([-1.0, 5.0]).clamp_(0, 2)
        tensor([0., 2.])
        """
        return self.copy_(self.clip(min, max))
