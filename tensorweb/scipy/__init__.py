"""What programs for SciPy import: special functions and initial value problems.

Linear algebra with SciPy's names is in `tw.linalg`.
"""

from tensorweb.scipy import integrate, special

__all__ = ["integrate", "special"]
