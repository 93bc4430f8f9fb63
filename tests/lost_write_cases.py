"""Writes that are lost and writes that are not; runs in bare Pyodide as well.

No device is opened: graphs of `webgpu` are built and never computed.
"""

from __future__ import annotations

import contextlib
import operator
import warnings
from collections.abc import Callable
from typing import Any

import tensorweb as tw


def fresh(*shape: int) -> Any:
    return tw.zeros(shape or (3,), device="webgpu")


class Holder:
    """Holds a tensor as an attribute and as what a method returns."""

    def __init__(self) -> None:
        self.x = fresh()

    def kept(self) -> Any:
        return self.x


shared: Any = fresh()


def names() -> None:
    x = fresh()
    x[0] = 1
    x[1:2] = 1
    x[0] += 1
    shared[0] = 1
    y = z = x
    y[0] = z[1] = 1
    (w := fresh())[0] = 1
    one, two = fresh(), fresh()
    one[0], two[0] = 1, 2
    try:
        x[0] = 3
    finally:
        w[1] = 2


def containers() -> None:
    holder, table, rows = Holder(), {"k": fresh()}, [fresh(), fresh()]
    holder.x[0] = 1
    holder.kept()[0] = 1
    table["k"][0] = 1
    rows[0][1] = 2
    (*rows,)[0][1] = 2
    for row in rows:
        row[0] = 1
    for row in (shared, fresh()):
        row[1:] = 0


def calls() -> None:
    x = fresh()
    x.__setitem__(0, 1)
    operator.setitem(x, 0, 1)
    tw.Tensor.__setitem__(x, 0, 1)
    list(map(operator.setitem, [x], [0], [1]))

    def inside() -> None:
        x[0] = 2

    def argument(t: Any) -> None:
        t[0] = 1
        t[1:] = 2
        t[0] *= 2

    def generator() -> Any:
        t = fresh()
        t[0] = 1
        yield t
        t[1] = 2

    async def coroutine(t: Any) -> None:
        t[0] = 1

    inside()
    argument(x)
    argument(fresh())
    list(generator())
    with contextlib.suppress(StopIteration):
        coroutine(fresh()).send(None)


def views() -> None:
    a = fresh(4, 4)
    mask = tw.zeros((2, 2), dtype=tw.bool, device="webgpu")
    a[1][2] = 5
    a[1:-1, 1:-1][mask] = 1
    a.T[0, 2] = 9
    a[0][1:] = 2
    a[1][2] += 5
    a.reshape(16)[3] = 1
    a.T[1:].mT[0] = 1
    for row in tw.zeros((2, 2), device="cpu"):
        row[0] = 1


def lost() -> None:
    a = fresh(4, 4)
    fresh()[0] = 1
    (a + 1)[0] = 1
    a[[1, 2]][0] = 5
    a.T[[1, 2]][1:] = 2
    (a + 1)[1][2] += 5
    a.T.reshape(16)[3] = 1


REWRITES = (
    "part = fresh(); part[0] = … and use part",
    "part = a + 1; part[0] = … and use part",
    "part = a[[1, 2]]; part[0] = …; a[[1, 2]] = part",
    "part = a.T[[1, 2]]; part[1:] = …; a.T[[1, 2]] = part",
    "part = (a + 1)[1]; part[2] = … and use part",
    "part = a.T.reshape(16); part[3] = … and use part",
)


def heard(run: Callable[[], None]) -> list[str]:
    """Return the warnings that a function gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [str(warning.message) for warning in caught]


def check() -> None:
    """Raise when a lost write goes unnoticed, or another one is taken for lost."""
    for run in (names, containers, calls, views):
        assert heard(run) == [], (run, heard(run))
    found = heard(lost)
    assert len(found) == len(REWRITES), found
    for message, rewrite in zip(found, REWRITES, strict=True):
        assert "temporary" in message, message
        assert rewrite in message, message
