"""A spiral in three colours: what the neurons see

Three arms, a network with one hidden layer, and each of its neurons as a small picture.

Predict: a neuron of the hidden layer sees one side of a line. How do 48 of them make a
spiral?
"""

import math

import tensorweb as tw
from tensorweb import nn

rng = tw.random.Generator(2)

# Three arms of 80 points: further out is further round.
far = tw.linspace(0.1, 1.0, 80)
arms = []
for arm in range(3):
    angle = far * 4.2 + arm * 2 * math.pi / 3 + 0.12 * rng.normal((80,))
    arms.append(tw.stack([far * tw.cos(angle), far * tw.sin(angle)], axis=1))
points = tw.concat(arms)
labels = tw.repeat(tw.arange(3), 80)


class Network(nn.Module):
    def __init__(self):
        self.hidden = nn.Linear(2, 48, rng=rng)
        self.last = nn.Linear(48, 3, rng=rng)

    def neurons(self, x):
        """Return what each neuron of the hidden layer says: nothing, or how much."""
        return nn.relu(self.hidden(x * 4))

    def forward(self, x):
        return self.last(self.neurons(x))


def loss(model):
    return nn.cross_entropy(model(points), labels)


opt = tw.optim.Adam(lr=0.03)


@tw.jit
def step(model, state):
    value, slope = tw.value_and_grad(loss)(model)
    model, state = opt.update(model, slope, state)
    return model, state, value


SIZE = 40
line = tw.linspace(-1.1, 1.1, SIZE)
across, up = tw.meshgrid(line, -line)
pixels = tw.stack([across.reshape(-1), up.reshape(-1)], axis=1)
columns = ((points[:, 0] + 1.1) * 17.7).round().astype(tw.int32)
rows = ((1.1 - points[:, 1]) * 17.7).round().astype(tw.int32)


@tw.jit
def surface(model):
    """Return the chances of the three arms as red, green and blue, points in white."""
    colours = nn.softmax(model(pixels)).reshape(SIZE, SIZE, 3)
    return colours.at[rows, columns].set(1.0)


@tw.jit
def tiles(model):
    """Return pictures of the first 24 neurons, side by side in four rows of six."""
    seen = model.neurons(pixels)[:, :24]
    seen = seen / (seen.max(axis=0) + 1e-6)
    seen = seen.reshape(SIZE, SIZE, 4, 6).permute_dims((2, 0, 3, 1))[:, ::2, :, ::2]
    return tw.pad(seen, ((0, 0), (0, 1), (0, 0), (0, 1))).reshape(84, 126)


model = Network()
state = opt.init(model)
for number in range(1, 401):
    model, state, value = step(model, state)
    if number % 20 == 0:
        tw.show(surface(model), "chances of the arms")
        tw.show(tiles(model), "24 neurons, each over the square")
    if number % 100 == 0:
        print(f"step {number}: loss {value.item():.4f}")

right = (model(points).argmax(axis=1) == labels).mean(dtype=tw.float32).item()
print("each small picture: where one neuron speaks (dark blue) and where it is silent")
print(f"accuracy {right:.3f}; at least 0.97: {right >= 0.97}")
