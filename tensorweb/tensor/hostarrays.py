"""Arrays of other libraries and NumPy's scalars, as nodes of the graph."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Number
from typing import Any

from tensorweb import dtypes
from tensorweb.devices import NARROWER, is_browser, require_dtype, stores, usable_dtype
from tensorweb.dtypes import DType, as_dtype, integer_range
from tensorweb.errors import (
    DataError,
    DTypeError,
    MissingPackageError,
    NarrowedDataWarning,
    RangeError,
    TensorwebError,
)
from tensorweb.frames import warn_once
from tensorweb.graph.node import Node, constant, leaf
from tensorweb.graph.storage import HostData
from tensorweb.hostdata import buffer_dtype, pack, unpack, where, widened
from tensorweb.nodes.elementwise import cast
from tensorweb.shapes import Shape
from tensorweb.tensor.base import TensorBase

PROTOCOLS = ("__array__", "__array_interface__", "__array_struct__")
"""Names by which NumPy reads an object that has no native buffer and no DLPack."""


def is_array_like(kind: type) -> bool:
    """Whether objects of a class say that they are arrays; NumPy's numbers do not."""
    return hasattr(kind, "__len__") and any(hasattr(kind, name) for name in PROTOCOLS)


def is_masked_type(kind: type) -> bool:
    """Whether a class is that of arrays some of whose elements do not count."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and issubclass(kind, masked.MaskedArray)


def buffer_of(value: object) -> memoryview | None:
    """Return a value's memory in native byte order; None if it has none.

    Raises:
        DataError: it is an array that cannot be read, or has masked elements.
    """
    if is_masked_type(type(value)):
        _check_mask(value)
    try:
        view = memoryview(value)  # type: ignore[arg-type]  # raises TypeError if it is none
    except (TypeError, ValueError, BufferError):
        view = None
    if view is not None and not view.format.startswith((">", "!")):
        return view
    if any(hasattr(value, name) for name in PROTOCOLS):
        host = _by_numpy(value, "asarray", _as_array)
    elif hasattr(value, "__dlpack__"):
        host = exchanged(value)
    else:
        return view
    if not host.dtype.isnative:
        host = host.astype(host.dtype.newbyteorder("="))
    try:
        return memoryview(host)
    except (TypeError, ValueError, BufferError):
        return None


def exchanged(value: object) -> Any:
    """Return the data that an object exports by DLPack as NumPy's array.

    bfloat16, which NumPy's DLPack lacks, is returned as it is: `array_node` reads it.

    Raises:
        DataError: it lies on no CPU, or is of a dtype that NumPy does not have.
    """
    if _bits_of_bfloat16(value) is not None:
        return value
    return _by_numpy(value, "from_dlpack", lambda numpy, x: numpy.from_dlpack(x))


def _as_array(numpy: Any, value: object) -> Any:
    """Return an object as NumPy's array, within the buffer that it names.

    NumPy reads behind the end of one that is shorter than the shape says.
    """
    interface: Any = getattr(value, "__array_interface__", None)
    data = interface.get("data") if isinstance(interface, Mapping) else None
    if data is None or isinstance(data, tuple):
        try:
            return numpy.asarray(value)
        except ValueError:
            # NumPy takes nothing but its own arrays of `__array__`.
            make_array: Any = getattr(value, "__array__", None)
            made_array = (
                None if interface is not None or make_array is None else make_array()
            )
            if not isinstance(made_array, TensorBase):
                raise
            return numpy.asarray(made_array)
    dtype = numpy.dtype(interface["typestr"])
    offset, strides = interface.get("offset", 0), interface.get("strides")
    return numpy.ndarray(interface["shape"], dtype, data, offset, strides)


def _by_numpy(value: object, function: str, read: Callable[[Any, object], Any]) -> Any:
    """Let NumPy read an object; errors of NumPy become a `DataError` with advice."""
    kind = type(value).__name__
    numpy = require_numpy(
        f"asarray of a {kind}", "give numbers, nested lists or a buffer"
    )
    try:
        return read(numpy, value)
    except TensorwebError:
        raise
    except (
        *(ArithmeticError, AttributeError, BufferError, LookupError),
        *(RuntimeError, TypeError, ValueError),
    ) as error:
        reason = str(error).rstrip(".")
        raise DataError(
            f"np.{function} cannot read data of type {kind}: {reason}. Give an array "
            "in the CPU's memory, of a dtype that NumPy has."
        ) from error


def _check_mask(value: Any) -> None:
    if value.mask.any():
        raise DataError(
            "data are a masked array, and tensors have no masks; say what shall stand "
            "for masked elements, data.filled(0) for example, or take data.data."
        )


def is_foreign(value: object) -> bool:
    """Whether a value is another library's array, which knows what to do with ours.

    `pandas`, `xarray` and `dask` hold arrays of others and answer NumPy's protocols;
    NumPy's masked arrays know which elements count.
    """
    kind = type(value)
    return not issubclass(kind, TensorBase) and (
        is_foreign_type(kind) or is_masked_type(kind)
    )


def is_foreign_type(kind: type) -> bool:
    """Whether a class is that of such arrays: it answers NumPy's protocols."""
    if issubclass(kind, TensorBase) or not hasattr(kind, "__array_ufunc__"):
        return False
    numpy = sys.modules.get("numpy")
    return numpy is None or not issubclass(kind, numpy.ndarray | numpy.generic)


