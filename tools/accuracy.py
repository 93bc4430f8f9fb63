"""What each function of `shaders/math/` takes and gives, and how exact it says to be.

The bound is the last sentence of the comment above a function: `Exact for …` or
`Within 1.5 ULP for …`. Tests measure it and `docs/reference/numerics.md` tells it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tools.process import ROOT

FOLDER = ROOT / "shaders" / "math"

_FUNCTION = re.compile(
    r"(?P<comment>(?:^//[^\n]*\n)*)"
    r"^fn (?P<name>\w+)\((?P<takes>.*?)\) -> (?P<gives>\w+) \{",
    re.MULTILINE,
)
_BOUND = re.compile(
    r"^(?:Exact|Within (?P<ulp>[\d.]+) ULP) for (?P<domain>.*?)\.\Z",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Function:
    """One WGSL function with its bound.

    Attributes:
        name: for example `exp_f32`.
        takes: the WGSL types of its parameters.
        gives: the WGSL type of its result.
        ulp: the largest error in units in the last place; 0 is exact.
        domain: the operands for which the bound holds, and the cases it leaves open.
    """

    name: str
    takes: tuple[str, ...]
    gives: str
    ulp: float = 0.0
    domain: str = ""


def functions(text: str) -> dict[str, Function]:
    """Return the functions of a piece of WGSL by name."""
    found = {}
    for match in _FUNCTION.finditer(text):
        comment = re.sub(r"^// ?", "", match["comment"].rstrip(), flags=re.MULTILINE)
        bound = _BOUND.search(comment)
        found[match["name"]] = Function(
            match["name"],
            tuple(re.findall(r"\w+: (\w+)", match["takes"])),
            match["gives"],
            float(bound["ulp"] or 0) if bound else 0.0,
            " ".join(bound["domain"].split()) if bound else "",
        )
    return found


def bounded() -> dict[str, Function]:
    """Return the functions of `shaders/math/` that say how exact they are, by name."""
    texts = [path.read_text("utf-8") for path in sorted(FOLDER.glob("*.wgsl"))]
    every = functions("\n".join(texts))
    return {name: function for name, function in every.items() if function.domain}
