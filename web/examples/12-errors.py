"""Errors that teach

Each message says what was wrong, with which shapes, and what to do about it.

Predict: is a wrong shape reported at the line that has it, or when its values are read?
"""

import tensorweb as tw

a = tw.ones((2, 3))
b = tw.ones((4, 5))
whole = tw.arange(6)

CASES = {
    "a ragged list": lambda: tw.asarray([[1, 2], [3]]),
    "text is not a number": lambda: tw.asarray(["one", "two"]),
    "shapes that do not broadcast": lambda: a + tw.ones((4,)),
    "inner sizes differ": lambda: a @ b,
    "a reshape to another size": lambda: tw.reshape(a, (4, 2)),
    "two unknown lengths": lambda: tw.reshape(a, (-1, -1)),
    "an axis out of range": lambda: tw.sum(a, axis=2),
    "an axis given twice": lambda: tw.sum(a, axis=(0, 0)),
    "an index out of range": lambda: whole[10],
    "a number too large for its dtype": lambda: tw.asarray(
        [3_000_000_000], dtype=tw.int32
    ),
    "truth of many elements": lambda: bool(a > 0),
    "one value of many": lambda: a.item(),
    "squeezing a long axis": lambda: tw.squeeze(a, axis=0),
    "a float64 on the GPU": lambda: tw.ones((2,), dtype=tw.float64, device="webgpu"),
}

for title, mistake in CASES.items():
    try:
        result = mistake()
    except Exception as error:
        print(f"{title}\n    {type(error).__name__}: {error}\n")
    else:
        print(f"{title}\n    works here: {result!r}\n")

# An error that is not caught stops the program. The page marks the very part of the
# line that failed. Remove the # of the next line and run again.
# (a + 1) @ (b * 2)

print("Every error left the session usable:", (a + 1).tolist())
