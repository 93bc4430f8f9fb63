"""Suites of others: what a run that differs from the reviewed list says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import array_api, consumers
from tools.known import Known, Verdict, compare, known
from tools.process import BuildError
from tools.results import Record, Results

ROWS = [
    Known(("test_a.py::test_x[*inf*", "test_a.py::test_y"), ("cpu",), "a rule"),
    Known(("test_b.py::*",), ("cpu",), "a part that is missing"),
]


def results(**outcomes: list[str]) -> Results:
    return Results(
        {
            f"array_api_tests/{name}": Record(outcome, is_done=True)
            for outcome, names in outcomes.items()
            for name in names
        }
    )


def test_only_what_no_row_explains_is_unknown() -> None:
    run = results(
        passed=["test_a.py::test_z", "test_a.py::test_x[1, 2]", "test_b.py::test_v"],
        failed=["test_a.py::test_x[inf, 2]", "test_c.py::test_w[(a)]"],
        skipped=["test_b.py::test_u", "test_c.py::test_s"],
    )
    verdict = compare(run, ROWS, array_api.INSIDE)
    assert verdict.unknown == ("test_c.py::test_s", "test_c.py::test_w[(a)]")
    assert verdict.counts == (1, 1)
    assert verdict.passing == ()


def test_a_listed_test_that_passes_is_said() -> None:
    run = results(passed=["test_a.py::test_y"], failed=["test_b.py::test_u"])
    assert compare(run, ROWS, array_api.INSIDE) == Verdict(
        (), ("test_a.py::test_y",), (0, 1)
    )


def test_the_list_has_a_reason_and_a_device_in_every_row() -> None:
    rows = [row for path in (array_api.KNOWN, consumers.KNOWN) for row in known(path)]
    assert rows
    for row in rows:
        assert row.why
        assert row.tests
        assert set(row.devices) <= {"cpu", "webgpu"}


def test_a_suite_that_is_not_there_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"git clone .*array-api-tests"):
        array_api._found(tmp_path / "none")


def test_the_table_of_libraries_keeps_the_other_device() -> None:
    page = consumers.PAGE.read_text("utf-8")
    found = dict.fromkeys(consumers.LIBRARIES, "7 of 9")
    fresh = consumers.with_counts(page, "webgpu", found)
    assert fresh.count("| 7 of 9 |") == len(found)
    einops = [
        line.split("|")[2]
        for text in (page, fresh)
        for line in text.splitlines()
        if line.startswith("| einops")
    ]
    assert einops[0] == einops[1]
    assert consumers.with_counts(fresh, "webgpu", found) == fresh