def numpy_at_hand() -> Any:
    """Return NumPy's module; None where having it would load it into a page."""
    if is_browser():
        return sys.modules.get("numpy")
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def require_numpy(who: str, instead: str) -> Any:
    """Return the module.

    Args:
        who: asks for it, as the message begins.
        instead: what can be done without it.

    Raises:
        MissingPackageError: it is not installed; says how to get it.
    """
    try:
        import numpy
    except ImportError as error:
        how = (
            'run `import micropip; await micropip.install("numpy")` once, then again'
            if is_browser()
            else "run `pip install numpy`"
        )
        raise MissingPackageError(
            f"{who}: this needs NumPy, which is not installed; {how}, or {instead}."
        ) from error
    return numpy


def is_numpy_scalar(value: object) -> bool:
    """Whether a value is one of NumPy's numbers such as `np.float32(2)`."""
    return (
        getattr(value, "shape", None) == ()
        and hasattr(value, "item")
        and hasattr(value, "dtype")
        and not hasattr(value, "__dlpack__")
    )


def numpy_scalar_node(value: object, device: str, other: DType | None = None) -> Node:
    """Return a NumPy scalar as a constant of its own dtype.

    With a tensor of the dtype `other`, as in `array_node`.

    Raises:
        RangeError: the device has a narrower dtype only, which the value does not fit.
    """
    try:
        own_dtype = as_dtype(value.dtype)  # type: ignore[attr-defined]  # a NumPy scalar
    except DTypeError:
        raise unusable(value) from None
    number: complex = value.item()  # type: ignore[attr-defined]  # a NumPy scalar
    if stores(own_dtype, device):
        return constant(number, own_dtype, device)
    held: Sequence[float] = () if type(number) is complex else (number.real,)
    return constant(number, _stored(held, own_dtype, device, other, ()), device)


