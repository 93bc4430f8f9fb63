"""A pytest plugin that lets NumPy's own tests import `tensorweb.numpy` as NumPy.

`-p tools.numpy_stand_in`, before anything imports tensorweb. `tools/numpy_tests.py`
rewrites the tests' import statements into calls of `module` and `name`. Without a dtype
arrays are float64 and int64 on `cpu`, so that no difference hides behind float32.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest

DEVICE = os.environ.get("TENSORWEB_NUMPY_TESTS_DEVICE", "cpu")


WIDE = ("int", "int_", "intp", "p", "n", "uint", "uintp", "P", "N", "float", "complex")
"""Words for the dtypes that are wide in NumPy."""

GENERALIZED = ("matmul", "matvec", "vecdot", "vecmat")
"""Ufuncs of NumPy's that are functions here."""

is_collecting = True
"""Until the tests begin: what is missing then fails in the tests that use it."""


def _widen() -> None:
    """Make float64 and int64 the dtypes of whatever names none.

    The other modules read these names when they are imported, so the dtypes come
    first, in a package that is empty until then.
    """
    bare = types.ModuleType("tensorweb")
    bare.__path__ = [str(Path(__file__).parent.parent / "tensorweb")]
    sys.modules["tensorweb"] = bare
    dtypes: Any = importlib.import_module("tensorweb.dtypes")
    dtypes.DEFAULT_FLOAT, dtypes.DEFAULT_INT = dtypes.float64, dtypes.int64
    dtypes.DEFAULT_COMPLEX = dtypes.complex128
    for word, narrow in list(dtypes.CODES.items()):
        if word in WIDE:
            dtypes.CODES[word] = narrow.replace("32", "_").replace("64", "128")
            dtypes.CODES[word] = dtypes.CODES[word].replace("_", "64")
    del sys.modules["tensorweb"]


if DEVICE == "cpu":
    _widen()

tw: Any = importlib.import_module("tensorweb")
xp: Any = importlib.import_module("tensorweb.numpy")
if DEVICE != "cpu":
    tw.narrow_dtypes()
tw.set_default_device(DEVICE)


class Absent:
    """What a test imports and the library has not; using it is the error."""

    def __init__(self, name: str, error: Exception) -> None:
        self._name, self._error = name, error

    def __call__(self, *arguments: object, **options: object) -> Any:
        """Fail, in a test."""
        if is_collecting:
            return self
        raise self._error

    def __getattr__(self, name: str) -> Any:
        if is_collecting and name.startswith(("_", "pytest")):
            raise AttributeError(name)
        return self()

    def _combined(self, *others: object) -> Any:
        return self()

    __getitem__ = __add__ = __radd__ = __sub__ = __mul__ = __neg__ = _combined

    def __mro_entries__(self, bases: object) -> tuple[type, ...]:
        """Let classes be derived, as some files do at their beginning."""
        return ()


class Module(types.ModuleType):
    """A module of NumPy as the tests see it: other sources are asked first."""

    def __init__(self, name: str, *sources: Any) -> None:
        super().__init__(name)
        self._sources = sources

    def __getattr__(self, name: str) -> Any:
        path = f"{self.__name__}.{name}"
        if path in OWN:
            return module(path)
        for source in self._sources[:-1]:
            with contextlib.suppress(AttributeError):
                return _patient(getattr(source, name))
        return _patient(getattr(self._sources[-1], name))


class Main(Module):
    """NumPy's main namespace: tensorweb's names, and NumPy's private modules."""

    def __getattr__(self, name: str) -> Any:
        path = f"numpy.{name}"
        if path in OWN or name.startswith("_") or name == "exceptions":
            with contextlib.suppress(ImportError):
                return module(path)
        try:
            return _patient(super().__getattr__(name))
        except AttributeError as error:
            if is_collecting:
                return Absent(name, error)
            raise


def _patient(value: Any) -> Any:
    """Let a function that is called while tests are collected fail in the tests."""
    if not isinstance(value, types.FunctionType):
        return DType if value is xp.dtype else value
    if value.__name__ in GENERALIZED:  # which are no methods of a class with one
        return staticmethod(_wrapped(value))
    return _wrapped(value)


@functools.cache
def _wrapped(value: Any) -> Any:
    """Return one stand-in for a function, so that tests may ask `f is np.sum`."""

    @functools.wraps(value)
    def patient(*args: Any, **options: Any) -> Any:
        try:
            return value(*args, **options)
        except tw.errors.TensorwebError as error:
            if is_collecting:
                return Absent(value.__name__, error)
            raise

    # A class of tests may have it as an attribute; NumPy's builtins do not bind.
    return staticmethod(patient)


class _DType(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, xp.dtype)


class DType(metaclass=_DType):
    """`np.dtype`, with dtypes that are not there failing in the tests."""

    def __new__(cls, *args: Any, **options: Any) -> Any:
        """Return a dtype, or what fails when it is used."""
        try:
            return xp.dtype(*args, **options)
        except tw.errors.TensorwebError as error:
            if is_collecting:
                return Absent("dtype", error)
            raise


class Random(Module):
    """NumPy's random numbers, as tensors."""

    def __getattr__(self, name: str) -> Any:
        return _as_tensors(super().__getattr__(name))


