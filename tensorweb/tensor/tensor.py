"""`Tensor`: what people hold. The topics of its methods are in `tensorweb/tensor/`."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import NoReturn

from tensorweb.advice import ADVICE, method_advice
from tensorweb.tensor.algebra import AlgebraMethods
from tensorweb.tensor.arguments import taking_torch_words
from tensorweb.tensor.copying import CopyingMethods
from tensorweb.tensor.elementwise import ElementwiseMethods
from tensorweb.tensor.gradients import GradientMethods
from tensorweb.tensor.indexing import IndexingMethods
from tensorweb.tensor.layout import LayoutMethods
from tensorweb.tensor.movement import MovementMethods
from tensorweb.tensor.numpy_methods import NumpyMethods
from tensorweb.tensor.numpy_protocols import NumpyProtocols
from tensorweb.tensor.operations import OperationMethods
from tensorweb.tensor.operators import InPlaceOperators, Operators
from tensorweb.tensor.rearrangement import RearrangementMethods
from tensorweb.tensor.reductions import ReductionMethods
from tensorweb.tensor.torch_methods import TorchMethods
from tensorweb.tensor.values import ValueMethods


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
            f"a tensor has no attribute {self._name!r}; {self._advice}.",
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
