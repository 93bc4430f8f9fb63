"""A picture from few numbers

A picture is a sum of columns times rows, the strongest first: a few of them do.

Predict: how many columns times rows does it take before you recognise the picture?
"""

import tensorweb as tw

SIZE = 96

# A drawing: a moon over hills, and the water below them, from coordinates alone.
line = tw.linspace(-1.0, 1.0, SIZE)
x, y = tw.meshgrid(line, line)
sky = 0.35 - 0.25 * y
moon = tw.hypot(x - 0.35, y + 0.5) < 0.22
far = y > 0.1 * tw.sin(5 * x) + 0.05 * tw.cos(11 * x) - 0.05
near = y > 0.25 * tw.cos(2.2 * x + 1) + 0.15
water = 0.3 + 0.2 * tw.sin(60 * y) * tw.exp(-4 * (x - 0.35) ** 2)
picture = tw.where(moon, 1.0, sky)
picture = tw.where(far, 0.25, picture)
picture = tw.where(near, 0.1, picture)
picture = tw.where(y > 0.55, water, picture)

# picture = u @ diag(s) @ vh: column i of u, times s[i], times row i of vh, summed up.
# The columns are at right angles to each other, the rows too, and s falls.
u, s, vh = tw.linalg.svd(picture, full_matrices=False)

# A sum of the first few is the best that so few numbers can do. What it lacks is what
# the other s say (Eckart and Young): the root of the sum of their squares.
size = tw.linalg.vector_norm(s)
parts, lacks, agree = [], {}, True
for terms in (1, 2, 4, 8, 12, 32):
    part = (u[:, :terms] * s[:terms]) @ vh[:terms]
    missing = tw.linalg.matrix_norm(picture - part)
    expected = tw.linalg.vector_norm(s[terms:])
    agree = agree and abs(missing - expected).item() < 1e-4 * size.item()
    lacks[terms] = (missing / size).item()
    parts.append(part)
    print(f"{terms:2} terms, {terms * 2 * SIZE:4} numbers: {lacks[terms]:.1%} missing")

tw.show(picture)
few_numbers = tw.stack(parts)  # its slider goes from one term to thirty-two
tw.show(few_numbers)
side_by_side = tw.concat([tw.concat(parts[:3], axis=1), tw.concat(parts[3:], axis=1)])
tw.show(side_by_side)
print("what is missing is what the other sizes say:", agree)
print(f"a quarter of the numbers, less than 5 % missing: {lacks[12] < 0.05}")
