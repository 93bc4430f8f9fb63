"""Learning: a network bends until it parts two spirals

Four lines of network, one line of derivative: watch the border move as it learns.

Predict: could a single straight line part two spirals?
"""

import math

import tensorweb as tw

# Two spirals: 60 points each, as rows (x, y), and the arm they belong to.
radius = tw.linspace(0.4, 1.0, 60)
angle = radius * 2.4 * math.pi
arm = tw.stack([radius * tw.cos(angle), radius * tw.sin(angle)], axis=1)
points = tw.concat([arm, -arm])
labels = tw.concat([tw.zeros(60), tw.ones(60)])


def layer(number, before, after):
    """Return weights that look random, and zeros."""
    count = tw.arange(before * after, dtype=tw.float32)
    mixed = tw.sin(count * 12.9898 + number) * 43758.5453
    weights = (mixed - tw.floor(mixed)) * 2 - 1
    scale = math.sqrt(3 / before)
    return {"w": weights.reshape(before, after) * scale, "b": tw.zeros(after)}


def network(layers, x):
    x = x * 3
    for one in layers[:-1]:
        x = tw.tanh(x @ one["w"] + one["b"])
    return (x @ layers[-1]["w"] + layers[-1]["b"])[:, 0]


def loss(layers):
    z = network(layers, points)
    # How surprised the network is by the labels.
    return (tw.logaddexp(z, 0.0) - z * labels).mean()


@tw.jit
def step(layers, pace):
    """Go downhill: a step against the slope, with some of the last step's pace."""
    value, slope = tw.value_and_grad(loss)(layers)
    pace = tw.tree.map(lambda p, g: 0.95 * p - 0.2 * g, pace, slope)
    return tw.tree.map(tw.add, layers, pace), pace, value


@tw.jit
def surface(layers):
    """Return what the network says of every point of the square."""
    line = tw.linspace(-1.1, 1.1, 64)
    across, up = tw.meshgrid(line, -line)
    pixels = tw.stack([across.reshape(-1), up.reshape(-1)], axis=1)
    return tw.sigmoid(network(layers, pixels)).reshape(64, 64)


layers = [layer(1, 2, 16), layer(2, 16, 16), layer(3, 16, 1)]
pace = tw.tree.map(tw.zeros_like, layers)
for number in range(80):
    layers, pace, value = step(layers, pace)
    if number % 4 == 3:
        tw.show(surface(layers))
    if number % 20 == 19:
        print(f"step {number + 1}: loss {value.item():.4f}")

right = ((network(layers, points) > 0) == (labels > 0.5)).sum().item()
print(f"{right} of {len(points)} points are on their side")
