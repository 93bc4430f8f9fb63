"""Paths that know where to go: Hamiltonian Monte Carlo

To draw from a bent density, a ball rolls through its valley with a random push.

Predict: of a thousand such rolls, how many end where they are refused?
"""

import tensorweb as tw
from tensorweb.distributions import Normal

CHAINS, DRAWS, STEPS, LENGTH = 100, 60, 12, 0.15


def density(point):
    """Return the logarithm of a density that is bent like a banana."""
    x, y = point[0], point[1]
    return Normal(0.0, 1.0).log_prob(x) + Normal(x**2 / 2, 0.4).log_prob(y)


force = tw.vmap(tw.grad(density))


def energy(points, pace):
    return (pace**2).sum(axis=1) / 2 - tw.vmap(density)(points)


@tw.jit
def roll(points, key):
    """Push each point at random, let it roll, and accept where it is, or not."""
    push, refuse = tw.random.split(key)
    pace = start = tw.random.normal(push, points.shape)

    def leap(carry, _):
        point, pace = carry
        pace = pace + LENGTH / 2 * force(point)
        point = point + LENGTH * pace
        pace = pace + LENGTH / 2 * force(point)
        return (point, pace), point

    (end, pace), path = tw.scan(leap, (points, pace), length=STEPS)
    # Rolling keeps the energy; what the steps change of it decides.
    change = energy(end, pace) - energy(points, start)
    accepted = tw.random.uniform(refuse, (len(points),)) < tw.exp(-change)
    points = tw.where(tw.expand_dims(accepted, 1), end, points)
    return points, path, accepted


points, draws, accepted = tw.zeros((CHAINS, 2)), [], []
for number, key in enumerate(tw.random.split(tw.random.key(5), DRAWS)):
    points, path, kept = roll(points, key)
    if number >= 10:  # the first ones still remember where they began
        draws.append(points)
        accepted.append(kept)
    if number % 4 == 3:
        seen = tw.concat(draws[-8:] or [points])
        tw.plot(
            {"draws": seen[:, 1], "a path": path[:, 0, 1]},
            {"draws": seen[:, 0], "a path": path[:, 0, 0]},
            kind="points",
            title="The last draws, and one path to the next",
        )
x, y = tw.concat(draws).T
print(f"{100 * tw.stack(accepted).mean(dtype=tw.float32).item():.0f} % accepted")
known = {"mean of x": 0, "mean of y": 0.5, "variance of x": 1, "variance of y": 0.66}
found = [x.mean(), y.mean(), x.var(), y.var()]
for (name, truth), value in zip(known.items(), found, strict=True):
    print(f"{name}: {value.item():.2f}, in theory {truth}")
close = max(abs(a.item() - b) for a, b in zip(found, known.values(), strict=True)) < 0.1
print("all within 0.1:", close)
