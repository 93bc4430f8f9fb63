"""What programs for SciPy import: special functions.

Linear algebra with SciPy's names is in `tw.linalg`.
"""

from tensorweb.scipy import special

__all__ = ["special"]
