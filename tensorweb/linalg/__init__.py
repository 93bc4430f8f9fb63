"""Linear algebra: the Array API's extension `linalg`, for stacks of matrices.

The last two axes are those of a matrix, `(..., m, n)`; all others are batch axes.

>>> a = tw.asarray([[2.0, 1.0], [1.0, 3.0]])
>>> tw.linalg.trace(a)
tensor(5.)
"""

from tensorweb.errors import LinAlgError as LinAlgError
from tensorweb.functions.linear_algebra import matmul as matmul
from tensorweb.functions.linear_algebra import outer as outer
from tensorweb.functions.linear_algebra import tensordot as tensordot
from tensorweb.functions.linear_algebra import vecdot as vecdot
from tensorweb.linalg.least_squares import *
from tensorweb.linalg.products import *
from tensorweb.linalg.solving import *
from tensorweb.linalg.spectral import *
from tensorweb.linalg.structured import *
from tensorweb.public_names import declare_package as _declare_package
from tensorweb.tensor.arguments import answer_torch_words as _answer_torch_words

__all__: list[str]
_answer_torch_words(globals(), _declare_package(__name__))
