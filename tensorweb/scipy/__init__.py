"""What programs for SciPy import: special functions, differential equations, minima.

Linear algebra with SciPy's names is in `tw.linalg`.

>>> tw.scipy.optimize.minimize(lambda x: (x**2).sum(), tw.ones(2)).x
tensor([0., 0.])
"""

import typing as _typing

from tensorweb.advice import unknown as _unknown
from tensorweb.scipy import integrate, optimize, special

__all__ = ["integrate", "optimize", "special"]

if not _typing.TYPE_CHECKING:  # A type checker shall find names that are not there.

    def __getattr__(name: str) -> _typing.NoReturn:
        """Answer a name of SciPy with what there is."""
        raise _unknown("tensorweb.scipy", name, __all__)
