"""What NumPy's functions pass to methods beside their own arguments (`out=`, `order=`).

`np.sum(x)` calls `x.sum(axis=None, out=None)`, `np.take(x, i)` passes `mode="raise"`:
what says nothing is taken, the rest is refused with a way to do it here.
"""

from __future__ import annotations

from tensorweb.errors import DataError


def check_out(name: str, out: object) -> None:
    """Raise when results shall be written into a given array."""
    if out is not None:
        raise DataError(
            f"{name}: out={type(out).__name__}, but results are new tensors here; "
            f"write y[...] = x.{name}(...) instead."
        )


def check_default(name: str, argument: str, value: object, usual: object) -> None:
    """Raise when an argument that is NumPy's alone is not what it always is here."""
    if value is not None and value != usual:
        raise DataError(
            f"{name}: {argument}={value!r} is not possible here, only {usual!r}; leave "
            f"{argument} out."
        )
