"""Writes reach views and the tensors whose views they are, as in NumPy."""

from __future__ import annotations

import gc
from typing import Any

import numpy
import pytest

import tensorweb as tw

PROGRAMS = {
    "one index behind the other": "a[1][2] = 5; a[2][1:][0] += 1",
    "a mask of a part": "a[1:, 1:-1][a[1:, 1:-1] > 5] = 0",
    "a transpose": "a.T[0, 2] = 9; t = a.T; t[1] += 10; a[0] = 3",
    "rows of a loop": "for row in a: row[::2] -= row[0]",
    "a part in place": "u = a[1:, 1:]; u += 10; u *= a[:2, :3]; a -= 1",
    "parts of parts": "u = a[1:]; v = u[:, ::-1]; w = v[0, 1:3]; w[:] = 7; u[1] = 4",
    "a part of a deleted view": "u = a[1:][:, 1:].T; v = u[0]; v += 5; del a; u[0] = 2",
    "halves exchanged": "u, v = a[:, :2], a[:, 2:]; u[...] = v; v += u",
    "another shape": "f = a.reshape(-1); f[5] = 50; g = a.reshape(2, 6); g[1] = 0",
    "elements in a row": "r = a.ravel(); r[3] = 33; a[2, 3] = -1",
    "a shape that needs a copy": "r = a.T.reshape(-1); r[0] = 9; s = a[:, 1:].ravel()",
    "a part that was written": "u = a[:, 1:]; u += 1; r = u.ravel(); r[0] = 99",
    "orders that were written": (
        "t = a.T; t[0] = 9; t += a.T; a *= 2; r = t.reshape(-1); r[0] = 1; a += 3; "
        "s = a.reshape(2, 6); s[1] = 4"
    ),
    "reversed, in a row": (
        "r = a[0, ::-1].ravel(); r[0] = 9; s = a[::2].reshape(2, 1, 4); s[0] = 8; "
        "f = a[1][::-1].reshape(-1); f[0] = 6"
    ),
    "copies": "c = a.copy(); c[0] = 1; d = a[[0, 1]]; d[0] = 2; e = a[a > 3]; e[0] = 1",
    "axes of one": "c = a[:, None]; c[0] = 5; d = a[None].squeeze(0); d[1] = 6",
    "axes exchanged": "b = a.reshape(3, 2, 2); b.swapaxes(0, 2)[0, 1] = 8",
    "numbers": "n = a[1, 1]; n += 5; m = a.sum(); m -= 1",
    "several names": "b = a; u = a[0]; b[0, 0] = 3; u[1] = 4; w = a[0]; w[2] = 5",
    "parts that overlap": "u, v = a[0:2], a[1:3]; u += 1; v *= 2; u[1] = v[1]",
    "complex parts": "z = a + 1j * a; z.real[0] = 7; i = z.imag; i[:, 1] = -1; z *= 2",
}


def run(text: str, library: Any) -> dict[str, Any]:
    """Run statements on a made array, and return what they leave as lists."""
    base = library.reshape(library.arange(12.0), (3, 4))
    names: dict[str, Any] = {"a": base, "base": base}
    exec(text.replace("; ", "\n") if "for" not in text else text, names)
    return {
        name: value.tolist()
        for name, value in names.items()
        if hasattr(value, "tolist")
    }


@pytest.mark.parametrize("title", PROGRAMS)
def test_writes_are_seen_as_in_numpy(cpu: str, title: str) -> None:
    assert run(PROGRAMS[title], tw) == run(PROGRAMS[title], numpy)


def test_writes_are_seen_on_a_gpu(webgpu: str) -> None:
    for title in ("a transpose", "parts of parts", "parts that overlap"):
        assert run(PROGRAMS[title], tw) == run(PROGRAMS[title], numpy)


def test_views_keep_no_owner_alive(cpu: str) -> None:
    x = tw.zeros((50, 4))
    part = x[1:]
    assert part._links is not None
    assert part._links.base()[1] is x
    for _ in range(100):
        x[0]
    assert x._links is not None
    assert len(x._links._views or ()) < 40
    del x
    gc.collect()
    assert part._links.base()[1] is None
    part[0] = 1
    assert part.sum() == 4


def test_a_write_updates_only_views_that_it_can_reach(cpu: str) -> None:
    x, y = tw.zeros((40, 6)), numpy.zeros((40, 6), "float32")
    rows, columns = [list(x), list(y)], [list(x.T), list(y.T)]
    before = [row.node for row in rows[0]]
    for ours, theirs in ((x, y), (rows[0][7], rows[1][7])):
        ours[3], theirs[3] = 5, 5
    x[9:11, ::2], y[9:11, ::2] = 2, 2
    columns[0][1][20:] += 1
    columns[1][1][20:] += 1
    followed = [i for i in range(40) if rows[0][i].node is not before[i]]
    assert followed == [3, 7, 9, 10, *range(20, 40)]
    assert x.tolist() == y.tolist()
    for ours, theirs in (rows, columns):
        assert [part.tolist() for part in ours] == [part.tolist() for part in theirs]


@pytest.mark.parametrize("count", [16, 17, 20])
def test_a_write_to_the_first_or_last_element_of_a_view_updates_it(
    cpu: str, count: int
) -> None:
    for element in (0, 9, 10, count - 1, count + 8):
        x, y = tw.zeros(40), numpy.zeros(40)
        ours, theirs = ([z[i : i + 10] for i in range(count)] for z in (x, y))
        x[element] = y[element] = 5
        assert ours[max(element - 9, 0)][min(element, 9)].item() == 5
        assert [view.tolist() for view in ours] == [view.tolist() for view in theirs]


def test_views_of_leaves_are_written_where_leaves_are(cpu: str) -> None:
    w = tw.asarray([[1.0, 2.0], [3.0, 4.0]]).requires_grad_()
    with pytest.raises(tw.errors.TransformError, match="changed in place"):
        w[0][1] = 5
    with tw.no_grad():
        w[0][1] = 5
        w.T[0] -= 1
    assert w.tolist() == [[0.0, 5.0], [2.0, 4.0]]
    (w * w).sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [[0.0, 10.0], [4.0, 8.0]]


def test_derivatives_go_through_views_that_are_written(cpu: str) -> None:
    def loss(x: Any) -> Any:
        y = x * 2
        part = y[1:]
        part *= part
        y[0] = part[0]
        return (y * y).sum()

    got = tw.grad(loss)(tw.asarray([1.0, 2.0, 3.0]))
    assert got.tolist() == [0.0, 8 * 16 * 2.0**3, 4 * 16 * 3.0**3]


def test_views_see_writes_of_a_recorded_function(device: str) -> None:
    x = tw.zeros((2, 3))
    first = x[0]

    @tw.jit(updates=[x])
    def step(v: Any) -> Any:
        row = x[0]
        row += v
        return x.sum()

    for number in (1.0, 2.0):
        step(tw.asarray([number] * 3))
        assert first.tolist() == x.tolist()[0] == [number * (number + 1) / 2] * 3


def test_a_tensor_that_gets_another_shape_shares_nothing(cpu: str) -> None:
    whole = tw.zeros((3, 2, 3))
    x = whole[0]
    row = x[0]
    part = row[1:]
    x._replace(tw.ones(4).node)
    x[0] = 5
    part[0] = 7
    assert (row.tolist(), x.tolist()) == ([0, 7, 0], [5, 1, 1, 1])
    assert whole[0].tolist() == [[0, 7, 0], [0, 0, 0]]
