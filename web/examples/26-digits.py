"""Digits drawn by the program: a plain network, then one that looks through windows

Ten digits from strokes, each a little different. Which are read wrongly?

Predict: which two digits will be taken for each other most?
"""

from digits import drawn

import tensorweb as tw
from tensorweb import nn

rng = tw.random.Generator(6)
SIZE = 16
pictures, labels = drawn(100, SIZE, rng, noise=0.1)
unseen, answers = drawn(40, SIZE, rng, noise=0.1)
pictures, unseen = tw.expand_dims(pictures, 1), tw.expand_dims(unseen, 1)
batches = rng.permutation(1000).reshape(10, 100)
tw.show(unseen[::40, 0].permute_dims((1, 0, 2)).reshape(SIZE, -1), "one of each")

mlp = nn.Sequential(
    nn.Flatten(), nn.Linear(SIZE**2, 64, rng=rng), nn.ReLU(), nn.Linear(64, 10, rng=rng)
)
# Windows of 5 x 5 look for the same little thing everywhere: an end, an edge, a bend.
cnn = nn.Sequential(
    nn.Conv2d(1, 8, 5, stride=2, rng=rng), nn.ReLU(), nn.Conv2d(8, 16, 3, rng=rng),
    nn.ReLU(), nn.Flatten(), nn.Linear(16 * 4 * 4, 10, rng=rng),
)  # fmt: skip


def train(model, steps):
    """Return the model after some steps, each with a hundred of the pictures."""
    opt = tw.optim.Adam(lr=tw.optim.linear(0.01, 0.001, steps))

    @tw.jit
    def step(model, state, chosen):
        def loss(model):
            return nn.cross_entropy(model(pictures[chosen]), labels[chosen])

        value, slope = tw.value_and_grad(loss)(model)
        model, state = opt.update(model, slope, state)
        return model, state, value

    state, losses = opt.init(model), []
    for number in tw.progress(range(steps)):
        model, state, value = step(model, state, batches[number % 10])
        losses.append(value)
        if number % 20 == 19:
            tw.plot(tw.stack(losses), title="Loss by step")
    return model


for name, model, aim in ("MLP", mlp, 0.97), ("CNN", cnn, 0.99):
    model = train(model, 100)
    guesses = model(unseen).argmax(axis=1)
    right = (guesses == answers).mean(dtype=tw.float32).item()
    print(f"{name}: {right:.3f} of digits it never saw; at least {aim}: {right >= aim}")
    for index in tw.nonzero(guesses != answers)[0][:3].tolist():
        print("  a", answers[index].item(), "is read as", guesses[index].item())
        tw.show(unseen[index, 0], "read wrongly")

# Eight windows in two rows of four, each with a margin.
windows = tw.pad(model[0].weight[:, 0], ((0, 0), (0, 1), (0, 1)))
windows = windows.reshape(2, 4, 6, 6).permute_dims((0, 2, 1, 3)).reshape(12, 24)
tw.show(windows, "the eight windows")
