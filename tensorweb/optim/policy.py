"""Limits that decide how optimisers store parameters, and what they bring.

Flat storage was measured with it taken out (LARGE = 0), in a training step with Adam,
on 2026-11-25. Counts of kernels are exact. Times are of two cores that other programs
used too: equal runs differed by up to a third.

- without `jit`, on `cpu` as WebAssembly: an MLP of 4 layers takes 23 kernels instead of
  30, and 5.2 ms instead of 9.7 ms; a transformer of 2 blocks and 30 parameters takes
  135 kernels instead of 175, and 255 ms instead of 325 ms. Python builds and plans one
  update instead of one for each parameter. On a software adapter the MLP takes 19
  kernels instead of 26, and 33 ms instead of 66 ms.
- with `jit`, which saves that work of Python, the gradients must still be copied into
  one buffer: 2.0 ms instead of 3.1 ms for the MLP as WebAssembly, but 119 ms instead of
  107 ms for the transformer, and 46 ms instead of 29 ms for the MLP on a software
  adapter.
"""

from __future__ import annotations

# Tensors begin at multiples of this count of elements, so that a GPU can bind the
# buffer at their offset.
ALIGNMENT = 64

# Tensors with at least this count of elements are not concatenated: a separate launch
# costs less than copying them.
LARGE = 1 << 18
