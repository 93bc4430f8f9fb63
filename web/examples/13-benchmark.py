"""Benchmark this device

Measure launches, reads, memory speed and arithmetic of the device that computes here.
"""

from time import perf_counter

import tensorweb as tw


def best(work, repeats=3):
    """Return the least seconds of several repeats after one for warming up."""
    work()
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


print("device:", tw.default_device())

# A read: one small kernel and its answer, one after another.
small = tw.ones((16,))


def read_once():
    """Compute and read one number."""
    return tw.sum(small).item()


print(f"small read             {best(read_once, 10) * 1e6:10.0f} µs")

# Launches: each sum needs the one before, so none can be fused away.
LAUNCHES = 100


def launches():
    """Run a chain of dependent reductions and read only the end."""
    x = small
    for _ in range(LAUNCHES):
        x = x + tw.sum(x) * 0.001
    return tw.sum(x).item()


print(f"one launch             {best(launches) / LAUNCHES * 1e6:10.1f} µs")

# Memory: read and write four million float32, eight bytes per element.
COUNT = 4_000_000
long = tw.reshape(tw.linspace(0.0, 1.0, COUNT), (2000, 2000)) + 0.0
tw.sum(long).item()


def stream():
    """Read every element once."""
    return tw.sum(long).item()


print(f"sum of 4 million       {COUNT * 4 / best(stream) / 1e9:10.2f} GB/s")

# Arithmetic: two operations per step of a dot product.
SIZE = 256
matrix = tw.reshape(tw.linspace(-1.0, 1.0, SIZE * SIZE), (SIZE, SIZE)) + 0.0
tw.sum(matrix).item()


def multiply():
    """Multiply two matrices and read one number of the result."""
    return tw.sum(matrix @ matrix).item()


speed = 2 * SIZE**3 / best(multiply) / 1e9
print(f"matmul {SIZE} x {SIZE}       {speed:10.2f} GFLOP/s")
