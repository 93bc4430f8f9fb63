"""A line and a border: the two smallest models that learn

A line through noisy points, then a border between two clouds. Both only go downhill.

Predict: which points pull hardest at the line: those near it or those far from it?
"""

import tensorweb as tw

rng = tw.random.Generator(3)

# Points near the line y = 2x - 1: the model is to find 2 and -1 from them.
x = rng.uniform((200,), minval=-1.0, maxval=1.0)
y = 2 * x - 1 + 0.2 * rng.normal((200,))


def distance(model):
    """Return the mean square of what the line misses by."""
    return ((model["w"] * x + model["b"] - y) ** 2).mean()


@tw.jit
def downhill(model):
    slope = tw.grad(distance)(model)
    return tw.tree.map(lambda value, g: value - 0.3 * g, model, slope)


line = {"w": tw.asarray(0.0), "b": tw.asarray(0.0)}
ends = tw.linspace(-1.0, 1.0, 60)
for step in range(40):
    line = downhill(line)
    if step % 2 == 0:
        heights = {"points": y, "the line": line["w"] * ends + line["b"]}
        xs = {"points": x, "the line": ends}
        tw.plot(heights, xs, kind="points", title="A line finds its points")
w, b = line["w"].item(), line["b"].item()
print(f"y = {w:.2f} x + {b:.2f}, made from 2 and -1")

# Two clouds of points in the plane: which one does a point belong to?
labels = tw.concat([tw.zeros(200), tw.ones(200)])
centres = tw.stack([labels * 2 - 1, labels - 0.5], axis=1)
points = centres + 0.55 * rng.normal((400, 2))


def surprise(model):
    """Return how surprised the model is by the labels, in the mean."""
    z = points @ model["w"] + model["b"]
    return (tw.logaddexp(z, 0.0) - z * labels).mean()


@tw.jit
def learn(model):
    value, slope = tw.value_and_grad(surprise)(model)
    return tw.tree.map(lambda v, g: v - 0.5 * g, model, slope), value


# A line again, but now as a border: on one side of it z is positive, on the other
# negative, and sigmoid(z) is how likely a point belongs to the second cloud.
across, up = tw.meshgrid(tw.linspace(-2.5, 2.5, 50), tw.linspace(2.0, -2.0, 40))
columns = ((points[:, 0] + 2.5) * 9.8).clip(0, 49).astype(tw.int32)
rows = ((2.0 - points[:, 1]) * 9.75).clip(0, 39).astype(tw.int32)
border = {"w": tw.asarray([0.0, 0.0]), "b": tw.asarray(0.0)}
for step in range(60):
    border, value = learn(border)
    if step % 5 == 4:
        z = across * border["w"][0] + up * border["w"][1] + border["b"]
        z = tw.tanh(z)
        z[rows, columns] = labels * 3.0 - 1.5  # the points, darker than their side
        tw.show(z)

right = ((points @ border["w"] + border["b"] > 0) == (labels > 0.5)).sum().item()
print(f"surprise {value.item():.3f}, accuracy {right / 400:.3f}")
print("w and b within 0.05:", abs(w - 2) < 0.05 and abs(b + 1) < 0.05)
print("at least 97 of 100 points on their side:", right >= 388)
