"""NumPy's functions on tensors: `np.sin(x)` is `tensorweb.numpy.sin(x)`.

NumPy asks `__array_ufunc__` or `__array_function__` whenever a tensor is among the
arguments. Both look for the function of the same name in `tensorweb.numpy`, so that the
work stays on the tensor's device; a function that has none there is an error.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tensorweb.devices import device
from tensorweb.errors import DataError
from tensorweb.nodes.contraction import matmul
from tensorweb.nodes.elementwise import cast
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import as_operands
from tensorweb.tensor.hostarrays import (
    is_foreign,
    is_foreign_type,
    is_masked_type,
    require_numpy,
)
from tensorweb.tensor.indexing import IndexingMethods
from tensorweb.tensor.operators import operation

COUNTERPARTS = "tensorweb.numpy"
"""The module of the same names; it is imported when NumPy first asks."""

OPERATORS = {
    **{
        name: name
        for name in (
            *("add", "subtract", "multiply", "divide", "floor_divide", "remainder"),
            *("bitwise_and", "bitwise_or", "bitwise_xor"),
            *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
        )
    },
    "power": "pow",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
}
"""The ufuncs behind Python's operators, by the op table's names: `array * x` asks for
`np.multiply(array, x)`, which is what `x * array` is."""


ON_HOST = frozenset(
    {
        *("array2string", "array_repr", "array_str"),
        *("save", "savetxt", "savez", "savez_compressed"),
        *("may_share_memory", "shares_memory"),
    }
)
"""Functions that write values out or ask about memory: they get arrays of NumPy."""


WRITERS = {
    "copyto": "dst",
    "fill_diagonal": "a",
    "place": "arr",
    "put": "a",
    "put_along_axis": "arr",
    "putmask": "a",
}
"""Functions that write into their first argument, and its name: where it is an array of
NumPy, what is written shall be in its memory."""


NOT_NUMBERS = frozenset({"broadcast_arrays"})
"""Functions that arrange texts and None too, which no tensor holds; NumPy does then."""


class NumpyProtocols(TensorBase):
    """Methods that NumPy calls on arrays of other libraries."""

    __slots__ = ()

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: object, **options: Any
    ) -> object:
        """Return what a ufunc of NumPy, or a method of one, gives for tensors.

        Raises:
            DataError: `tensorweb.numpy` has no such function (a TypeError as well).
        """
        outputs = options.pop("out", ())
        if any(map(is_foreign, (*inputs, *outputs))):
            if any(is_masked_type(type(value)) for value in inputs) and not outputs:
                return getattr(ufunc, method)(*map(_on_host, inputs), **options)
            return NotImplemented
        written = inputs[:1] if method == "at" else outputs
        if any(not isinstance(out, TensorBase | None) for out in written):
            # The result shall be in NumPy's memory, so NumPy computes it there.
            host = [_on_host(value) for value in inputs]
            targets = {"out": outputs} if outputs else {}
            return getattr(ufunc, method)(*host, **targets, **_on_host(options))
        if method == "__call__" and ufunc.__name__ in OPERATORS and not options:
            node = operation(OPERATORS[ufunc.__name__], *inputs)
            return _written(self._wrap(node), outputs)
        if method == "__call__" and ufunc.__name__ == "matmul" and not options:
            return _written(self._wrap(matmul(*as_operands(*inputs))), outputs)
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        function = _counterpart(name.split("."), f"np.{name}")
        with device(self.node.device):
            result = function(*inputs, **options)
        return _written(result, outputs)

    def __array_function__(
        self,
        func: Any,
        types: Iterable[type],
        args: Sequence[object],
        kwargs: Mapping[str, Any],
    ) -> object:
        """Return what a function of NumPy gives for tensors.

        Raises:
            DataError: `tensorweb.numpy` has no such function (a TypeError as well).
        """
        if any(map(is_foreign_type, types)):
            return NotImplemented
        path = [*func.__module__.split(".")[1:], func.__name__]
        outputs = kwargs.get("out")
        is_host = path[-1] in ON_HOST or not isinstance(outputs, TensorBase | None)
        if path[-1] in WRITERS and not isinstance(
            _first(args, kwargs, WRITERS[path[-1]]), TensorBase
        ):
            is_host = True
        if is_host or (path[-1] in NOT_NUMBERS and any(map(_is_no_number, args))):
            return func(*_on_host(args), **_on_host(kwargs))
        options = {key: value for key, value in kwargs.items() if key != "out"}
        function = _counterpart(path, ".".join(["np", *path]))
        with device(self.node.device):
            result = function(*args, **options)
        return _written(result, (outputs,))


def _first(args: Sequence[object], kwargs: Mapping[str, object], name: str) -> object:
    """Return the first argument of a call, which may be given by its name."""
    return args[0] if args else kwargs.get(name)


def _is_no_number(value: object) -> bool:
    return value is None or isinstance(value, str)


def _counterpart(path: Sequence[str], numpy_name: str) -> Callable[..., object]:
    """Return the function of `tensorweb.numpy` that a path of names leads to."""
    function: Any = importlib.import_module(COUNTERPARTS)
    try:
        for name in path:
            function = getattr(function, name)
    except AttributeError as error:
        raise DataError(
            f"{numpy_name}: tensorweb has no counterpart of it, so that it cannot "
            f"compute on the device of a tensor ({error}). For the values in NumPy "
            f"write {numpy_name}(x.numpy())."
        ) from None
    if not callable(function):
        raise DataError(f"{numpy_name}: {COUNTERPARTS} has no such function.")
    return function  # type: ignore[no-any-return]  # a function of tensorweb.numpy


def _on_host(value: Any) -> Any:
    """Return tensors as NumPy's arrays, inside of lists, tuples and dicts as well."""
    if isinstance(value, TensorBase):
        return require_numpy("out=", "give a tensor as out=").asarray(value)
    if isinstance(value, Mapping):
        return {key: _on_host(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_on_host, value))
    return value


def _written(result: object, outputs: Sequence[object]) -> object:
    """Return a result, written into the tensors that shall hold it."""
    if not any(isinstance(out, TensorBase) for out in outputs):
        return result
    several = isinstance(result, tuple)
    results = result if isinstance(result, tuple) else (result,)
    filled = tuple(
        value if out is None else _filled(out, value)
        for value, out in zip(results, outputs, strict=True)
    )
    return filled if several else filled[0]


def _filled(out: object, value: object) -> object:
    """Write a value into a tensor, cast as NumPy does: float64 to float32, no kinds."""
    assert isinstance(out, IndexingMethods), "internal: only tensors are written"
    if isinstance(value, TensorBase) and value.node.dtype.kind == out.node.dtype.kind:
        value = value._wrap(cast(value.node, out.node.dtype))
    out[...] = value
    return out
