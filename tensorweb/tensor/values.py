"""Values out of tensors: numbers, lists, NumPy arrays, each with an awaitable twin."""

from __future__ import annotations

import operator
from collections.abc import Container
from typing import TYPE_CHECKING, Any, SupportsIndex

from tensorweb.devices import backend, fastest
from tensorweb.dtypes import DType, bfloat16
from tensorweb.errors import (
    DataError,
    DeviceError,
    DTypeError,
    ExchangeError,
    ShapeError,
    TensorIndexError,
    TransformError,
)
from tensorweb.evaluate import plain_number, read, read_async, realize
from tensorweb.graph.autograd import are_numbers_allowed, loses_derivative, reaches_leaf
from tensorweb.graph.node import Node, pair_of
from tensorweb.graph.tracing import is_traced
from tensorweb.hostdata import MOST_AXES, unpack, widened
from tensorweb.nodes.movement import copy, slice_ranges
from tensorweb.shapes import unravel_index
from tensorweb.tensor.base import FLOWING, TensorBase
from tensorweb.tensor.convert import DTypeLike
from tensorweb.tensor.hostarrays import require_numpy
from tensorweb.tensor.printing import format_tensor, format_values, mime_bundle

if TYPE_CHECKING:
    import numpy as np

    from tensorweb.tensor.tensor import Tensor


CPU_DEVICE = (1, 0)
"""The CPU in DLPack's words."""


