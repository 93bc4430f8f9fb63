"""Newton's steps: what the second derivative is good for

A valley that is steep across and flat along: thousands of small steps, or five.

Predict: how many of Newton's steps are worth thousands of small ones?
"""

import math

import tensorweb as tw


def valley(p):
    """Return Rosenbrock's function: a bent valley whose deepest point is (1, 1)."""
    x, y = p[0], p[1]
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


slope, bend = tw.grad(valley), tw.hessian(valley)
start = tw.asarray([-1.2, 1.0])
print("slope at the start: ", slope(start).tolist())
print("Hessian at the start:", bend(start).tolist())


def ellipse(p, hessian):
    """Return a line of equal height of the bowl that touches the valley at p."""
    (a, b), (_, c) = hessian
    angle = tw.linspace(0.0, 2 * math.pi, 60)
    u, v = tw.cos(angle), tw.sin(angle)
    far = tw.sqrt(20 / tw.maximum(a * u * u + 2 * b * u * v + c * v * v, 1.0))
    return p[0] + far * u, p[1] + far * v


# Newton: near p the valley looks like a bowl. Slope and Hessian tell where the bowl is
# deepest, H step = slope. With two unknowns Cramer's rule solves that.
p, way = start, [start.tolist()]
while abs(slope(p)).max() > 1e-2:
    (a, b), (_, c) = h = bend(p).tolist()
    g = slope(p)
    step = tw.stack([c * g[0] - b * g[1], a * g[1] - b * g[0]]) / (a * c - b * b)
    round_x, round_y = ellipse(p, h)
    p = p - step
    way.append(p.tolist())
    xs, ys = zip(*way, strict=True)
    across = {"the way": xs, "its last bowl": round_x}
    tw.plot({"the way": ys, "its last bowl": round_y}, across, title="Newton's steps")
    print(f"step {len(way) - 1}: ({p[0].item():.4f}, {p[1].item():.4f})")
newton = len(way) - 1


# Against the slope: the steep sides forbid long steps, the flat bottom would need them.
@tw.jit
def hundred_steps(p):
    for _ in range(100):
        p = p - 0.0012 * slope(p)
    return p


across, up = tw.meshgrid(tw.linspace(-1.5, 1.5, 60), tw.linspace(1.6, -0.4, 40))
picture = tw.log10(valley((across, up)) + 0.01)  # how high the valley is
q, steps = start, 0
while abs(q - 1.0).max() > 0.2:
    q, steps = hundred_steps(q), steps + 100
    here = tw.hypot(across - q[0], up - q[1]) < 0.03
    picture = tw.where(here, 4.0, picture)
    if steps % 200 == 0:
        tw.show(picture)

print(f"Newton: {newton} steps, to ({p[0].item():.3f}, {p[1].item():.3f})")
print(f"against the slope: {steps} steps, to ({q[0].item():.3f}, {q[1].item():.3f})")
print("at most ten steps against thousands:", newton <= 10 < 1000 < steps)
