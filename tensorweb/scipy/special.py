"""Special functions with SciPy's names, for tensors of floats.

Operands broadcast, integers and numbers become float32; the elements of the result are
as exact as each function says for float32 and, on `cpu`, float64, and float16 is
computed in float32. All have derivatives, under `tw.vmap` and `tw.jit` as well.

>>> factorial(5), tw.grad(gammainc, 1)(1.0, 0.0)
(tensor(120.), tensor(1.))
"""

from tensorweb.functions import erf as erf
from tensorweb.functions import erfinv as erfinv
from tensorweb.functions import sigmoid as _sigmoid
from tensorweb.public_names import declare_package as _declare_package
from tensorweb.scipy.exponentials import *
from tensorweb.special.bessel import *
from tensorweb.special.entropy import *
from tensorweb.special.gamma import *
from tensorweb.special.incomplete import *
from tensorweb.special.normal import *

expit = _sigmoid

_declare_package(__name__)
