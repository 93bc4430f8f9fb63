"""What programs for SciPy import: special functions, differential equations, minima.

Linear algebra with SciPy's names is in `tw.linalg`.

>>> tw.scipy.optimize.minimize(lambda x: (x**2).sum(), tw.ones(2)).x
tensor([0., 0.])
"""

from tensorweb.public_names import declare_package as _declare_package
from tensorweb.scipy import integrate as integrate
from tensorweb.scipy import optimize as optimize
from tensorweb.scipy import special as special

_declare_package(__name__, "integrate", "optimize", "special")
