"""The slope: a tangent that touches, and how well differences do

A derivative is exact. A difference of two values is not, and small steps are worse.

Predict: does a difference get better and better as its step gets smaller?
"""

import tensorweb as tw


def curve(x):
    return x**3 - 3 * x


# The tangent has the curve's value and its slope: tw.grad(curve) gives the latter.
x = tw.linspace(-2.2, 2.2, 89)
height = curve(x)
for frame in range(30):
    at = -2.2 + 0.15 * frame
    value, slope = tw.value_and_grad(curve)(at)
    tangent = value + slope * (x - at)
    near = tw.where(abs(x - at) < 0.7, tangent, tw.nan)
    lines = {"x³ - 3x": height, "its tangent": near}
    tw.plot(lines, x, title="A tangent runs along its curve")


def cube(x):
    return x**3


# Rise over run, with steps from 0.3 to 0.0000003. The slope is that of the cube at 3.
step = 10 ** tw.linspace(-0.5, -6.5, 25)
rise = cube(3 + step) - cube(tw.asarray(3.0))
error = abs(rise / step - 27)
tw.plot(
    tw.log10(tw.maximum(error, 1e-7)),
    tw.log10(step),
    title="Decimal logarithms: how wrong a difference is, by its step",
)
best = step[error.argmin()].item()
print(f"The best step is {best:.6f}: wrong by {tw.min(error).item():.4f}.")
print("Larger steps see the curve bend. Smaller ones lose their digits:")
print("a float32 has seven of them, and 3.000001³ - 3³ has hardly one left.")

# Nothing is subtracted here: a rule says what the slope of a power is.
print("tw.grad(cube)(3.0) is", tw.grad(cube)(3.0).item())
