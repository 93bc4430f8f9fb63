"""NumPy's habits

A program written for NumPy, one line of it changed: Julia's sets, in complex numbers.

Predict: which numbers c give a Julia set that is in one piece?
"""

import tensorweb as tw
import tensorweb.numpy as np  # it was: import numpy as np

H, W, MAXIT = 120, 160, 24

y, x = np.ogrid[-1.2 : 1.2 : H * 1j, -1.6 : 1.6 : W * 1j]
plane = x + 1j * y


def julia(c, maxit=MAXIT, r=2.0):
    """Return after how many steps z**2 + c leaves, begun at each point."""
    z = plane.copy()
    steps = np.full(z.shape, maxit)
    for i in range(maxit):
        z = z**2 + c
        away = np.abs(z) > r
        steps[away & (steps == maxit)] = i  # who leaves now
        z[away] = r  # so that nothing overflows
    return steps


# c goes once around; the sets rotate, break into dust, and grow together again.
angles = np.linspace(0, 2 * np.pi, 25)[:-1]
centres = 0.7885 * np.exp(1j * angles)
for c in centres.tolist():
    tw.show(np.sqrt(julia(c)), "Julia")

# A set is in one piece when the way from 0 never leaves: all c at once.
z = np.zeros_like(centres)
for _ in range(200):
    z = np.where(np.abs(z) > 2, 3, z**2 + centres)
whole = np.abs(z) <= 2
print("in one piece:", np.count_nonzero(whole), "of", len(whole))
print("at", np.degrees(angles[whole]).round(), "degrees")

# The most famous of them, and how many points leave when.
steps = julia(-0.8 + 0.156j, maxit=60)
tw.show(np.sqrt(steps), "famous")
times, counts = np.unique(steps, return_counts=True)
order = np.argsort(counts)[::-1][:5]
for t, n in zip(times[order], counts[order], strict=True):
    print(f"{n:5} points leave after {t} steps")
