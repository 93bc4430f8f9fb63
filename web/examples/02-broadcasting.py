"""Broadcasting

Combine tensors of different shapes: axes of length one are repeated, without a copy.

Predict: what shape do (3, 1) and (1, 4) make together?
"""

import tensorweb as tw

a = tw.asarray([[2.0, 1.0], [4.0, 2.0], [8.0, 4.0]])  # shape (3, 2)

# Rule 1: two axes fit when their lengths are equal or one of them is 1.
row = tw.asarray([[10.0, 100.0]])  # (1, 2): the row is repeated downwards
tw.show(a + row)

column = tw.asarray([[10.0], [100.0], [1000.0]])  # (3, 1): repeated to the right
tw.show(a + column)

# Rule 2: missing axes are added on the left, with length 1.
tw.show(a + tw.asarray([10.0, 100.0]))  # (2,) counts as (1, 2)
tw.show(a + 2)  # a plain number has no axes at all

# A column against a row makes a table: every pair of elements meets once.
times = tw.expand_dims(tw.arange(1, 13), axis=1) * tw.arange(1, 13)
tw.show(times, name="multiplication table")

# Nothing was enlarged in memory. A repeated axis has stride 0: the next element along
# it is the same element.
wide = tw.broadcast_to(column, (3, 5))
print("shape", wide.shape, "strides", wide.strides)
print("same memory as column:", wide.shares_memory_with(column))

# Shapes alone can be asked, too.
print(tw.broadcast_shapes((8, 1, 6, 1), (7, 1, 5)))

# The order of rules matters: (3, 2) and (3,) do not fit, since 2 meets 3.
try:
    a + tw.asarray([1.0, 2.0, 3.0])
except ValueError as error:
    print("error:", error)

# Broadcasting at work: the distance of every cell to three points, then the nearest.
grid = tw.linspace(0.0, 1.0, 90)
points = tw.asarray([[0.2, 0.3], [0.7, 0.2], [0.6, 0.8]])
across = grid - tw.reshape(points[:, 0], (3, 1, 1))  # (3, 1, 90)
down = tw.expand_dims(grid, axis=1) - tw.reshape(points[:, 1], (3, 1, 1))  # (3, 90, 1)
distance = tw.min(tw.sqrt(across * across + down * down), axis=0)
distance
