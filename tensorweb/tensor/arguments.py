"""Arguments of methods: single numbers, and options in NumPy's and PyTorch's words.

Methods of tensors and functions of `tw` that have an axis accept them as well.
Reductions, which are called most, have them in their signatures: that costs a call
nothing, and type checkers know them. Elsewhere one wrapper does it, which also adds
advice to the error about an unknown keyword; `tensor.py` and the packages of public
functions apply it.

`np.sum(x)` calls `x.sum(axis=None, out=None)`, `np.take(x, i)` passes `mode="raise"`:
options without effect are accepted, others are refused with a way to do it here.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from inspect import Parameter, signature
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from tensorweb.advice import advise_on_keyword
from tensorweb.dtypes import DType
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.evaluate import read
from tensorweb.hostdata import unpack
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import as_node, is_number, number_of_scalar

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor


NumberLike: TypeAlias = object
"""A number of Python's or NumPy's, or a 0-d tensor or array, which is read."""


def as_number(value: NumberLike, what: str) -> float:
    """Return one number as Python's; `what` names it in errors.

    Raises:
        ShapeError: a tensor or array has axes.
        DTypeError: it is no number, or a complex one.

    >>> as_number(tw.asarray([1, 5]).max(), "stop")
    5
    """
    number = as_complex_number(value, what)
    if type(number) is complex:
        raise DTypeError(f"{what} is the complex number {number!r}; give a real one.")
    return number.real


def as_complex_number(value: NumberLike, what: str) -> complex:
    """Return one number as Python's, of any kind; `what` names it in errors.

    Raises:
        ShapeError: a tensor or array has axes.
        DTypeError: it is no number.
    """
    if type(value) is int or type(value) is float:
        return value
    if isinstance(value, TensorBase) or hasattr(value, "__array__"):
        return _of_array(value, what)
    number: object = number_of_scalar(value) if is_number(value) else value
    if isinstance(number, int | float | complex):
        return number_of_scalar(number)
    if not isinstance(number, str | bytes | bytearray):
        if hasattr(number, "__index__"):
            return operator.index(number)
        if hasattr(number, "__float__"):
            return float(number)
    shown = repr(number)
    raise DTypeError(
        f"{what} is {shown if len(shown) <= 40 else shown[:37] + '...'} of type "
        f"{type(number).__name__}; give a number, or a 0-d tensor or array."
    )


def _of_array(value: object, what: str) -> complex:
    if is_number(value):
        return number_of_scalar(value)
    node = as_node(value, device=None if isinstance(value, TensorBase) else "cpu")
    if node.shape:
        raise ShapeError(
            f"{what} has shape {node.shape}; give a number, or a 0-d tensor or array."
        )
    number = unpack(read([node])[0], node.dtype, ())
    assert isinstance(number, int | float | complex), "internal: 0-d is a number"
    return number


ROW_MAJOR = ("C", "K", "A", None)
"""Orders of memory that row-major tensors keep to."""

T = TypeVar("T", bound=TensorBase)


def into(result: T, out: object, casting: str = "same_kind") -> T:
    """Return a result, written into `out` where one is given, alone or in a tuple.

    What it may be converted to there is a rule of NumPy's; unsafe allows everything.

    Raises:
        DataError: `out` is no tensor.
        ShapeError: the shapes differ.
        DTypeError: `out` cannot hold the result's dtype.
    """
    if out is None or out is Ellipsis:
        return result
    target = out[0] if type(out) is tuple and len(out) == 1 else out
    if not isinstance(target, type(result)):
        raise DataError(
            f"out={type(target).__name__}: results can be written into tensors only; "
            "make one with np.empty(shape)."
        )
    if target.node.shape != result.node.shape:
        raise ShapeError(
            f"out has shape {target.node.shape}, the result {result.node.shape}; give "
            "a tensor of that shape."
        )
    if casting != "same_kind":
        check_casting("out=", result.node.dtype, target.node.dtype, casting)
        result = result.astype(target.node.dtype)  # type: ignore[attr-defined]  # of every Tensor, not of TensorBase
    target[...] = result  # type: ignore[index]  # Tensor has item assignment, TensorBase does not
    return target


def library(module: str, name: str) -> Callable[..., Tensor]:
    """Return a function of a package above this one, imported on first use."""
    return getattr(import_module(module), name)  # type: ignore[no-any-return]  # a function by its name


def numpys(name: str) -> Callable[..., Tensor]:
    """Return a function of `tensorweb.numpy` that returns a tensor."""
    return library("tensorweb.numpy", name)


def check_casting(name: str, start: DType, end: DType, casting: str) -> None:
    """Raise unless values of a dtype may become another one by a rule.

    Raises:
        DTypeError: the rule does not allow it.
        DataError: there is no such rule.
    """
    if not import_module("tensorweb.numpy").can_cast(start, end, casting):
        raise DTypeError(
            f"{name}: {start} does not become {end} by the rule casting={casting!r}; "
            'convert with astype, or say casting="unsafe".'
        )


def check_default(name: str, argument: str, value: object, usual: object) -> None:
    """Raise when an argument that is NumPy's alone is not what it always is here."""
    if value is not None and value != usual:
        raise DataError(
            f"{name}: {argument}={value!r} is not possible here, only {usual!r}; leave "
            f"{argument} out."
        )


F = TypeVar("F", bound=Callable[..., Any])

