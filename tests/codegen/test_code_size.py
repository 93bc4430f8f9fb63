"""Long functions stand in a kernel's text a few times only, whatever the kernel is.

Drivers write every call out, and each copy is compiled: copies are counted here as they
would be written out, without a device.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from shader_corpus import sources

import tensorweb as tw
from tensorweb.codegen.policy import MOST_STATEMENTS
from tensorweb.nodes.ranges import promise_interval
from tensorweb.performance.warming import given

Function = Callable[[tw.Tensor], tw.Tensor]

KINDS: dict[str, Callable[[Function], tw.Tensor]] = {
    "elementwise": lambda f: f(given(2000)),
    "transposed": lambda f: f(given(512, 500).T) + given(500, 512),
    "sum": lambda f: f(given(2000)).sum(),
    "sum of an odd length": lambda f: f(given(1999)).sum(),
    "sums of rows": lambda f: f(given(512, 500)).sum(axis=1),
    "sums of columns": lambda f: f(given(512, 500)).sum(axis=0),
    "sums of windows": lambda f: f(tw.sliding_windows(given(1 << 17), 3)).sum(axis=-1),
    "largest": lambda f: tw.argmax(f(given(2000))),
    "running totals": lambda f: tw.cumulative_sum(f(given(2000))),
    "running totals of an odd length": lambda f: tw.cumulative_sum(f(given(1999))),
    "running totals of short rows": lambda f: tw.cumulative_sum(
        f(given(40, 200)), axis=1
    ),
    "long running totals": lambda f: tw.cumulative_sum(f(given(1 << 20))),
    "short rows": lambda f: in_rows(f, given(33, 33)),
    "rows": lambda f: in_rows(f, given(512, 500)),
    "long rows": lambda f: in_rows(f, given(20, 8192)),
    "long rows of an odd length": lambda f: in_rows(f, given(20, 8191)),
    "rows and then": lambda f: f(in_rows(tw.abs, given(20, 8192))),
    "behind sums": lambda f: f(given(512, 500).sum(axis=0)),
    "behind a product": lambda f: f(given(300, 300) @ given(300, 300)),
    "behind an odd product": lambda f: f(given(301, 300) @ given(300, 301)),
    "before a product": lambda f: f(given(300, 300)) @ given(300, 300),
    "product of vectors": lambda f: f(given(3000)) @ given(3000),
    "sort": lambda f: tw.sort(f(given(2000))),
    "sort of short rows": lambda f: tw.sort(f(given(40, 200)), axis=1),
    "parts side by side": lambda f: tw.concat([f(given(1000)), given(1000)]),
    "accumulation": lambda f: given(900).at[positions()].add(f(given(2000))),
    "scatter": lambda f: given(900).at[positions()].set(f(given(2000))),
}


def positions() -> tw.Tensor:
    """Return positions that nobody has to look at."""
    found = given(2000, dtype=tw.int32)
    promise_interval(found.node, 0, 0)
    return found


def in_rows(f: Function, x: tw.Tensor) -> tw.Tensor:
    """Return a kernel of rows that computes `f` before and after its reduction."""
    y = f(x)
    return y / tw.max(y, axis=-1, keepdims=True)


def some(x: tw.Tensor) -> tw.Tensor:
    return tw.sin(x) * tw.cos(x) + tw.tan(x)


def many(x: tw.Tensor) -> tw.Tensor:
    for _ in range(8):
        x = tw.sin(x) + tw.cos(x)
    return x


DEFINITION = re.compile(r"^fn (\w+)\((.*?)^\}\n", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"\b([A-Za-z_]\w*)\(")


def written_out(source: str) -> tuple[int, Counter[str]]:
    """Return a kernel's statements and its copies of each function, calls inlined."""
    bodies = {m[1]: m[2].split("{", 1)[1] for m in DEFINITION.finditer(source)}

    @cache
    def size(name: str) -> int:
        calls = [call for call in CALL.findall(bodies[name]) if call in bodies]
        return bodies[name].count(";") + sum(map(size, calls))

    @cache
    def copies(name: str) -> Counter[str]:
        found: Counter[str] = Counter([name])
        for call in CALL.findall(bodies[name]):
            if call in bodies:
                found += copies(call)
        return found

    return size("main"), copies("main")


def kernels(kind: str, f: Function) -> Iterator[tuple[int, Counter[str]]]:
    """Yield statements and copies of every launch of a kind of kernel around `f`."""
    for source in sources(KINDS[kind](f).node):
        yield written_out(source)


@pytest.mark.parametrize("kind", KINDS)
def test_some_functions_are_written_out_four_times_at_most(kind: str) -> None:
    found = 0
    for _, copies in kernels(kind, some):
        found += copies["tan_f32"]
        assert copies["tan_f32"] <= 4
    assert found


@pytest.mark.parametrize("kind", KINDS)
def test_many_functions_are_written_out_once(kind: str) -> None:
    for _, copies in kernels(kind, many):
        assert copies["sin_f32"] <= 8
        assert copies["cos_f32"] <= 8


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_with_functions_are_not_much_longer(kind: str) -> None:
    """Than a driver compiles within a second; what they hold anyway not counted."""
    plain = max(size for size, _ in kernels(kind, tw.abs))
    assert max(size for size, _ in kernels(kind, some)) - plain <= 1.1 * MOST_STATEMENTS
    assert max(size for size, _ in kernels(kind, many)) - plain <= 2 * MOST_STATEMENTS


def test_short_expressions_stay_as_they_are() -> None:
    """Loads of a reduction are on their way together where terms are short."""
    for kind in ("sum", "sums of rows", "running totals", "rows"):
        for source in sources(KINDS[kind](tw.exp).node):
            assert "each: array" not in source
            assert "var quads" not in source
    (source, *_) = sources(given(4096).sum().node)
    assert "total3 = combine(total3" in source
