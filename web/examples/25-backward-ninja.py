"""Backward ninja: own gradients against tw.grad

Batch normalisation and cross-entropy, taken back by hand, one formula after another.

Predict: does batch normalisation change the slope of what stands before it?
"""

import tensorweb as tw

rng = tw.random.Generator(8)
examples, classes = 32, 10
x = rng.normal((examples, 16))
labels = rng.randint((examples,), 0, classes)
model = {
    "gain": 1 + 0.1 * rng.normal((16,)),
    "shift": 0.1 * rng.normal((16,)),
    "w": rng.normal((16, classes)) / 4,
    "b": 0.1 * rng.normal((classes,)),
}
truth = (tw.expand_dims(labels, 1) == tw.arange(classes)).astype(tw.float32)


def forward(model, x):
    """Return the loss, and what the backward pass needs of it."""
    # Batch normalisation: each column gets mean 0 and variance 1, then gain and shift.
    spread = tw.rsqrt(x.var(axis=0) + 1e-5)
    flat = (x - x.mean(axis=0)) * spread
    hidden = flat * model["gain"] + model["shift"]
    # Cross-entropy: minus the logarithm of what softmax gives to the right class.
    logits = hidden @ model["w"] + model["b"]
    logits = logits - logits.max(axis=1, keepdims=True)
    powers = tw.exp(logits)
    total = powers.sum(axis=1, keepdims=True)
    loss = (tw.log(total[:, 0]) - (logits * truth).sum(axis=1)).mean()
    return loss, (spread, flat, hidden, powers / total)


def backward(model, way):
    """Return the slope of the loss along all of the model, and along x."""
    spread, flat, hidden, chances = way
    # The whole of softmax and logarithm: chances minus truth, shared by the examples.
    d_logits = (chances - truth) / examples
    # A product: each factor's slope is the slope times the other factor, transposed.
    d_w, d_hidden = hidden.T @ d_logits, d_logits @ model["w"].T
    # What is added to all rows gets the sum over all rows.
    d_b, d_shift = d_logits.sum(axis=0), d_hidden.sum(axis=0)
    d_gain = (d_hidden * flat).sum(axis=0)
    # Normalising: x moves mean and variance too. Both take their part away again.
    d_flat = d_hidden * model["gain"]
    by_mean = d_flat.mean(axis=0)
    by_variance = flat * (d_flat * flat).mean(axis=0)
    d_x = spread * (d_flat - by_mean - by_variance)
    return {"gain": d_gain, "shift": d_shift, "w": d_w, "b": d_b}, d_x


loss, way = forward(model, x)
mine, mine_x = backward(model, way)
grads, grad_x = tw.grad(lambda m, x: forward(m, x)[0], argnums=(0, 1))(model, x)

for name, theirs in {**grads, "x": grad_x}.items():
    own = mine_x if name == "x" else mine[name]
    wrong = abs(own - theirs).max().item()
    print(f"{name:6} {own.shape!s:9} agrees to 1e-6: {wrong < 1e-6}")

# The picture: what the first examples want of their logits. Only the right class is
# pulled up, and as far as it is missing; in each row it all adds up to nothing.
spread, flat, hidden, chances = way
for count in range(4, examples + 1, 4):
    wish = tw.where(tw.expand_dims(tw.arange(examples), 1) < count, truth - chances, 0)
    tw.show(wish, "what each example wants")
print(f"loss {loss.item():.3f}; each row sums to {abs(wish.sum(axis=1)).max():.1e}")
