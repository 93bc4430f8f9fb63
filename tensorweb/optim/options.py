"""Checks of the options of optimisers and schedules."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias, TypeGuard

from tensorweb.errors import DataError

Check: TypeAlias = Callable[[str, str, object], Any]
"""Returns a validated option, of the optimiser's name, the option's and its value."""


def is_finite(value: object) -> TypeGuard[float]:
    """Whether a value is a finite Python number and no bool.

    >>> is_finite(1), is_finite(float("inf")), is_finite(True)
    (True, False, False)
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return math.isfinite(value)


def finite(name: str, key: str, value: object) -> float:
    """Return a finite number as a float.

    Raises:
        DataError: it is not a finite number.
    """
    if not is_finite(value):
        raise DataError(f"{name}: {key}={value!r} is no finite number.")
    return float(value)


def positive(name: str, key: str, value: object) -> float:
    """Return a finite number that is at least 0.

    Raises:
        DataError: it is negative or not finite.
    """
    if not is_finite(value) or value < 0:
        raise DataError(f"{name}: {key}={value!r} is no finite number from 0 on.")
    return float(value)


def decay_rate(name: str, key: str, value: object) -> float:
    """Return a number in [0, 1).

    Raises:
        DataError: it is not in [0, 1).
    """
    if not is_finite(value) or not 0 <= value < 1:
        raise DataError(f"{name}: {key}={value!r} is no number from 0 up to below 1.")
    return float(value)


def two_decay_rates(name: str, key: str, value: object) -> tuple[float, float]:
    """Return two numbers in [0, 1).

    Raises:
        DataError: they are not two numbers in [0, 1).
    """
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise DataError(f"{name}: {key}={value!r} are not two numbers.")
    first, second = (decay_rate(name, f"{key}[{n}]", value[n]) for n in range(2))
    return first, second


def count(name: str, key: str, value: object) -> int:
    """Return a positive integer.

    Raises:
        DataError: it is no positive integer.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise DataError(f"{name}: {key}={value!r} is no whole number above 0.")
    return value


def epsilons(name: str, key: str, value: object) -> tuple[float | None, float]:
    """Return two numbers from 0 on, the first of which may be None.

    Raises:
        DataError: they are not.
    """
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise DataError(f"{name}: {key}={value!r} are not two numbers.")
    first = None if value[0] is None else positive(name, f"{key}[0]", value[0])
    return first, positive(name, f"{key}[1]", value[1])


def _coefficients(name: str, key: str, value: object) -> tuple[float, ...]:
    if not isinstance(value, tuple | list) or len(value) != 3:
        raise DataError(f"{name}: {key}={value!r} are not three numbers.")
    return tuple(finite(name, key, number) for number in value)


def _optional_count(name: str, key: str, value: object) -> int | None:
    return None if value is None else count(name, key, value)


def _one_of(*known: str) -> Check:
    def check(name: str, key: str, value: object) -> object:
        if value is None or value in known:
            return value
        listed = ", ".join(map(repr, known))
        raise DataError(f"{name}: {key}={value!r} is neither None nor one of {listed}.")

    return check


def _flag(name: str, key: str, value: object) -> bool:
    return bool(value)


# The check of each option, by its name: an option means the same in each optimiser.
CHECKS: dict[str, Check] = {
    "adjust_lr_fn": _one_of("original", "match_rms_adamw", "spectral_unclamped"),
    "alpha": decay_rate,
    "amsgrad": _flag,
    "beta2_decay": finite,
    "betas": two_decay_rates,
    "centered": _flag,
    "d": positive,
    "dampening": finite,
    "decoupled_weight_decay": _flag,
    "eps": positive,
    "history_size": count,
    "initial_accumulator_value": positive,
    "line_search_fn": _one_of("strong_wolfe"),
    "lr_decay": positive,
    "max_eval": _optional_count,
    "max_iter": count,
    "maximize": _flag,
    "momentum": positive,
    "momentum_decay": positive,
    "nesterov": _flag,
    "ns_coefficients": _coefficients,
    "ns_steps": count,
    "rho": decay_rate,
    "tolerance_change": positive,
    "tolerance_grad": positive,
    "weight_decay": positive,
}
