"""The functions of `tw.*`, a topic a file; each offers the functions it defines.

A function converts its arguments and calls the tensor's method of that name, or the
builder in `nodes/` where tensors have none. `elementwise` is made from the op table;
`segments` and `callables` are written with tensors.
"""

from types import ModuleType
from typing import TYPE_CHECKING

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
from tensorweb.tensor.arguments import answer_torch_words as _answer_torch_words

if not TYPE_CHECKING:  # Type checkers follow the stars, but not a sum of lists.
    _topics = [part for part in list(globals().values()) if type(part) is ModuleType]
    __all__ = [name for topic in _topics for name in getattr(topic, "__all__", ())]
    _answer_torch_words(globals(), __all__)
