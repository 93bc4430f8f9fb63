"""Random numbers from keys: equal keys give equal numbers, on every device.

A key is a uint32 tensor of shape (2,). There is no hidden state: split a key to draw
other numbers. Keys and bits equal those of JAX; a `Generator` splits its own key.

>>> first, second = split(key(0))
>>> randint(second, 5, 0, 10)
tensor([2, 2, 6, 5, 1])
"""

import typing as _typing
from importlib import import_module as _import_module

from tensorweb.advice import unknown as _unknown
from tensorweb.public_names import declare_package as _declare_package
from tensorweb.random.discrete import *
from tensorweb.random.distributions import *
from tensorweb.random.generator import FAMILIES as _FAMILIES
from tensorweb.random.generator import Generator as Generator
from tensorweb.random.keys import *
from tensorweb.tensor.arguments import answer_torch_words as _answer_torch_words

_known = _declare_package(__name__, *_FAMILIES)
_answer_torch_words(globals(), _known)

if _typing.TYPE_CHECKING:
    from tensorweb.random.families import *
else:  # A type checker shall find names that are not there.

    def __getattr__(name: str) -> object:
        """Import the larger families on first use, or answer a foreign name."""
        if name in _FAMILIES:
            module = vars(_import_module("tensorweb.random.families"))
            globals().update({each: module[each] for each in _FAMILIES})
            _answer_torch_words(globals(), _FAMILIES)
            return globals()[name]
        raise _unknown("tensorweb.random", name, _known)
