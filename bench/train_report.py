"""The tables of training: steps of every library, and GPT-2's forward pass."""

from __future__ import annotations

from bench.results import Results, Row
from bench.train.gpt2 import SHAPES
from bench.train.models import SIZES

OURS = "tensorweb in Chromium"
PEERS = ("jax-js", "TF.js")

TITLES = {
    "train_mlp": "step of an MLP 784-128-10, 128 images",
    "train_cnn": "step of a CNN 16-32, 128 images of 28 by 28",
    "train_gpt": "step of a GPT: 4 layers of 128, 32 texts of 64",
    "gpt2_forward": "GPT-2 124M forward, 8 texts of 1,024 tokens",
    "gpt2_short": "GPT-2 124M forward, 1 text of 64 tokens",
}

AIMS_MS = {
    "train_mlp": 0.25,
    "train_cnn": 0.45,
    "train_gpt": 2.0,
    "gpt2_forward": 8 * 1024 / 125,
    "gpt2_short": 2.5,
}
"""Most milliseconds that ours may take on an H200."""


def training_table(found: Results) -> str:
    """Return a row per network that was measured, empty without any."""
    lines = []
    for workload in (*SIZES, *SHAPES):
        own = found.find(workload, OURS)
        peers = [found.find(workload, name) for name in PEERS]
        if own is None:
            continue
        best = min((row["ms"] for row in peers if row), default=None)
        line = {
            "what": TITLES[workload],
            **dict(zip(PEERS, map(_shown, peers), strict=True)),
            OURS: _shown(own),
            "ours / best peer": f"{best / own['ms']:.0f}" if best else "",
            "PyTorch eager": _shown(_way(found, workload, "eager")),
            "PyTorch, best": _shown(found.find(workload, "PyTorch")),
        }
        lines.append(line | _details(own, found.machine))
    if not lines:
        return ""
    heads = list(lines[0])
    rule = ["---", *["---:"] * (len(heads) - 1)]
    cells = [heads, rule, *([line[head] for head in heads] for line in lines)]
    table = "\n".join(f"| {' | '.join(cell)} |" for cell in cells)
    days = found.days_of((*SIZES, *SHAPES), OURS)
    return f"Training by Adam: forward, backward and update{days}.\n\n{table}"


def _details(own: Row, machine: str) -> dict[str, str]:
    """Return the columns of the long table."""
    aim = AIMS_MS[own["workload"]]
    is_met = own["ms"] <= aim
    times = "met" if is_met else f"{own['ms'] / aim:.2f} times"
    return {
        "aim": f"≤ {aim:.3g} ms: {times}" if "H200" in machine else "",
        "by the GPU's time": _milliseconds(own.get("gpu_ms")),
        "Python and bridge": _milliseconds(own.get("python_ms")),
        "launches": f"{own.get('dispatches', 0):.0f}",
        "first step": _milliseconds(own.get("first_ms")),
    }


def _way(found: Results, workload: str, way: str) -> Row | None:
    """Return the row of one way of PyTorch's."""
    impl = f"PyTorch {way}"
    rows = [r for r in found.rows if (r["workload"], r["impl"]) == (workload, impl)]
    return rows[0] if rows else None


def _shown(row: Row | None) -> str:
    return _milliseconds(row["ms"]) if row else ""


def _milliseconds(number: float | None) -> str:
    if number is None:
        return ""
    return f"{number:,.0f} ms" if number >= 100 else f"{number:.3g} ms"
