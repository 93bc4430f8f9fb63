"""Moons: a network bends a border

Two half moons that no line can part. A small network draws a curve between them.

Predict: what shape will the border between two half moons have?
"""

import math

import tensorweb as tw
from tensorweb import nn

rng = tw.random.Generator(1)

# An upper moon, and a lower one that is pushed to the right: 100 points of each.
angle = rng.uniform((100,), maxval=math.pi)
upper = tw.stack([tw.cos(angle), tw.sin(angle)], axis=1)
lower = tw.stack([1 - tw.cos(angle), 0.5 - tw.sin(angle)], axis=1)
points = tw.concat([upper, lower]) + 0.08 * rng.normal((200, 2))
labels = tw.concat([tw.zeros(100, dtype=tw.int32), tw.ones(100, dtype=tw.int32)])


class Network(nn.Module):
    """Two layers that bend, and one that says a number for each of the two moons."""

    def __init__(self):
        self.first = nn.Linear(2, 16, rng=rng)
        self.second = nn.Linear(16, 16, rng=rng)
        self.last = nn.Linear(16, 2, rng=rng)

    def forward(self, x):
        x = nn.relu(self.first(x))
        x = nn.relu(self.second(x))
        return self.last(x)


def loss(model):
    return nn.cross_entropy(model(points), labels)


opt = tw.optim.Adam(lr=0.02)


@tw.jit
def step(model, state):
    value, slope = tw.value_and_grad(loss)(model)
    model, state = opt.update(model, slope, state)
    return model, state, value


# The pixels of a picture, and the points in it: darker than their surroundings.
across, up = tw.meshgrid(tw.linspace(-1.6, 2.6, 63), tw.linspace(1.5, -1.0, 38))
pixels = tw.stack([across.reshape(-1), up.reshape(-1)], axis=1)
columns = ((points[:, 0] + 1.6) * 14.7).round().clip(0, 62).astype(tw.int32)
rows = ((1.5 - points[:, 1]) * 14.7).round().clip(0, 37).astype(tw.int32)


@tw.jit
def surface(model):
    """Return what it says of each pixel: -1 is the upper moon, 1 the lower."""
    sure = nn.softmax(model(pixels))[:, 1].reshape(38, 63) * 2 - 1
    return sure.at[rows, columns].set(labels * 3.0 - 1.5)


model = Network()
state = opt.init(model)
losses = []
for number in range(1, 151):
    model, state, value = step(model, state)
    losses.append(value)
    if number % 5 == 0:
        tw.show(surface(model), "the border")
        tw.plot(tw.stack(losses), title="Loss by step")
    if number % 50 == 0:
        print(f"step {number}: loss {value.item():.4f}")

right = (model(points).argmax(axis=1) == labels).sum().item()
print(f"{right} of 200 points are on their side")
print("loss below 0.02:", value.item() < 0.02)
