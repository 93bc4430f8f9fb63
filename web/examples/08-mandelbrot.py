"""Mandelbrot

Iterate a formula on every pixel at once; the loop is Python, the work is the device's.

Predict: which colour will the middle of the set have, where nothing ever escapes?
"""

import tensorweb as tw

WIDTH, HEIGHT, STEPS = 240, 180, 48

# c = x + iy for every pixel; a column against a row makes the plane.
x = tw.linspace(-2.1, 0.8, WIDTH)
y = tw.expand_dims(tw.linspace(-1.1, 1.1, HEIGHT), axis=1)
real = tw.zeros((HEIGHT, WIDTH))
imaginary = tw.zeros((HEIGHT, WIDTH))
steps = tw.zeros((HEIGHT, WIDTH))

# z = z² + c, until |z| grows beyond 2. What has escaped stays where it is, so that no
# number ever overflows.
for _ in range(STEPS):
    size = real * real + imaginary * imaginary
    inside = size <= 4.0
    next_real = real * real - imaginary * imaginary + x
    next_imaginary = 2.0 * real * imaginary + y
    real = tw.where(inside, next_real, real)
    imaginary = tw.where(inside, next_imaginary, imaginary)
    steps = steps + tw.astype(inside, tw.float32)

# How many steps each pixel lasted. Pixels that never escape lasted all of them.
share = tw.mean(tw.astype(steps == STEPS, tw.float32)).item()
print(f"{share:.1%} of the picture belongs to the set")

mandelbrot = tw.log(1.0 + steps)
mandelbrot
