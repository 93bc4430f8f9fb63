"""GPU against CPU

Time the same work on both devices, with a warm-up and with the reading included.

Predict: which device wins at ten thousand elements, and which at a million?
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
    """Do a chain of operations: one kernel on either device."""
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


devices = ["webgpu", "cpu"] if tw.default_device() == "webgpu" else ["cpu"]

print(f"{'':30}", *(f"{name:>10}" for name in devices))
bars = {}
for title, work, shape in WORK:
    row = []
    for device in devices:
        with tw.device(device):
            count = shape[0] * shape[1]
            x = tw.reshape(tw.linspace(-1.0, 1.0, count), shape) + 0.0
            bars[f"{title}, {device}"] = milliseconds = seconds(work, x) * 1e3
        row.append(f"{milliseconds:7.2f} ms")
    print(f"{title:30}", *(f"{entry:>10}" for entry in row))

print()
print("Small work is ruled by the time that one question to the GPU takes; the CPU is")
print("asked at once. Large work is ruled by the hardware.")
if "webgpu" not in devices:
    print("\nThe CPU is alone here: choose WebGPU at the top, if the page offers it.")
mark = [label for label in bars if label.endswith("webgpu")]
tw.show(tw.bar_chart(bars, title="Less is better", unit="ms", log=True, mark=mark))
