"""The kernels that a run launched, each once with its source and its launch count."""

from __future__ import annotations

from tensorweb.backends.records import KernelRecord

MOST_KERNELS = 200

Record = dict[str, object]


class Tally:
    """Counts launches by kernel and grid, however many there are."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, str, tuple[int, ...]], Record] = {}
        self._counts: dict[tuple[str, str, tuple[int, ...]], int] = {}

    def add(self, launch: KernelRecord) -> None:
        """Count one launch; kernels beyond the first ones are left out."""
        key = (launch.name, launch.source, launch.grid)
        if key in self._counts:
            self._counts[key] += 1
            return
        if len(self._counts) == MOST_KERNELS:
            return
        self._counts[key] = 1
        self._records[key] = {
            "name": launch.name,
            "kind": launch.kind,
            "source": launch.source,
            "grid": list(launch.grid),
            "buffers": launch.buffers,
            "bytes": launch.bytes,
        }

    def records(self) -> list[Record]:
        """Return one record per different kernel and grid, in order of first launch."""
        return [
            {**record, "count": self._counts[key]}
            for key, record in self._records.items()
        ]