WORDS: dict[str, tuple[str, ...]] = {
    "dim": ("axis", "axes"),
    "dims": ("axis", "axes"),
    "keepdim": ("keepdims",),
    "diagonal": ("k",),
    "shifts": ("shift",),
    "steps": ("num",),
    "in_dims": ("in_axes",),
    "out_dims": ("out_axes",),
    "unbiased": ("correction",),
}
"""Names of an argument here, by PyTorch's name."""

LATER = ("axis", "axes", "keepdim", "keepdims", "k", "d")
"""Arguments that PyTorch takes by position: one that is only a keyword here takes what
is one argument too many, as in `tw.triu(x, 1)` and `tw.sum(x, 0, True)`."""

ELEMENTWISE = "tensorweb.functions."
"""Modules whose functions of positional arguments have no wrapper."""

_wrappers: set[Callable[..., Any]] = set()
"""Functions made by `answer_torch_words`, which are offered by several packages."""


def axis_of(name: str, axis: Any, dim: Any) -> Any:
    """Return the axis that a call gives under one of its two names.

    Raises:
        TypeError: it is given under both.
    """
    if axis is None or dim is None:
        return axis if dim is None else dim
    raise _given_twice(name, "axis", "dim")


def _given_twice(name: str, ours: str, theirs: str) -> TypeError:
    """Return the error of a call with an argument under both names."""
    return TypeError(
        f"{name}() got the argument {ours!r} twice, also as {theirs!r}; PyTorch's word "
        "means the same, give one of them"
    )


def taking_torch_words(function: F) -> F:
    """Return a function that takes PyTorch's words too, and answers unknown keywords.

    A function that takes no keywords is returned itself, since elementwise functions
    are called too often for a wrapper, and so is a method without an axis.

    Raises:
        TypeError: when called with an argument under both names.

    >>> tw.sum(tw.ones((2, 3)), dim=1, keepdim=True).shape
    (2, 1)
    """
    names = signature(function).parameters
    ours = {
        word: next((name for name in choices if name in names), None)
        for word, choices in WORDS.items()
        if word not in names and not (word == "dims" and "dim" in names)
    }
    renamed = {word: name for word, name in ours.items() if name is not None}
    has_axis = bool(renamed) or "dim" in names
    is_method = next(iter(names), "self") == "self"
    if has_axis and "input" not in names and not is_method:
        renamed["input"] = ""
    takes_keywords = any(
        parameter.kind is not Parameter.POSITIONAL_ONLY for parameter in names.values()
    )
    if not renamed and (is_method or not takes_keywords):
        return function
    only = [key for key, one in names.items() if one.kind is Parameter.KEYWORD_ONLY]
    later = next((name for name in LATER if name in only), None)
    is_flag = later in ("keepdim", "keepdims")
    if is_flag and "correction" in names:
        later = None  # In PyTorch a bool behind the axis is `unbiased` here.
    makes_leaf = "device" in names and "requires_grad" not in names and not is_method

    @functools.wraps(function)
    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        if not keywords:  # An empty dict would cost a third of the call.
            try:
                return function(*arguments)
            except TypeError as error:
                inner = error.__traceback__ and error.__traceback__.tb_next
                if later is None or inner or " takes " not in str(error):
                    raise
                if is_flag and not isinstance(arguments[-1], bool):
                    raise  # such as the dtype, which NumPy takes there
            return function(*arguments[:-1], **{later: arguments[-1]})
        if makes_leaf and keywords.pop("requires_grad", False):
            return wrapper(*arguments, **keywords).requires_grad_()
        if not renamed.keys().isdisjoint(keywords):
            for word in renamed.keys() & keywords:
                name, value = renamed[word], keywords.pop(word)
                if (name in keywords) if name else arguments:
                    first = name or next(iter(names))
                    raise _given_twice(function.__name__, first, word)
                if name:
                    keywords[name] = value
                else:
                    arguments = (value,)
        try:
            return function(*arguments, **keywords)
        except TypeError as error:
            advise_on_keyword(error, function)
            raise

    return wrapper  # type: ignore[return-value]  # with more names than the signature


def answering_keywords(function: F) -> F:
    """Return a function that adds advice to the error about an unknown keyword."""

    @functools.wraps(function)
    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        except TypeError as error:
            advise_on_keyword(error, function)
            raise

    return wrapper  # type: ignore[return-value]  # it has the signature of F


def answer_torch_words(namespace: dict[str, Any], names: Iterable[str]) -> None:
    """Let functions of a package take PyTorch's words, and constructors answer them.

    A function is replaced in the module that defines it as well, so that it can be
    pickled; modules that have imported it before call it without the wrapper.
    """
    for name in names:
        value = namespace.get(name)  # None of what is imported later
        if isinstance(value, FunctionType) and value not in _wrappers:
            wrapper = taking_torch_words(value)
            if wrapper is value and not value.__module__.startswith(ELEMENTWISE):
                wrapper = answering_keywords(value)
            _wrappers.add(wrapper)
            home, own = vars(sys.modules[value.__module__]), value.__name__
            if home.get(own) is value:
                home[own] = wrapper
            namespace[name] = wrapper
        elif isinstance(value, type):
            owner = next(one for one in value.__mro__ if "__init__" in vars(one))
            made = vars(owner)["__init__"]
            if isinstance(made, FunctionType) and made not in _wrappers:
                wrapper = answering_keywords(made)
                _wrappers.add(wrapper)
                owner.__init__ = wrapper  # type: ignore[misc]  # the same, with better errors
