"""The kernels that a run launched, each once with its source and its launch count."""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb.backends.records import KernelRecord

MOST_KERNELS = 200
MOST_FLUSHES = 100

Record = dict[str, object]


class Tally:
    """Counts launches by kernel and grid, however many there are.

    A loop flushes the same list of records again and again; so lists are counted, and
    what they hold only when somebody asks or there are many.
    """

    def __init__(self) -> None:
        self._records: dict[tuple[str, str, tuple[int, ...]], Record] = {}
        self._counts: dict[tuple[str, str, tuple[int, ...]], int] = {}
        self._others: set[int] = set()
        self._flushes: dict[int, tuple[Sequence[KernelRecord], int]] = {}

    def add(self, launched: Sequence[KernelRecord]) -> None:
        """Count the launches of one flush."""
        key = id(launched)
        _, count = self._flushes.get(key, (launched, 0))
        self._flushes[key] = launched, count + 1
        if len(self._flushes) > MOST_FLUSHES:
            self._fold()

    def _fold(self) -> None:
        """Count what the lists hold; kernels beyond the first ones are left out."""
        for launched, times in self._flushes.values():
            for launch in launched:
                self._count(launch, times)
        self._flushes.clear()

    def _count(self, launch: KernelRecord, times: int) -> None:
        key = (launch.name, launch.source, launch.grid)
        if key in self._counts:
            self._counts[key] += times
            return
        if len(self._counts) == MOST_KERNELS:
            self._others.add(hash(key))
            return
        self._counts[key] = times
        self._records[key] = {
            "name": launch.name,
            "kind": launch.kind,
            "source": launch.source,
            "grid": list(launch.grid),
            "buffers": launch.buffers,
            "bytes": launch.bytes,
        }

    @property
    def left_out(self) -> int:
        """How many different kernels and grids there were besides `records()`."""
        self._fold()
        return len(self._others)

    def records(self) -> list[Record]:
        """Return one record per different kernel and grid, in order of first launch."""
        self._fold()
        return [
            {**record, "count": self._counts[key]}
            for key, record in self._records.items()
        ]
