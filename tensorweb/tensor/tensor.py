"""`Tensor`: what people hold. The topics of its methods are in `tensorweb/tensor/`."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import NoReturn

from tensorweb.advice import ADVICE, method_advice
from tensorweb.devices import as_device, backend, require_dtype
from tensorweb.dtypes import DType
from tensorweb.errors import BlockingError, DeviceError, DTypeError
from tensorweb.evaluate import plain_number, read
from tensorweb.graph.autograd import is_leaf_of
from tensorweb.graph.node import constant, leaf
from tensorweb.graph.storage import HostData
from tensorweb.nodes.movement import stopped
from tensorweb.shapes import Shape
from tensorweb.tensor.algebra import AlgebraMethods
from tensorweb.tensor.arguments import taking_torch_words
from tensorweb.tensor.base import TensorBase, become_leaf
from tensorweb.tensor.elementwise import ElementwiseMethods
from tensorweb.tensor.gradients import GradientMethods
from tensorweb.tensor.indexing import IndexingMethods
from tensorweb.tensor.layout import LayoutMethods
from tensorweb.tensor.movement import MovementMethods
from tensorweb.tensor.numpy_methods import NumpyMethods
from tensorweb.tensor.numpy_protocols import NumpyProtocols
from tensorweb.tensor.operators import InPlaceOperators, OperationMethods, Operators
from tensorweb.tensor.rearrangement import RearrangementMethods
from tensorweb.tensor.reductions import ReductionMethods
from tensorweb.tensor.torch_methods import TorchMethods
from tensorweb.tensor.values import ValueMethods

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


class TensorClass(type):
    """What `Tensor` is: a class whose `dir` leaves out names that are only answered."""

    def __dir__(cls) -> list[str]:
        """Return the names of the class that are there."""
        return [name for name in super().__dir__() if name not in _foreign]


class Tensor(
    Operators,
    TorchMethods,
    InPlaceOperators,
    NumpyMethods,
    ElementwiseMethods,
    OperationMethods,
    LayoutMethods,
    ReductionMethods,
    MovementMethods,
    RearrangementMethods,
    IndexingMethods,
    AlgebraMethods,
    GradientMethods,
    ValueMethods,
    CopyingMethods,
    NumpyProtocols,
    metaclass=TensorClass,
):
    """An n-dimensional array on a device: an immutable value, computed when needed.

    Make one with `tensorweb.asarray`, `zeros`, `arange` and the like.

    >>> x = tw.asarray([[1, 2, 3], [4, 5, 6]])
    >>> x.shape, x.dtype, x.T.strides
    ((2, 3), tensorweb.int32, (1, 3))
    """

    __slots__ = ()

    def __dir__(self) -> list[str]:
        """Return the existing names, without names that only raise advice."""
        return [name for name in super().__dir__() if name not in _foreign]


class ForeignName:
    """Stands where NumPy or PyTorch have a name that tensors have not; says ours.

    A `__getattr__` would make every look at a tensor slower.
    """

    __slots__ = ("_advice", "_name")

    def __init__(self, name: str, advice: str) -> None:
        """Answer a name with some advice."""
        self._name = name
        self._advice = advice

    def __get__(self, tensor: object, kind: type) -> NoReturn:
        """Raise, as if nothing stood here."""
        raise AttributeError(
            f"a tensor has no attribute {self._name!r}; {self._advice}",
            name=self._name,
            obj=kind if tensor is None else tensor,
        )


_foreign: set[str] = set()


def answer_foreign_names(functions: Sequence[str]) -> None:
    """Let tensors answer the names they lack; `functions` are those of the package."""
    methods = frozenset(dir(Tensor))
    for name in (*ADVICE["tensorweb"], *functions):
        advice = None if name in methods else method_advice(name, functions, methods)
        if advice is not None:
            _foreign.add(name)
            setattr(Tensor, name, ForeignName(name, advice))


def _name_methods() -> None:
    """Let every method say `Tensor.sum`, wherever it is written, in Python's errors.

    Methods that have an axis accept PyTorch's names for it.
    """
    for part in Tensor.__mro__[1:-1]:
        for name, value in list(vars(part).items()):
            if isinstance(value, FunctionType):
                value.__qualname__ = f"Tensor.{value.__name__}"
                if not name.startswith("_"):
                    setattr(part, name, taking_torch_words(value))


_name_methods()
