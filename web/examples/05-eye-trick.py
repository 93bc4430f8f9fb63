"""The eye trick

Build an identity matrix from one number, by nothing but moving memory around.

Predict: a one and three zeros, again and again: what do they make in rows of three?
"""

import tensorweb as tw

n = 3

# Start with a single one and put n zeros behind it.
one = tw.asarray([1.0])
padded = one.pad([(0, n)])
tw.show(padded)  # 1 0 0 0

# Repeat it n times. The stride of the new axis is 0, so nothing is stored twice.
repeated = tw.reshape(padded, (1, n + 1)).expand((n, n + 1))
tw.show(repeated)
print("strides", repeated.strides)

# Read it as one long row. Stride 0 cannot be merged away, so this is the one copy.
flat = tw.reshape(repeated, (n * (n + 1),))
tw.show(flat)  # 1 0 0 0 1 0 0 0 1 0 0 0

# Cut the tail off and fold the rest: each row starts one column later than the last.
cropped = flat.crop([(0, n * n)])
identity = tw.reshape(cropped, (n, n))
tw.show(identity)

# The library has it ready, of course.
print("same as tw.eye:", tw.all(identity == tw.eye(n)).item())


def diagonal_stripes(size, period):
    """Use the same trick with another row length: stripes instead of a diagonal."""
    pattern = tw.asarray([1.0]).pad([(0, period)])
    length = size * size
    rows = -(-length // (period + 1))
    wide = tw.reshape(pattern, (1, period + 1)).expand((rows, period + 1))
    flat = tw.reshape(wide, (rows * (period + 1),))
    return tw.reshape(flat.crop([(0, length)]), (size, size))


stripes = diagonal_stripes(48, 6)
stripes
