"""What programs for SciPy import: special functions, differential equations, minima.

Linear algebra with SciPy's names is in `tw.linalg`.
"""

from tensorweb.scipy import integrate, optimize, special

__all__ = ["integrate", "optimize", "special"]
