"""A heart in stripes: style as Gram matrices

What filters see together is a style, wherever it is; a picture is changed to have it.

Predict: will the stripes bend around the heart?
"""

import tensorweb as tw
from tensorweb import nn

SIZE, FILTERS, STEPS = 48, 24, 150
rng = tw.random.Generator(4)
line = tw.linspace(-1.0, 1.0, SIZE)
x, y = tw.meshgrid(line, -line)

# The style: leaning waves. The content: a heart.
style = 0.5 + 0.5 * tw.sin(22 * x + 14 * y + 2 * tw.sin(4 * y))
heart = (x**2 + (1.2 * y - tw.sqrt(tw.abs(x)) * 0.8) ** 2 < 0.6).astype(tw.float32)

# Filters drawn at random see enough: each is a window of 5 x 5, at three sizes.
filters = rng.normal((FILTERS, 1, 5, 5))
filters = filters - filters.mean(axis=(2, 3), keepdims=True)


def seen(picture):
    """Return what the filters see of a picture, of its half and of its quarter."""
    now, parts = picture.reshape(1, 1, SIZE, SIZE), []
    for _ in range(3):
        parts.append(nn.relu(nn.conv2d(now, filters, padding=2)))
        now = nn.avg_pool2d(now, 2)
    return parts


def gram(part):
    """Return how often each two filters see something at the same point."""
    flat = part.reshape(FILTERS, -1)
    return flat @ flat.T / flat.shape[1]


wished = [gram(part) for part in seen(style)]
shape = nn.avg_pool2d(heart.reshape(1, 1, SIZE, SIZE) * 0.6 + 0.2, 6)


def style_loss(picture):
    parts = zip(seen(picture), wished, strict=True)
    return sum(nn.mse(gram(part), wish) / (wish**2).mean() for part, wish in parts)


def loss(picture):
    """Return how far the style is, and the heart in coarse blocks."""
    blocks = nn.avg_pool2d(picture.reshape(1, 1, SIZE, SIZE), 6)
    return style_loss(picture) + WEIGHT * nn.mse(blocks, shape)


WEIGHT = 8.0  # of the heart; drag it
opt = tw.optim.Adam(lr=tw.optim.linear(0.05, 0.01, STEPS))


@tw.jit
def step(picture, state):
    value, slope = tw.value_and_grad(loss)(picture)
    picture, state = opt.update(picture, slope, state)
    return picture.clip(0.0, 1.0), state, value


tw.show(style, "the style")
picture = rng.uniform((SIZE, SIZE))
state, before = opt.init(picture), style_loss(picture).item()
for number in range(STEPS):
    picture, state, value = step(picture, state)
    if number % 5 == 4:
        tw.show(picture, "the picture")
after = style_loss(picture).item()
print(f"style: {before:.2f} apart at first, {after:.3f} in the end")
print("a tenth, or less:", after < before / 10)
