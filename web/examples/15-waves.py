"""Waves in a box

Two sources, one slow half, walls that throw waves back: a picture that moves.

Predict: are the waves in the slow half longer or shorter than in the other one?
"""

import tensorweb as tw

ROWS, COLUMNS = 96, 128

x = tw.linspace(-1.0, 1.0, COLUMNS)
y = tw.expand_dims(tw.linspace(-0.75, 0.75, ROWS), axis=1)

# Waves are slower in the right half. Try other numbers, but stay below 0.5.
speed = tw.where(x > 0.1, 0.15, 0.45)


def drop(row, column):
    """Return a smooth hill around a point."""
    return tw.exp(-((x - column) ** 2 + (y - row) ** 2) * 300)


def around(u):
    """Return how far the neighbours of each cell are above it, together."""
    p = tw.pad(u, 1)
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u


waves = before = drop(-0.3, -0.5) - drop(0.35, -0.1)
for frame in range(60):
    for _ in range(4):
        waves, before = 2 * waves - before + speed * around(waves), waves
    tw.show(waves)
    if frame % 20 == 0:
        print("frame", frame, "highest wave", tw.max(waves).item())
