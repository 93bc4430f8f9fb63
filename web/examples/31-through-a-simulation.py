"""Through a simulation: aim a throw, find a fire

A simulation is a function. So it has a slope, and the slope says how to aim.

Predict: does a slope through two hundred steps of a simulation still aim well?
"""

import tensorweb as tw

STEP = 0.04  # seconds


def flight(speed):
    """Return the positions of a thrown ball on its way; the air slows it."""
    position, way = tw.asarray([0.0, 1.5]), []
    for _ in range(40):
        drag = 0.05 * tw.sqrt((speed * speed).sum())
        speed = speed + STEP * (tw.asarray([0.0, -9.81]) - drag * speed)
        position = position + STEP * speed
        way.append(position)
    return tw.stack(way)


basket = tw.asarray([8.0, 3.0])


def missed(speed):
    """Return the square of how far from the basket the ball is at the end."""
    way = flight(speed)
    return ((way[-1] - basket) ** 2).sum(), way


@tw.jit
def aim(speed):
    (far, way), slope = tw.value_and_grad(missed, has_aux=True)(speed)
    return speed - 0.3 * slope, tw.sqrt(far), way


speed = tw.asarray([2.0, 6.0])
for throw in range(24):
    speed, far, way = aim(speed)
    if throw % 2 == 0:
        heights = {"the throw": way[:, 1], "the basket": basket[1:]}
        distances = {"the throw": way[:, 0], "the basket": basket[:1]}
        tw.plot(heights, distances, kind="points", title="Each throw aims better")
print(f"throw {throw + 1} misses by {far.item():.5f} m, speed {speed.tolist()}")
print("the throw misses by less than a millimetre:", far.item() < 1e-3)

# A plate was heated at one point for a while. Where? Only its temperature after 40
# steps is known. Guess a point, let heat flow, compare, follow the slope back.
SIZE = 24
line = tw.linspace(0.0, 1.0, SIZE)
across, up = tw.meshgrid(line, line)


def temperature(point):
    """Return the plate after the heat of a small fire has flowed for 40 steps."""
    heat = tw.exp(-((across - point[0]) ** 2 + (up - point[1]) ** 2) / 0.02)
    for _ in range(40):
        edge = tw.pad(heat, 1)  # it is cold around the plate
        sides = edge[:-2, 1:-1] + edge[2:, 1:-1] + edge[1:-1, :-2] + edge[1:-1, 2:]
        heat = heat + 0.2 * (sides - 4 * heat)
    return heat


fire = tw.asarray([0.7, 0.3])
measured = temperature(fire)


@tw.jit
def search(point):
    slope = tw.grad(lambda p: ((temperature(p) - measured) ** 2).sum())(point)
    return point - 0.005 * slope


point = tw.asarray([0.5, 0.5])  # the first guess: the middle
for guess in range(60):
    point = search(point)
    if guess % 6 == 5:
        tw.show(temperature(point) - measured, "what is wrong")
wrong = abs(point - fire).max().item()
print("the fire was at", [round(x, 3) for x in point.tolist()])
print("the fire is found to a thousandth:", wrong < 1e-3)
