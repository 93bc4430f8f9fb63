"""`Tensor`: what people hold. The topics of its methods are in `tensorweb/methods/`."""

from __future__ import annotations

from tensorweb.methods.algebra import AlgebraMethods
from tensorweb.methods.at import AtMethods
from tensorweb.methods.elementwise import ElementwiseMethods
from tensorweb.methods.indexing import IndexingMethods
from tensorweb.methods.layout import LayoutMethods
from tensorweb.methods.movement import MovementMethods
from tensorweb.methods.operators import Operators
from tensorweb.methods.rearrangement import RearrangementMethods
from tensorweb.methods.reductions import ReductionMethods
from tensorweb.methods.sorting import SortingMethods
from tensorweb.methods.values import ValueMethods


class Tensor(
    Operators,
    ElementwiseMethods,
    ReductionMethods,
    SortingMethods,
    MovementMethods,
    RearrangementMethods,
    IndexingMethods,
    AtMethods,
    AlgebraMethods,
    LayoutMethods,
    ValueMethods,
):
    """An n-dimensional array on a device: an immutable value, computed when needed.

    Make one with `tensorweb.asarray`, `zeros`, `arange` and the like.

    >>> x = tw.asarray([[1, 2, 3], [4, 5, 6]])
    >>> x.shape, x.dtype, x.T.strides
    ((2, 3), tensorweb.int32, (1, 3))
    """

    __slots__ = ()
