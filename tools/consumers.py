"""Other people's libraries on tensors: their cases, and the table that counts them.

`python3 build.py consumers [DEVICE]` runs `consumers/` in the second environment, holds
it against `consumers/known.toml`, and the table of docs/guide/interoperability.md
against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tools import further
from tools.environment import CACHE
from tools.known import compare, known, report
from tools.process import ROOT, BuildError, status
from tools.results import Results
from tools.testing import LAVAPIPE

FOLDER = ROOT / "consumers"

KNOWN = FOLDER / "known.toml"

PAGE = ROOT / "docs/guide/interoperability.md"

BEGIN, END = "<!-- consumers:begin -->\n", "<!-- consumers:end -->"

DEVICES = ("cpu", "webgpu")

LIBRARIES = {
    "array-api-compat": "test_array_api_libraries.py::test_array_api_compat",
    "array-api-extra": "test_array_api_libraries.py::test_array_api_extra",
    "Cubed": "test_cubed.py",
    "dask.array": "test_dask.py",
    "dask.distributed, two processes": "test_dask_distributed.py",
    "einops": "test_einops.py",
    "matplotlib": "test_readers.py::test_matplotlib",
    "pandas": "test_readers.py::test_pandas",
    "pygfx": "test_pygfx.py",
    "PyTorch, by DLPack": "test_readers.py::test_torch",
    "scikit-learn, array_api_dispatch": "test_scikit_learn.py",
    "SciPy, SCIPY_ARRAY_API": "test_array_api_libraries.py::test_scipy",
    "xarray": "test_readers.py::test_xarray",
}
"""Rows of the table, and how the names of their tests begin."""


def run(device: str, is_writing: bool, arguments: Sequence[str]) -> int:
    """Run the cases and print what differs from the list; return the exit code.

    Args:
        device: the default device of every case.
        is_writing: whether the numbers go into the table.
        arguments: pytest's own; then the table is left alone.
    """
    python = further.prepare()
    progress = CACHE / f"consumers-{device}.progress"
    progress.unlink(missing_ok=True)
    env = further.variables(
        TENSORWEB_CONSUMERS_DEVICE=device, SCIPY_ARRAY_API="1", **LAVAPIPE
    )
    command: list[str | Path] = [python, "-m", "pytest", FOLDER, "-q", "-rN"]
    command += ["-c", FOLDER / "pytest.ini", "--rootdir", ROOT, "--tb=short"]
    command += ["-p", "no:cacheprovider", "-p", "tools.progress"]
    status([*command, "--progress", progress, *arguments], env=env)
    results = Results.read(progress)
    if not results.tests:
        raise BuildError("no case ran; what pytest printed says why")
    rows = [row for row in known(KNOWN) if device in row.devices]
    verdict = compare(results, rows, "consumers/")
    print(f"\n== libraries on {device}")
    print(*report(results, rows, verdict, KNOWN), sep="\n")
    is_wrong = bool(verdict.unknown)
    if not arguments:
        text = PAGE.read_text("utf-8")
        fresh = with_counts(text, device, counts(results))
        if is_writing:
            PAGE.write_text(fresh, "utf-8")
        elif fresh != text:
            print(f"{PAGE.relative_to(ROOT)} has other numbers; --write writes these.")
            is_wrong = True
    return 1 if is_wrong else 0


def counts(results: Results) -> dict[str, str]:
    """Return for each row of the table how many of its cases pass."""
    found = {}
    for library, start in LIBRARIES.items():
        tests = [
            test
            for name, test in results.tests.items()
            if name.partition("consumers/")[2].startswith(start)
        ]
        ran = [test for test in tests if test.outcome != "skipped"]
        good = sum(test.outcome == "passed" for test in ran)
        found[library] = f"{good} of {len(ran)}" if ran else "not run"
    return found


def with_counts(text: str, device: str, found: dict[str, str]) -> str:
    """Return the page with the column of one device written anew."""
    head, _, rest = text.partition(BEGIN)
    table, _, tail = rest.partition(END)
    old = {cells[0]: cells[1:] for cells in map(_cells, table.splitlines())}
    lines = ["| library | " + " | ".join(DEVICES) + " |", "|---|---:|---:|"]
    for library in LIBRARIES:
        cells = dict(zip(DEVICES, old.get(library, ["", ""]), strict=True))
        cells[device] = found[library]
        lines.append(f"| {library} | " + " | ".join(cells[d] for d in DEVICES) + " |")
    return head + BEGIN + "\n".join(lines) + "\n" + END + tail


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
