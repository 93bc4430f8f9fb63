"""A pole that learns to stand: deep Q-learning, drawn live

Thirty-two carts are pushed left or right fifty times a second, and all is remembered.

Predict: after how many seconds does a pole fall whose cart is pushed at random?
"""

import tensorweb as tw
from tensorweb import nn

CARTS, STEPS, PUSHES = 32, 300, 200
SCALE = tw.asarray([2.0, 2.0, 0.2, 2.0])  # of position, speed, angle, angular speed


def pushed(carts, action):
    """Return the carts a fiftieth of a second later, and which of them have failed."""
    _, speed, angle, spin = tw.unstack(carts, axis=1)
    sin, cos = tw.sin(angle), tw.cos(angle)
    push = (tw.where(action == 1, 10.0, -10.0) + 0.05 * spin**2 * sin) / 1.1
    faster = (9.8 * sin - cos * push) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
    pull = push - 0.05 * faster * cos / 1.1
    carts = carts + 0.02 * tw.stack([speed, pull, spin, faster], axis=1)
    return carts, (tw.abs(carts[:, 0]) > 2.4) | (tw.abs(carts[:, 2]) > 0.21)


def best(model, carts):
    """Return the push that the model prefers: 0 to the left, 1 to the right."""
    return model(carts / SCALE).argmax(axis=1)


opt = tw.optim.Adam(lr=tw.optim.linear(0.005, 0.001, STEPS))


@tw.jit
def live(model, older, state, memory, carts, key, index, daring):
    """Push each cart once, remember it, and learn from 256 memories."""
    keys = tw.random.split(key, 3)
    chance = tw.random.uniform(keys[0], (CARTS,))
    action = tw.where(chance < daring, chance < daring / 2, best(model, carts) == 1)
    after, failed = pushed(carts, action)
    now = tw.stack([action, failed], axis=1).astype(tw.float32)
    memory = memory.at[index].set(tw.concat([carts, after, now], axis=1))
    anew = SCALE * tw.random.uniform(keys[1], (CARTS, 4), minval=-1.0, maxval=1.0)
    carts = tw.where(tw.expand_dims(failed, 1), anew, after)

    rows = tw.random.randint(keys[2], (256,), 0, CARTS * (index + 1))
    some = memory.reshape(-1, 10)[rows % (CARTS * STEPS)]
    x, y, action, failed = some[:, :4], some[:, 4:8], some[:, 8], some[:, 9]
    # To fail costs 1, to be far from the middle a little. What comes later counts less.
    cost = failed + 0.005 * y[:, 0] ** 2
    aim = 0.97 * (1 - failed) * older(y / SCALE).max(axis=1) - cost

    def loss(model):
        left, right = tw.unstack(model(x / SCALE), axis=1)
        return nn.huber(tw.where(action == 1, right, left), aim)

    model, state = opt.update(model, tw.grad(loss)(model), state)
    older = tw.optim.incremental_update(model, older, 0.05)
    return model, older, state, memory, carts


@tw.jit
def balanced(model, carts):
    """Return the carts after five pushes, and which of them have failed."""
    carts, failed = tw.scan(
        lambda carts, _: pushed(carts, best(model, carts)), carts, length=5
    )
    return carts, failed.any(axis=0)


def show(model):
    """Draw one of twenty carts; return for how many pushes they keep their poles."""
    carts = tw.random.uniform(tw.random.key(0), (20, 4), minval=-0.05, maxval=0.05)
    standing, kept = tw.ones(20), tw.zeros(20)
    for _ in range(PUSHES // 5):
        carts, failed = balanced(model, carts)
        standing = standing * (1 - failed)
        kept = kept + 5 * standing
        x, _, angle, _ = carts[0]
        if standing[0]:
            tw.plot(
                {"track": [1.2, 0, 0, 1.2], "pole": [0, tw.cos(angle)]},
                {"track": [-2.4, -2.4, 2.4, 2.4], "pole": [x, x + tw.sin(angle)]},
                title="The pole",
            )
    return kept.mean().item()


model = nn.Sequential(nn.Linear(4, 64, rng=0), nn.ReLU(), nn.Linear(64, 2, rng=1))
older, state = model, opt.init(model)
memory, carts = tw.zeros((STEPS + 1, CARTS, 10)), tw.zeros((CARTS, 4))
for number, key in enumerate(tw.random.split(tw.random.key(2), STEPS + 1)):
    if number % 100 == 0:
        kept = show(older)
        print(f"after {number} steps of learning: {kept:.0f} of {PUSHES} pushes")
    index, daring = tw.asarray(number), tw.asarray(max(0.05, 1 - number / 100))
    model, older, state, memory, carts = live(
        model, older, state, memory, carts, key, index, daring
    )
print("at least 195:", kept >= 195)
