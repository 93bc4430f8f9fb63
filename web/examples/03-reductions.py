"""Reductions

Fold axes into sums, means and maxima, keep or drop them, and know which is which.

Predict: a picture of 60 rows and 120 columns is summed over axis 0. How long is the
result?
"""

import tensorweb as tw

t = tw.reshape(tw.arange(24), (4, 3, 2))
print("t has shape", t.shape)

# The reduced axis disappears; the others stay in their order.
for axis in range(3):
    reduced = tw.sum(t, axis=axis)
    print(f"sum over axis {axis}: shape {reduced.shape}", reduced.tolist())

# Several axes at once, all of them, or counted from the end.
print("axes 0 and 2:", tw.sum(t, axis=(0, 2)).tolist())
print("everything:", tw.sum(t).item())
print("last axis:", tw.max(t, axis=-1).tolist())

# keepdims leaves a 1 behind, so that the result broadcasts against what it came from.
scores = tw.asarray([[1.0, 2.0, 3.0], [4.0, 4.0, 4.0]])
shifted = tw.exp(scores - tw.max(scores, axis=1, keepdims=True))
softmax = shifted / tw.sum(shifted, axis=1, keepdims=True)
tw.show(softmax)
print("each row sums to", tw.sum(softmax, axis=1).tolist())

# More ways to fold.
x = tw.asarray([3, 1, 7, 0, 4, 1, 6, 3])
print("running sum:", tw.cumulative_sum(x).tolist())
print("largest", tw.max(x).item(), "at position", tw.argmax(x).item())
print("smallest", tw.min(x).item(), "at position", tw.argmin(x).item())
print("mean", tw.mean(tw.astype(x, tw.float32)).item())
print("any above 6:", tw.any(x > 6).item(), " all below 9:", tw.all(x < 9).item())

# Special values are not lost: one NaN makes a maximum NaN.
print("max with NaN:", tw.max(tw.asarray([1.0, float("nan"), 2.0])).item())
print("max of -inf:", tw.max(tw.full((4,), -float("inf"))).item())

# A million elements, one number: a tree of partial sums.
big = tw.full((1000, 1000), 0.5)
print("a million halves:", tw.sum(big).item())

# A picture folded along either axis is a curve, as long as the axis that is left.
down, across = tw.linspace(-2.0, 2.0, 60), tw.linspace(-4.0, 4.0, 120)
picture = tw.exp(-(tw.expand_dims(down, axis=1) ** 2)) * tw.cos(3 * across)
tw.show(picture)
tw.plot(
    {"sum over axis 0": picture.sum(axis=0), "sum over axis 1": picture.sum(axis=1)},
    {"sum over axis 0": across, "sum over axis 1": down},
    title="One picture, folded along each of its axes",
)
