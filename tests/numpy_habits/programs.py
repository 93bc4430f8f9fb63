"""Small programs in NumPy's habits, by topic; each leaves its answer in `answer`.

They run with NumPy and with `tensorweb.numpy` as `np`, on the same made data.
"""

from __future__ import annotations

PROGRAMS: dict[str, str] = {
    "a frame around a field": """
field = np.full((4, 6), 2)
field[1:-1, 1:-1] = 0
answer = np.pad(field, pad_width=2, mode="constant", constant_values=7)
""",
    "stripes and squares": """
board = np.zeros((6, 6), dtype=int)
board[::2, 1::2] = 1
board[1::2, ::2] = 1
answer = board - np.tile(np.array([[0, 1], [1, 0]]), (3, 3))
""",
    "numbers of a range, negated in place": """
z = np.arange(12)
z[(z > 2) & (z <= 7)] *= -1
z[z.argmax()] = 0
answer = z
""",
    "rows without their means, columns of one length": """
x = np.sin(np.arange(24.0)).reshape(4, 6)
x = x - x.mean(axis=1, keepdims=True)
answer = (x - x.mean(0)) / np.std(x, axis=0, ddof=1)
""",
    "the nearest of many": """
positions = np.linspace(0, 1, 11, endpoint=False)[1:]
expected = 0.43
answer = positions[np.abs(positions - expected).argmin()]
""",
    "distances of all pairs": """
points = np.cos(np.arange(14.0)).reshape(7, 2)
x, y = np.atleast_2d(points[:, 0], points[:, 1])
answer = np.sqrt((x - x.T) ** 2 + (y - y.T) ** 2)
""",
    "steps written into their operands": """
a, b = np.ones(5) * 3, np.arange(5.0)
np.add(a, b, out=b)
np.divide(a, 2, out=a)
np.negative(a, out=a)
answer = np.multiply(a, b, out=a)
""",
    "votes gathered in bins": """
bins = np.zeros(8)
votes = np.array([1, 3, 3, 0, 7, 3])
bins += np.bincount(votes, minlength=len(bins))
np.add.at(bins, votes, [1, 2, 3, 4, 5, 6])
sums = np.bincount(votes, weights=np.arange(6.0))
answer = bins, sums
""",
    "a moving mean, by running sums and by windows": """
from LIBRARY.lib.stride_tricks import sliding_window_view
z = np.arange(15) ** 2
total = np.cumsum(z, dtype=float)
total[4:] = total[4:] - total[:-4]
answer = total[3:] / 4, sliding_window_view(z, window_shape=4).mean(axis=-1)
""",
    "sums of blocks": """
z = np.arange(144).reshape(12, 12)
rows = np.add.reduceat(z, np.arange(0, z.shape[0], 4), axis=0)
answer = np.add.reduceat(rows, np.arange(0, z.shape[1], 3), axis=1)
""",
    "one generation of life": """
z = (np.arange(81).reshape(9, 9) * 7 % 5 < 2).astype(int)
n = sum(z[1 + i : 8 + i, 1 + j : 8 + j] for i in (-1, 0, 1) for j in (-1, 0, 1))
n = n - z[1:-1, 1:-1]
alive = z[1:-1, 1:-1] == 1
z[1:-1, 1:-1] = (n == 3) | (alive & (n == 2))
answer = z
""",
    "all combinations": """
parts = [np.asarray(part) for part in ([4, 5], [7], [1, 2, 3])]
positions = np.indices([len(part) for part in parts], dtype=int)
positions = positions.reshape(len(parts), -1).T
for n, part in enumerate(parts):
    positions[:, n] = part[positions[:, n]]
answer = positions
""",
    "rows by a column, and two of them exchanged": """
z = np.array([[3, 9, 1], [8, 2, 5], [4, 7, 6], [1, 2, 0]])
z = z[z[:, 1].argsort(kind="stable")]
z[[0, 2]] = z[[2, 0]]
answer = z
""",
    "rows that hold something else than one number": """
z = np.array([[1, 1, 1], [1, 2, 1], [0, 0, 0], [2, 2, 3]])
same = np.all(z[:, 1:] == z[:, :-1], axis=1)
answer = z[~same], z[z.max(axis=1) != z.min(axis=1), :]
""",
    "rows that hold an element of every row of another": """
a = np.array([[0, 4, 2], [1, 1, 3], [4, 3, 0], [2, 2, 2]])
b = np.array([[0, 3], [4, 1]])
c = a[..., np.newaxis, np.newaxis] == b
answer = np.where(c.any((3, 1)).all(1))[0]
""",
    "different rows, and how often each occurs": """
z = np.array([[1, 0, 1], [0, 0, 1], [1, 0, 1], [1, 1, 1]])
answer = np.unique(z, axis=0, return_counts=True)
""",
    "numbers in binary": """
n = np.array([0, 5, 16, 255])
bits = ((n.reshape(-1, 1) & (2 ** np.arange(8))) != 0).astype(int)[:, ::-1]
bytes_ = np.array([0, 5, 16, 255], dtype=np.uint8)
answer = bits, np.unpackbits(bytes_[:, np.newaxis], axis=1)
""",
    "evenly spaced points of a spiral": """
t = np.arange(0, 9, 0.25)
x, y = t * np.cos(t), t * np.sin(t)
length = np.zeros_like(x)
length[1:] = np.cumsum(np.hypot(np.diff(x), np.diff(y)))
at = np.linspace(0, length.max(), 20)
answer = np.interp(at, length, x), np.interp(at, length, y)
""",
    "an interval of means": """
x = np.sin(np.arange(50.0))
chosen = (np.arange(2000).reshape(40, 50) * 31) % x.size
answer = np.percentile(x[chosen].mean(axis=1), [2.5, 97.5])
""",
    "products without a loop": """
a, b = np.sin(np.arange(16.0)).reshape(4, 4), np.cos(np.arange(16.0)).reshape(4, 4)
m, v = np.ones((3, 4, 4)), np.ones((3, 4, 1))
answer = (
    np.diag(np.dot(a, b)),
    np.sum(a * b.T, axis=1),
    np.einsum("ij,ji->i", a, b),
    np.tensordot(m, v, axes=[[0, 2], [0, 1]]),
)
""",
    "a line through points, and a table of differences": """
x = np.linspace(-1, 2, 9)
p = np.polyfit(x, 3 * x**2 - x + 0.5, 2)
c = 1.0 / np.subtract.outer(np.arange(5), np.arange(5) + 0.5)
answer = p, np.polyval(p, 2.0), np.linalg.det(c)
""",
    "a table of text with holes": """
from io import StringIO
text = StringIO("1, 2, 3\\n\\n4, , 6\\n , 8, 9\\n")
answer = np.genfromtxt(text, delimiter=",", dtype=int)
""",
    "zeros between numbers": """
z = np.array([3, 1, 4, 1])
wide = np.zeros(len(z) + (len(z) - 1) * 2)
wide[::3] = z
answer = wide, np.repeat(np.arange(4), z)
""",
    "views, and who sees writes into them": """
a = np.arange(12.0).reshape(3, 4)
same, view, part = a, a.view(), a[:, 1:3]
part[:] = 10
view[0, 0] = -1
flat = a.ravel()
flat[-1] = 7
a.T[3][1] += 5
for row in a[1:]:
    row[::2] *= 2
field = np.zeros((6, 6), dtype=int)
inner = field[1:-1, 1:-1]
inner[inner == 0] = 3
field[2][2:4] -= 1
inner += np.eye(4, dtype=int)
known = same is a, view is a, view.base is None, part.flags.owndata, a.flags.writeable
answer = a, view, part, flat, field, known
""",
    "rows sorted, filled, put in order in place": """
a = np.array([[3, 1, 2], [9, 7, 8], [6, 5, 4]])
a[0].sort()
a[:, ::-1][1].sort()
b = np.array([5, 3, 4, 1, 2])
b[1:4].sort()
b.partition(0)
a[2].fill(1)
a.flat[::4] = 0
c = np.zeros(7)
c.shape = (7, 1)
c.resize((2, 3))
c.flat = 4
answer = a, b[0], c, a.T, np.arange(3).T, np.ones((2, 3, 4)).T.shape
""",
    "elements side by side": """
a = np.arange(6).reshape(2, 3)
with np.nditer(a, op_flags=["readwrite"]) as cells:
    for x in cells:
        x[...] = 2 * x
cells = np.nditer(a, flags=["multi_index"])
positions = [(int(x), cells.multi_index) for x in cells]
row = [x.sum() for x in np.nditer(a, flags=["external_loop"])]
answer = a, positions, row
""",
}
