"""Arrays and numbers as text, and the options that printing uses."""

from __future__ import annotations

import contextlib
import inspect
import string
from collections.abc import Callable, Iterator, Mapping
from typing import Any, SupportsIndex

from tensorweb import functions as tw
from tensorweb.devices import default_device, emulation_note
from tensorweb.errors import DataError
from tensorweb.public_names import declare_public
from tensorweb.tensor import printing
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.printing import format_array
from tensorweb.version import VERSION

_errors = dict.fromkeys(("divide", "over", "under", "invalid"), "ignore")

_settings = {
    "edgeitems": "EDGE",
    "formatter": "FORMATTER",
    "linewidth": "WIDTH",
    "precision": "PRECISION",
    "suppress": "SUPPRESSED",
    "threshold": "THRESHOLD",
}
"""Options of printing, and the attribute of `printing` that stores each."""


def geterr() -> dict[str, str]:
    """Return the settings for floating point errors, which have no effect.

    >>> np.geterr()["divide"]
    'ignore'
    """
    return dict(_errors)


def seterr(
    all: str | None = None,
    divide: str | None = None,
    over: str | None = None,
    under: str | None = None,
    invalid: str | None = None,
) -> dict[str, str]:
    """Accept settings that have no effect here; return the previous ones.

    Raises:
        DataError: an error shall raise, be printed or be handed on.

    >>> np.seterr(all="ignore")["over"]
    'ignore'
    """
    old = geterr()
    new = {"divide": divide, "over": over, "under": under, "invalid": invalid}
    for name, value in new.items():
        new[name] = all if value is None else value
        if new[name] not in (None, "ignore", "warn"):
            raise DataError(
                f"seterr: {name}={new[name]!r}, but devices report no floating point "
                "errors; look for them with np.isfinite(x).all()."
            )
    _errors.update((name, value) for name, value in new.items() if value is not None)
    return old


@contextlib.contextmanager
def errstate(
    *,
    call: None = None,
    all: str | None = None,
    divide: str | None = None,
    over: str | None = None,
    under: str | None = None,
    invalid: str | None = None,
) -> Iterator[None]:
    """Take what `seterr` takes, inside a `with` block.

    Raises:
        DataError: `call` is given.

    >>> with np.errstate(divide="ignore"):
    ...     np.ones(1) / 0
    tensor([inf])
    """
    if call is not None:
        raise DataError("errstate: call= is not possible; devices report no errors.")
    old = seterr(all, divide, over, under, invalid)
    try:
        yield
    finally:
        _errors.update(old)


def get_printoptions() -> dict[str, Any]:
    """Return how tensors are printed.

    >>> np.get_printoptions()["threshold"]
    1000
    """
    return {name: getattr(printing, key) for name, key in _settings.items()}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    suppress: bool | None = None,
    formatter: Mapping[str, Callable[[Any], str]] | None = None,
    **others: object,
) -> None:
    """Set digits, line width and length limits of printed tensors.

    `suppress` shows floats without exponents, `formatter` gives functions for numbers
    of a kind (`float`, `int`, `bool`, `complexfloat`, `all`) until the next call.

    Raises:
        DataError: another option is given, or a number is out of range.

    >>> np.set_printoptions(precision=3)
    >>> np.asarray([1 / 3])
    tensor([0.333])
    >>> np.set_printoptions(precision=8, formatter={"float": "{:.1f}".format})
    >>> np.asarray([1 / 3, 1e-9])
    tensor([0.3, 0.0])
    >>> np.set_printoptions(suppress=False)
    """
    refused = [name for name, value in others.items() if value is not None]
    if refused:
        raise DataError(
            f"set_printoptions: {refused[0]} is not possible; there are "
            f"{', '.join(_settings)}."
        )
    numbers = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    for name, value in numbers.items():
        if value is not None and not value >= 0:
            raise DataError(f"set_printoptions: {name} is {value}; it is 0 or more.")
    printing.FORMATTER = formatter
    for name, value in {**numbers, "suppress": suppress}.items():
        if value is not None:
            setattr(printing, _settings[name], value)


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[dict[str, Any]]:
    """Set how tensors are printed, inside a `with` block.

    >>> with np.printoptions(precision=2):
    ...     print(np.asarray([1 / 3]))
    [0.33]
    """
    old = get_printoptions()
    set_printoptions(**options)
    try:
        yield get_printoptions()
    finally:
        set_printoptions(**old)