class ValueMethods(TensorBase):
    """Reading; the first read of a value computes it and waits for the device."""

    __slots__ = ()

    def realize(self) -> Tensor:
        """Start computing the value now and return the tensor; does not wait.

        >>> tw.tensor([1, 2]).realize()
        tensor([1, 2])
        """
        realize([self.node])
        return self  # type: ignore[return-value]  # all tensors are Tensor

    async def realize_async(self) -> Tensor:
        """Compute the value and await that it exists.

        >>> import asyncio
        >>> asyncio.run(tw.tensor([1, 2]).realize_async())
        tensor([1, 2])
        """
        realize([self.node])
        if self.node.size:
            await read_async([_element(self.node, 0)])
        return self  # type: ignore[return-value]  # all tensors are Tensor

    @property
    def gpu_buffer(self) -> Any:
        """The `wgpu.GPUBuffer` with the elements: no copy, for programs that use wgpu.

        The value is computed first. Elements lie from byte 0 on, in row-major order;
        the buffer can be longer. It is this tensor's as long as the tensor exists and
        is not assigned to; then other values take it. What the program submits to the
        device's queue runs in order with the kernels. See `tw.use_device`.

        Raises:
            DeviceError: only device `webgpu` has buffers, and browsers do not share
                them.
            DataError: it is a view of other elements; a copy has a buffer of its own.
        """
        device = self.node.device
        sharer = backend(device).sharer
        if sharer is None:
            raise DeviceError(
                f"gpu_buffer: device {device!r} shares no buffers here; that needs "
                f"device {fastest()!r} in ordinary Python, where wgpu-py computes."
            )
        if not self.node.size:
            raise DataError("gpu_buffer: a tensor without elements has no buffer.")
        if plain_number(self.node) is not None:  # a constant has no storage
            self.node = copy(self.node)
        node = pair_of(self.node)
        if node.view.offset or not node.view.is_contiguous:
            raise DataError(
                f"gpu_buffer: this tensor of shape {self.node.shape} is a view, whose "
                "elements do not lie in one piece from the buffer's start; share a "
                "copy: `y = x.copy()`, then `y.gpu_buffer`."
            )
        realize([self.node])
        return sharer.shared_buffer(node.base)

    def item(self, *index: SupportsIndex) -> Any:
        """Return one element as a Python number; the only one, or the one at `index`.

        Raises:
            DataError: no index is given and there are several elements, or none.
            TensorIndexError: the index is out of range.

        >>> tw.tensor([[1, 2], [3, 4]]).item(1, 0)
        3
        """
        node = _chosen(self.node, index)
        _check_leaving(node, "item()")
        return _number(read([node])[0], node.dtype)

    async def item_async(self, *index: SupportsIndex) -> Any:
        """Return one element as a Python number by awaiting the device.

        >>> import asyncio
        >>> asyncio.run(tw.tensor([5]).item_async())
        5
        """
        node = _chosen(self.node, index)
        _check_leaving(node, "item_async()")
        return _number((await read_async([node]))[0], node.dtype)

    def tolist(self) -> Any:
        """Return nested lists of Python numbers, a number for a 0-d tensor.

        Raises:
            TransformError: `grad` or another derivative is being taken by what the
                values depend on; `item`, `numpy` and `float(x)` raise it as well.

        >>> tw.tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        _check_leaving(self.node, "tolist()")
        return peek(self)

    async def tolist_async(self) -> Any:
        """Return nested lists of Python numbers by awaiting the device.

        >>> import asyncio
        >>> asyncio.run(tw.tensor([1, 2]).tolist_async())
        [1, 2]
        """
        _check_leaving(self.node, "tolist_async()")
        data = (await read_async([self.node]))[0]
        return unpack(data, self.node.dtype, self.node.shape)

    def numpy(self) -> np.ndarray[Any, Any]:
        """Return a new NumPy array with the values; writing to it is safe.

        NumPy has no bfloat16: these values become float32, which holds each of them.

        Raises:
            TransformError: the tensor requires a gradient, outside of `tw.no_grad()`,
                or a derivative is being taken by what the values depend on; write
                `x.detach().numpy()`.

        >>> tw.tensor([1, 2]).numpy().tolist()
        [1, 2]
        """
        _check_leaving(self.node, "numpy()", is_array=True)
        return _array(read([self.node])[0], self.node)

    async def numpy_async(self) -> np.ndarray[Any, Any]:
        """Return a new NumPy array by awaiting the device.

        >>> import asyncio
        >>> asyncio.run(tw.tensor([1, 2]).numpy_async()).tolist()
        [1, 2]
        """
        _check_leaving(self.node, "numpy_async()", is_array=True)
        return _array((await read_async([self.node]))[0], self.node)

    def __array__(
        self, dtype: DTypeLike = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        """Return the values as NumPy's array, which cannot be written unless copied.

        A program that writes into `np.asarray(x)` expects `x` to change, as an array
        of NumPy would; so it raises. `np.array(x)` and `x.numpy()` are copies.
        """
        if copy is False:
            raise DataError(
                "__array__: copy=False, but NumPy always gets a copy of a tensor."
            )
        _check_leaving(self.node, "numpy()", is_array=True)
        host = _array(read([self.node])[0], self.node)
        if dtype is not None and host.dtype != dtype:
            return host.astype(dtype)  # type: ignore[call-overload,no-any-return]  # NumPy's own dtype
        host.flags.writeable = bool(copy)
        return host

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Hand a host copy of the values to another library, through NumPy.

        Raises:
            ExchangeError: a stream, another device than the CPU or no copy is asked
                for, or the values are bfloat16 (a BufferError as well).
        """
        if self.node.dtype is bfloat16:
            raise ExchangeError(
                "__dlpack__: NumPy, through which values are exported, has no "
                "bfloat16; export x.astype(tw.float32), or save a safetensors file."
            )
        if stream is not None:
            raise ExchangeError(
                f"__dlpack__: stream {stream!r}, but values are exported on the "
                "CPU, which has no streams; pass None."
            )
        if copy is False:
            raise ExchangeError(
                "__dlpack__: copy=False, but values are always exported as a copy; "
                "pass copy=None."
            )
        if dl_device is not None and tuple(map(int, dl_device)) != CPU_DEVICE:
            raise ExchangeError(
                f"__dlpack__: device {dl_device!r}, but values are exported on the "
                f"CPU only, which is {CPU_DEVICE}."
            )
        host = self.numpy()
        try:
            return host.__dlpack__(max_version=max_version)
        except TypeError:  # NumPy before 2.1 knows no versions.
            return host.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return (1, 0): values are exported on the CPU."""
        return CPU_DEVICE

    def __repr__(self) -> str:
        return format_tensor(self)

    def __str__(self) -> str:
        return format_values(self)

    def _repr_mimebundle_(
        self,
        include: Container[str] | None = None,
        exclude: Container[str] | None = None,
    ) -> dict[str, str]:
        """Return facts, a picture and text by MIME type, for notebooks."""
        return mime_bundle(self, include, exclude)

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        return format(
            _number(read([_only(self.node, "format")])[0], self.node.dtype), spec
        )

    def __bool__(self) -> bool:
        return bool(_number(read([_only(self.node, "bool")])[0], self.node.dtype))

    def __bytes__(self) -> bytes:
        return read([self.node])[0]

    def __trunc__(self) -> int:
        return int(self)

    def __int__(self) -> int:
        return int(_real_number(self.node, "int"))

    def __float__(self) -> float:
        _check_leaving(self.node, "float()")
        return float(_real_number(self.node, "float"))

    def __complex__(self) -> complex:
        _check_leaving(self.node, "complex()")
        return complex(_number(read([_only(self.node, "complex")])[0], self.node.dtype))

    def __index__(self) -> int:
        if self.node.shape:
            raise DTypeError(
                f"only a 0-d integer tensor is an integer, not shape {self.node.shape}."
                " Take one element of it, or len(x); tolist() gives all of them."
            )
        if self.node.dtype.kind not in ("int", "uint"):
            raise DTypeError(
                f"a {self.node.dtype} tensor is no integer; convert with int(x)."
            )
        return operator.index(_number(read([self.node])[0], self.node.dtype))


def peek(x: TensorBase) -> Any:
    """Return the values as `tolist` does, also under `grad`; for control flow."""
    return unpack(read([x.node])[0], x.node.dtype, x.node.shape)


def is_differentiated(x: TensorBase) -> bool:
    """Whether a derivative is taken, or may be by `backward`, by what values are."""
    if x.node.dtype.kind not in FLOWING:
        return False
    node = pair_of(x.node)
    return loses_derivative(node) or reaches_leaf(node)


def _check_leaving(node: Node, name: str, *, is_array: bool = False) -> None:
    """Raise where values would leave tensors and cut a derivative without a word.

    As in PyTorch numbers may leave a tensor that requires a gradient, arrays may not.
    """
    if node.dtype.kind not in FLOWING:
        return
    node = pair_of(node)
    if loses_derivative(node) and not is_traced(node):
        raise TransformError(
            f"{name}: a value of shape {node.shape} depends on what a derivative is "
            "being taken by (grad, jvp, ...), and as plain numbers it would count as a "
            "constant. Compute with functions of tw (tw.sin(x) for math.sin(x)), or "
            f"say that it is one: x.detach(). print(x) and `if x > 0` may read it."
        )
    if is_array and reaches_leaf(node) and not are_numbers_allowed():
        raise TransformError(
            f"{name}: a tensor that requires a gradient does not become a NumPy array, "
            "through which no gradient goes. Write x.detach().numpy(), or compute with "
            "functions of tw and tensorweb.numpy."
        )


def _number(data: bytes, dtype: DType) -> Any:
    """Return the number of a 0-d read: a bool, int, float or complex."""
    return unpack(data, dtype, ())


def _real_number(node: Node, name: str) -> float:
    """Return the one element of a real tensor."""
    if node.dtype.kind == "complex":
        raise DTypeError(
            f"{name}(): a {node.dtype} tensor has an imaginary part; take tw.real(x) "
            "or tw.abs(x), or complex(x)."
        )
    value: float = _number(read([_only(node, name)])[0], node.dtype)
    return value


def _array(data: bytes, node: Node) -> np.ndarray[Any, Any]:
    numpy = require_numpy("numpy()", "read the values with tolist()")
    dtype = node.dtype
    if dtype is bfloat16:
        data, dtype = widened(data), dtype.wide
    flat = numpy.frombuffer(bytearray(data), dtype=dtype.name)
    if len(node.shape) > MOST_AXES:
        raise ShapeError(
            f"numpy(): a tensor of {len(node.shape)} axes; NumPy has {MOST_AXES} at "
            "most. Merge axes with reshape."
        )
    shaped: np.ndarray[Any, Any] = flat.reshape(node.shape)
    return shaped


def _element(node: Node, position: int) -> Node:
    index = unravel_index(position, node.shape)
    return slice_ranges(node, [(i, 1, 1) for i in index])


HINTS = {
    "bool": "; say which: x.any() or x.all()",
    "float": "; take one with an index, or read all with tolist(). Functions of `math` "
    "take one number, those of tw all of a tensor: tw.sqrt(x)",
}
"""Advice of the error for several elements, by the conversion to one number."""


def _only(node: Node, name: str) -> Node:
    if node.size == 1:
        return node
    hint = HINTS.get(name, "; take one with an index, or read all with tolist()")
    raise DataError(
        f"{name}(): shape {node.shape} has {node.size} elements, one is needed{hint}."
    )


def _chosen(node: Node, index: tuple[SupportsIndex, ...]) -> Node:
    if not index:
        return _only(node, "item")
    if len(index) == 1 and isinstance(index[0], tuple):
        index = index[0]
    if len(index) == 1 and len(node.shape) != 1:
        position = operator.index(index[0])
        if not -node.size <= position < node.size:
            raise TensorIndexError(
                f"item: position {position} is out of range for {node.size} elements."
            )
        return _element(node, position % node.size)
    if len(index) != len(node.shape):
        raise TensorIndexError(
            f"item: {len(index)} indices for the {len(node.shape)} axes of shape "
            f"{node.shape}."
        )
    ranges = []
    for axis, (along, length) in enumerate(zip(index, node.shape, strict=True)):
        i = operator.index(along)
        if not -length <= i < length:
            raise TensorIndexError(
                f"item: index {i} is out of range for axis {axis} of shape "
                f"{node.shape} (length {length})."
            )
        ranges.append((i % length, 1, 1))
    return slice_ranges(node, ranges)
