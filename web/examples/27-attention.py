"""Attention, step by step: who looks at whom

First by hand, with four words. Then it learns a task that needs it: saying again.

Predict: to say a word again, to which earlier position does attention have to look?
"""

import math

import tensorweb as tw
from tensorweb import nn

# Each word has a query (what it looks for), a key (what it offers), and a value.
words = ["the", "cat", "it", "sleeps"]
queries = tw.asarray([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]])
keys = tw.asarray([[0.0, 1.0], [3.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
values = tw.asarray([[1.0], [2.0], [3.0], [4.0]])

scores = queries @ keys.T / math.sqrt(2)  # how well each query fits each key
earlier = tw.expand_dims(tw.arange(4), 1) >= tw.arange(4)
scores = tw.where(earlier, scores, -tw.inf)  # nobody looks at what comes later
weights = nn.softmax(scores, axis=-1)  # rows that sum to one
tw.show(weights)
by_hand = weights @ values  # a mean of values, by the weights
print("it looks most at:", words[weights[2].argmax().item()])
apart = abs(by_hand - nn.attention(queries, keys, values, causal=True)).max().item()
print("nn.attention gives the same:", apart < 1e-6)

# The task: eight letters are said, then a mark, then they are to be said again. To say
# one, its position has to look at where it was said: a stripe in the picture.
rng = tw.random.Generator(11)
SAID, LETTERS, WIDTH, MARK = 8, 10, 32, 10
LONG = 2 * SAID


class Copier(nn.Module):
    def __init__(self):
        self.letters = nn.Embedding(LETTERS + 1, WIDTH, rng=rng)
        self.positions = nn.Embedding(LONG, WIDTH, rng=rng)
        self.query = nn.Linear(WIDTH, WIDTH, rng=rng)
        self.key = nn.Linear(WIDTH, WIDTH, rng=rng)
        self.value = nn.Linear(WIDTH, WIDTH, rng=rng)
        self.last = nn.Linear(WIDTH, LETTERS, rng=rng)

    def weights(self, x):
        """Return who looks at whom, for each of the examples."""
        scores = self.query(x) @ self.key(x).permute_dims((0, 2, 1)) / math.sqrt(WIDTH)
        position = tw.arange(LONG)
        earlier = tw.expand_dims(position, 1) >= position
        return nn.softmax(tw.where(earlier, scores, -tw.inf), axis=-1)

    def inside(self, ids):
        return self.letters(ids) + self.positions.weight

    def forward(self, ids):
        x = self.inside(ids)
        return self.last(self.weights(x) @ self.value(x))[:, SAID:]


def task(count):
    """Return what is heard, and what is to be said at the last eight positions."""
    said = rng.randint((count, SAID), 0, LETTERS)
    mark = tw.full((count, 1), MARK, dtype=tw.int32)
    return tw.concat([said, mark, said[:, :-1]], axis=1), said


opt = tw.optim.Adam(lr=0.01)


@tw.jit
def step(model, state, heard, said):
    def loss(model):
        guesses = model(heard).reshape(-1, LETTERS)
        return nn.cross_entropy(guesses, said.reshape(-1))

    value, slope = tw.value_and_grad(loss)(model)
    model, state = opt.update(model, slope, state)
    return model, state, value


model = Copier()
state = opt.init(model)
for number in range(1, 81):
    model, state, value = step(model, state, *task(32))
    if number % 4 == 0:
        heard, said = task(1)
        tw.show(model.weights(model.inside(heard))[0], "who looks at whom")
    if number % 20 == 0:
        print(f"step {number}: loss {value.item():.4f}")

heard, said = task(100)
right = (model(heard).argmax(axis=-1) == said).mean(dtype=tw.float32).item()
print(f"letters said again rightly: {right:.1%}")