def array_node(
    value: object,
    dtype: DType | None,
    device: str,
    other: DType | None = None,
    must_fit: bool = False,
) -> Node:
    """Return an array or another buffer as a node.

    Without a dtype it keeps its own. 64-bit data that the device cannot store become
    32-bit, with a warning; as operands of a tensor of floats, of dtype `other`,
    integers become the tensor's dtype where 32 bits do not hold them, and none warns.
    With `must_fit` integers are never wrapped around.

    Raises:
        DataError, DTypeError: this is no array of numbers, or the device lacks a dtype.
        RangeError: integers do not fit.
    """
    bits = _bits_of_bfloat16(value)
    view = buffer_of(value if bits is None else bits)
    own_dtype = None if view is None else buffer_dtype(view.format, view.itemsize)
    if bits is not None:
        own_dtype = dtypes.bfloat16
    if view is None or own_dtype is None:
        raise unusable(value)
    shape = tuple(view.shape or ())
    data = view.tobytes()
    if dtype is not None:
        result_dtype = usable_dtype(dtype, device)
        if (
            (must_fit or result_dtype is not dtype)
            and result_dtype is not own_dtype
            and result_dtype.kind in ("int", "uint")
        ):
            check_fit(numbers_of(data, own_dtype), result_dtype, shape)
    elif stores(own_dtype, device):
        result_dtype = own_dtype
    else:
        result_dtype = _stored(
            numbers_of(data, own_dtype), own_dtype, device, other, shape
        )
    if own_dtype.kind == "complex" and result_dtype.kind not in ("complex", "bool"):
        raise DTypeError(
            f"asarray: the data are {own_dtype}, and {result_dtype} holds no imaginary "
            "parts; take data.real, or abs(data), or a complex dtype."
        )
    if result_dtype is own_dtype:
        return leaf(HostData(data), shape, own_dtype, device)
    if own_dtype is dtypes.bfloat16:
        data, own_dtype = widened(data), own_dtype.wide
    if result_dtype is dtypes.bfloat16:
        # NumPy cannot round to bfloat16; the device does.
        stored = own_dtype if stores(own_dtype, device) else result_dtype.wide
        return cast(_leaf_of(data, own_dtype, stored, shape, device), result_dtype)
    return _leaf_of(data, own_dtype, result_dtype, shape, device)


def _leaf_of(
    data: bytes, own_dtype: DType, dtype: DType, shape: Shape, device: str
) -> Node:
    """Return the numbers of row-major bytes in another dtype as a node."""
    if own_dtype is not dtype:
        data = _converted(data, own_dtype, dtype, shape)
    return leaf(HostData(data), shape, dtype, device)


def _bits_of_bfloat16(value: Any) -> Any:
    """Return the bits of another library's bfloat16 array; None of other dtypes.

    Arrays of ml_dtypes and JAX have a dtype of that name, tensors of PyTorch
    `torch.bfloat16`.
    """
    name = str(getattr(value, "dtype", ""))
    if name == "torch.bfloat16":
        return value.detach().view(sys.modules["torch"].int16)
    return value.view("int16") if name == "bfloat16" else None


def _stored(
    numbers: Sequence[float],
    own_dtype: DType,
    device: str,
    other: DType | None,
    shape: Shape,
) -> DType:
    """Return the dtype that data of a dtype which the device lacks become; warns."""
    narrower = NARROWER.get(own_dtype)
    if narrower is None or not stores(narrower, device):
        raise _unstored(own_dtype, device)
    if narrower.kind in ("int", "uint"):
        if other is dtypes.uint32 and all(number >= 0 for number in numbers):
            narrower = dtypes.uint32
        if other is not None and other.part.kind == "float":
            # Promotion makes them floats; integers that count or select stay ones.
            return narrower if _all_fit(numbers, narrower) else other.part
        check_fit(numbers, narrower, shape, FOR_DATA if other is None else FOR_OPERANDS)
    warn_once(
        NarrowedDataWarning,
        f"{own_dtype} data became {narrower}: device {device!r} has no 64-bit numbers, "
        "so float64 becomes float32, int64 int32, uint64 uint32 and complex128 "
        f'complex64. Say dtype=tw.{narrower} to mean it, or device="cpu" to keep '
        f"{own_dtype}. This is said once a program, about its first such data.",
    )
    return narrower


def _all_fit(numbers: Sequence[float], dtype: DType) -> bool:
    """Whether a dtype holds all of some integers."""
    if not len(numbers):
        return True
    low, high = integer_range(dtype)
    numpy = numpy_at_hand()
    if numpy is not None and isinstance(numbers, memoryview):
        host = numpy.asarray(numbers)  # a tenth of the time of min() and max()
        return bool(low <= host.min() and host.max() <= high)
    return low <= min(numbers) and max(numbers) <= high


