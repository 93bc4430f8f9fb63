"""Benchmark this device

Launches, reads, memory and arithmetic here, next to a large GPU and two CPU cores.

Predict: how much longer than a launch does it take to read one number back?
"""

from statistics import median
from timeit import repeat

import tensorweb as tw


def seconds(work, least=0.03):
    """Return the seconds of one `work()`: the best of batches of at least `least`."""
    count = 1

    def batch():
        for _ in range(count):
            work()
        tw.synchronize()

    while (spent := min(repeat(batch, number=1, repeat=3))) < least:
        count *= 2
    return spent / count


def best_rate(work_of, sizes):
    """Return billions a second at the first size that takes 20 ms, or at the last."""
    for size in sizes:
        work, amount = work_of(size)
        if seconds(work, 0) > 0.02:
            break
    return amount / seconds(work) / 1e9


def launches(n):  # as many small kernels, evaluated together
    small = [tw.realize(tw.ones(64) * k) for k in range(n)]
    return lambda: tw.realize(*[x + 1.0 for x in small]), n


def sums(k):  # eight sums of 2**k numbers; a factor each keeps them apart
    x = tw.realize(tw.arange(2**k, dtype=tw.float32) * 1e-6)
    return lambda: tw.realize(*[tw.sum(x * i) for i in range(8)]), 8 * 4 * 2**k


def products(k):  # four products of matrices with 2**k rows, two operations per step
    x = tw.realize(tw.sin(tw.arange(4**k, dtype=tw.float32)).reshape((2**k, 2**k)))
    return lambda: tw.realize(*[x @ x for _ in range(4)]), 4 * 2 * 8**k


def compare(title, unit, here, h200, cores):  # the others were measured in Chromium
    bars = {"this device": here, "NVIDIA H200": h200, "two CPU cores": cores}
    tw.show(tw.bar_chart(bars, title=title, unit=unit, log=True, mark=["this device"]))


print("device:", tw.default_device())
compare("One launch, less is better", "µs", 1e-3 / best_rate(launches, [300]), 10.4, 25)
read = median(repeat(lambda: tw.sum(tw.arange(9)).item(), number=1, repeat=21))
compare("One read, less is better", "µs", read * 1e6, 675, 2900)
compare("Reading memory", "GB/s", best_rate(sums, range(16, 27, 2)), 2936, 0.1)
compare("Matrix products", "GFLOP/s", best_rate(products, range(6, 13)), 46_805, 0.7)
