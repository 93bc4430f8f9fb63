"""The kernels that a run launched, each once with its source and its launch count."""

from __future__ import annotations

from collections.abc import Iterable

from tensorweb.backends.records import KernelRecord

MOST_KERNELS = 200

Record = dict[str, object]


def summarise(launches: Iterable[KernelRecord]) -> list[Record]:
    """Return one record per different kernel and grid, in order of first launch."""
    records: dict[tuple[str, str, tuple[int, ...]], Record] = {}
    counts: dict[tuple[str, str, tuple[int, ...]], int] = {}
    for launch in launches:
        key = (launch.name, launch.source, launch.grid)
        counts[key] = counts.get(key, 0) + 1
        if key not in records and len(records) < MOST_KERNELS:
            records[key] = {
                "name": launch.name,
                "kind": launch.kind,
                "source": launch.source,
                "grid": list(launch.grid),
                "buffers": launch.buffers,
                "bytes": launch.bytes,
            }
    return [{**record, "count": counts[key]} for key, record in records.items()]
