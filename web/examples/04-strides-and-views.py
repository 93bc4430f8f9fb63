"""Strides and views

One block of memory, many tensors: see which movement copies and which does not.

Predict: does a transpose copy its numbers, or only the way in which they are read?

Then look: Layout t; Layout split; Layout merged
"""

import tensorweb as tw

# Memory is a strip. Strides say how far to step along it for each axis.
t = tw.reshape(tw.arange(24), (2, 3, 4))
print("strides of (2, 3, 4):", t.strides, "offset", t.offset)


def look(name, view):
    """Print how a view walks the memory of t."""
    shared = "same memory" if view.shares_memory_with(t) else "a copy"
    print(f"{name:28} shape {view.shape!s:12} strides {view.strides!s:14}", end="")
    print(f" offset {view.offset:2}  {shared}")


# All of these only change shape, strides and offset.
look("t", t)
look("t[1]", t[1])
look("t[:, 1:, ::2]", t[:, 1:, ::2])
look("permute_dims(t, (2, 0, 1))", tw.permute_dims(t, (2, 0, 1)))
look("flip(t, axis=2)", tw.flip(t, axis=2))
look("t[:, ::-1]", t[:, ::-1])
look("expand_dims(t, axis=1)", tw.expand_dims(t, axis=1))
look("broadcast_to(t[:1], ...)", tw.broadcast_to(t[:1], (5, 3, 4)))
look("reshape(t, (6, 4))", tw.reshape(t, (6, 4)))

# Splitting an axis never copies, not even a transposed one ...
m = tw.reshape(tw.arange(12), (6, 2))
transposed = tw.matrix_transpose(m)
split = tw.reshape(transposed, (2, 2, 3))
print("split of a transpose: strides", split.strides, split.shares_memory_with(m))

# ... but merging axes that do not follow each other in memory must.
merged = tw.reshape(transposed, (12,))
print("merge of a transpose: strides", merged.strides, merged.shares_memory_with(m))

# The rule behind it: position = offset + the sum of index times stride.
index = (1, 2, 3)
print("row-major strides of (5, 6, 7):", tw.shapes.strides((5, 6, 7)))
print("element", index, "of (5, 6, 7) is number", tw.ravel_index(index, (5, 6, 7)))
print("number 59 of (5, 6, 7) is element", tw.unravel_index(59, (5, 6, 7)))

# "Layout", offered below the output, shows this strip for t, split and merged: the cell
# under the pointer, the order of a visit, and for merged why it had to be copied.

# Who looks at the same elements sees what is written, whichever way it was written.
row = t[0, 0]
t[0, 0] = 100
row[1] = 7
print("after t[0, 0] = 100 and row[1] = 7:", row.tolist(), t[0, 0].tolist())
t
