"""A picture in a network: a radiance field of one picture

A network learns brightness as a function of x and y; it can then be drawn at any size.

Predict: which network draws the fine lines, the plain one or the one with waves?
"""

import math

import tensorweb as tw
from tensorweb import nn

SIZE, STEPS = 40, 150
rng = tw.random.Generator(8)


def grid(size):
    """Return the points of a square, row by row."""
    line = (tw.arange(size) + 0.5) / size * 2 - 1
    across, down = tw.meshgrid(line, line)
    return tw.stack([across.reshape(-1), down.reshape(-1)], axis=1)


def scene(points):
    """Return a sun above the waves of a sea."""
    x, y = points.T
    sun = tw.hypot(x - 0.3, y + 0.4) < 0.35
    sea = 0.5 + 0.5 * tw.sin(12 * y + 2 * tw.sin(5 * x)) * tw.cos(3 * x)
    return tw.where(y > 0.1, sea, tw.where(sun, 1.0, 0.25 - 0.15 * y))


class Field(nn.Module):
    """Brightness at a point, which is given as it is and as sines and cosines."""

    def __init__(self, waves):
        self.waves = waves
        self.layers = nn.Sequential(
            nn.Linear(2 + 4 * waves, 64, rng=rng), nn.ReLU(),
            nn.Linear(64, 64, rng=rng), nn.ReLU(), nn.Linear(64, 1, rng=rng),
        )  # fmt: skip

    def forward(self, points):
        angles = [points * (math.pi * 2**i) for i in range(self.waves)]
        parts = [f(angle) for angle in angles for f in (tw.sin, tw.cos)]
        return tw.sigmoid(self.layers(tw.concat([points, *parts], axis=1)))[:, 0]


def train(field, name):
    opt = tw.optim.Adam(lr=tw.optim.cosine(0.01, STEPS))

    @tw.jit
    def step(field, state):
        value, slope = tw.value_and_grad(lambda f: nn.mse(f(points), picture))(field)
        field, state = opt.update(field, slope, state)
        return field, state, value

    state = opt.init(field)
    for number in range(STEPS):
        field, state, value = step(field, state)
        if number % 10 == 9:
            tw.show(field(points).reshape(SIZE, SIZE), name)
    return field, -10 * math.log10(value.item())  # 20 dB: a tenth missing


points = grid(SIZE)
picture = scene(points)
tw.show(picture.reshape(SIZE, SIZE), "the picture")
_, plain = train(Field(0), "without waves")
field, waves = train(Field(4), "with waves")
tw.show(field(grid(4 * SIZE)).reshape(4 * SIZE, -1), "drawn four times as large")
print(f"{plain:.1f} dB without waves, {waves:.1f} dB with them")
print("better by 10 dB:", waves > plain + 10)
