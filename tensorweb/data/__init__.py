"""Data sets and batches of them, with the names of `torch.utils.data`.

A data set is any object with a length and numbered samples, such as a list.

>>> [batch.tolist() for batch in tw.data.DataLoader([1, 2, 3], batch_size=2)]
[[1, 2], [3]]
"""

from tensorweb.data import transforms as transforms
from tensorweb.data.datasets import *
from tensorweb.data.loading import *
from tensorweb.public_names import declare_package as _declare_package

_declare_package(__name__, "transforms")
