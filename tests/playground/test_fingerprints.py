"""What results of two runs are compared by: exact for integers, near for floats."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tensorweb import devices
from tensorweb.playground import bridge, policy
from tensorweb.playground.session import Session


@pytest.fixture(autouse=True)
def main() -> Iterator[None]:
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


def found(source: str, device: str) -> list[dict[str, Any]]:
    session = Session(lambda kind, fields: None, None, True)
    with devices.device(device):
        answer = bridge.drive(session.run(f"import tensorweb as tw\n{source}"))
        assert answer["error"] is None
        records = bridge.drive(session.describe())
        assert {record["device"] for record in records} <= {device, "cpu"}
        records = json.dumps(bridge.drive(session.fingerprint()), allow_nan=False)
    return list(json.loads(records))


def one(source: str, device: str) -> dict[str, Any]:
    (found_one,) = found(f"x = {source}", device)
    return found_one


EXACT = [
    ("tw.arange(10)", "tw.where(tw.arange(10) == 7, 8, tw.arange(10))"),
    ("tw.arange(10) > 4", "tw.arange(10) > 3"),
    (
        "tw.arange(9, dtype=tw.uint8, device='cpu')",
        "tw.arange(9, dtype=tw.uint8, device='cpu') % 8",
    ),
    ("tw.asarray([2**32 - 1], dtype=tw.uint32)", "tw.asarray([7], dtype=tw.uint32)"),
]


@pytest.mark.parametrize(("source", "other"), EXACT)
def test_integers_agree_in_every_element(source: str, other: str, device: str) -> None:
    here = one(source, device)
    assert here == one(source, device)
    assert here["numbers"] == []
    assert len(here["digest"]) == policy.DIGEST_LENGTH
    assert here["digest"] != one(other, device)["digest"]


@pytest.mark.parametrize("source", [source for source, _ in EXACT])
def test_devices_have_the_same_digest(source: str, cpu: str, webgpu: str) -> None:
    assert one(source, cpu) == one(source, webgpu)


def test_of_a_large_tensor_some_elements_are_looked_at(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "MOST_DIGESTED", 4)
    every_third = one("tw.asarray([0, 3, 6, 9])", device)["digest"]
    assert one("tw.arange(12)", device)["digest"] == every_third


def test_floats_have_numbers_that_hardly_change(device: str) -> None:
    source = "tw.asarray([1.0, -2.0, 4.0, float('nan'), float('inf'), 0.0])"
    print_ = one(source, device)
    assert print_["digest"] is None
    least, greatest, mean, size, trend, nans, infinities = print_["numbers"]
    assert (least, greatest, mean, nans, infinities) == (-2, 4, 0.75, 1, 1)
    assert size == pytest.approx(7 / 6, rel=1e-5)
    assert trend == pytest.approx((-1 + 2 * 0.6 - 4 * 0.2) / 6, rel=1e-4)
    reversed_print = one(f"tw.flip({source})", device)["numbers"]
    assert reversed_print[:4] == print_["numbers"][:4]
    assert reversed_print[4] == pytest.approx(-trend, rel=1e-4)


@pytest.mark.parametrize("source", ["tw.zeros((0, 3))", "tw.asarray(2.5)"])
def test_empty_and_single_tensors_have_one_too(source: str, device: str) -> None:
    assert len(one(source, device)["numbers"]) == 7


def test_shown_tensors_are_the_result(device: str) -> None:
    source = "a = tw.ones(2)\nb = tw.ones(3)\n"
    assert [each["name"] for each in found(source, device)] == ["a", "b"]
    assert [each["name"] for each in found(f"{source}tw.show(b)", device)] == ["b"]
    many = f"x = [tw.ones({{}}) for _ in range({policy.MOST_FINGERPRINTS + 5})]"
    assert len(found(many.format(2), device)) == policy.MOST_FINGERPRINTS
