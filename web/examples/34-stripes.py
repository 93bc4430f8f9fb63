"""A picture as waves

Stripes hide a picture. As waves they are six bright points, which a finger could cover.

Predict: stripes across a picture: how many points are they among its waves?
"""

import tensorweb as tw

SIZE = 128

# A drawing: a ball in the light, on a floor that fades into the dark.
line = tw.linspace(-1.0, 1.0, SIZE)
x, y = tw.meshgrid(line, line)
ball = tw.clip(1 - ((x - 0.1) ** 2 + (y + 0.1) ** 2) / 0.3, 0.0, 1.0)
light = tw.exp(-3 * ((x + 0.1) ** 2 + (y + 0.3) ** 2))
floor = 0.25 + 0.3 * tw.sigmoid(9 * (y - 0.3))
clean = tw.where(ball > 0, 0.35 + 0.6 * ball**0.5 * light, floor)

# Three kinds of stripes over it, by their count of waves across and down.
angle = tw.arange(SIZE) * (2 * tw.pi / SIZE)
across, down = tw.meshgrid(angle, angle)
striped = clean
for right, below in (9, 21), (30, 6), (17, -25):
    striped = striped + 0.08 * tw.sin(right * across + below * down)
tw.show(clean)
tw.show(striped)

# The same picture as a sum of waves: one complex number says how strong each is, and
# where it begins. Slow waves are in the middle, fast ones outside.
waves = tw.fft.fftshift(tw.fft.fftn(striped))
strength = tw.log10(1 + tw.abs(waves))
tw.show(strength)

# A drawing has little in its fast waves; what is bright out there are the stripes.
middle = SIZE // 2
offset = tw.arange(SIZE) - middle
fast = tw.hypot(offset, tw.expand_dims(offset, 1)) > 15
right_half = fast & (offset > 0)

# Each stripe is two points that face each other across the middle.
for _ in range(3):
    brightest = tw.argmax(tw.where(right_half, tw.abs(waves), 0.0)).item()
    row, column = divmod(brightest, SIZE)
    waves[row, column] = 0.0
    waves[2 * middle - row, 2 * middle - column] = 0.0
    picture = tw.real(tw.fft.ifftn(tw.fft.ifftshift(waves)))
    tw.show(picture)
    off = tw.std(picture - clean).item()
    right, below = column - middle, row - middle
    print(f"without {right:2} across, {below:3} down: off by {off:.3f} on average")

before_and_after = tw.concat([striped, picture], axis=1)
tw.show(before_and_after)
before = tw.std(striped - clean).item()
print(f"a hundred times cleaner: {off < before / 100}")
