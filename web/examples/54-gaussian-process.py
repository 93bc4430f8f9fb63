"""A curve through points, and how sure it is: a Gaussian process

All curves at once, each as likely as it is smooth; every point rules some out.

Predict: where is the curve least certain, and what happens there with one more point?
"""

import math

import tensorweb as tw

# After a run, drag one of these numbers, with the handle below it: the curve follows.
POINTS = [(-4.0, -1.0), (-1.5, 0.8), (0.0, 1.2), (1.0, 0.1), (3.5, -0.6)]
LENGTH = 1.2  # how far along x two values still resemble each other
NOISE = 0.05

line = tw.linspace(-6.0, 6.0, 120)


def kernel(a, b, length=LENGTH):
    """Return how much the values at a and at b have in common, from 0 to 1."""
    return tw.exp(-(((tw.expand_dims(a, 1) - b) / length) ** 2) / 2)


def posterior(x, y):
    """Return the mean and the spread of all curves through the points, on the line."""
    own = kernel(x, x) + NOISE**2 * tw.eye(len(x))
    factor = tw.linalg.cholesky(own)
    common = kernel(x, line)
    white = tw.linalg.solve_triangular(factor, common, lower=True)
    heights = tw.linalg.solve_triangular(factor, y.reshape(-1, 1), lower=True)
    mean = (white.T @ heights)[:, 0]
    return mean, tw.sqrt(1 - (white**2).sum(axis=0))


def evidence(length):
    """Return the logarithm of how likely the points are among curves so smooth."""
    own = kernel(x, x, length) + NOISE**2 * tw.eye(len(x))
    around = tw.distributions.MultivariateNormal(tw.zeros(len(x)), own)
    return around.log_prob(y).item()


for count in range(1, len(POINTS) + 1):
    x, y = tw.asarray(POINTS[:count]).T
    mean, spread = posterior(x, y)
    above, below = mean + 2 * spread, mean - 2 * spread
    # Each point as a short bar; nothing is drawn where a number is missing.
    bars = tw.stack([y - 0.1, y + 0.1, y * math.nan], axis=1)
    tw.plot(
        {"mean": mean, "above": above, "below": below, "points": bars},
        {"mean": line, "above": line, "below": line, "points": tw.repeat(x, 3)},
        title="The mean, and where 95 % of the curves are",
    )
    print(f"{count} points: the spread is {spread.mean().item():.2f} on average")

inverse = tw.linalg.inv(kernel(x, x) + NOISE**2 * tw.eye(len(x)))
formula = kernel(line, x) @ inverse @ y
print("the mean is k K⁻¹ y:", tw.abs(mean - formula).max().item() < 1e-4)
print(
    "the curve meets its points:",
    tw.abs(kernel(x, x) @ inverse @ y - y).max().item() < 0.02,
)
for length in (0.3, LENGTH, 6.0):
    print(f"length {length}: logarithm of the evidence {evidence(length):.1f}")
