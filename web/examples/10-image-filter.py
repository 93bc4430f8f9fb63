"""An image filter

Blur, find edges and sharpen: a filter is a weighted sum of shifted images.

Predict: what does a filter whose weights sum to zero make of an even grey?
"""

import tensorweb as tw

SIZE = 128

# A drawing: a disc, a square and a ramp, from coordinates alone.
line = tw.linspace(0.0, 1.0, SIZE)
x, y = tw.meshgrid(line, line)
disc = (x - 0.35) ** 2 + (y - 0.4) ** 2 < 0.06
square = (tw.abs(x - 0.7) < 0.16) & (tw.abs(y - 0.65) < 0.16)
image = tw.where(disc, 0.9, 0.25 * x) + tw.where(square, 0.6, 0.0)

# Noise without a random generator: the fraction of a fast wave looks random enough.
wave = tw.sin(x * 1271.9 + y * 3117.7) * 43758.5
noisy = image + 0.2 * (wave - tw.floor(wave) - 0.5)


def convolve(picture, weights):
    """Return the weighted sum of shifted pictures; outside the picture is zero."""
    reach = len(weights) // 2
    height, width = picture.shape
    padded = picture.pad([(reach, reach), (reach, reach)])
    result = tw.zeros_like(picture)
    for down, row in enumerate(weights):
        for right, weight in enumerate(row):
            if weight:
                shifted = padded[down : down + height, right : right + width]
                result = result + weight * shifted
    return result


BLUR = [[1 / 25] * 5] * 5
ACROSS = [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]
DOWN = [[-1, -2, -1], [0, 0, 0], [1, 2, 1]]

blurred = convolve(noisy, BLUR)
horizontal = convolve(blurred, ACROSS)  # red falls, blue rises from left to right
vertical = convolve(blurred, DOWN)
edges = tw.sqrt(horizontal * horizontal + vertical * vertical)
sharp = noisy + 1.5 * (noisy - blurred)

tw.show(image)
tw.show(noisy)
tw.show(blurred)
tw.show(horizontal)
edges
