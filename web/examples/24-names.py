"""Names from three letters: a network that invents some

It sees three letters and guesses the fourth. Letters become points in a plane.

Predict: which letters will end as neighbours in the plane?
"""

import tensorweb as tw
from tensorweb import nn

with open("names.txt") as file:
    names = file.read().split()

LETTERS = ".abcdefghijklmnopqrstuvwxyz"  # a point begins and ends a name
BEFORE = 3
rng = tw.random.Generator(4)

# Every position in every name is an exercise: three letters, and the one that follows.
exercises = []
for name in names:
    padded = [0] * BEFORE + [LETTERS.index(letter) for letter in name] + [0]
    exercises += [padded[i : i + BEFORE + 1] for i in range(len(name) + 1)]
exercises = tw.asarray(exercises)
before, after = exercises[:, :BEFORE], exercises[:, BEFORE]
print(len(exercises), "exercises such as", exercises[2].tolist())

# What pairs of letters can tell, to compare with: counted as in the example before.
pairs = tw.zeros((27, 27)).at[before[:, -1], after].add(1.0) + 0.01
chances = pairs / pairs.sum(axis=1, keepdims=True)
bigram = -tw.log(chances[before[:, -1], after]).mean().item()


class Network(nn.Module):
    def __init__(self):
        self.points = rng.normal((27, 2))  # where each letter lies in the plane
        self.hidden = nn.Linear(2 * BEFORE, 64, rng=rng)
        self.last = nn.Linear(64, 27, rng=rng)

    def forward(self, letters):
        x = self.points[letters].reshape(-1, 2 * BEFORE) * 5
        return self.last(tw.tanh(self.hidden(x)))


opt = tw.optim.Adam(lr=tw.optim.linear(0.03, 0.002, 400))


@tw.jit
def step(model, state, chosen):
    def loss(model):
        return nn.cross_entropy(model(before[chosen]), after[chosen])

    value, slope = tw.value_and_grad(loss)(model)
    model, state = opt.update(model, slope, state)
    return model, state, value


def invent(model):
    """Return a new name, drawn letter by letter with the chances the network gives."""
    letters = [0] * BEFORE
    while len(letters) < 15:
        logits = model(tw.asarray([letters[-BEFORE:]]))[0]
        letters.append(rng.categorical(logits).item())
        if letters[-1] == 0:
            break
    return "".join(LETTERS[letter] for letter in letters).strip(".")


def groups(model):
    """Return the points of vowels, other letters and the point, to be plotted."""
    parts = {"vowels": "aeiouy", "others": "bcdfghjklmnpqrstvwxz", "the point": "."}
    numbers = {k: tw.asarray([LETTERS.index(x) for x in v]) for k, v in parts.items()}
    return [{k: model.points[v, i] for k, v in numbers.items()} for i in (1, 0)]


model = Network()
batches = rng.permutation(len(exercises))[:2400].reshape(10, 240)
state = opt.init(model)
losses = []
for number in range(1, 401):
    model, state, value = step(model, state, batches[number % 10])
    losses.append(value)
    if number % 80 == 0:
        tw.plot(*groups(model), kind="points", title="Letters in the plane")
        print(f"step {number}: loss {value.item():.3f}", invent(model), invent(model))
tw.plot(tw.stack(losses), title="Loss by step")

trained = nn.cross_entropy(model(before), after).item()
print("new names:", ", ".join(invent(model) for _ in range(8)))
print(f"pairs of letters {bigram:.3f}, three letters {trained:.3f}")
print("below the pairs by 0.2:", trained < bigram - 0.2)
