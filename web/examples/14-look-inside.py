"""Look inside: from lines to kernels

See a chain of operations become one kernel, and read the code that the device runs.

Predict: how many kernels does a chain of five operations on one tensor need?

Then look: Kernels; Why? result[3]; Timeline; Memory
"""

import tensorweb as tw

# Nothing is computed here yet: each line only adds to a graph.
x = tw.reshape(tw.linspace(-3.0, 3.0, 64 * 64), (64, 64))
bell = tw.exp(-x * x)
ripple = tw.cos(8 * x)
result = tw.sum(bell * ripple + 1.0, axis=0)

# `explain` says in words what would run: graph, kernels and their source.
print(tw.explain(result))

# Asking for a value runs it. "Then look", below the output, opens the tab "Kernels": it
# lists every kernel of this program with its source.
print("sum of everything:", tw.sum(result).item())
tw.show(bell * ripple, name="bell times ripple")

# The other way round: "Why? result[3]" shows the 64 numbers that were added, and what
# each of them was made of. "Timeline" shows when that was, "Memory" where.
