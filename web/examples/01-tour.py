"""A first tour

Make tensors, combine them, reduce them, and look at every number on the right.

Predict: what is in the upper left corner of p @ q, 0, 6 or 8?
"""

import tensorweb as tw

# Run this program with Ctrl+Enter. Everything is computed by the device that is named
# at the top of the page: your GPU through WebGPU, or the CPU.
print("computed by:", tw.default_device())

# A tensor is a block of numbers with a shape. This one has 3 rows and 2 columns.
a = tw.asarray([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
print("shape", a.shape, "dtype", a.dtype, "elements", a.size)

# Functions work on every element and keep the shape. log(0) is minus infinity: look
# for its mark in the picture of `logarithm`.
exponential = tw.exp(a)
logarithm = tw.log(a)
tw.show(exponential)
tw.show(logarithm)

# Operators work on pairs of elements; `*` is not a matrix product, `@` is.
p = tw.asarray([[0.0, 1.0], [2.0, 3.0]])
q = tw.asarray([[6.0, 7.0], [8.0, 9.0]])
tw.show(p + q)
tw.show(p * q)
tw.show(p @ q)

# Reductions fold axes away: axis 0 runs down the rows, axis 1 along them.
down = tw.sum(a, axis=0)
across = tw.sum(a, axis=1)
print("down:", down.tolist(), " across:", across.tolist(), " all:", tw.sum(a).item())

# A larger tensor becomes a picture. Choose `waves` in the list on the right; point at a
# cell, or walk with the arrow keys, to read its value.
x = tw.linspace(-6.0, 6.0, 96)
y = tw.expand_dims(x, axis=1)
waves = tw.sin(x * x / 4 + y) * tw.cos(y * 1.5) * tw.exp(-(x * x + y * y) / 40)

# The value of the last line is displayed as well.
waves