def info(object: Any = None, maxwidth: int = 76, output: Any = None) -> None:
    """Print what a function does, as `help` would.

    >>> np.info(np.sin)
    Return the sine...
    """
    print(inspect.getdoc(object) or repr(object), file=output)


def show_config(mode: str = "stdout") -> dict[str, str] | None:
    """Print version and device, and why it is no GPU; return it for `mode="dicts"`.

    >>> sorted(np.show_config(mode="dicts"))
    ['device', 'tensorweb']
    """
    facts = {"tensorweb": VERSION, "device": default_device()}
    if mode == "dicts":
        return facts
    print("\n".join(f"{name}: {value}" for name, value in facts.items()))
    if note := emulation_note():
        print(note)
    return None


DIGITS = string.digits + string.ascii_uppercase


def array2string(
    a: ArrayLike,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
    separator: str = " ",
    prefix: str = "",
    *,
    formatter: Mapping[str, Callable[[Any], str]] | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
) -> str:
    """Return the values of a tensor as text.

    `prefix` is printed before it by the caller: later lines are indented by its length.

    >>> np.array2string(np.array([1.0, 1 / 3]), precision=2, separator=", ")
    '[1.  , 0.33]'
    """
    with printoptions(
        precision=precision,
        threshold=threshold,
        edgeitems=edgeitems,
        linewidth=max_line_width,
        suppress=suppress_small,
        formatter=formatter,
    ):
        return format_array(tw.asarray(a), separator, prefix)


def array_str(
    a: ArrayLike, max_line_width: int | None = None, precision: int | None = None
) -> str:
    """Return what `print` shows of a tensor.

    >>> np.array_str([1.0, 1 / 3], precision=2)
    '[1.   0.33]'
    """
    with printoptions(linewidth=max_line_width, precision=precision):
        return str(tw.asarray(a))


def array_repr(
    arr: ArrayLike, max_line_width: int | None = None, precision: int | None = None
) -> str:
    """Return the representation of a tensor in a session.

    >>> np.array_repr([1, 2])
    'tensor([1, 2])'
    """
    with printoptions(linewidth=max_line_width, precision=precision):
        return repr(tw.asarray(arr))


def base_repr(number: SupportsIndex, base: int = 2, padding: int = 0) -> str:
    """Return an integer in a base from 2 to 36, with zeros in front.

    Raises:
        DataError: the base is another one.

    >>> np.base_repr(10, base=16), np.base_repr(5, padding=3)
    ('A', '000101')
    """
    if not 2 <= base <= 36:
        raise DataError(f"base_repr: the base is {base}; it is from 2 to 36.")
    value = number.__index__()
    quotient, digits = abs(value), ""
    while quotient:
        quotient, digit = divmod(quotient, base)
        digits = DIGITS[digit] + digits
    text = "0" * padding + (digits or ("" if padding else "0"))
    return f"-{text}" if value < 0 else text


def binary_repr(num: SupportsIndex, width: int | None = None) -> str:
    """Return an integer in binary; of a width, negative ones as two's complement.

    Raises:
        DataError: the width has too few digits.

    >>> np.binary_repr(3), np.binary_repr(-3), np.binary_repr(-3, width=5)
    ('11', '-11', '11101')
    """
    value = num.__index__()
    if width is None:
        return f"{value:b}"
    low, high = -(1 << max(width - 1, 0)), (1 << width) - 1
    if not low <= value <= high:
        raise DataError(f"binary_repr: {value} does not fit {width} digits.")
    return f"{value & high:0{width}b}" if width else ""


declare_public(__name__)
