"""Digits drawn by the program: strokes, each picture a little different."""

import tensorweb as tw

# Each digit as the corners of its strokes, x to the right and y down, from 0 to 4.
STROKES = [
    [(1, 0, 3, 0), (3, 0, 3, 4), (3, 4, 1, 4), (1, 4, 1, 0)],
    [(1, 1, 2, 0), (2, 0, 2, 4)],
    [(1, 0, 3, 0), (3, 0, 3, 2), (3, 2, 1, 4), (1, 4, 3, 4)],
    [(1, 0, 3, 0), (3, 0, 2, 2), (2, 2, 3, 3), (3, 3, 2, 4), (2, 4, 1, 4)],
    [(1, 0, 1, 2), (1, 2, 3, 2), (3, 0, 3, 4)],
    [(3, 0, 1, 0), (1, 0, 1, 2), (1, 2, 3, 2), (3, 2, 3, 4), (3, 4, 1, 4)],
    [(3, 0, 1, 2), (1, 2, 1, 4), (1, 4, 3, 4), (3, 4, 3, 2), (3, 2, 1, 2)],
    [(1, 0, 3, 0), (3, 0, 2, 4)],
    [(1, 0, 3, 0), (3, 0, 1, 4), (1, 4, 3, 4), (3, 4, 1, 0)],
    [(3, 2, 1, 2), (1, 2, 1, 0), (1, 0, 3, 0), (3, 0, 3, 2), (3, 2, 2, 4)],
]


def draw(digit, count, size, rng, noise=0.0):
    """Return count pictures of a digit: each is moved, leaning, larger or smaller."""
    line = tw.linspace(-0.6, 4.6, size)
    lean, grow, right, down = (rng.normal((count, 1, 1)) for _ in range(4))
    y = (tw.expand_dims(line, 1) - 2 - 0.2 * down) * (1 + 0.08 * grow)
    x = (line - 2 - 0.2 * right) * (1 + 0.08 * grow) + 0.12 * lean * y + 2
    y = y + 2
    ink = tw.zeros((count, size, size))
    for x0, y0, x1, y1 in STROKES[digit]:
        across, along = x1 - x0, y1 - y0
        # How far along the stroke is its nearest point, and how far away is that?
        part = ((x - x0) * across + (y - y0) * along) / (across**2 + along**2)
        part = part.clip(0.0, 1.0)
        far = tw.hypot(x - x0 - part * across, y - y0 - part * along)
        ink = tw.maximum(ink, tw.exp(-((far / 0.4) ** 2)))
    return ink + noise * rng.normal(ink.shape) if noise else ink


def drawn(count, size, rng, noise=0.0):
    """Return pictures of all ten digits, count of each, and which digit each is."""
    pictures = [draw(digit, count, size, rng, noise) for digit in range(10)]
    return tw.concat(pictures), tw.repeat(tw.arange(10), count)


def in_rows(pictures, columns):
    """Return one picture of many, that many in a row."""
    size = pictures.shape[-1]
    rows = pictures.reshape(-1, columns, size, size).permute_dims((0, 2, 1, 3))
    return rows.reshape(-1, columns * size)
