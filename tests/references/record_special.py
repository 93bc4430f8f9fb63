"""Record values of SciPy's special functions, in `special.json` of this folder.

No test runs it. In an environment that has SciPy 1.17 and mpmath 1.3, from the root of
the repository:

    PYTHONPATH=tests python tests/references/record_special.py

SciPy computes in float64. Where that loses digits (logarithms that pass 0, tails of the
normal distribution) mpmath computes with 50 digits what SciPy defines.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import special_cases as cases

FILE = Path(__file__).parent / "special.json"


def exact(name: str) -> Any:
    """Return mpmath's function of a name, or None."""
    mp: Any = import_module("mpmath")
    mp.mp.dps = 50
    functions = {
        "gammaln": lambda x: mp.log(abs(mp.gamma(x))),
        "gamma": mp.gamma,
        "digamma": mp.digamma,
        "polygamma": lambda n, x: mp.polygamma(int(n), x),
        "zeta": mp.zeta,
        "beta": mp.beta,
        "betaln": lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b),
        "erfc": mp.erfc,
        "ndtr": mp.ncdf,
        "log_ndtr": lambda x: mp.log(mp.ncdf(x)),
        "rel_entr": lambda x, y: x * mp.log(x / y),
        "kl_div": lambda x, y: x * mp.log(x / y) - x + y,
        "logit": lambda x: mp.log(x / (1 - x)),
        "betainc": lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True),
    }
    found = functions.get(name)
    return found and (lambda *x: found(*[mp.mpf(each) for each in x]))


def main() -> None:
    """Write what was recorded."""
    special = import_module("scipy.special")
    values = {}
    for case in cases.CASES:
        name = case.partition(" ")[0].strip(",")
        function = exact(name) or getattr(special, name)
        columns = cases.arguments(case)
        if name == "factorial":
            columns = [[int(x) for x in columns[0]]]
        values[case] = [float(function(*x)) for x in zip(*columns, strict=True)]
    versions = {"scipy": import_module("scipy").__version__}
    text = json.dumps({**versions, "values": values}, separators=(",", ":"))
    FILE.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
