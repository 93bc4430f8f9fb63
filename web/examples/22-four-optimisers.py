"""Four optimisers race: down a long, narrow bowl

The same start, the same bowl, the same slopes. What they make of a slope differs.

Predict: who arrives first: plain steps, the heavy ball, RMSprop or Adam?
"""

import math

import tensorweb as tw


def bowl(p):
    """Return the height at (x, y): steep along y, almost flat along x."""
    return (p["x"] ** 2 + 100 * p["y"] ** 2) / 2


racers = {
    # Against the slope. A longer step would leave the bowl along y.
    "SGD": tw.optim.SGD(lr=0.018),
    # A heavy ball: it keeps nine tenths of its pace, and overshoots.
    "momentum": tw.optim.SGD(lr=0.01, momentum=0.9),
    # Each coordinate is divided by how large its slopes have been of late.
    "RMSprop": tw.optim.RMSprop(lr=0.15, alpha=0.9),
    # Both together, and right from the first step on.
    "Adam": tw.optim.Adam(lr=0.5),
}


def recorded(optimiser):
    """Return one step of an optimiser as a recorded function."""

    @tw.jit
    def step(p, state):
        height, slope = tw.value_and_grad(bowl)(p)
        p, state = optimiser.update(p, slope, state)
        return p, state, height

    return step


def rings(heights):
    """Return ellipses of equal height, as one line with gaps."""
    angle = tw.linspace(0.0, 2 * math.pi, 49)
    far = [math.sqrt(2 * height) for height in heights]
    xs = [x for r in far for x in [*(r * tw.cos(angle)).tolist(), math.nan]]
    ys = [y for r in far for y in [*(r * tw.sin(angle)).tolist(), math.nan]]
    return xs, [y / 10 for y in ys]


ring_x, ring_y = rings([0.5, 3, 9, 18, 30])
steps, params, states, ways, heights = {}, {}, {}, {}, {}
for name, optimiser in racers.items():
    steps[name] = recorded(optimiser)
    params[name] = {"x": tw.asarray(-7.0), "y": tw.asarray(0.5)}
    states[name] = optimiser.init(params[name])
    ways[name], heights[name] = [(-7.0, 0.5)], []

for number in range(1, 61):
    for name in racers:
        params[name], states[name], height = steps[name](params[name], states[name])
        ways[name].append((params[name]["x"].item(), params[name]["y"].item()))
        heights[name].append(height.item())
    if number % 5 == 0:
        xs = {name: [x for x, _ in way] for name, way in ways.items()}
        ys = {name: [y for _, y in way] for name, way in ways.items()}
        title = f"The race after {number} steps"
        tw.plot({**ys, "height": ring_y}, {**xs, "height": ring_x}, title=title)
        logs = {n: [math.log10(h + 1e-12) for h in hs] for n, hs in heights.items()}
        tw.plot(logs, title="Decimal logarithm of the height, by step")

for name, all in heights.items():
    print(f"{name:9} height {all[9]:8.4f} after 10 steps, {all[-1]:.1e} after 60")
order = sorted(racers, key=lambda name: heights[name][-1])
print("in the order of arrival:", ", ".join(order))
