"""What one thread of WebAssembly can do at most: hand-written loops, as modules.

The innermost loop of a matrix product on packed operands, a sum and a copy.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

ROWS, VECTORS, DEPTH = 5, 2, 512  # of a product's tile: rows, vectors of 4, terms
UNROLLED = 4
ACCUMULATORS = 8
VECTOR = 16  # bytes
PAGE = 1 << 16
MIB = 1 << 20


def roofs() -> list[dict[str, Any]]:
    """Return the roofs as workloads for JavaScript, whose results are not checked."""
    left, right = DEPTH * ROWS * 4, DEPTH * VECTORS * VECTOR
    tiles, flop = 4096, 2 * ROWS * VECTORS * 4 * DEPTH * 4096
    tile = [0, left, left + right, tiles]
    nbytes = left + right + ROWS * VECTORS * VECTOR
    found = [
        _roof("microkernel", product(relaxed=False), tile, nbytes, flop, "GFLOP/s"),
        _roof(
            "microkernel_relaxed", product(relaxed=True), tile, nbytes, flop, "GFLOP/s"
        ),
    ]
    for size in (4, 64):
        work, name = size * MIB, f"sum_{size}MiB"
        given = [PAGE, work, 0]
        found.append(_roof(name, total(), given, work + PAGE, work, "GB/s"))
    for size in (8, 64):  # half of the bytes are read, half are written
        work, name = size * MIB, f"copy_{size}MiB"
        given = [0, work // 2 + PAGE, work // 2]
        found.append(_roof(name, copy(), given, work + PAGE, work, "GB/s"))
    return found


def _roof(
    name: str, text: str, given: list[int], nbytes: int, work: int, unit: str
) -> dict[str, Any]:
    from wasmtime import wat2wasm

    return {
        "name": f"roof_{name}",
        "module": base64.b64encode(wat2wasm(text)).decode(),
        "arguments": given,
        "nbytes": nbytes,
        "work": work,
        "unit": unit,
        "inputs": [],
        "is_chained": False,
    }


def _module(parameters: str, locals_: str, body: str) -> str:
    names = " ".join(f"(param ${name} i32)" for name in parameters.split())
    memory = '(import "m" "memory" (memory 1))'
    return f'(module {memory} (func (export "run") {names} {locals_} {body}))'


def _loop(local: str, step: int, body: Iterable[str], label: str = "l") -> str:
    """Run a body until the local, which falls by `step`, is zero; at least once."""
    fall = f"(local.tee ${local} (i32.sub (local.get ${local}) (i32.const {step})))"
    return f"(loop ${label} {' '.join(body)} (br_if ${label} {fall}))"


def _grow(local: str, nbytes: int) -> str:
    return f"(local.set ${local} (i32.add (local.get ${local}) (i32.const {nbytes})))"


def product(*, relaxed: bool) -> str:
    """Multiply packed operands: addresses of both and of the tile, number of tiles."""
    sums = [(r, v) for r in range(ROWS) for v in range(VECTORS)]
    body = []
    for k in range(UNROLLED):
        for v in range(VECTORS):
            offset = (k * VECTORS + v) * VECTOR
            load = f"(v128.load offset={offset} (local.get $b))"
            body.append(f"(local.set $column{v} {load})")
        for r in range(ROWS):
            load = f"(v128.load32_splat offset={(k * ROWS + r) * 4} (local.get $a))"
            body.append(f"(local.set $scalar {load})")
            for v in range(VECTORS):
                factors = f"(local.get $scalar) (local.get $column{v})"
                old = f"(local.get $sum{r}_{v})"
                new = f"(f32x4.add (f32x4.mul {factors}) {old})"
                if relaxed:
                    new = f"(f32x4.relaxed_madd {factors} {old})"
                body.append(f"(local.set $sum{r}_{v} {new})")
    body += [_grow("a", UNROLLED * ROWS * 4), _grow("b", UNROLLED * VECTORS * VECTOR)]
    tile = [
        "(local.set $a (local.get $left)) (local.set $b (local.get $right))",
        f"(local.set $depth (i32.const {DEPTH}))",
        *(f"(local.set $sum{r}_{v} (v128.const i32x4 0 0 0 0))" for r, v in sums),
        _loop("depth", UNROLLED, body, "inner"),
        *(
            f"(v128.store offset={(r * VECTORS + v) * VECTOR} (local.get $result) "
            f"(local.get $sum{r}_{v}))"
            for r, v in sums
        ),
    ]
    vectors = ["scalar", *(f"column{v}" for v in range(VECTORS))]
    vectors += [f"sum{r}_{v}" for r, v in sums]
    locals_ = "(local $a i32) (local $b i32) (local $depth i32) "
    locals_ += " ".join(f"(local ${name} v128)" for name in vectors)
    return _module("left right result tiles", locals_, _loop("tiles", 1, tile))


def total() -> str:
    """Add up floats: address, bytes, address of the result (4 partial sums)."""
    sums = [f"(local.get $sum{i})" for i in range(ACCUMULATORS)]
    body = [
        f"(local.set $sum{i} (f32x4.add {one} "
        f"(v128.load offset={i * VECTOR} (local.get $address))))"
        for i, one in enumerate(sums)
    ]
    loop = _loop("nbytes", ACCUMULATORS * VECTOR, [*body, _grow("address", 128)])
    added = sums[0]
    for each in sums[1:]:
        added = f"(f32x4.add {added} {each})"
    locals_ = " ".join(f"(local $sum{i} v128)" for i in range(ACCUMULATORS))
    store = f"(v128.store (local.get $result) {added})"
    return _module("address nbytes result", locals_, f"{loop} {store}")


def copy() -> str:
    """Copy bytes: source, destination, bytes."""
    step = 4 * VECTOR
    body = [
        f"(v128.store offset={offset} (local.get $to) "
        f"(v128.load offset={offset} (local.get $from)))"
        for offset in range(0, step, VECTOR)
    ]
    body += [_grow("from", step), _grow("to", step)]
    return _module("from to nbytes", "", _loop("nbytes", step, body))
