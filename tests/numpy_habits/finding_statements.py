"""Statements that search, select, write and multiply, by topic."""

from __future__ import annotations

SEARCHING = """
np.where(f > 0)
np.where(f > 0, f, 0)
np.where(b, 1, 2)
np.where(i, i, 5)
np.where(f > 0, [1, 2, 3], g)
np.nonzero(i > 2)
np.argwhere(f > 0)
np.argwhere(k)
np.flatnonzero(f > 0)
np.searchsorted([1, 2, 3, 4, 5], 3)
np.searchsorted([1, 2, 3, 4, 5], [-10, 10, 2, 3], side='right')
np.searchsorted(v, 2, sorter=np.array([2, 0, 3, 1, 4]))
np.digitize(v, [0, 1, 2, 5])
np.digitize(v, [5, 2, 1, 0])
np.digitize(k, [0, 2, 4], right=True)
np.digitize(k, [4, 2, 0], right=True)
np.unravel_index(5, (2, 3))
np.unravel_index([1, 5, 3], (2, 3))
np.unravel_index([[1, 5], [3, 4]], (2, 3), order='F')
np.unravel_index(99, (6, 7, 8))
np.unravel_index(f.argmax(), f.shape)
np.ravel_multi_index(([0, 1], [1, 2]), (2, 3))
np.ravel_multi_index(([0, 7], [1, -2]), (2, 3), mode='wrap')
np.ravel_multi_index(([0, 7], [1, -2]), (2, 3), mode='clip')
np.ravel_multi_index((1, 2), (2, 3))
np.ravel_multi_index(([0, 1], [1, 2]), (2, 3), order='F')
np.diag_indices(3)
np.diag_indices(2, 3)
np.diag_indices_from(np.zeros((3, 3)))
np.tril_indices(3)
np.tril_indices(3, 1, 4)
np.triu_indices(3, 1)
np.triu_indices(3, -1, 2)
np.tril_indices_from(f)
np.triu_indices_from(f, 1)
f[np.triu_indices(2)]
np.mask_indices(3, np.triu, 1)
"""

SELECTING = """
np.take(v, 2)
np.take(v, [0, -1])
np.take(f, [0, 2], axis=1)
np.take(f, [[0, 1], [1, 0]], 0)
np.take(f, [[0, 5]])
np.take(v, [7, -8], mode='wrap')
np.take(v, [7, -8], mode='clip')
np.take(v, [])
np.take_along_axis(f, np.array([[0, 2, 1, 1], [2, 2, 1, 0]]), axis=1)
np.take_along_axis(f, np.array([[2], [0]]), 1)
np.take_along_axis(f, np.array([[2, 0]]), 1)
np.take_along_axis(f, np.array([3, 1]), None)
np.choose([0, 1, 0], [[1, 2, 3], [4, 5, 6]])
np.choose(b.astype(int), (f, g))
np.choose([0, 1, 2], [10, 20, 30])
np.choose([0, 4, -1], [10, 20, 30], mode='clip')
np.choose([0, 4, -1], [10, 20, 30], mode='wrap')
np.select([v < 0, v > 2], [v, v * 10], 42)
np.select([f > 1], [f])
np.compress([True, False, True], f, axis=1)
np.compress([0, 1], f, axis=0)
np.compress([False, True, True], f)
np.extract(f > 0, f)
np.extract(i % 2 == 0, i)
"""

ASSIGNING = """
np.put(v, [0, 2], [-44, -55]); v
np.put(f, [1, 4, -1], 7); f
np.put(i, [0, 1, 2], [5, 6]); i
np.put(v, 22, -5, mode='clip'); v
np.put(v, [7, 8], [1, 2], mode='wrap'); v
np.putmask(f, f > 1, g); f
np.putmask(v, v > 0, [-33, -44]); v
np.place(f, f > 0, [44, 55]); f
np.place(i, i > 2, 0); i
np.copyto(f, g); f
np.copyto(f, g, where=b); f
np.copyto(f, 3); f
np.copyto(v, [1, 2, 3, 4, 5]); v
np.put_along_axis(f, np.array([[1], [2]]), 99, axis=1); f
np.put_along_axis(f, np.array([[0, 1, 0]]), [[7, 8, 9]], axis=0); f
np.put_along_axis(f, np.array([0, 5]), -1, None); f
x = np.zeros((3, 3)); np.fill_diagonal(x, 5); x
np.fill_diagonal(f, [1, 2]); f
x = np.zeros((5, 2)); np.fill_diagonal(x, 3, wrap=True); x
x = np.zeros((5, 2)); np.fill_diagonal(x, 3); x
x = np.zeros((2, 5)); np.fill_diagonal(x, [1, 2, 3]); x
x = np.zeros((3, 3, 3)); np.fill_diagonal(x, 1); x
"""

PRODUCTS = """
np.dot(v, k)
np.dot(f, g.T)
np.dot(2, f)
np.dot(t, v[:4])
np.dot(i, j.T)
x = np.array(f[:, :2]); np.dot(f, g.T, out=x); x
np.vdot(f, g)
np.inner(f, g)
np.inner(f, 2)
np.inner(t, t[0])
np.outer(v, k)
np.outer(f, g)
np.matmul(f, g.T)
np.matmul(t, np.ones(4))
np.matvec(f, v[:3])
np.vecmat(v[:2], f)
np.vecdot(f, g)
np.tensordot(f, g, 0)
np.tensordot(f, g, ([0], [0]))
np.tensordot(t, t, axes=([0, 1], [0, 1]))
np.tensordot(t, t, axes=((1, 2), (1, 2)))
np.tensordot(f, g.T, 1)
np.einsum('ij,ij->i', f, g)
np.einsum('ij,kj', f, g)
np.einsum('...j->...', t)
np.einsum(f, [0, 1], g, [2, 1], [0, 2])
np.einsum('ij->ji', f, optimize=True)
np.kron(v, [1, 10])
np.kron(f, g)
np.kron(t, v[:2])
np.kron(f, 2)
np.cross(f[0], g[0])
np.cross(f, g)
np.cross(f, g[0])
np.cross(f.T, g.T, axis=0)
np.cross(f.T, g.T, axisa=0, axisb=0, axisc=0)
np.convolve(v, [1, 2, 3])
np.convolve(v, [1, 2, 3, 4], 'same')
np.convolve([1, 2], v, 'same')
np.convolve(v, [1, 0.5], 'valid')
np.convolve(k, [1, 2])
np.correlate(v, [1, 2, 3])
np.correlate(v, [1, 2, 3, 4], 'same')
np.correlate([1, 2], v, 'full')
np.correlate([1, 2], v, 'same')
np.correlate(v, k, 'full')
"""

TOPICS = {
    "searching": SEARCHING,
    "selecting": SELECTING,
    "assigning": ASSIGNING,
    "products": PRODUCTS,
}
