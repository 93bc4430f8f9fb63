"""Matmul from parts

A matrix product is a reshape, a broadcast multiplication and a sum.

Predict: how many products does a 3 by 4 times 4 by 3 matrix need before the sum?
"""

import tensorweb as tw

left = tw.reshape(tw.arange(12, dtype=tw.float32), (3, 4))
right = tw.reshape(tw.arange(12, 24, dtype=tw.float32), (4, 3))

# Give both an axis that the other lacks: rows of `left` against columns of `right`.
rows = tw.reshape(left, (3, 1, 4))
columns = tw.reshape(right, (1, 4, 3)).transpose(2, 1)
print("rows", rows.shape, "columns", columns.shape)
tw.show(columns[0], name="columns of right, one per row")

# Broadcasting multiplies every row with every column ...
products = rows * columns
print("products", products.shape)
tw.show(products[0], name="row 0 times every column")

# ... and the sum of the last axis finishes the dot products.
result = tw.sum(products, axis=2)
tw.show(result)
print("equal to left @ right:", tw.all(result == left @ right).item())

# All of this is one kernel: the products are never stored. See the tab
# "Kernels" after the run. A real matmul goes further and keeps tiles of both matrices
# close to the arithmetic units.
big_left = tw.reshape(tw.linspace(-1.0, 1.0, 128 * 96), (128, 96))
big_right = tw.sin(tw.reshape(tw.arange(96 * 128, dtype=tw.float32), (96, 128)) / 500)

by_parts = tw.sum(
    tw.expand_dims(big_left, axis=1)
    * tw.expand_dims(tw.matrix_transpose(big_right), axis=0),
    axis=2,
)
by_matmul = big_left @ big_right
print("largest difference:", tw.max(tw.abs(by_parts - by_matmul)).item())
by_matmul
