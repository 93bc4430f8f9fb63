"""A law of motion from observations: a neural differential equation

A network is the right side of an equation; derivatives go through its solver.

Predict: will the learned motion stay right for longer than it was observed?
"""

import tensorweb as tw
from tensorweb import nn

TIME, SEEN, STEPS = 0.2, 5, 250
rng = tw.random.Generator(3)


def law(state):
    """Return the change of a pendulum with friction: its angle, its speed."""
    angle, speed = tw.unstack(state, axis=-1)
    return tw.stack([speed, -3 * tw.sin(angle) - 0.2 * speed], axis=-1)


def solve(change, start, count, time=TIME):
    """Return the states after each step of Runge and Kutta's method."""

    def step(state, _):
        k1 = change(state)
        k2 = change(state + time / 2 * k1)
        k3 = change(state + time / 2 * k2)
        k4 = change(state + time * k3)
        state = state + time / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return state, state

    return tw.scan(step, start, length=count)[1]


# Sixty pendulums, each observed for one second, five times.
starts = rng.uniform((60, 2), minval=-1.0, maxval=1.0) * tw.asarray([2.5, 3.0])
observed = solve(law, starts, SEEN)
model = nn.Sequential(nn.Linear(2, 64, rng=rng), nn.Tanh(), nn.Linear(64, 2, rng=rng))
opt = tw.optim.Adam(lr=tw.optim.linear(0.1, 0.001, STEPS))


@tw.jit
def learn(model, state):
    value, slope = tw.value_and_grad(
        lambda model: nn.mse(solve(model, starts, SEEN), observed)
    )(model)
    model, state = opt.update(model, slope, state)
    return model, state, value


start = tw.asarray([2.0, 0.0])
true = solve(law, start, 30)
state = opt.init(model)
for number in range(1, STEPS + 1):
    model, state, value = learn(model, state)
    if number % 25 == 0:
        path = solve(model, start, 30)
        tw.plot(
            {"the pendulum": true[:, 1], "learned": path[:, 1]},
            {"the pendulum": true[:, 0], "learned": path[:, 0]},
            title="Speed by angle, six seconds",
        )
        print(f"step {number}: mean square {value.item():.5f}")

missed = tw.abs(solve(model, start, 30) - true).max().item()
print(f"six seconds, observed was one: within 0.2: {missed < 0.2}")

# The solver's error falls to a sixteenth when its steps are half as long.
exact = solve(law, start, 64, 0.025)[-1]
coarse = tw.abs(solve(law, start, 8, 0.2)[-1] - exact).max().item()
fine = tw.abs(solve(law, start, 16, 0.1)[-1] - exact).max().item()
times = coarse / fine
print(f"the error is {times:.0f} times smaller; of fourth order: {12 < times < 22}")
