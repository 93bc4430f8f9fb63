"""What programs for SciPy import: special functions, differential equations, minima.

Linear algebra with SciPy's names is in `tw.linalg`.

>>> tw.scipy.optimize.minimize(lambda x: (x**2).sum(), tw.ones(2)).x
tensor([0., 0.])
"""

from tensorweb.scipy import integrate, optimize, special

__all__ = ["integrate", "optimize", "special"]
