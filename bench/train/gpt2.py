"""The forward pass of GPT-2 (124 million parameters) with random weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bench.train.models import layer, norm


@dataclass(frozen=True, slots=True)
class Text:
    """Texts of a batch, their length, and the size of the network."""

    batch: int
    length: int
    layers: int = 12
    heads: int = 12
    width: int = 768
    letters: int = 50257

    @property
    def tokens(self) -> int:
        """Tokens of a batch."""
        return self.batch * self.length


SHAPES = {
    "gpt2_forward": (Text(8, 1024), Text(2, 16, 2, 2, 32, 65)),
    "gpt2_short": (Text(1, 64), Text(1, 8, 2, 2, 32, 65)),
}
"""Of each workload: as it is measured, and for a software GPU."""

SPREAD = 0.02


def weights(tw: Any, size: Text) -> dict[str, Any]:
    """Return normal weights; layers have names with their number."""
    keys = iter(tw.random.split(tw.random.key(0), 4 * size.layers + 2))

    def drawn(*shape: int) -> Any:
        return tw.random.normal(next(keys), shape) * SPREAD

    wide = size.width
    found = {
        "letters": drawn(size.letters, wide),
        "places": drawn(size.length, wide),
        "scale": tw.ones(wide),
        "shift": tw.zeros(wide),
    }
    for number in range(size.layers):
        found |= {
            f"scale1_{number}": tw.ones(wide),
            f"shift1_{number}": tw.zeros(wide),
            f"qkv_{number}": drawn(wide, 3 * wide),
            f"qkv_b_{number}": tw.zeros(3 * wide),
            f"out_{number}": drawn(wide, wide),
            f"out_b_{number}": tw.zeros(wide),
            f"scale2_{number}": tw.ones(wide),
            f"shift2_{number}": tw.zeros(wide),
            f"up_{number}": drawn(wide, 4 * wide),
            f"up_b_{number}": tw.zeros(4 * wide),
            f"down_{number}": drawn(4 * wide, wide),
            f"down_b_{number}": tw.zeros(wide),
        }
    tw.realize(*found.values())
    return found


def forward(tw: Any, size: Text, p: dict[str, Any], text: Any) -> Any:
    """Return logits of shape (batch, length, letters)."""
    h = p["letters"][text] + p["places"]
    for number in range(size.layers):
        h = layer(tw, h, p, number, size.heads)
    return norm(tw, h, p["scale"], p["shift"]) @ p["letters"].T
