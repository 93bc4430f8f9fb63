"""Which float16 products matrix units multiply, and how their tiles are chosen.

Tint checks their shaders (`test_shaders.py`); adapters that have such units and run
them are no part of the tests, `docs/contributing/tuning.md` tells what they gave.
"""

from __future__ import annotations

import pytest

from tensorweb import dtypes
from tensorweb.codegen.compiler import compile_kernel
from tensorweb.codegen.product.subgroup_matrix import UNIT_TILES
from tensorweb.codegen.program import DEFAULT_TARGET, Launch, Target
from tensorweb.graph.node import Node
from tensorweb.nodes import contraction, elementwise, movement
from tensorweb.ops import OPS
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize
from tests.shader_corpus import UNIT_TEMPLATE, UNITS, value

HALF = dtypes.float16


def launches(node: Node, target: Target = UNITS) -> list[Launch]:
    """Return what computes a node."""
    kernels = plan(linearize([node.base]), 6)
    return [one for k in kernels for one in compile_kernel(k.kernel, target).launches]


def half(*shape: int) -> Node:
    return value(*shape, dtype=HALF)


def transposed(node: Node) -> Node:
    return movement.permute(node, (1, 0))


TAKEN = {
    "rows": contraction.matmul(half(128, 64), half(64, 256)),
    "columns": contraction.matmul(transposed(half(64, 128)), transposed(half(256, 64))),
    "ragged rows": contraction.matmul(half(65, 72), half(72, 80)),
    "ragged depth": contraction.matmul(half(128, 8), half(8, 128)),
    "of a batch": contraction.matmul(half(3, 128, 64), half(3, 64, 128)),
    "with itself": contraction.matmul(half(128, 64), transposed(half(128, 64))),
}

LEFT_ALONE = {
    "float32": contraction.matmul(value(128, 64), value(64, 128)),
    "few rows": contraction.matmul(half(32, 64), half(64, 256)),
    "odd depth": contraction.matmul(half(128, 63), half(63, 128)),
    "odd lines": contraction.matmul(half(128, 64), half(64, 129)),
    "computed": contraction.matmul(
        elementwise.elementwise(OPS["negative"], half(128, 64)), half(64, 128)
    ),
    "every second": contraction.matmul(
        movement.slice_ranges(half(128, 128), ((0, 128, 1), (0, 64, 2))), half(64, 128)
    ),
}


@pytest.mark.parametrize("name", TAKEN)
def test_products_of_halves_in_lines_take_the_units(name: str) -> None:
    (launch,) = launches(TAKEN[name])
    assert launch.template == UNIT_TEMPLATE
    assert launch.access == "r" * (len(launch.access) - 1) + "w"


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_other_products_do_not(name: str) -> None:
    assert UNIT_TEMPLATE not in [one.template for one in launches(LEFT_ALONE[name])]


@pytest.mark.parametrize("name", TAKEN)
def test_nothing_needs_them(name: str) -> None:
    assert "matmul" in [one.template for one in launches(TAKEN[name], DEFAULT_TARGET)]


def test_an_operand_that_is_added_is_read_one_by_one() -> None:
    x = half(128, 128)
    summed = elementwise.elementwise(
        OPS["add"], contraction.matmul(x, half(128, 128)), x
    )
    assert [one.template for one in launches(summed)] == ["matmul"]


def test_few_tiles_are_small_ones() -> None:
    def tile(size: int) -> str:
        (launch,) = launches(contraction.matmul(half(size, size), half(size, size)))
        source = launch.source
        assert isinstance(source, str)
        return "large" if "ROWS: u32 = 128u" in source else "small"

    assert tile(4096) == "large"
    assert tile(1024) == "small"
    scarce = Target(workgroup_bytes=16384, has_subgroup_matrices=True)
    product = contraction.matmul(half(4096, 4096), half(4096, 4096))
    (launch,) = launches(product, scarce)
    assert "ROWS: u32 = 64u" in str(launch.source)


def test_memory_of_a_tile_equals_the_template_s() -> None:
    large = UNIT_TILES[0]
    halves = 128 * (32 + 8) + 32 * (128 + 8)
    sums = 4 * 16 * 20
    assert large.workgroup_bytes((32, 128)) == 2 * halves + 4 * sums
