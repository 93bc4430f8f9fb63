"""Polynomials as text on two lines, powers above the line."""

from __future__ import annotations

import re
from collections.abc import Sequence

WIDTH = 70
"""Characters of a line from which on the next term begins another pair of lines."""


def polynomial_text(coefficients: Sequence[complex], variable: str) -> str:
    """Return a polynomial as text, the highest power first; zeros in front are left.

    >>> print(polynomial_text([1, 0, -2.5], "x"))
       2
    1 x - 2.5
    """
    values = list(coefficients)
    while len(values) > 1 and not values[0]:
        values.pop(0)
    text = ""
    for power, value in zip(range(len(values) - 1, -1, -1), values, strict=True):
        number = _number(value)
        if number == "0" and (power or text):
            continue
        factor = {0: "", 1: f" {variable}"}.get(power, f" {variable}**{power}")
        term = number + factor
        if not text:
            text = term
        elif term.startswith("-"):
            text += f" - {term[1:]}"
        else:
            text += f" + {term}"
    return _raised(text or "0")


def _number(value: complex) -> str:
    """Return a coefficient with four digits."""
    number = complex(value)
    real, imaginary = f"{number.real:.4g}", f"{number.imag:.4g}"
    if not number.imag:
        return real
    return f"({real} + {imaginary}j)" if number.real else f"{imaginary}j"


def _raised(text: str) -> str:
    """Return text whose powers, written `**n`, stand on a line above."""
    done, above, below = " ", "", ""
    parts = re.split(r"\*\*(\d+)", text)
    for part, power in zip(parts[:-1:2], parts[1::2], strict=True):
        more_above = " " * (len(part) - 1) + power
        more_below = part + " " * (len(power) - 1)
        if max(len(above) + len(more_above), len(below) + len(more_below)) > WIDTH:
            done += f"{above}\n{below}\n "
            above = below = ""
        above += more_above
        below += more_below
    return f"{done}{above}\n{below}{parts[-1]}"
