"""Bigrams twice: counted, and trained until they are the same

One table is counted. Another one begins with nothing and learns. They meet.

Predict: will the trained table end above, below or at the loss of the counted one?
"""

from itertools import pairwise

import tensorweb as tw

with open("names.txt") as file:  # a list of first names; its tab is above
    names = file.read().split()

LETTERS = ".abcdefghijklmnopqrstuvwxyz"  # a point begins and ends a name
pairs = [pair for name in names for pair in pairwise(f".{name}.")]
first = tw.asarray([LETTERS.index(a) for a, _ in pairs])
second = tw.asarray([LETTERS.index(b) for _, b in pairs])
print(len(names), "names,", len(pairs), "pairs of letters")

# Counted: how often does the second letter follow the first? add adds 1 at each index.
counts = tw.zeros((27, 27)).at[first, second].add(1.0)
counted = (counts + 0.01) / (counts + 0.01).sum(axis=1, keepdims=True)
tw.show(counted)


def loss(chances):
    """Return how surprising the pairs are, in the mean."""
    return -(counts * tw.log(chances)).sum() / len(pairs)


def softmax(x):
    powers = tw.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


# Trained: a table of any numbers, which softmax makes into chances. Nobody counts for
# it: it only hears how surprising the pairs are, and goes downhill.
opt = tw.optim.Adam(lr=0.3)


@tw.jit
def step(table, state):
    value, slope = tw.value_and_grad(lambda t: loss(softmax(t)))(table)
    table, state = opt.update(table, slope, state)
    return table, state, value


table = tw.zeros((27, 27))
state = opt.init(table)
losses = []
for number in tw.progress(range(120), name="training"):
    table, state, value = step(table, state)
    losses.append(value)
    if number % 10 == 9:
        trained = softmax(table)
        tw.show(trained)
tw.plot(
    {"trained": tw.stack(losses), "counted": [loss(counted).item()] * len(losses)},
    title="Surprise by step",
)

# What do both say follows a q, and where do they differ most?
for what, chances in {"counted": counted, "trained": trained}.items():
    best = tw.argsort(chances[LETTERS.index("q")], descending=True)[:2].tolist()
    letters = [LETTERS[i] for i in best]
    print(f"{what}: loss {loss(chances).item():.3f}, after q", letters)
apart = abs(loss(trained) - loss(counted)).item()
print("equal chances would give 3.296")
print("losses within 0.01:", apart < 0.01)
trained - counted
