"""The Array API's official suite of tests on one device, compared with a reviewed list.

`python3 build.py array-api [DEVICE]`. The suite (github.com/data-apis/array-api-tests)
is not part of the project: it is a folder or a `.tgz` next to the checkout, or what
`--suite` names. `tests/array_api/known.toml` says what fails or is skipped, and why;
anything else that does not pass is an error.
"""

from __future__ import annotations

import shutil
import tarfile
import time
from collections.abc import Sequence
from pathlib import Path

from tools import further
from tools.known import compare, known, report
from tools.process import ROOT, BuildError, output, status
from tools.results import Results

KNOWN = ROOT / "tests/array_api/known.toml"

CHECKOUTS = ("array-api-tests", "shared/array-api/suite.tgz")
"""Where the suite is looked for, next to the checkout."""

INSIDE = "array_api_tests/"
"""Where the names of tests begin that the list has."""

VERSION = "2025.12"

TOTAL = 1384
"""Tests of the suite for a namespace with every dtype."""

FOLDER = ROOT / ".cache/array-api"

NAMESPACE = "exec('import tensorweb as xp; xp.set_default_device(\"{device}\")')"

ABSENT = """
import tensorweb as tw
names = "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64"
names += " float32 float64 complex64 complex128"
tw.set_default_device({device!r})
have = tw.__array_namespace_info__().dtypes()
print(",".join(name for name in names.split() if name not in have))
"""
"""Prints the standard's dtypes that a device lacks."""

EDITS = {
    "array_api_tests/dtype_helpers.py": (
        (
            "for dt in complex_dtypes], key=lambda x: x[1]\n)[0]",
            "for dt in complex_dtypes], key=lambda x: x[1], default=(None, 0)\n)[0]",
        ),
        ("({'complex64', 'complex128'} - set(skip_dtypes))", "complex_dtypes"),
    ),
    "array_api_tests/test_signatures.py": (
        (
            "dh.dtype_to_name[dh.widest_complex_dtype]",
            'dh.dtype_to_name.get(dh.widest_complex_dtype, "complex128")',
        ),
    ),
}
"""What the suite needs to be imported where a complex dtype is missing."""


def run(
    device: str, suite: Path | None, examples: int, further_arguments: Sequence[str]
) -> int:
    """Run the suite and print what it says; return the exit code.

    Args:
        device: the default device of the run.
        suite: a checkout of the suite or a `.tgz` of one; None looks next to ours.
        examples: how many inputs each test draws.
        further_arguments: pytest's own, `-k NAME` for example.
    """
    home = _unpacked(_found(suite))
    python = further.prepare()
    absent = output(
        [python, "-c", ABSENT.format(device=device)], env=further.variables()
    ).strip()
    print(f"{device}: {examples} examples a test; left out: {absent or 'nothing'}")
    progress = FOLDER / f"{device}.progress"
    progress.unlink(missing_ok=True)
    env = further.variables(
        ARRAY_API_TESTS_MODULE=NAMESPACE.format(device=device),
        ARRAY_API_TESTS_VERSION=VERSION,
        ARRAY_API_TESTS_SKIP_DTYPES=absent,
        PYTHONWARNINGS="ignore",
    )
    command: list[str | Path] = [python, "-m", "pytest", home / "array_api_tests"]
    command += ["-c", home / "pytest.ini", "--rootdir", home, "-q", "-rN", "--tb=line"]
    command += ["-p", "no:cacheprovider", "--disable-warnings", "--derandomize"]
    command += ["-p", "tools.progress", "--progress", progress]
    command += ["--max-examples", str(examples), "--disable-deadline"]
    started = time.monotonic()
    status([*command, *further_arguments], env=env)
    results = Results.read(progress)
    if not results.tests:
        raise BuildError("the suite did not run; what it printed says why")
    rows = [row for row in known(KNOWN) if device in row.devices]
    verdict = compare(results, rows, INSIDE)
    print(f"\n== the Array API's suite on {device}")
    print(*report(results, rows, verdict, KNOWN), f"{TOTAL} tests in all", sep="\n")
    print(f"{time.monotonic() - started:.0f} s")
    return 1 if verdict.unknown else 0


def _found(suite: Path | None) -> Path:
    """Return where the suite is.

    Raises:
        BuildError: it is nowhere; says how to get it.
    """
    paths = [suite] if suite else [ROOT.parent / name for name in CHECKOUTS]
    for path in paths:
        if path.exists():
            return path.resolve()
    raise BuildError(
        "the Array API's suite is not here. Run `git clone --recurse-submodules "
        "https://github.com/data-apis/array-api-tests` next to this folder, or name a "
        "checkout of it with --suite."
    )


def _unpacked(suite: Path) -> Path:
    """Copy the suite, with our edits; return its folder."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    if suite.is_dir():
        shutil.copytree(suite, FOLDER / suite.name)
    else:
        with tarfile.open(suite) as archive:
            archive.extractall(FOLDER, filter="data")
    home = next(FOLDER.glob("*/array_api_tests"), FOLDER / "none").parent
    for path, edits in EDITS.items():
        text = (home / path).read_text("utf-8") if (home / path).is_file() else ""
        for old, new in edits:
            if text.count(old) != 1:
                raise BuildError(f"{suite}: no suite of the version that we know")
            text = text.replace(old, new)
        (home / path).write_text(text, "utf-8")
    return home
