"""The order of kernels: what frees memory runs early, nothing before its inputs."""

from __future__ import annotations

import pytest

from tensorweb.schedule.kernel import Kernel, Planned
from tensorweb.schedule.kernels import ordered, peak
from tensorweb.schedule.policy import LEAST_ORDERED_BYTES

KERNEL = Kernel("elementwise", "", (1,), (), (), (), "", ("float32",))

LARGE = LEAST_ORDERED_BYTES


def kernel(output: int, *inputs: int) -> Planned:
    return Planned(KERNEL, (output,), inputs, ())


WIDTH = 5

FORWARD = [kernel(number, number - 1) for number in range(1, WIDTH)]
"""Each makes a large value of the one before."""

GRADIENTS = [kernel(10 + number, number) for number in range(WIDTH - 1, 0, -1)]
"""Each reads a large value and makes a small one; all of them were asked for last."""

SIZES = {each.outputs[0]: LARGE for each in FORWARD} | {
    each.outputs[0]: 4 for each in GRADIENTS
}


def test_kernels_that_free_large_values_run_first() -> None:
    kernels, results = [*FORWARD, *GRADIENTS], list(range(11, 10 + WIDTH))
    found = ordered(kernels, SIZES, results)
    assert peak(kernels, SIZES, results) > 4 * LARGE
    assert peak(found, SIZES, results) < 3 * LARGE
    assert sorted(map(id, found)) == sorted(map(id, kernels))
    made = {0}
    for each in found:
        assert made.issuperset(each.inputs)
        made.update(each.outputs)


def test_results_that_stay_free_nothing() -> None:
    kernels, results = [*FORWARD, *GRADIENTS], list(SIZES)
    assert peak(kernels, SIZES, results) == sum(SIZES.values())
    assert ordered(kernels, SIZES, results) is kernels


@pytest.mark.parametrize("kernels", [FORWARD[:2], [*FORWARD, *GRADIENTS]], ids=len)
def test_little_memory_and_few_kernels_keep_their_order(kernels: list[Planned]) -> None:
    sizes = dict.fromkeys(SIZES, 4) if len(kernels) > 2 else SIZES
    assert ordered(kernels, sizes, [10 + WIDTH - 1]) is kernels


def test_sixteen_mebibytes_are_worth_ordering() -> None:
    kernels, results = [*FORWARD, *GRADIENTS], list(range(11, 10 + WIDTH))

    def is_ordered(nbytes: int) -> bool:
        sizes = dict.fromkeys(SIZES, 4) | {1: nbytes, 2: nbytes, 3: nbytes, 4: nbytes}
        return ordered(kernels, sizes, results) is not kernels

    assert is_ordered(4 << 20)
    assert not is_ordered((4 << 20) - 16)
