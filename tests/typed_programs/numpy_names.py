"""`tensorweb.numpy` under NumPy's name."""

from typing import assert_type

import tensorweb.numpy as np
from tensorweb import Tensor

x = np.array([[1.0, 2.0], [3.0, 4.0]])
assert_type(x, Tensor)
assert_type(np.sin(x) + np.add(x, 1), Tensor)
assert_type(np.modf(x), tuple[Tensor, Tensor])
assert_type(np.where(x > 1), tuple[Tensor, ...])
assert_type(np.where(x > 1, x, 0.0), Tensor)
assert_type(np.linalg.svd(x).S, Tensor)
assert_type(np.linalg.svd(x, compute_uv=False), Tensor)
assert_type(np.linalg.qr(x).Q, Tensor)
assert_type(np.linalg.qr(x, "r"), Tensor)
assert_type(np.linalg.eigh(x).eigenvalues, Tensor)
assert_type(np.unique(x), Tensor)
assert_type(np.unique(x, return_counts=True), tuple[Tensor, ...])
assert_type(np.average(x, weights=x), Tensor)
assert_type(np.atleast_2d(x), Tensor)
assert_type(np.histogram(x)[0].cumsum(), Tensor)
values, vectors = np.linalg.eigh(x)
assert_type(values * vectors, Tensor)

np.zeroes(3)  # wrong
np.sum(x, axes=0)  # wrong
np.linalg.svd(x).V()  # wrong
np.sin(x).summ()  # wrong
np.where(x > 1).sum()  # wrong
