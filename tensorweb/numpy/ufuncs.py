"""NumPy's ufuncs: elementwise functions with `out=`, `where=`, `dtype=` and methods.

The table at the end has one line for each; names of one function share a ufunc.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any, Generic, SupportsIndex, TypeVar

from tensorweb import dtypes
from tensorweb import functions as tw
from tensorweb.dtypes import as_dtype
from tensorweb.errors import DataError, DTypeError, TensorIndexError
from tensorweb.numpy import elementwise
from tensorweb.numpy.arguments import (
    apply_mask,
    as_first_operand,
    as_mask,
    as_operand_like,
    as_tensors,
    into,
)
from tensorweb.numpy.reductions import ALL, ANY, MAX, MIN, PROD, SUM, Reduction
from tensorweb.public_names import declare_public
from tensorweb.shapes import normalize_axes, normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import check_casting
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.tensor.reductions import Axis

R = TypeVar("R")

CASTINGS = ("same_kind", "safe", "unsafe", "equiv", "no")


class _Signature:
    """The signature of a ufunc, computed on first access."""

    def __get__(self, made: ufunc[Any] | None, owner: object) -> inspect.Signature:
        if made is None:  # of the class it is that of its constructor
            raise AttributeError("__signature__")
        own = list(inspect.signature(made.__wrapped__).parameters.values())[: made.nin]
        operands = [operand.replace(kind=operand.POSITIONAL_ONLY) for operand in own]
        called = inspect.signature(type(made).__call__).parameters
        further = [each for name, each in called.items() if name not in UNNAMED]
        none = None if made.nout == 1 else (None,) * made.nout
        out = called["out"]
        out = out.replace(kind=out.POSITIONAL_OR_KEYWORD, default=none)
        return inspect.Signature([*operands, out, *further])


UNNAMED = ("self", "args", "out", "sig")
"""Parameters of a call that a signature names otherwise or not at all."""


class ufunc(Generic[R]):
    """An elementwise function of NumPy: call it, or reduce, accumulate and scatter.

    `out=` receives the result, `where=` selects the elements that are computed (the
    others are those of `out`, or 0), operands are converted to `dtype=` first; of bool
    only the result is.

    Attributes:
        nin: the count of operands.
        nout: the count of results.
        identity: the result of no elements, None where there is none.

    >>> np.add([1, 2], 10, where=[True, False])
    tensor([11,  0])
    >>> np.add.nin, np.add.identity, np.multiply.__name__
    (2, 0, 'multiply')
    """

    __signature__ = _Signature()

    def __init__(
        self,
        function: Callable[..., R],
        name: str | None = None,
        nout: int = 1,
        *,
        identity: float | None = None,
        reduction: Reduction | None = None,
        in_place: str | None = None,
        is_associative: bool = False,
    ) -> None:
        """Wrap a function of operands alone.

        Args:
            function: the function; it has the count of operands and documentation.
            name: the name, that of the function by default.
            nout: the count of results.
            identity: the result of no elements, which changes no other operand.
            reduction: the reduction of a kernel of its own.
            in_place: the method of `x.at[key]` that applies the function.
            is_associative: whether any neighbours may be combined first; with an
                identity they always may.
        """
        self._function: Callable[..., Any] = function
        self.__name__ = self.__qualname__ = name or function.__name__
        self.__doc__ = function.__doc__
        self.__module__ = "tensorweb.numpy"  # where pickle finds it by its name
        self.__wrapped__ = function
        self.nin: int = function.__code__.co_argcount
        self.nout = nout
        self.identity = identity
        self._reduction = reduction
        self._in_place = in_place
        self._is_associative = is_associative or identity is not None

    @property
    def nargs(self) -> int:
        """The count of operands and results."""
        return self.nin + self.nout

    @functools.cached_property
    def types(self) -> list[str]:
        """Letters of the dtypes of operands, all of one dtype, and of results.

        >>> np.logical_not.types[:2], np.isnan.ntypes
        (['?->?', 'b->?'], 15)
        """
        letters = []
        for dtype in dtypes.BY_NAME.values():
            operands = [tw.ones(1, dtype=dtype, device="cpu")] * self.nin
            try:
                results = self._results_of(self._function(*operands))
            except DTypeError:
                continue
            after = "".join(result.dtype.char for result in results)
            letters.append(f"{dtype.char * self.nin}->{after}")
        return letters

    def _results_of(self, value: Any) -> tuple[Any, ...]:
        """Return what the function returned as a tuple of results."""
        return value if self.nout > 1 else (value,)

    @property
    def ntypes(self) -> int:
        """The count of dtypes that operands may have."""
        return len(self.types)

    signature = None
    """None: these functions work on elements, not on axes such as those of matrices."""

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__!r}>"

    def __reduce__(self) -> str:
        """Return the name under which pickle finds it."""
        return self.__name__

    def __call__(
        self,
        *args: ArrayLike,
        out: Any = None,
        where: ArrayLike = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: DTypeLike = None,
        subok: bool = True,
        signature: str | Sequence[DTypeLike] | None = None,
        sig: str | Sequence[DTypeLike] | None = None,
    ) -> R:
        """Return the function of operands, element by element.

        `signature` (or `sig`) are the dtypes of operands and results, `"ff->f"` or
        `("f", None, "f")`. Operands become them, and `dtype`, by the rule `casting`.

        Raises:
            DataError: there are too many or too few operands, or a casting is unknown.
            DTypeError: the rule does not allow a dtype, or no result has it.
        """
        if out is Ellipsis:
            out = None
        elif len(args) > self.nin and out is None:
            args, out = args[: self.nin], args[self.nin :]
        if len(args) != self.nin:
            raise DataError(
                f"{self.__name__}: {len(args)} operands; it takes {self.nin}, and "
                "tensors for the results after them."
            )
        if casting not in CASTINGS:
            raise DataError(f"{self.__name__}: casting={casting!r} is not possible.")
        if signature is not None and sig is not None:
            raise DataError(f"{self.__name__}: sig= is signature=; give one.")
        dtypes_in_order = sig if signature is None else signature
        if dtypes_in_order is not None:
            args, dtype = self._cast_to_signature(args, dtypes_in_order, dtype, casting)
        results = self._call_in_dtype(args, dtype, casting)
        if out is None and where is True:
            return results  # type: ignore[no-any-return]  # of the function's type
        targets: tuple[Any, ...] = (None,) * self.nout
        if out is not None:
            targets = out if isinstance(out, tuple) else (out,)
        if len(targets) != self.nout:
            raise DataError(
                f"{self.__name__}: {len(targets)} tensors in out= for {self.nout} "
                "results."
            )
        if any(target is Ellipsis for target in targets):
            raise DataError(f"{self.__name__}: write out=..., not in a tuple.")
        written = tuple(
            _write_result(result, target, where, casting)
            for result, target in zip(self._results_of(results), targets, strict=True)
        )
        return written if self.nout > 1 else written[0]  # type: ignore[return-value]  # too

    def _call_in_dtype(
        self, args: Sequence[ArrayLike], dtype: DTypeLike, casting: str
    ) -> Any:
        """Return the results of operands that are converted to a dtype first.

        Of bool only the result is. Several results have the dtypes that follow.

        Raises:
            DTypeError: the one result has another dtype.
        """
        if dtype is None:
            return self._function(*args)
        target = as_dtype(dtype)
        if target is dtypes.bool:
            result = self._function(*args)
            return result.astype(target) if self.nout == 1 else result
        result = self._function(*(self._cast(x, target, casting) for x in args))
        if self.nout == 1 and result.dtype != target:
            raise DTypeError(
                f"{self.__name__}: dtype={dtype!r}, but of it the result is "
                f"{result.dtype}; convert the result with astype."
            )
        return result

    def _cast_to_signature(
        self,
        args: Sequence[ArrayLike],
        signature: str | Sequence[DTypeLike],
        dtype: DTypeLike,
        casting: str,
    ) -> tuple[tuple[ArrayLike, ...], DTypeLike]:
        """Return operands in the dtypes of a signature, and the dtype of results.

        Raises:
            DataError: it has another number of dtypes, or `dtype=` is given as well.
        """
        parts: list[DTypeLike] = []
        if isinstance(signature, str):
            parts = list(signature.replace("->", "") if "->" in signature else "")
        elif isinstance(signature, Sequence):
            parts = list(signature)
        if dtype is not None or len(parts) != self.nargs:
            raise DataError(
                f"{self.__name__}: signature={signature!r}; give {self.nargs} dtypes, "
                "and no dtype= as well, or dtype= alone."
            )
        operands = parts[: self.nin]
        cast = tuple(
            x if target is None else self._cast(x, target, casting)
            for x, target in zip(args, operands, strict=True)
        )
        target = parts[-1]
        is_met = None not in operands and (
            target is None or all(as_dtype(x) is as_dtype(target) for x in operands)
        )
        return cast, None if is_met else target

    def _cast(self, value: ArrayLike, dtype: DTypeLike, casting: str) -> Tensor:
        """Return an operand in a dtype, by a rule of casting."""
        x = tw.asarray(value)
        # A plain number has no width of its own, so that its kind alone must be safe.
        is_plain = casting == "safe" and isinstance(value, bool | int | float | complex)
        rule = "same_kind" if is_plain else casting
        check_casting(self.__name__, x.dtype, as_dtype(dtype), rule)
        return x.astype(dtype)

    def _require_binary(self, method: str) -> None:
        """Raise unless this is a function of two operands with one result."""
        if (self.nin, self.nout) != (2, 1):
            raise DataError(
                f"{self.__name__}.{method}: only functions of two operands have it."
            )

    def reduce(
        self,
        array: ArrayLike,
        axis: Axis = 0,
        dtype: DTypeLike = None,
        out: Tensor | None = None,
        keepdims: bool = False,
        initial: ArrayLike = None,
        where: ArrayLike = True,
    ) -> Tensor:
        """Combine all elements along axes, from the first to the last.

        Raises:
            DataError: there is nothing to combine and no identity, or several axes are
                given and their order counts.

        >>> np.multiply.reduce([[1, 2], [3, 4]])
        tensor([3, 8])
        """
        self._require_binary("reduce")
        x = as_first_operand(array, initial, where)
        if dtype is not None:
            x = x.astype(dtype)
        if not x.ndim and axis in (0, -1):  # a number counts as one of one axis
            axis = None
        if self._reduction is not None:
            result = self._reduction(x, axis, None, None, keepdims, initial, where)
            return into(result if dtype is None else result.astype(dtype), out)
        if where is not True:
            if self.identity is None:
                raise DataError(f"{self.__name__}.reduce: where= needs an identity.")
            x = apply_mask(x, where, self.identity)
        axes = normalize_axes(axis, x.ndim)
        if len(axes) > 1 and not self._is_associative:
            raise DataError(
                f"{self.__name__}.reduce: axis={axis!r}: its order counts; give one."
            )
        for along in sorted(axes, reverse=True):
            x = self._combine_slices(tw.moveaxis(x, along, 0), initial)
            initial = None
            x = tw.expand_dims(x, along) if keepdims else x
        return into(x, out)

    def _combine_slices(self, rows: Tensor, initial: ArrayLike) -> Tensor:
        """Return the slices of the first axis combined."""
        start = self.identity if initial is None else initial
        if start is None and not rows.shape[0]:
            raise DataError(
                f"{self.__name__}.reduce: there is nothing to combine; give initial=."
            )
        if start is not None and (initial is not None or rows.shape[0] < 2):
            empty = rows[:0].sum(0)
            if initial is None and isinstance(start, int):  # -1 sets every bit
                start = tw.full_like(empty, start, dtype=int).astype(rows.dtype)
            first = tw.full_like(empty, 0).astype(rows.dtype) + start
            rows = tw.concat([first[None], rows])
        if rows.shape[0] == 1:
            return rows[0].copy()  # no view of the operand
        if self._is_associative:
            while rows.shape[0] > 1:
                half = rows.shape[0] // 2
                pairs = self._function(rows[:half], rows[half : 2 * half])
                rows = tw.concat([pairs, rows[2 * half :].astype(pairs.dtype)])
            return rows[0]
        parts: Sequence[Any] = tw.unstack(rows)
        result: Tensor = functools.reduce(self._function, parts)
        return result

    def accumulate(
        self,
        array: ArrayLike,
        axis: SupportsIndex = 0,
        dtype: DTypeLike = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Combine the elements up to each one, along an axis.

        >>> np.maximum.accumulate([3, 1, 4, 1, 5])
        tensor([3, 3, 4, 4, 5])
        """
        self._require_binary("accumulate")
        x = tw.asarray(array)
        if dtype is not None:
            x = x.astype(dtype)
        along = normalize_axis(axis, x.ndim)
        if self._reduction is not None and self._reduction.scan is not None:
            return self._reduction.cumulate(x, along, dtype, out)
        rows = tw.moveaxis(x, along, 0)
        if rows.shape[0] < 2:
            rows = rows.copy()  # no view of the operand
        if self._is_associative:
            step = 1
            while step < rows.shape[0]:
                later = self._function(rows[:-step], rows[step:])
                rows = tw.concat([rows[:step].astype(later.dtype), later])
                step *= 2
        elif rows.shape[0] > 1:
            results = list(itertools.accumulate(tw.unstack(rows), self._function))
            rows = tw.stack([result.astype(results[-1].dtype) for result in results])
        return into(tw.moveaxis(rows, 0, along), out)

    def reduceat(
        self,
        array: ArrayLike,
        indices: ArrayLike,
        axis: SupportsIndex = 0,
        dtype: DTypeLike = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Combine parts of an axis: each from an index up to the next one.

        Where the next index is not larger it is the element alone. Indices are read.

        Raises:
            TensorIndexError: an index is out of range.

        >>> np.add.reduceat([0, 1, 2, 3, 4, 5], [0, 3, 1])
        tensor([ 3,  3, 15])
        """
        self._require_binary("reduceat")
        x = tw.asarray(array)
        along = normalize_axis(axis, x.ndim)
        rows = tw.moveaxis(x, along, 0)
        starts = tw.asarray(indices).reshape(-1).tolist()
        results = []
        ends = [*starts[1:], rows.shape[0]]
        for start, following in zip(starts, ends, strict=False):
            if not 0 <= start < rows.shape[0]:
                raise TensorIndexError(
                    f"{self.__name__}.reduceat: index {start} is out of range for an "
                    f"axis of {rows.shape[0]} elements."
                )
            end = max(following, start + 1)
            results.append(self.reduce(rows[start:end], 0, dtype))
        joined = tw.stack(results) if results else rows[:0]
        return into(tw.moveaxis(joined, 0, along), out)

    def outer(self, A: ArrayLike, B: ArrayLike, /, **options: Any) -> Any:
        """Apply the function to each pair of elements of two operands.

        >>> np.subtract.outer([10, 20], [1, 2, 3])
        tensor([[ 9,  8,  7],
                [19, 18, 17]])
        """
        self._require_binary("outer")
        first, second = as_tensors([A, B])
        return self(
            first.reshape((*first.shape, *(1,) * second.ndim)), second, **options
        )

    def at(self, a: Tensor, indices: Any, b: ArrayLike = None, /) -> None:
        """Apply the function in place at positions, once for each occurrence.

        Functions that `x.at[key]` lacks read the counts of positions.

        Raises:
            DataError: `a` is no tensor, or a second operand is missing.

        >>> x = np.zeros(4)
        >>> np.add.at(x, [1, 3, 1], 2)
        >>> x
        tensor([0., 4., 0., 2.])
        """
        if not isinstance(a, Tensor):
            raise DataError(
                f"{self.__name__}.at: only tensors can be changed, not "
                f"{type(a).__name__}."
            )
        if (b is None) != (self.nin == 1):
            raise DataError(f"{self.__name__}.at takes {self.nin} operands.")
        if self._in_place is not None:
            a[...] = getattr(a.at[indices], self._in_place)(b)
            return
        a[...] = self._apply_in_order(a, indices, b).astype(a.dtype)

    def _apply_in_order(self, a: Tensor, indices: Any, b: ArrayLike) -> Tensor:
        """Apply the function at positions; equal positions one after the other."""
        flat = a.reshape(-1)
        positions = tw.arange(a.size, device=a.device).reshape(a.shape)[indices]
        if not positions.size:
            return a
        operands: list[Tensor] = []
        if b is not None:
            values = tw.broadcast_to(as_operand_like(b, a), positions.shape)
            operands = [values.reshape(-1)]
        positions = positions.reshape(-1)
        order = tw.argsort(positions)
        ordered = positions[order]
        first = tw.searchsorted(ordered, ordered)
        repetition = tw.arange(positions.size, device=a.device) - first
        for i in range(int(repetition.max()) + 1):
            chosen = order[tw.nonzero(repetition == i)[0]]
            where = positions[chosen]
            result = self._function(flat[where], *(x[chosen] for x in operands))
            flat = flat.at[where].set(result.astype(a.dtype))
        return flat.reshape(a.shape)


def _write_result(
    result: Tensor, out: object, where: ArrayLike, casting: str
) -> Tensor:
    """Write the selected elements of a result into `out`, if there is one."""
    if out is not None and not isinstance(out, Tensor):
        return into(result, out)  # which raises
    if out is not None and casting == "unsafe":
        result = result.astype(out.dtype)
    if out is not None and where is True and result.shape != out.shape:
        result = tw.broadcast_to(result, out.shape)
    if where is not True:
        condition = tw.asarray(where, device=result.device)
        shape = tw.broadcast_arrays(result, condition)[0].shape
        result = tw.broadcast_to(result, shape)
        other: ArrayLike = 0 if out is None else out
        result = tw.where(as_mask(condition, result), result, other)
    return into(result, out)


absolute = ufunc(tw.abs, "absolute")
add = ufunc(tw.add, identity=0, reduction=SUM, in_place="add")
arccos = ufunc(tw.acos, "arccos")
arccosh = ufunc(tw.acosh, "arccosh")
arcsin = ufunc(tw.asin, "arcsin")
arcsinh = ufunc(tw.asinh, "arcsinh")
arctan = ufunc(tw.atan, "arctan")
arctan2 = ufunc(tw.atan2, "arctan2")
arctanh = ufunc(tw.atanh, "arctanh")
bitwise_and = ufunc(tw.bitwise_and, identity=-1)
bitwise_count = ufunc(elementwise.bitwise_count)
bitwise_or = ufunc(tw.bitwise_or, identity=0)
bitwise_xor = ufunc(tw.bitwise_xor, identity=0)
cbrt = ufunc(tw.cbrt)
ceil = ufunc(tw.ceil)
copysign = ufunc(tw.copysign)
cos = ufunc(tw.cos)
cosh = ufunc(tw.cosh)
degrees = ufunc(elementwise.rad2deg, "degrees")
deg2rad = ufunc(elementwise.deg2rad)
divide = ufunc(tw.divide, in_place="divide")
divmod = ufunc(elementwise.divmod, nout=2)
equal = ufunc(tw.equal)
exp = ufunc(tw.exp)
exp2 = ufunc(tw.exp2)
expm1 = ufunc(tw.expm1)
fabs = ufunc(elementwise.fabs)
float_power = ufunc(elementwise.float_power)
floor = ufunc(tw.floor)
floor_divide = ufunc(tw.floor_divide)
fmax = ufunc(elementwise.fmax, is_associative=True)
fmin = ufunc(elementwise.fmin, is_associative=True)
fmod = ufunc(elementwise.fmod)
frexp = ufunc(elementwise.frexp, nout=2)
gcd = ufunc(elementwise.gcd, identity=0)
greater = ufunc(tw.greater)
greater_equal = ufunc(tw.greater_equal)
heaviside = ufunc(elementwise.heaviside)
hypot = ufunc(tw.hypot, identity=0)
invert = ufunc(tw.bitwise_invert, "invert")
isfinite = ufunc(tw.isfinite)
isinf = ufunc(tw.isinf)
isnan = ufunc(tw.isnan)
lcm = ufunc(elementwise.lcm, is_associative=True)
ldexp = ufunc(elementwise.ldexp)
left_shift = ufunc(tw.bitwise_left_shift, "left_shift")
less = ufunc(tw.less)
less_equal = ufunc(tw.less_equal)
log = ufunc(tw.log)
log10 = ufunc(tw.log10)
log1p = ufunc(tw.log1p)
log2 = ufunc(tw.log2)
logaddexp = ufunc(tw.logaddexp, identity=-tw.inf)
logaddexp2 = ufunc(elementwise.logaddexp2, identity=-tw.inf)
logical_and = ufunc(tw.logical_and, identity=True, reduction=ALL)
logical_not = ufunc(tw.logical_not)
logical_or = ufunc(tw.logical_or, identity=False, reduction=ANY)
logical_xor = ufunc(tw.logical_xor, identity=False)
maximum = ufunc(tw.maximum, reduction=MAX, in_place="max", is_associative=True)
minimum = ufunc(tw.minimum, reduction=MIN, in_place="min", is_associative=True)
modf = ufunc(elementwise.modf, nout=2)
multiply = ufunc(tw.multiply, identity=1, reduction=PROD, in_place="multiply")
negative = ufunc(tw.negative)
nextafter = ufunc(tw.nextafter)
not_equal = ufunc(tw.not_equal)
positive = ufunc(tw.positive)
power = ufunc(tw.pow, "power")
rad2deg = ufunc(elementwise.rad2deg)
radians = ufunc(elementwise.deg2rad, "radians")
reciprocal = ufunc(elementwise.reciprocal)
remainder = ufunc(tw.remainder)
right_shift = ufunc(tw.bitwise_right_shift, "right_shift")
rint = ufunc(elementwise.rint)
sign = ufunc(tw.sign)
signbit = ufunc(tw.signbit)
sin = ufunc(tw.sin)
sinh = ufunc(tw.sinh)
spacing = ufunc(elementwise.spacing)
sqrt = ufunc(tw.sqrt)
square = ufunc(tw.square)
subtract = ufunc(tw.subtract, in_place="subtract")
tan = ufunc(tw.tan)
tanh = ufunc(tw.tanh)
trunc = ufunc(tw.trunc)

abs = absolute
acos = arccos
acosh = arccosh
asin = arcsin
asinh = arcsinh
atan = arctan
atan2 = arctan2
atanh = arctanh
bitwise_invert = invert
bitwise_left_shift = left_shift
bitwise_not = invert
bitwise_right_shift = right_shift
mod = remainder
pow = power
true_divide = divide

declare_public(
    __name__, *(name for name, value in globals().items() if type(value) is ufunc)
)
