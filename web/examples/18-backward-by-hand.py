"""Backward by hand: twenty lines that differentiate

Each number remembers its sources; the backward pass multiplies slopes and adds up.

Predict: which of the inputs a and b changes g more?

Then look: Why? g; Kernels
"""

import tensorweb as tw

tape = []  # all numbers in the order they were made


class Value:
    """A number, the numbers it was made of, and its slope along each of them."""

    def __init__(self, data, made_of=(), slopes=()):
        self.data, self.made_of, self.slopes, self.grad = data, made_of, slopes, 0.0
        tape.append(self)

    def __add__(self, other):
        y = other if isinstance(other, Value) else Value(other)
        return Value(self.data + y.data, (self, y), (1.0, 1.0))

    def __mul__(self, other):
        y = other if isinstance(other, Value) else Value(other)
        return Value(self.data * y.data, (self, y), (y.data, self.data))

    def __pow__(self, n):
        return Value(self.data**n, (self,), (n * self.data ** (n - 1),))

    def relu(self):
        return Value(max(self.data, 0.0), (self,), (float(self.data > 0),))

    def backward(self):
        self.grad = 1.0
        for value in reversed(tape):
            for source, slope in zip(value.made_of, value.slopes, strict=True):
                source.grad += slope * value.grad


def program(a, b, relu):
    """Return the numbers on the way; a and b may be of either kind."""
    c, d = a + b, a * b + b**3
    c = (c * 2 + 1) * 2 + 1 + a * -1
    d = d + d * 2 + relu(b + a)
    d = d + d * 3 + relu(b + a * -1)
    e = c + d * -1
    f = e**2
    return {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": f * 0.5 + f**-1 * 10}


by_hand = program(Value(-4.0), Value(2.0), Value.relu)
by_hand["g"].backward()
for k, v in reversed(by_hand.items()):
    print(f"{k} = {v.data:8.4f}   dg/d{k} = {v.grad:9.4f}")

PLACES = {"a": (0, 0), "b": (0, 1), "c": (1, 0), "d": (1, 1), "e": (2, 0.5)}
PLACES |= {"f": (3, 0.5), "g": (4, 0.5)}


class Graph:
    """The numbers and their slopes, each to the right of what it is made of."""

    def _repr_svg_(self):
        at = {k: (70 + 130 * x, 50 + 110 * y) for k, (x, y) in PLACES.items()}
        parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 210">']
        for start, end in ("ac", "bc", "ad", "bd", "ce", "de", "ef", "fg"):
            (x, y), (u, v) = at[start], at[end]
            parts.append(f'<path d="M{x} {y}L{u} {v}" stroke="#8a8f9a" fill="none"/>')
        for k, (x, y) in at.items():
            value, slope = by_hand[k].data, by_hand[k].grad
            box = f'<rect x="{x - 52}" y="{y - 25}" width="104" height="50" rx="8"'
            parts.append(f'{box} fill="#eceffb" stroke="#3350c8"/>')
            font = 'font-family="monospace" font-size="13" text-anchor="middle"'
            for down, text in (-6, f"{k} = {value:.2f}"), (13, f"slope {slope:.2f}"):
                parts.append(f'<text x="{x}" y="{y + down}" {font}>{text}</text>')
        return "".join(parts) + "</svg>"


# The same program on tensors, which remember in the same manner.
# "Why? g", offered below the output, and then "Its gradients": those of all letters.
a, b = (tw.asarray(x, requires_grad=True) for x in (-4.0, 2.0))
letters = program(a, b, lambda x: tw.maximum(x, 0.0))
g = letters["g"]
g.backward()
print(f"tensors: dg/da = {a.grad.item():.2f}, dg/db = {b.grad.item():.2f}")
tw.show(Graph(), name="how much g changes with each")
