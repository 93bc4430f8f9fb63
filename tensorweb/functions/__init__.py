"""The functions of `tw.*`, a topic a file; each offers the functions it defines.

A function converts its arguments and calls the tensor's method of that name, or the
builder in `nodes/` where tensors have none. `elementwise` is made from the op table;
`segments` and `callables` are written with tensors.
"""

from tensorweb.functions.callables import *
from tensorweb.functions.complex_numbers import *
from tensorweb.functions.creation import *
from tensorweb.functions.data_types import *
from tensorweb.functions.debugging import *
from tensorweb.functions.elementwise import *
from tensorweb.functions.joining import *
from tensorweb.functions.linear_algebra import *
from tensorweb.functions.manipulation import *
from tensorweb.functions.reductions import *
from tensorweb.functions.rounding import *
from tensorweb.functions.searching import *
from tensorweb.functions.segments import *
from tensorweb.functions.windows import *
from tensorweb.public_names import declare_package as _declare_package
from tensorweb.tensor.arguments import answer_torch_words as _answer_torch_words

_answer_torch_words(globals(), _declare_package(__name__, "__array_namespace_info__"))
