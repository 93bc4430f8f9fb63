"""Order kernels to lower peak memory.

Kernels arrive depth first from the outputs. A kernel that frees memory, the gradient
of a weight for example, often comes late, and its inputs stay allocated until then. So
a kernel runs as soon as its inputs are ready if it frees at least as many bytes as it
allocates.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tensorweb.schedule import policy
from tensorweb.schedule.kernel import Planned


def ordered(
    kernels: Sequence[Planned], sizes: Mapping[int, int], outputs: Collection[int]
) -> Sequence[Planned]:
    """Return the kernels in an order of lower peak memory, if one is found.

    Args:
        kernels: in a valid order.
        sizes: bytes of each result.
        outputs: results that stay allocated afterwards.
    """
    if len(kernels) < 3 or sum(sizes.values()) < policy.LEAST_ORDERED_BYTES:
        return kernels
    better = _Order(kernels, sizes, outputs).found
    is_better = peak(better, sizes, outputs) < peak(kernels, sizes, outputs)
    return better if is_better else kernels


def peak(
    kernels: Sequence[Planned], sizes: Mapping[int, int], outputs: Collection[int]
) -> int:
    """Return the peak of allocated result bytes in this order."""
    last = {}
    for index, kernel in enumerate(kernels):
        last.update(dict.fromkeys(kernel.outputs, index))
        last.update((each, index) for each in kernel.inputs if each in last)
    ending: dict[int, int] = {}
    for number, index in last.items():
        if number not in outputs:
            ending[index] = ending.get(index, 0) + sizes[number]
    most = now = 0
    for index, kernel in enumerate(kernels):
        now += sum(sizes[number] for number in kernel.outputs)
        most = max(most, now)
        now -= ending.get(index, 0)
    return most


class _Order:
    """Simulates running the kernels and chooses the next one greedily.

    Attributes:
        found: the kernels in the new order.
    """

    def __init__(
        self,
        kernels: Sequence[Planned],
        sizes: Mapping[int, int],
        outputs: Collection[int],
    ) -> None:
        self._kernels = kernels
        self._sizes = sizes
        self.found: list[Planned] = []
        self._is_done = [False] * len(kernels)
        self._missing = [0] * len(kernels)  # inputs that are not computed yet
        self._readers: dict[int, list[int]] = {
            number: [] for kernel in kernels for number in kernel.outputs
        }
        for index, kernel in enumerate(kernels):
            for number in kernel.inputs:
                if number in self._readers:
                    self._readers[number].append(index)
                    self._missing[index] += 1
        self._left = {number: len(own) for number, own in self._readers.items()}
        for number in outputs:
            if number in self._left:
                self._left[number] += 1
        for index in range(len(kernels)):
            if not self._is_done[index]:
                self._run_with_what_frees(index)

    def _run_with_what_frees(self, index: int) -> None:
        """Run a kernel, then every kernel that frees at least what it allocates."""
        waiting = self._run(index)
        while freeing := [each for each in waiting if self._frees(each)]:
            index = min(freeing)
            waiting = [each for each in waiting if not self._is_done[each]]
            waiting += self._run(index)

    def _run(self, index: int) -> list[int]:
        """Run a kernel; return kernels that became ready or free more than before."""
        kernel = self._kernels[index]
        self._is_done[index] = True
        self.found.append(kernel)
        touched = []
        for number in kernel.outputs:
            for reader in self._readers[number]:
                self._missing[reader] -= 1
                touched.append(reader)
        for number in kernel.inputs:
            if number in self._left:
                self._left[number] -= 1
                if self._left[number] == 1:
                    touched += self._readers[number]
        return [
            each
            for each in touched
            if not self._missing[each] and not self._is_done[each]
        ]

    def _frees(self, index: int) -> bool:
        """Whether a ready kernel frees at least as many bytes as it allocates."""
        if self._is_done[index]:
            return False
        kernel, sizes = self._kernels[index], self._sizes
        freed = sum(sizes[each] for each in kernel.inputs if self._left.get(each) == 1)
        return freed >= sum(sizes[number] for number in kernel.outputs)
