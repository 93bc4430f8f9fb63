"""Who belongs to whom: a graph network

Sixty people, three clubs, and friendships. Of one member of each the club is known.

Predict: of how many people out of sixty will the club be found?
"""

import tensorweb as tw
from tensorweb import nn

PEOPLE, CLUBS, STEPS = 60, 3, 120
rng = tw.random.Generator(5)
club = tw.arange(PEOPLE) % CLUBS

# Friends are drawn: members of one club more often than others.
chance = tw.where(tw.expand_dims(club, 1) == club, 0.35, 0.02)
drawn = tw.triu(rng.uniform((PEOPLE, PEOPLE)) < chance, k=1)
one, other = tw.nonzero(drawn)
everyone = tw.arange(PEOPLE)
# A friendship goes both ways, and everybody is their own friend.
sender = tw.concat([one, other, everyone])
receiver = tw.concat([other, one, everyone])
friends = tw.segment_sum(tw.ones(len(sender)), receiver, PEOPLE)
weight = 1 / tw.sqrt(friends[sender] * friends[receiver])
print(len(one), "friendships")


class Convolution(nn.Module):
    """Everybody sends a vector to all friends, and adds what arrives."""

    def __init__(self, inputs, outputs):
        self.linear = nn.Linear(inputs, outputs, rng=rng)

    def forward(self, x, sender, receiver, weight):
        sent = self.linear(x)[sender] * tw.expand_dims(weight, 1)
        return tw.segment_sum(sent, receiver, len(x))


class Network(nn.Module):
    def __init__(self):
        self.first, self.second = Convolution(PEOPLE, 16), Convolution(16, 2)
        self.last = nn.Linear(2, CLUBS, rng=rng)

    def points(self, x, *graph):
        """Return where in a plane the network sees everybody."""
        return tw.tanh(self.second(tw.tanh(self.first(x, *graph)), *graph))

    def forward(self, x, *graph):
        return self.last(self.points(x, *graph))


graph = sender, receiver, weight
names = tw.eye(PEOPLE)  # all that is known of a person is who it is
opt = tw.optim.Adam(lr=0.03, weight_decay=0.001)


@tw.jit
def step(model, state):
    """Learn from three people only: the first of each club."""

    def loss(model):
        return nn.cross_entropy(model(names, *graph)[:CLUBS], club[:CLUBS])

    value, slope = tw.value_and_grad(loss)(model)
    model, state = opt.update(model, slope, state)
    return model, state, value


def draw(model):
    x, y = model.points(names, *graph).T
    members = {f"club {i + 1}": club == i for i in range(CLUBS)}
    tw.plot(
        {name: y[those] for name, those in members.items()},
        {name: x[those] for name, those in members.items()},
        kind="points",
        title="Where the network sees everybody",
    )


model = Network()
state = opt.init(model)
for number in range(STEPS):
    model, state, value = step(model, state)
    if number % 10 == 9:
        draw(model)

found = (model(names, *graph).argmax(axis=1) == club).sum().item()
print(f"{found} of {PEOPLE} found; at least 55: {found >= 55}")
# The names of the numbers do not matter: mix them up, and the results are mixed up.
order = rng.permutation(PEOPLE)
new = tw.argsort(order)  # the new number of each person
mixed = model(names[order], new[sender], new[receiver], weight)
same = tw.abs(mixed - model(names, *graph)[order]).max().item() < 1e-5
print("the same for people in another order:", same)
