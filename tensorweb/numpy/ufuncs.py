"""NumPy's ufuncs: elementwise functions with `out=`, `where=`, `dtype=` and methods.

The table at the end has one line for each; names of one function share a ufunc.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Generic, SupportsIndex, TypeVar

from tensorweb import dtypes
from tensorweb import functions as tw
from tensorweb.dtypes import as_dtype
from tensorweb.errors import DataError, DTypeError, TensorIndexError
from tensorweb.numpy import elementwise
from tensorweb.numpy.arguments import (
    apply_mask,
    as_mask,
    as_operand_like,
    as_tensors,
    declare_public,
    into,
)
from tensorweb.numpy.reductions import (
    ALL,
    ANY,
    MAX,
    MIN,
    PROD,
    SUM,
    Reduction,
)
from tensorweb.shapes import normalize_axes, normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.tensor.numpy_calls import check_casting
from tensorweb.tensor.reductions import Axis

R = TypeVar("R")

CASTINGS = ("same_kind", "safe", "unsafe", "equiv", "no")

REDUCTIONS: dict[str, Reduction] = {
    "add": SUM,
    "multiply": PROD,
    "maximum": MAX,
    "minimum": MIN,
    "logical_and": ALL,
    "logical_or": ANY,
}
"""Reductions with kernels of their own."""

SCANS: dict[str, Callable[..., Tensor]] = {
    "add": tw.cumulative_sum,
    "multiply": tw.cumulative_prod,
}

ACCUMULATIONS = {
    "add": "add",
    "subtract": "subtract",
    "multiply": "multiply",
    "divide": "divide",
    "maximum": "max",
    "minimum": "min",
}
"""Functions that `x.at[key]` has, by its names."""

IDENTITIES: dict[str, float] = {
    "add": 0,
    "multiply": 1,
    "logical_and": True,
    "logical_or": False,
    "logical_xor": False,
    "bitwise_and": -1,
    "bitwise_or": 0,
    "bitwise_xor": 0,
    "gcd": 0,
    "hypot": 0,
    "logaddexp": -tw.inf,
    "logaddexp2": -tw.inf,
}
"""The results of no elements, which change no other operand."""

IN_ANY_ORDER = (*IDENTITIES, "maximum", "minimum", "fmax", "fmin", "lcm")
"""Functions of two operands that may combine any neighbours first."""


class _Signature:
    """The signature of a ufunc, computed on first access."""

    def __get__(self, made: ufunc[Any] | None, owner: object) -> inspect.Signature:
        if made is None:  # of the class it is that of its constructor
            raise AttributeError("__signature__")
        own = list(inspect.signature(made.__wrapped__).parameters.values())[: made.nin]
        operands = [each.replace(kind=each.POSITIONAL_ONLY) for each in own]
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
        self, function: Callable[..., R], name: str | None = None, nout: int = 1
    ) -> None:
        """Wrap a function of operands alone."""
        self._function: Callable[..., Any] = function
        self.__name__ = name or function.__name__
        self.__qualname__ = self.__name__
        self.__doc__ = function.__doc__
        self.__module__ = "tensorweb.numpy"  # where pickle finds it by its name
        self.__wrapped__ = function
        code = function.__code__
        self.nin: int = code.co_argcount
        self.nout = nout
        self.identity = IDENTITIES.get(self.__name__)

    @property
    def nargs(self) -> int:
        """The count of operands and results."""
        return self.nin + self.nout

    @functools.cached_property
    def types(self) -> list[str]:
        """Letters of the dtypes of operands, all of one dtype, and of results.

        >>> np.logical_not.types[:2], np.isnan.ntypes
        (['?->?', 'b->?'], 14)
        """
        found = []
        for dtype in dtypes.BY_NAME.values():
            operands = [tw.ones(1, dtype=dtype, device="cpu")] * self.nin
            try:
                results = self._function(*operands)
            except DTypeError:
                continue
            made = results if self.nout > 1 else (results,)
            given = "".join(each.dtype.char for each in made)
            found.append(f"{dtype.char * self.nin}->{given}")
        return found

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
        given = signature if signature is not None else sig
        if given is not None:
            if sig is not None and signature is not None:
                raise DataError(f"{self.__name__}: sig= is signature=; give one.")
            args, dtype = self._cast_to_signature(args, given, dtype, casting)
        answers = dtype is not None and as_dtype(dtype) is dtypes.bool
        if dtype is not None and not answers:
            args = tuple(self._cast(each, dtype, casting) for each in args)
        results = self._function(*args)
        if answers and self.nout == 1:
            results = results.astype(dtypes.bool)
        elif dtype is not None and self.nout == 1 and results.dtype != as_dtype(dtype):
            raise DTypeError(
                f"{self.__name__}: dtype={dtype!r}, but of it the result is "
                f"{results.dtype}; convert the result with astype."
            )
        if out is None and where is True:
            return results  # type: ignore[no-any-return]  # of the function's type
        found = results if self.nout > 1 else (results,)
        if out is None:
            targets: tuple[Any, ...] = (None,) * self.nout
        else:
            targets = out if isinstance(out, tuple) else (out,)
        if len(targets) != self.nout:
            raise DataError(
                f"{self.__name__}: {len(targets)} tensors in out= for {self.nout} "
                "results."
            )
        if any(target is Ellipsis for target in targets):
            raise DataError(f"{self.__name__}: write out=..., not in a tuple.")
        made = tuple(
            _write_result(each, target, where, casting)
            for each, target in zip(found, targets, strict=True)
        )
        return made if self.nout > 1 else made[0]  # type: ignore[return-value]  # too

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
        cast = tuple(
            each if target is None else self._cast(each, target, casting)
            for each, target in zip(args, parts, strict=False)
        )
        target = parts[-1]
        is_met = all(
            target is None or as_dtype(each) is as_dtype(target)
            for each in parts[: self.nin]
            if each is not None
        )
        return cast, None if is_met and None not in parts[: self.nin] else target

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
        x = tw.asarray(array)
        if dtype is not None:
            x = x.astype(dtype)
        if not x.ndim and axis in (0, -1):  # a number counts as one of one axis
            axis = None
        if self.__name__ in REDUCTIONS:
            reduction = REDUCTIONS[self.__name__]
            found = reduction(x, axis, None, None, keepdims, initial, where)
            return into(found if dtype is None else found.astype(dtype), out)
        if where is not True:
            if self.identity is None:
                raise DataError(f"{self.__name__}.reduce: where= needs an identity.")
            x = apply_mask(x, where, self.identity)
        axes = normalize_axes(axis, x.ndim)
        if len(axes) > 1 and self.__name__ not in IN_ANY_ORDER:
            raise DataError(
                f"{self.__name__}.reduce: axis={axis!r}: its order counts; give one."
            )
        for each in sorted(axes, reverse=True):
            x = self._combine_slices(tw.moveaxis(x, each, 0), initial)
            initial = None
            x = tw.expand_dims(x, each) if keepdims else x
        return into(x, out)

    def _combine_slices(self, rows: Tensor, initial: ArrayLike) -> Tensor:
        """Return the slices of the first axis combined."""
        start = self.identity if initial is None else initial
        length = rows.shape[0]
        if not length or initial is not None or length == 1:
            if start is not None:
                if initial is None and isinstance(start, int):  # -1 sets every bit
                    start = tw.full_like(rows[:0].sum(0), start, dtype=int)
                    start = start.astype(rows.dtype)
                first = tw.full_like(rows[:0].sum(0), 0).astype(rows.dtype) + start
                rows = tw.concat([first[None], rows])
            elif not length:
                raise DataError(
                    f"{self.__name__}.reduce: there is nothing to combine; give "
                    "initial=."
                )
        if rows.shape[0] == 1:
            return rows[0].copy()  # no view of the operand
        if self.__name__ in IN_ANY_ORDER:
            while rows.shape[0] > 1:
                half = rows.shape[0] // 2
                pairs = self._function(rows[:half], rows[half : 2 * half])
                rows = tw.concat([pairs, rows[2 * half :].astype(pairs.dtype)])
            return rows[0]
        parts: Sequence[Any] = tw.unstack(rows)
        found: Tensor = functools.reduce(self._function, parts)
        return found

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
        if self.__name__ in SCANS:
            return into(SCANS[self.__name__](x, along, dtype=dtype), out)
        rows = tw.moveaxis(x, along, 0)
        if rows.shape[0] < 2:
            rows = rows.copy()  # no view of the operand
        if self.__name__ in IN_ANY_ORDER:
            step = 1
            while step < rows.shape[0]:
                later = self._function(rows[:-step], rows[step:])
                rows = tw.concat([rows[:step].astype(later.dtype), later])
                step *= 2
        elif rows.shape[0] > 1:
            found = [rows[0]]
            for part in tw.unstack(rows)[1:]:
                found.append(self._function(found[-1], part))
            rows = tw.stack([each.astype(found[-1].dtype) for each in found])
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
        found = []
        for i, start in enumerate(starts):
            if not 0 <= start < rows.shape[0]:
                raise TensorIndexError(
                    f"{self.__name__}.reduceat: index {start} is out of range for an "
                    f"axis of {rows.shape[0]} elements."
                )
            end = starts[i + 1] if i + 1 < len(starts) else rows.shape[0]
            found.append(self.reduce(rows[start : max(end, start + 1)], 0, dtype))
        made = tw.stack(found) if found else rows[:0]
        return into(tw.moveaxis(made, 0, along), out)

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
        if self.__name__ in ACCUMULATIONS:
            named = a.at[indices]
            a[...] = getattr(named, ACCUMULATIONS[self.__name__])(b)
            return
        a[...] = self._apply_in_order(a, indices, b).astype(a.dtype)

    def _apply_in_order(self, a: Tensor, indices: Any, b: ArrayLike) -> Tensor:
        """Apply the function at positions; equal positions one after the other."""
        flat = a.reshape(-1)
        positions = tw.arange(a.size, device=a.device).reshape(a.shape)[indices]
        operands: list[Tensor] = []
        if b is not None:
            operands = [
                tw.broadcast_to(as_operand_like(b, a), positions.shape).reshape(-1)
            ]
        positions = positions.reshape(-1)
        if not positions.size:
            return a
        order = tw.argsort(positions)
        ordered = positions[order]
        first = tw.searchsorted(ordered, ordered)
        repetition = tw.arange(positions.size, device=a.device) - first
        for i in range(int(repetition.max()) + 1):
            chosen = order[tw.nonzero(repetition == i)[0]]
            where = positions[chosen]
            values = self._function(flat[where], *(each[chosen] for each in operands))
            flat = flat.at[where].set(values.astype(a.dtype))
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
add = ufunc(tw.add, "add")
arccos = ufunc(tw.acos, "arccos")
arccosh = ufunc(tw.acosh, "arccosh")
arcsin = ufunc(tw.asin, "arcsin")
arcsinh = ufunc(tw.asinh, "arcsinh")
arctan = ufunc(tw.atan, "arctan")
arctan2 = ufunc(tw.atan2, "arctan2")
arctanh = ufunc(tw.atanh, "arctanh")
bitwise_and = ufunc(tw.bitwise_and, "bitwise_and")
bitwise_count = ufunc(elementwise.bitwise_count, "bitwise_count")
bitwise_or = ufunc(tw.bitwise_or, "bitwise_or")
bitwise_xor = ufunc(tw.bitwise_xor, "bitwise_xor")
cbrt = ufunc(elementwise.cbrt, "cbrt")
ceil = ufunc(tw.ceil, "ceil")
copysign = ufunc(tw.copysign, "copysign")
cos = ufunc(tw.cos, "cos")
cosh = ufunc(tw.cosh, "cosh")
degrees = ufunc(elementwise.rad2deg, "degrees")
deg2rad = ufunc(elementwise.deg2rad, "deg2rad")
divide = ufunc(tw.divide, "divide")
divmod = ufunc(elementwise.divmod, "divmod", nout=2)
equal = ufunc(tw.equal, "equal")
exp = ufunc(tw.exp, "exp")
exp2 = ufunc(tw.exp2, "exp2")
expm1 = ufunc(tw.expm1, "expm1")
fabs = ufunc(elementwise.fabs, "fabs")
float_power = ufunc(elementwise.float_power, "float_power")
floor = ufunc(tw.floor, "floor")
floor_divide = ufunc(tw.floor_divide, "floor_divide")
fmax = ufunc(elementwise.fmax, "fmax")
fmin = ufunc(elementwise.fmin, "fmin")
fmod = ufunc(elementwise.fmod, "fmod")
frexp = ufunc(elementwise.frexp, "frexp", nout=2)
gcd = ufunc(elementwise.gcd, "gcd")
greater = ufunc(tw.greater, "greater")
greater_equal = ufunc(tw.greater_equal, "greater_equal")
heaviside = ufunc(elementwise.heaviside, "heaviside")
hypot = ufunc(tw.hypot, "hypot")
invert = ufunc(tw.bitwise_invert, "invert")
isfinite = ufunc(tw.isfinite, "isfinite")
isinf = ufunc(tw.isinf, "isinf")
isnan = ufunc(tw.isnan, "isnan")
lcm = ufunc(elementwise.lcm, "lcm")
ldexp = ufunc(elementwise.ldexp, "ldexp")
left_shift = ufunc(tw.bitwise_left_shift, "left_shift")
less = ufunc(tw.less, "less")
less_equal = ufunc(tw.less_equal, "less_equal")
log = ufunc(tw.log, "log")
log10 = ufunc(tw.log10, "log10")
log1p = ufunc(tw.log1p, "log1p")
log2 = ufunc(tw.log2, "log2")
logaddexp = ufunc(tw.logaddexp, "logaddexp")
logaddexp2 = ufunc(elementwise.logaddexp2, "logaddexp2")
logical_and = ufunc(tw.logical_and, "logical_and")
logical_not = ufunc(tw.logical_not, "logical_not")
logical_or = ufunc(tw.logical_or, "logical_or")
logical_xor = ufunc(tw.logical_xor, "logical_xor")
maximum = ufunc(tw.maximum, "maximum")
minimum = ufunc(tw.minimum, "minimum")
modf = ufunc(elementwise.modf, "modf", nout=2)
multiply = ufunc(tw.multiply, "multiply")
negative = ufunc(tw.negative, "negative")
nextafter = ufunc(tw.nextafter, "nextafter")
not_equal = ufunc(tw.not_equal, "not_equal")
positive = ufunc(tw.positive, "positive")
power = ufunc(tw.pow, "power")
rad2deg = ufunc(elementwise.rad2deg, "rad2deg")
radians = ufunc(elementwise.deg2rad, "radians")
reciprocal = ufunc(elementwise.reciprocal, "reciprocal")
remainder = ufunc(tw.remainder, "remainder")
right_shift = ufunc(tw.bitwise_right_shift, "right_shift")
rint = ufunc(elementwise.rint, "rint")
sign = ufunc(tw.sign, "sign")
signbit = ufunc(tw.signbit, "signbit")
sin = ufunc(tw.sin, "sin")
sinh = ufunc(tw.sinh, "sinh")
spacing = ufunc(elementwise.spacing, "spacing")
sqrt = ufunc(tw.sqrt, "sqrt")
square = ufunc(tw.square, "square")
subtract = ufunc(tw.subtract, "subtract")
tan = ufunc(tw.tan, "tan")
tanh = ufunc(tw.tanh, "tanh")
trunc = ufunc(tw.trunc, "trunc")

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
