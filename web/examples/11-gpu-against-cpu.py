"""GPU against CPU

Time the same work on both devices, with a warm-up and with the reading included.
"""

from time import perf_counter

import tensorweb as tw


def seconds(work, x, repeats=5):
    """Return the best time of several; `item` waits until the device is done."""
    work(x).item()  # the first run compiles kernels
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work(x).item()
        times.append(perf_counter() - start)
    return min(times)


def elementwise(x):
    """Do a chain of operations: one kernel on the GPU, five passes in NumPy."""
    return tw.sum(tw.exp(-x * x) * tw.sin(3 * x) + 0.5)


def product(x):
    """Multiply matrices: many operations per number that is read."""
    return tw.sum(x @ tw.matrix_transpose(x))


WORK = [
    ("sum of a chain, 10 thousand", elementwise, (100, 100)),
    ("sum of a chain, 1 million", elementwise, (1000, 1000)),
    ("matrix product 64 x 64", product, (64, 64)),
    ("matrix product 256 x 256", product, (256, 256)),
]

devices = [tw.default_device()]
devices += [name for name in ("webgpu", "cpu") if name not in devices]

print(f"{'':30}", *(f"{name:>10}" for name in devices))
for title, work, shape in WORK:
    row = []
    for device in devices:
        try:
            with tw.device(device):
                count = shape[0] * shape[1]
                x = tw.reshape(tw.linspace(-1.0, 1.0, count), shape) + 0.0
                row.append(f"{seconds(work, x) * 1e3:7.2f} ms")
        except (RuntimeError, ValueError, ImportError) as error:
            row.append(f"{type(error).__name__:>10}")
    print(f"{title:30}", *(f"{entry:>10}" for entry in row))

print()
print("Small work is ruled by the time that one question to the GPU takes; large work")
print("by the hardware. NumPy in the browser has no fast matrix product, so compare it")
print("with care.")
