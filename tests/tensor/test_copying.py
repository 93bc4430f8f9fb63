"""Copies: `copy`, `deepcopy` and pickle keep values on both devices, at any depth."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest

import tensorweb as tw
from tensorweb.errors import DeviceError
from tensorweb.tensor import Tensor

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def samples() -> dict[str, Tensor]:
    x = tw.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    computed = x * 2
    computed.tolist()
    return {
        "data": x,
        "lazy": x * 2 + 1,
        "computed": computed,
        "view": computed.T[::-1, 1:],
        "constant": tw.full((3, 4), 2.5),
        "ramp": tw.arange(5),
        "mask": x > 2,
        "unsigned": tw.asarray([1, 2**32 - 1], dtype=tw.uint32),
        "number": x.sum(),
        "empty": tw.zeros((0, 3)),
        "infinite": tw.full(2, tw.inf),
    }


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_pickle_keeps_value_shape_dtype_and_device(protocol: int, device: str) -> None:
    for x in samples().values():
        y = pickle.loads(pickle.dumps(x, protocol))
        assert type(y) is Tensor
        assert (y.shape, y.dtype, y.device) == (x.shape, x.dtype, device)
        assert y.tolist() == x.tolist()


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy], ids=["copy", "deepcopy"])
def test_copies_are_tensors_of_their_own(how: object, device: str) -> None:
    for x in samples().values():
        y = how(x)  # type: ignore[operator]  # one of the two functions
        assert y is not x
        assert (y.shape, y.dtype, y.device) == (x.shape, x.dtype, device)
        expected = x.tolist()
        assert y.tolist() == expected
        y[...] = 0
        assert x.tolist() == expected


def test_deepcopy_preserves_shared_objects(device: str) -> None:
    w = tw.ones(3) * 2
    state = {"w": w, "again": [w], "other": w + 1}
    twin = copy.deepcopy(state)
    assert twin["w"] is twin["again"][0]  # type: ignore[index]  # the list
    assert twin["w"] is not w
    twin = pickle.loads(pickle.dumps(state))
    assert twin["w"] is twin["again"][0]


def test_deep_graphs_are_copied_without_recursion(device: str) -> None:
    x = tw.ones(3)
    for _ in range(120):
        x = x * 1.0 + 1.0
    assert copy.deepcopy(x).tolist() == [121.0] * 3
    assert pickle.loads(pickle.dumps(x)).tolist() == [121.0] * 3


def test_large_constants_stay_small() -> None:
    with tw.device("cpu"):
        assert len(pickle.dumps(tw.zeros((10**5, 10**6)))) < 1000


def test_names_are_kept(device: str) -> None:
    x = Tensor(tw.ones(2).node, "weights")
    assert copy.deepcopy(x).name == pickle.loads(pickle.dumps(x)).name == "weights"


READER = """
import pickle, sys
import tensorweb as tw
tw.set_default_device(sys.argv[1])
h = tw.arange(4, dtype=tw.float32) * 2 - 1
h.sum().item(), h.tolist()
print(pickle.load(sys.stdin.buffer).tolist())
"""


@pytest.mark.needs_processes
def test_another_process_reads_the_same(device: str) -> None:
    """Plans are kept by numbers that mean something in one process only."""
    g = tw.arange(4, dtype=tw.float32) * 2 + 1
    g.sum().item()
    done = subprocess.run(
        [sys.executable, "-c", READER, device],
        input=pickle.dumps(g),
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode().strip() == "[1.0, 3.0, 5.0, 7.0]"


def test_missing_device_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pickle.dumps(tw.ones(3, device="cpu"))

    def missing(name: str) -> None:
        raise DeviceError("there is no adapter.")

    monkeypatch.setattr("tensorweb.tensor.tensor.backend", missing)
    with pytest.raises(DeviceError, match=r"unpickle: a float32 tensor .*'cpu'.* not"):
        pickle.loads(data)


def test_nodes_stay_in_their_process(cpu: str) -> None:
    with pytest.raises(TypeError, match="its tensor can"):
        pickle.dumps(tw.ones(2).node)
