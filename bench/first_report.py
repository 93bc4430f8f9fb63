"""The table of first calls: cold, and after `warm_up`, by family and host."""

from __future__ import annotations

from bench.results import Results, Row

COLD = "first_call_"
WARM = "first_call_warm_"
HOWS = {"cold": COLD, "after warm_up": WARM}

AIM_MS = 60.0
"""Most milliseconds that the first call of a family may take once warmed up."""


def first_call_table(found: Results) -> str:
    """Return a row per family that was measured, empty without any."""
    rows = {(row["workload"], row["impl"]): row for row in found.rows}
    hosts = sorted({impl for name, impl in rows if name.startswith(COLD)})
    families = dict.fromkeys(
        name.removeprefix(COLD)
        for name, _ in rows
        if name.startswith(COLD) and not name.startswith(WARM)
    )
    if not families:
        return ""
    heads = ["first call of", *(f"{host}, {how}" for host in hosts for how in HOWS)]
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    for family in families:
        cells = [
            _milliseconds(rows.get((prefix + family, host)), is_aimed=prefix == WARM)
            for host in hosts
            for prefix in HOWS.values()
        ]
        lines.append([family, *cells])
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\nAim: {AIM_MS:g} ms after `warm_up`.{_warming(found)}"


def _milliseconds(row: Row | None, *, is_aimed: bool) -> str:
    if row is None:
        return ""
    text = f"{row['ms']:,.1f} ms"
    return f"{text}, above the aim" if is_aimed and row["ms"] > AIM_MS else text


def _warming(found: Results) -> str:
    """Say how long warming up everything took."""
    times = [
        f"{row['ms'] / 1e3:.1f} s ({row['impl']})"
        for row in found.rows
        if row["workload"] == "warm_up"
    ]
    return f" Warming up every family took {', '.join(times)}." if times else ""
