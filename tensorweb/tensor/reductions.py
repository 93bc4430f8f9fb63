"""Reduction methods: one value from many along one axis, several or all."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, SupportsIndex, overload

from tensorweb import dtypes
from tensorweb.errors import AxisError, DataError, DTypeError
from tensorweb.graph.node import Node, constant
from tensorweb.nodes.complex_parts import imaginary_part, real_part
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.indexing import take_along
from tensorweb.nodes.movement import squeeze
from tensorweb.nodes.reduction import argreduce, reduce, scan
from tensorweb.nodes.selection import concat
from tensorweb.ops import OPS
from tensorweb.shapes import normalize_axes, normalize_axis
from tensorweb.tensor.arguments import NumberLike, as_number, axis_of, into, numpys
from tensorweb.tensor.base import FLOWING, TensorBase
from tensorweb.tensor.convert import ArrayLike, DTypeLike, optional_dtype

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor

Axis = SupportsIndex | Iterable[SupportsIndex] | None


class ValuesAndIndices(NamedTuple):
    """Values chosen along an axis, and their indices (int32) along it."""

    values: Tensor
    indices: Tensor


class ReductionMethods(TensorBase):
    """Reductions over `axis`: one axis, several, or None for all.

    With `keepdims` the result has these axes with length 1.
    """

    __slots__ = ()

    def _reduce(
        self,
        name: str,
        axis: Axis,
        out: TensorBase | None,
        keepdims: bool,
        dim: Axis,
        keepdim: bool,
        where: ArrayLike,
        initial: ArrayLike = None,
        dtype: DTypeLike = None,
    ) -> Tensor:
        """Return a reduction of the op table, under the arguments of its method."""
        if dim is not None or keepdim:
            axis = axis_of(name, axis, dim)
            keepdims = keepdims or keepdim
        if out is not None or dtype is not None:
            keepdims, dtype, out = _by_position(keepdims, dtype, out)
        if initial is not None or where is not True:
            options = {"initial": initial, "dtype": dtype}
            used = {key: value for key, value in options.items() if value is not None}
            return numpys(name)(
                self, axis, out=out, keepdims=keepdims, where=where, **used
            )
        axes = normalize_axes(axis, len(self.node.shape))
        result = self._wrap(
            reduce(name, self.node, axes, keepdims, optional_dtype(dtype))
        )
        return result if out is None else into(result, out)

    def sum(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        out: TensorBase | None = None,
        keepdims: bool = False,
        initial: ArrayLike = None,
        where: ArrayLike = True,
        *,
        dim: Axis = None,
        keepdim: bool = False,
    ) -> Tensor:
        """Return the sum along axes; 0 of nothing.

        >>> tw.tensor([[1, 2, 3], [4, 5, 6]]).sum(axis=0)
        tensor([5, 7, 9])
        """
        return self._reduce(
            "sum", axis, out, keepdims, dim, keepdim, where, initial, dtype
        )

    def prod(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        out: TensorBase | None = None,
        keepdims: bool = False,
        initial: ArrayLike = None,
        where: ArrayLike = True,
        *,
        dim: Axis = None,
        keepdim: bool = False,
    ) -> Tensor:
        """Return the product along axes; 1 of nothing.

        >>> tw.tensor([[1, 2, 3], [4, 5, 6]]).prod(axis=1)
        tensor([  6, 120])
        """
        return self._reduce(
            "prod", axis, out, keepdims, dim, keepdim, where, initial, dtype
        )

    @overload
    def max(
        self,
        axis: Axis = None,
        out: TensorBase | None = None,
        keepdims: bool = False,
        initial: ArrayLike = None,
        where: ArrayLike = True,
        *,
        dim: None = None,
        keepdim: Literal[False] = False,
    ) -> Tensor: ...

    @overload
    def max(
        self,
        axis: SupportsIndex | None = None,
        *,
        dim: SupportsIndex | None = None,
        keepdim: bool = False,
    ) -> ValuesAndIndices: ...

    def max(
        self,
        axis: Axis = None,
        out: TensorBase | None = None,
        keepdims: bool = False,
        initial: ArrayLike = None,
        where: ArrayLike = True,
        *,
        dim: SupportsIndex | None = None,
        keepdim: bool = False,
    ) -> Tensor | ValuesAndIndices:
        """Return the largest value along axes; NaN wins.

        With PyTorch's words `dim` or `keepdim`, values and indices as PyTorch returns.

        >>> tw.tensor([[1, 5], [7, 2]]).max(axis=1, keepdims=True)
        tensor([[5],
                [7]])
        >>> tw.tensor([[1, 5], [7, 2]]).max(dim=1)
        ValuesAndIndices(values=tensor([5, 7]), indices=tensor([1, 0]))
        """
        options = out, keepdims, dim, keepdim, where, initial
        return self._extreme("max", axis, *options)

    @overload
    def min(
        self,
        axis: Axis = None,
        out: TensorBase | None = None,
        keepdims: bool = False,
        initial: ArrayLike = None,
        where: ArrayLike = True,
        *,
        dim: None = None,
        keepdim: Literal[False] = False,
    ) -> Tensor: ...

    @overload
    def min(
        self,
        axis: SupportsIndex | None = None,
        *,
        dim: SupportsIndex | None = None,
        keepdim: bool = False,
    ) -> ValuesAndIndices: ...

    def min(
        self,
        axis: Axis = None,
        out: TensorBase | None = None,
        keepdims: bool = False,
        initial: ArrayLike = None,
        where: ArrayLike = True,
        *,
        dim: SupportsIndex | None = None,
        keepdim: bool = False,
    ) -> Tensor | ValuesAndIndices:
        """Return the smallest value along axes; NaN wins.

        With PyTorch's words `dim` or `keepdim`, values and indices as PyTorch returns.

        >>> tw.tensor([[1, 5], [7, 2]]).min()
        tensor(1)
        >>> tw.tensor([[1, 5], [7, 2]]).min(dim=1)
        ValuesAndIndices(values=tensor([1, 2]), indices=tensor([0, 1]))
        """
        options = out, keepdims, dim, keepdim, where, initial
        return self._extreme("min", axis, *options)

    def _extreme(
        self,
        name: str,
        axis: Axis,
        out: TensorBase | bool | None,
        keepdims: bool,
        dim: Axis,
        keepdim: bool,
        where: ArrayLike,
        initial: ArrayLike,
    ) -> Tensor | ValuesAndIndices:
        """Return extreme values; with PyTorch's arguments also their indices.

        The derivative of the pair's values goes to the elements at the indices.
        """
        if isinstance(out, bool):  # x.max(1, True)
            keepdim, out = True if out else keepdim, None
        elif dim is None and not keepdim:
            return self._reduce(name, axis, out, keepdims, None, False, where, initial)
        axis = axis_of(name, axis, dim)
        if not isinstance(axis, SupportsIndex):
            raise AxisError(
                f"{name}: values and indices, which PyTorch's dim= and keepdim= ask "
                f"for, are along one axis, not {axis}; write x.{name}(axis={axis}, "
                "keepdims=True) for values alone."
            )
        for key, value, usual in (
            ("out", out, None),
            ("initial", initial, None),
            ("where", where, True),
        ):
            if value is not usual:
                raise DataError(
                    f"{name}: {key}= is an option of values alone; write x.{name}("
                    f"axis={operator.index(axis)}, {key}=...)."
                )
        along = normalize_axis(axis, len(self.node.shape))
        indices = argreduce(f"arg{name}", self.node, along, True)
        values = take_along(self.node, indices, along)
        if not (keepdim or keepdims):
            values, indices = (squeeze(node, (along,)) for node in (values, indices))
        return ValuesAndIndices(self._wrap(values), self._wrap(indices))

    def any(
        self,
        axis: Axis = None,
        out: TensorBase | None = None,
        keepdims: bool = False,
        *,
        where: ArrayLike = True,
        dim: Axis = None,
        keepdim: bool = False,
    ) -> Tensor:
        """Return whether one element is true along axes; false of nothing.

        >>> tw.tensor([[True, False], [False, False]]).any(axis=1)
        tensor([ True, False])
        """
        return self._reduce("any", axis, out, keepdims, dim, keepdim, where)

    def all(
        self,
        axis: Axis = None,
        out: TensorBase | None = None,
        keepdims: bool = False,
        *,
        where: ArrayLike = True,
        dim: Axis = None,
        keepdim: bool = False,
    ) -> Tensor:
        """Return whether all elements are true along axes; true of nothing.

        >>> tw.tensor([[True, True], [False, True]]).all(axis=1)
        tensor([ True, False])
        """
        return self._reduce("all", axis, out, keepdims, dim, keepdim, where)

    def count_nonzero(
        self,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        dim: Axis = None,
        keepdim: bool = False,
    ) -> Tensor:
        """Return how many elements along axes are not zero.

        >>> tw.tensor([[0, 1, 2], [0, 0, 3]]).count_nonzero(axis=1)
        tensor([2, 1])
        """
        if dim is not None or keepdim:
            axis = axis_of("count_nonzero", axis, dim)
            keepdims = keepdims or keepdim
        axes = normalize_axes(axis, len(self.node.shape))
        mask = cast(self.node, dtypes.bool)
        return self._wrap(reduce("sum", mask, axes, keepdims))

    def mean(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        out: TensorBase | None = None,
        keepdims: bool = False,
        *,
        where: ArrayLike = True,
        dim: Axis = None,
        keepdim: bool = False,
    ) -> Tensor:
        """Return the mean along axes; integers and bool give the default float.

        >>> tw.tensor([[1, 2], [3, 6]]).mean(axis=1)
        tensor([1.5, 4.5])
        """
        if dim is not None or keepdim:
            axis = axis_of("mean", axis, dim)
            keepdims = keepdims or keepdim
        if out is not None or dtype is not None:
            keepdims, dtype, out = _by_position(keepdims, dtype, out)
        if where is not True:
            return numpys("mean")(self, axis, dtype, out, keepdims, where=where)
        axes = normalize_axes(axis, len(self.node.shape))
        values = _floating("mean", self.node, dtype)
        mean = _mean(_single(values), axes, keepdims)
        return into(self._wrap(cast(mean, values.dtype)), out)

    def var(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        out: TensorBase | None = None,
        ddof: NumberLike = None,
        keepdims: bool = False,
        *,
        correction: NumberLike = 0.0,
        where: ArrayLike = True,
        mean: ArrayLike = None,
        dim: Axis = None,
        keepdim: bool = False,
    ) -> Tensor:
        """Return the variance along axes, `Σ(x - mean)² / (n - correction)`.

        `ddof` is NumPy's word for `correction`.

        >>> tw.tensor([1.0, 2.0, 3.0]).var(correction=1)
        tensor(1.)
        """
        if dim is not None or keepdim:
            axis = axis_of("var", axis, dim)
            keepdims = keepdims or keepdim
        less = as_number(correction if ddof is None else ddof, "var: correction")
        if where is not True or mean is not None:
            options = {"where": where, "mean": mean}
            return numpys("var")(self, axis, dtype, out, less, keepdims, **options)
        axes = normalize_axes(axis, len(self.node.shape))
        values = _floating("var", self.node, dtype)
        variance = _variance(_single(values), axes, less, keepdims)
        return into(self._wrap(cast(variance, values.dtype.part)), out)

    def std(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        out: TensorBase | None = None,
        ddof: NumberLike = None,
        keepdims: bool = False,
        *,
        correction: NumberLike = 0.0,
        where: ArrayLike = True,
        mean: ArrayLike = None,
        dim: Axis = None,
        keepdim: bool = False,
    ) -> Tensor:
        """Return the standard deviation along axes, the square root of `var`.

        Its derivative is 0 where all values are equal. `ddof` is NumPy's word for
        `correction`.

        >>> tw.tensor([1.0, 3.0]).std()
        tensor(1.)
        """
        if dim is not None or keepdim:
            axis = axis_of("std", axis, dim)
            keepdims = keepdims or keepdim
        less = as_number(correction if ddof is None else ddof, "std: correction")
        if where is not True or mean is not None:
            options = {"where": where, "mean": mean}
            return numpys("std")(self, axis, dtype, out, less, keepdims, **options)
        axes = normalize_axes(axis, len(self.node.shape))
        values = _floating("std", self.node, dtype)
        variance = _variance(_single(values), axes, less, keepdims)
        return into(self._wrap(cast(root_of_square(variance), values.dtype.part)), out)

    def argmax(
        self,
        axis: SupportsIndex | None = None,
        out: TensorBase | None = None,
        *,
        keepdims: bool = False,
        dim: SupportsIndex | None = None,
        keepdim: bool = False,
    ) -> Tensor:
        """Return where the first largest value is; in row-major order for None.

        >>> tw.tensor([[1, 9, 3], [8, 2, 7]]).argmax(axis=1)
        tensor([1, 0])
        """
        return self._argreduce("argmax", axis, out, keepdims, dim, keepdim)

    def argmin(
        self,
        axis: SupportsIndex | None = None,
        out: TensorBase | None = None,
        *,
        keepdims: bool = False,
        dim: SupportsIndex | None = None,
        keepdim: bool = False,
    ) -> Tensor:
        """Return where the first smallest value is; in row-major order for None.

        >>> tw.tensor([[1, 9, 3], [8, 2, 7]]).argmin(axis=1)
        tensor([0, 1])
        """
        return self._argreduce("argmin", axis, out, keepdims, dim, keepdim)

    def _argreduce(
        self,
        name: str,
        axis: SupportsIndex | None,
        out: TensorBase | None,
        keepdims: bool,
        dim: SupportsIndex | None,
        keepdim: bool,
    ) -> Tensor:
        if dim is not None or keepdim:
            axis = axis_of(name, axis, dim)
            keepdims = keepdims or keepdim
        if out is not None:
            keepdims, _, out = _by_position(keepdims, None, out)
        along = None if axis is None else normalize_axis(axis, len(self.node.shape))
        return into(self._wrap(argreduce(name, self.node, along, keepdims)), out)

    def cumulative_sum(
        self,
        axis: SupportsIndex | None = None,
        *,
        dtype: DTypeLike = None,
        include_initial: bool = False,
    ) -> Tensor:
        """Return running sums along an axis; `include_initial` puts a 0 before them.

        >>> tw.tensor([3, 1, 7]).cumulative_sum()
        tensor([ 3,  4, 11])
        """
        return self._scan("cumulative_sum", axis, dtype, 0 if include_initial else None)

    def cumulative_prod(
        self,
        axis: SupportsIndex | None = None,
        *,
        dtype: DTypeLike = None,
        include_initial: bool = False,
    ) -> Tensor:
        """Return running products along an axis; `include_initial` puts a 1 first.

        >>> tw.tensor([1, 2, 3, 4]).cumulative_prod()
        tensor([ 1,  2,  6, 24])
        """
        return self._scan(
            "cumulative_prod", axis, dtype, 1 if include_initial else None
        )

    def _scan(
        self,
        name: str,
        axis: SupportsIndex | None,
        dtype: DTypeLike,
        initial: int | None,
    ) -> Tensor:
        """Return a running reduction, with its starting value in front if given."""
        rank = len(self.node.shape)
        if axis is None and rank != 1:
            raise AxisError(
                f"{name}: shape {self.node.shape} has {rank} axes; say along which "
                "with axis=."
            )
        along = 0 if axis is None else normalize_axis(axis, rank)
        result = scan(name, self.node, along, optional_dtype(dtype))
        if initial is not None:
            shape = list(result.shape)
            shape[along] = 1
            first = constant(initial, result.dtype, result.device, tuple(shape))
            result = concat([first, result], along)
        return self._wrap(result)


def _floating(name: str, node: Node, dtype: DTypeLike) -> Node:
    """Return a node in the requested float dtype, else in its own or the default."""
    requested = optional_dtype(dtype)
    if requested is None:
        is_float = node.dtype.kind in FLOWING
        return node if is_float else cast(node, dtypes.DEFAULT_FLOAT)
    if requested.kind not in FLOWING:
        raise DTypeError(f"{name}: dtype {requested}; the result is a float.")
    return cast(node, requested)


def _single(node: Node) -> Node:
    """Return 16-bit floats as float32: sums and squares may exceed their range."""
    return cast(node, node.dtype.wide)


def _mean(
    node: Node, axes: tuple[int, ...], keepdims: bool, correction: float = 0
) -> Node:
    """Return the sum along axes, divided by the count of elements less a correction."""
    total = reduce("sum", node, axes, keepdims)
    count = 1
    for axis in axes:
        count *= node.shape[axis]
    divisor = constant(max(count - correction, 0), node.dtype.part, node.device)
    return elementwise(OPS["divide"], total, divisor)


def _by_position(keepdims: bool, dtype: Any, out: Any) -> tuple[bool, Any, Any]:
    """Return options of a call, with the second one of `x.sum(0, True)` as keepdims."""
    if bool in (type(dtype), type(out)):
        return dtype is True or out is True, None, None
    return keepdims, dtype, out


def _variance(
    node: Node, axes: tuple[int, ...], correction: float, keepdims: bool
) -> Node:
    distance = elementwise(OPS["subtract"], node, _mean(node, axes, True))
    square = elementwise(OPS["square"], real_part(distance))
    if node.dtype.kind == "complex":  # the absolute value of each distance counts
        other = elementwise(OPS["square"], imaginary_part(distance))
        square = elementwise(OPS["add"], square, other)
    return _mean(square, axes, keepdims, correction)


def root_of_square(square: Node) -> Node:
    """Return a square root, whose derivative at 0 is 0, one of its subgradients."""
    is_zero = elementwise(
        OPS["equal"], square, constant(0, square.dtype, square.device)
    )
    return elementwise(OPS["where"], is_zero, square, elementwise(OPS["sqrt"], square))
