"""The plane of digits: a variational autoencoder

Two numbers for each picture: what lies between a 3 and an 8 is drawn as well.

Predict: which digits will be neighbours in the plane?
"""

import math

from digits import drawn, in_rows

import tensorweb as tw
from tensorweb import nn
from tensorweb.distributions import Bernoulli, Normal, kl_divergence

SIZE, STEPS = 14, 240
rng = tw.random.Generator(3)
pictures, labels = drawn(100, SIZE, rng)
pictures = pictures.reshape(-1, SIZE**2)


class Autoencoder(nn.Module):
    """From a picture to a cloud in the plane, and from its points to pictures."""

    def __init__(self):
        self.encoder = nn.Sequential(
            nn.Linear(SIZE**2, 64, rng=rng), nn.ReLU(), nn.Linear(64, 4, rng=rng)
        )
        self.decoder = nn.Sequential(
            nn.Linear(2, 64, rng=rng), nn.ReLU(),
            nn.Linear(64, 64, rng=rng), nn.ReLU(), nn.Linear(64, SIZE**2, rng=rng),
        )  # fmt: skip

    def encode(self, x):
        centre, width = self.encoder(x).chunk(2, dim=1)
        return Normal(centre, tw.exp(width - 2))  # at first the clouds are small

    def decode(self, z):
        return Bernoulli(logits=self.decoder(z))


prior = Normal(0.0, 1.0)


def bound(model, x, key):
    """Return the ELBO: how well pictures come back, less what their clouds tell."""
    cloud = model.encode(x)
    likely = model.decode(cloud.rsample(rng=key)).log_prob(x).sum(axis=1)
    return (likely - kl_divergence(cloud, prior).sum(axis=1)).mean()


def tighter_bound(model, x, key, draws):
    """Return a bound that many draws for each picture bring nearer to the truth."""
    cloud = model.encode(x)
    z = cloud.sample((draws,), rng=key)
    seen = prior.log_prob(z) - cloud.log_prob(z)
    weights = model.decode(z).log_prob(x).sum(axis=2) + seen.sum(axis=2)
    return (nn.logsumexp(weights, axis=0) - math.log(draws)).mean()


opt = tw.optim.Adam(lr=tw.optim.linear(0.01, 0.001, STEPS))


@tw.jit
def step(model, state, x, key):
    value, slope = tw.value_and_grad(lambda model: -bound(model, x, key))(model)
    model, state = opt.update(model, slope, state)
    return model, state, -value


@tw.jit
def plane(model):
    """Return what the model draws at 12 x 12 points; most pictures lie among them."""
    line = prior.icdf((tw.arange(12.0) + 0.5) / 12)
    across, up = tw.meshgrid(line, -line)
    points = tw.stack([across.reshape(-1), up.reshape(-1)], axis=1)
    return in_rows(model.decode(points).mean.reshape(-1, SIZE, SIZE), 12)


model = Autoencoder()
state = opt.init(model)
batches = rng.permutation(1000).reshape(10, 100)
for number, key in enumerate(tw.random.split(tw.random.key(0), STEPS)):
    model, state, value = step(model, state, pictures[batches[number % 10]], key)
    if number % 20 == 19:
        tw.show(plane(model), "the plane")
    if number % 80 == 79:
        print(f"step {number + 1}: ELBO {value.item():.1f} nats")

unseen = drawn(10, SIZE, rng)[0].reshape(-1, SIZE**2)
untrained = bound(Autoencoder(), unseen, key).item()
trained = bound(model, unseen, key).item()
tight = tighter_bound(model, unseen, key, 20).item()
print(f"ELBO of unseen pictures {trained:.1f} nats, untrained {untrained:.1f}")
print("better by 50 nats:", trained > untrained + 50)
print(f"twenty draws: {tight:.1f}; a tighter bound: {tight > trained}")