def _as_tensors(value: Any) -> Any:
    """Let the results of a function, or of an object's methods, be tensors."""
    if isinstance(value, numpy.ndarray):
        return value if value.dtype.kind in "OUSV" else tw.asarray(value)
    if isinstance(value, numpy.random.Generator | numpy.random.RandomState):
        return Random("generator", value)
    if callable(value):
        return lambda *args, **options: _as_tensors(value(*args, **options))
    return value


class Testing(Module):
    """NumPy's checks, which take tensors; what warnings say is not looked at."""

    def __getattr__(self, name: str) -> Any:
        check = super().__getattr__(name)
        if name in ("assert_warns", "assert_no_warnings"):
            return _call_or_nothing
        if name.startswith("assert_raises"):
            return functools.partial(_raises, is_regex=name.endswith("regex"))
        if name.startswith("assert_") and name != "assert_":
            return _reading(check)
        return check


def _reading(check: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(check)
    def reading(*args: object, **options: object) -> Any:
        __tracebackhide__ = True
        return check(*map(_read, args), **{k: _read(v) for k, v in options.items()})

    return reading


def _read(value: Any) -> Any:
    """Return NumPy's arrays and numbers for tensors, also inside of lists."""
    if isinstance(value, tw.Tensor):
        return value.numpy()[()]
    if isinstance(value, type(tw.float32)):
        return value.dtype
    if type(value) in (list, tuple):
        return type(value)(map(_read, value))
    if type(value) is dict:
        return {key: _read(each) for key, each in value.items()}
    return value


def _raises(expected: Any, *args: Any, is_regex: bool, **options: Any) -> Any:
    options.pop("match", None)
    if is_collecting:  # a class checks it; nothing raises yet
        return contextlib.nullcontext()
    if is_regex:
        args = args[1:]
        options.pop("expected_regex", None)
    if not args:
        return pytest.raises(expected)
    with pytest.raises(expected):
        # Errors that rest on values come when a result is read.
        _read(args[0](*args[1:], **options))
    return None


def _call_or_nothing(*args: Any, **options: Any) -> Any:
    """Stand for `assert_warns(kind, function, ...)` and `with assert_warns(kind)`."""
    if args and isinstance(args[0], type):
        args = args[1:]
    return args[0](*args[1:], **options) if args else contextlib.nullcontext([])


class Errors(Module):
    """NumPy's exceptions: tensorweb's classes are raised, so they are expected."""


OWN: dict[str, Callable[[], Any]] = {
    "numpy": lambda: Main("numpy", xp),
    "numpy.testing": lambda: Testing("numpy.testing", numpy.testing),
    "numpy.ma.testutils": lambda: Testing("numpy.ma.testutils", numpy.testing),
    "numpy.random": lambda: Random("numpy.random", numpy.random),
    "numpy.exceptions": lambda: Errors("exceptions", tw.errors, numpy.exceptions),
    "numpy.linalg": lambda: Module("numpy.linalg", xp.linalg),
    "numpy.fft": lambda: Module("numpy.fft", xp.fft),
    "numpy.lib": lambda: Module("numpy.lib", xp.lib, xp, numpy.lib),
    "numpy.lib.stride_tricks": lambda: Module(
        "numpy.lib.stride_tricks", xp.lib.stride_tricks
    ),
    "numpy.lib.scimath": lambda: xp.emath,
}
"""Modules that are not NumPy's with tensorweb's names in front of it."""


for owner, method in (
    *((tw.Tensor, "view"), (tw.Tensor, "astype")),
    *((type(tw.float32), "newbyteorder"), (type(tw.float32), "__call__")),
    (xp.ufunc, "__call__"),
):
    setattr(owner, method, _patient(getattr(owner, method)).__func__)


@functools.cache
def module(path: str) -> Any:
    """Return a module of NumPy's as the tests shall see it."""
    if path in OWN:
        return OWN[path]()
    if path == "numpy._core.umath":
        found = Module(path, xp, importlib.import_module(path))
        vars(found).update(
            {name: each for name, each in vars(xp).items() if type(each) is xp.ufunc}
        )
        return found
    return Module(path, xp, importlib.import_module(path))


def name(path: str, attribute: str) -> Any:
    """Return a name of a module, or what fails when it is used."""
    found = module(path)
    try:
        return _patient(getattr(found, attribute))
    except AttributeError as error:
        with contextlib.suppress(ImportError):
            return module(f"{path}.{attribute}")
        return Absent(attribute, error)


_pytest_raises = pytest.raises


def _raises_any_words(expected: Any, *args: Any, **options: Any) -> Any:
    options.pop("match", None)
    return _pytest_raises(expected, *args, **options)


class _NoWarnings(list[Any]):
    """What a test finds that counts warnings; every warning it looks for."""


@contextlib.contextmanager
def _warns_or_not(*args: object, **options: object) -> Iterator[Sequence[object]]:
    yield _NoWarnings()


def pytest_collection_finish() -> None:
    """From here on what is missing is an error at once."""
    global is_collecting
    is_collecting = False


def pytest_configure() -> None:
    """Look neither at the words of errors nor at warnings."""
    checks: Any = pytest
    checks.raises = _raises_any_words
    checks.warns = checks.deprecated_call = _warns_or_not
