"""A thousand at once: vmap

Write a function for one example. vmap runs it for all of them, in the same few kernels.

Predict: how much faster than a loop are a thousand gradients at once?
"""

from time import perf_counter

import tensorweb as tw

rng = tw.random.Generator(5)


def timed(what, function, *values):
    """Run a function twice, the first time to prepare it, and tell how long it took."""
    for _ in range(2):
        began = perf_counter()
        result = function(*values)
        result.sum().item()
    print(f"{what:22} {1000 * (perf_counter() - began):8.1f} ms")
    return result


# 1. How much does every single example pull at the weights? The gradient of a mean
# does not tell: it has added them up. vmap(grad(f)) keeps them apart.
points = rng.normal((1000, 8))
answers = tw.sin(points.sum(axis=1))
weights = rng.normal((8,))


def miss(w, point, answer):
    """Return how far the model is off for one example: no batch anywhere."""
    return (tw.tanh(point @ w) - answer) ** 2


each = tw.jit(tw.vmap(tw.grad(miss), in_axes=(None, 0, 0)))


def one_by_one(w):
    """Do the same in a loop, for the first fifty."""
    one = tw.grad(miss)
    return tw.stack([one(w, points[i], answers[i]) for i in range(50)])


pulls = timed("1000 gradients, vmap", each, weights, points, answers)
slow = timed("50 gradients, loop", one_by_one, weights)
print("equal to the loop:", abs(pulls[:50] - slow).max().item() < 1e-5)
together = tw.grad(lambda w: tw.vmap(miss, (None, 0, 0))(w, points, answers).mean())
wrong = abs(together(weights) - pulls.mean(axis=0)).max().item()
print("their mean is the gradient of the mean:", wrong < 1e-5)

# 2. A thousand models, each of other weights, learn side by side: an ensemble.
x = tw.linspace(-2.0, 2.0, 24)
curve = tw.sin(2 * x)


def predict(model):
    hidden = tw.tanh(tw.expand_dims(x, 1) * model["a"] + model["b"])
    return hidden @ model["c"]


def loss(model):
    return ((predict(model) - curve) ** 2).mean()


@tw.jit
def step(models):
    values, slopes = tw.vmap(tw.value_and_grad(loss))(models)
    return tw.tree.map(lambda p, g: p - 0.1 * g, models, slopes), values


models = {name: rng.normal((1000, 12)) for name in "abc"}
for number in range(40):
    models, values = step(models)
    if number % 8 == 7:
        # A row for every twentieth model, the best on top: all become the same wave.
        curves = tw.vmap(predict)(models)[tw.argsort(values)[::20]]
        tw.show(curves)
        tw.plot(values, kind="histogram", title="Losses of a thousand models")
best, worst = values.min().item(), values.max().item()
print(f"best of a thousand: {best:.3f}, worst: {worst:.3f}")