FOR_DATA = 'pass dtype=tw.float32 to round it, or device="cpu" to keep it'
FOR_OPERANDS = (
    "round it with tw.asarray(data, tw.float32), or move the other operand with "
    'to_device("cpu"), which has int64'
)


def check_fit(
    numbers: Sequence[float], dtype: DType, shape: Shape, advice: str = FOR_DATA
) -> None:
    """Raise `RangeError` for the first integer that a dtype cannot hold."""
    if _all_fit(numbers, dtype):
        return
    low, high = integer_range(dtype)
    for index, number in enumerate(numbers):
        if not low <= number <= high:
            raise RangeError(
                f"asarray: {where(index, shape)} is {number}, which does not fit "
                f"{dtype} ({low} to {high}); {advice}."
            )


def numbers_of(data: bytes, dtype: DType) -> Sequence[float]:
    """Return row-major bytes as Python numbers, read when they are asked for."""
    if dtype.kind in ("float", "complex"):
        return ()
    return memoryview(data).cast(dtype.typecode)  # type: ignore[call-overload,no-any-return]  # a dtype's letter is a native one


def _unstored(dtype: DType, device: str) -> DTypeError:
    """Return the error for data that a device can hold in no dtype of their kind."""
    try:
        require_dtype(dtype, device)
    except DTypeError as error:
        common = {"float": "float32", "int": "int32", "uint": "uint32"}[dtype.kind]
        return DTypeError(
            f"asarray: the data are {dtype}. {error} For data: pass dtype=tw.{common} "
            'to convert them, or device="cpu" to keep them.'
        )
    raise AssertionError("internal: only asked for dtypes that are not there")


ADVICE = {
    "V": "take one of its fields, data['name']; data.astype('float32') converts others",
    "O": "its elements are Python's objects; data.astype('float32') makes numbers",
    "U": "data.astype('float32') reads numbers in text",
    "S": "data.astype('float32') reads numbers in text",
    "T": "data.astype('float32') reads numbers in text",
    "M": "data.astype('int64') counts from 1970 on",
    "m": "data.astype('int64') counts its units",
    "f": "data.astype('float64') converts it",
    "c": "data.astype('complex128') converts it",
}
"""What can be done with NumPy's arrays that no tensor holds, by the kind of dtype."""


def unusable(value: object) -> Exception:
    """Return the error for a value that no tensor can be made of."""
    if isinstance(value, str):
        return DataError(
            f"the string {value[:40]!r} is no number; tensors hold numbers."
        )
    dtype = getattr(value, "dtype", None)
    what = f" of dtype {dtype}" if dtype is not None else ""
    return DataError(
        f"data of type {type(value).__name__}{what} cannot become a tensor; "
        f"{_advice(value, str(getattr(dtype, 'kind', '')))}."
    )


def _advice(value: object, kind: str) -> str:
    """Return what can be done with an object, whose dtype may have a kind."""
    if hasattr(value, "toarray"):
        return "data.toarray() has the zeros that sparse arrays leave out"
    if kind in ADVICE:
        return ADVICE[kind]
    if hasattr(value, "astype"):
        return "data.astype('float32') converts what is no number, where it can"
    if isinstance(value, Number):
        return "float(data) is a number that tensors hold"
    if isinstance(value, Iterable):
        return "list(data) makes a list of what it yields"
    return "give numbers, nested lists of numbers, a NumPy array or a buffer"


def _converted(data: bytes, old: DType, new: DType, shape: Shape) -> bytes:
    """Return bytes of one dtype as another, with NumPy where that loads nothing."""
    numpy = numpy_at_hand()
    if numpy is None:
        flat = unpack(data, old, (len(data) // old.itemsize,))
        assert isinstance(flat, list), "internal: a flat read gives a list"
        return pack(flat, new, (len(flat),))
    with numpy.errstate(all="ignore"):
        host = numpy.frombuffer(data, old.name).astype(new.name)
    return host.tobytes()  # type: ignore[no-any-return]  # NumPy is not everywhere
