"""Statements of linear algebra, strides, windows and complex parts, by topic."""

from __future__ import annotations

LINALG = """
np.linalg.norm(f)
np.linalg.norm(v, 1)
np.linalg.norm(v, np.inf)
np.linalg.norm(v, 0)
np.linalg.norm(v, 3)
np.linalg.norm(f, axis=1)
np.linalg.norm(t, axis=0, keepdims=True)
np.linalg.norm(f, 'fro')
np.linalg.norm(f, 'nuc')
np.linalg.norm(f, 2)
np.linalg.norm(f, -np.inf)
np.linalg.norm(t, axis=(0, 2))
np.linalg.norm(t, 1, axis=(2, 0), keepdims=True)
np.linalg.norm(t, keepdims=True)
np.linalg.norm(i)
np.linalg.cond(f)
np.linalg.cond(f @ f.T, 1)
np.linalg.cond(f @ f.T, -2)
np.linalg.solve(f @ g.T, [1.0, 2.0])
np.linalg.solve(f @ g.T, f)
np.linalg.inv(f @ g.T)
np.linalg.det(f @ g.T)
np.linalg.slogdet(f @ g.T)
np.linalg.cholesky(f @ f.T)
np.linalg.matrix_power(f @ g.T, 3)
np.linalg.matrix_power(f @ g.T, -1)
np.linalg.matrix_rank(f)
np.linalg.matrix_rank(v)
np.linalg.matrix_rank(f, tol=4.5)
np.linalg.pinv(f)
np.linalg.pinv(t[0], rcond=1e-4)
np.linalg.lstsq(f.T, g.T)
np.linalg.lstsq(f.T, g[0], rcond=None)
np.linalg.lstsq(f, v[:2])
np.linalg.svd(f, compute_uv=False)
np.linalg.svdvals(t[0] + 1)
u, s, w = np.linalg.svd(f, full_matrices=False); (u * s) @ w
u, s, w = np.linalg.svd(f); u.shape, s.shape, w.shape
q, r = np.linalg.qr(f.T); q @ r
np.abs(np.linalg.qr(f.T, 'r'))
np.linalg.qr(f.T, mode='complete')[0].shape
np.linalg.eigh(f @ f.T)[0]
np.linalg.eigvalsh(f @ f.T)
np.linalg.eigvalsh([[1.0, 9.0], [2.0, 3.0]])
np.linalg.eigvalsh([[1.0, 9.0], [2.0, 3.0]], 'U')
np.linalg.multi_dot([f, g.T, f])
np.linalg.multi_dot([v[:2], f, g.T, v[:2]])
np.linalg.tensorsolve(np.eye(6).reshape(2, 3, 6), f)
np.linalg.tensorinv(2 * np.eye(6).reshape(2, 3, 6))
np.linalg.trace(t), np.linalg.diagonal(t)
np.linalg.cross(f, g), np.linalg.outer(v, k), np.linalg.vecdot(f, g)
np.linalg.vector_norm(f, axis=1), np.linalg.matrix_norm(t)
"""

STRIDES = """
np.lib.stride_tricks.sliding_window_view(v, 3)
np.lib.stride_tricks.sliding_window_view(f, (2, 2))
np.lib.stride_tricks.sliding_window_view(t, 2, axis=2)
np.lib.stride_tricks.sliding_window_view(t, (2, 3), axis=(1, 2))
np.lib.stride_tricks.as_strided(v, (3, 3), v.strides * 2)
np.lib.stride_tricks.as_strided(f, (2, 2, 1, 2), f.strides + f.strides)
np.lib.stride_tricks.as_strided(v, shape=(2, 5), strides=(0, v.strides[0]))
np.bartlett(7)
np.blackman(7)
np.hamming(6)
np.hanning(6)
np.kaiser(6, 5.0)
np.hanning(1), np.kaiser(0, 2)
list(np.ndindex(2, 3)), list(np.ndindex((1, 2))), list(np.ndenumerate(k[:2]))
np.broadcast(f, v[:3]).shape, np.iterable(v), np.iterable(3)
"""

COMPLEX = """
np.angle(f + 1j * g)
np.angle(f, deg=True)
np.real(f + 1j * g), np.imag(f + 1j * g), np.real(i)
np.conj(f + 1j * g)
np.iscomplex(f + 1j), np.isreal(f + 0j), np.isreal(f)
np.iscomplexobj(f), np.isrealobj(f + 1j)
np.real_if_close(f + 1e-8j), np.real_if_close(f + 1j)
np.array([1 + 2j, 3]).real
np.vdot(f + 1j * g, g + 2j)
z = v + 1j * v[::-1] ** 2; np.correlate(z, z[1:3]), np.correlate(z[:2], z, 'full')
z = v + 1j * v[::-1] ** 2; np.convolve(z, z[1:3]), np.correlate(z, v, 'same')
z = f + 1j * g; np.vecmat(z[:, :2], z), np.matvec(z, z[0]), np.vecdot(z, f)
z = f + 1j * g; np.cov(z), np.corrcoef(z), np.cov(z, aweights=[1, 2, 3])
z = q + 1j * q[::-1]; np.nan_to_num(z), np.nan_to_num(z, nan=2, posinf=5, neginf=-5)
z = q + 1j * q[::-1]; np.sort(z), z[np.argsort(z)], np.nansum(z), np.median(f + 1j * g)
np.poly([1 + 2j, 1 - 2j, 3]), np.poly([1 + 2j, 1 - 2j, 3j]), np.poly([])
np.poly1d([0, 0, 1, 2]).coeffs, np.poly1d([0, 0]).coeffs, np.poly1d([1, 0]).order
(np.poly1d([1, 2, 3]) - np.poly1d([1, 2, 4])).coeffs
np.linspace(0, 1j, 5), np.logspace(0, 1j, 4), np.geomspace(1, -1 + 2j, 5)
np.linspace(1j, 2, 3, endpoint=False, retstep=True)[1], np.geomspace(1, 1j, 1)
z = f.T + 1j * g.T; np.linalg.lstsq(z, [1j, 2, 3], None)[:2], np.linalg.cond(z)
"""

FILES = """
np.loadtxt(['1 2 # no', '', '3 4'])
np.loadtxt(['a', '1,2,3', '4,5,6'], delimiter=',', skiprows=1, usecols=(0, 2))
list(np.loadtxt(['1 2', '3 4'], dtype=int, unpack=True))
np.loadtxt(['1', '2'])
np.genfromtxt(['1, 2, 3', '4,  , 6', ' , x, 9'], delimiter=',')
np.genfromtxt(['1, , 3'], delimiter=',', dtype=int, filling_values=0)
np.packbits([[1, 0, 1], [0, 1, 1]]), np.packbits([[1, 0, 1]], axis=1)
np.packbits([1, 1, 0, 0, 0, 0, 0, 0, 1], bitorder='little')
np.unpackbits(np.array([[2], [7]], dtype=np.uint8), axis=1)
np.unpackbits(np.array([2, 7], np.uint8), count=10, bitorder='little')
np.seterr(all='ignore')['over'] in ('ignore', 'warn')
np.testing.assert_allclose(f, f), np.testing.assert_array_equal(v, v)
np.testing.assert_equal(f.shape, (2, 3)), np.testing.assert_almost_equal(2.0, 2.0)
"""

TOPICS = {"linalg": LINALG, "strides": STRIDES, "complex": COMPLEX, "files": FILES}
