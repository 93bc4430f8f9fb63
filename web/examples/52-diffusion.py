"""Digits out of noise: diffusion

A network learns to see the picture in the noise; ask it again and again, with less.

Predict: at which step can you first read a digit?
"""

import math

from digits import drawn, in_rows

import tensorweb as tw
from tensorweb import nn

SIZE, LEVELS, STEPS = 12, 20, 200
rng = tw.random.Generator(2)
pictures, labels = drawn(100, SIZE, rng)
pictures = 2 * pictures.reshape(-1, SIZE**2) - 1

# How much of the picture is left at each level of noise: nearly all, then nothing.
left = tw.cos((tw.arange(LEVELS) + 1) / (LEVELS + 1) * math.pi / 2)
noise_of = tw.sqrt(1 - left**2)


class Seer(nn.Module):
    """The picture in the noise, given the level and which digit it is to be."""

    def __init__(self):
        self.level = nn.Embedding(LEVELS, 128, rng=rng)
        self.digit = nn.Embedding(10, 128, rng=rng)
        self.first = nn.Linear(SIZE**2, 128, rng=rng)
        self.second = nn.Linear(128, 128, rng=rng)
        self.last = nn.Linear(128, SIZE**2, rng=rng)

    def forward(self, x, level, digit):
        about = self.level(level) + self.digit(digit)
        h = nn.silu(self.first(x) + about)
        h = h + nn.silu(self.second(h) + about)
        return self.last(h)


opt = tw.optim.Adam(lr=tw.optim.linear(0.003, 0.0003, STEPS))


@tw.jit
def step(model, state, chosen, key):
    """Add noise of some level to pictures, and learn to tell what they were."""
    keys = tw.random.split(key)
    x, digit = pictures[chosen], labels[chosen]
    level = tw.random.randint(keys[0], (len(chosen),), 0, LEVELS)
    noise = tw.random.normal(keys[1], x.shape)
    keep, add = left[level].reshape(-1, 1), noise_of[level].reshape(-1, 1)

    def loss(model):
        return nn.mse(model(keep * x + add * noise, level, digit), x)

    value, slope = tw.value_and_grad(loss)(model)
    model, state = opt.update(model, slope, state)
    return model, state, value


@tw.jit
def cleaner(model, x, level, digit):
    """Return what pictures of a level look like one level below."""
    clean = model(x, tw.full((len(x),), level), digit)
    noise = (x - left[level] * clean) / noise_of[level]
    return clean, left[level - 1] * clean + noise_of[level - 1] * noise


model, losses = Seer(), []
state = opt.init(model)
batches = rng.permutation(1000).reshape(10, 100)
for number, key in enumerate(tw.random.split(tw.random.key(0), STEPS)):
    model, state, value = step(model, state, batches[number % 10], key)
    losses.append(value)
    if number % 40 == 39:
        tw.plot(tw.stack(losses), title="Loss by step")

asked = tw.repeat(tw.arange(10), 4)  # four of each digit, in rows of ten
x = rng.normal((40, SIZE**2))
for level in range(LEVELS - 1, 0, -1):
    clean, x = cleaner(model, x, tw.asarray(level), asked)
    seen = clean if level == 1 else x
    tw.show(
        in_rows(seen.reshape(-1, SIZE, SIZE) / 2 + 0.5, 10).clip(0, 1), "out of noise"
    )

# Which digit's mean picture is the nearest?
means = tw.stack([pictures[labels == digit].mean(axis=0) for digit in range(10)])
guesses = ((tw.expand_dims(clean, 1) - means) ** 2).mean(axis=2).argmin(axis=1)
right = (guesses == asked).mean(dtype=tw.float32).item()
print(f"at least 95 % are the digit asked for: {right >= 0.95}")
