"""Sums of products named by letters, compared with NumPy on both devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checks import assert_equal, ramp

import tensorweb as tw
from tensorweb.errors import ShapeError
from tensorweb.events import record_kernels

pytestmark = pytest.mark.usefixtures("device")


def small(*shape: int, dtype: Any = np.float32) -> Any:
    """Return small whole numbers, whose sums of products are exact."""
    return (ramp(*shape, dtype=np.int32) % 7 - 3).astype(dtype)


CASES = [
    ("ij,jk->ik", (2, 3), (3, 5)),
    ("ij,jk", (2, 3), (3, 5)),
    ("ij,kj->ki", (2, 3), (5, 3)),
    ("bij,bjk->bik", (7, 2, 3), (7, 3, 5)),
    ("ibj,kjb->kbi", (2, 7, 3), (5, 3, 7)),
    ("aibj,cjib->bac", (2, 3, 5, 4), (6, 4, 3, 5)),
    ("abcd,dcef->abef", (2, 3, 4, 5), (5, 4, 3, 2)),
    ("i,i", (70,), (70,)),
    ("i,j->ji", (5,), (7,)),
    ("ij,ij->ij", (2, 3), (2, 3)),
    ("ij,j->i", (2, 3), (3,)),
    ("ij,kl->il", (2, 3), (5, 7)),
    ("ii,ij->j", (3, 3), (3, 5)),
    ("iij,ji->", (3, 3, 5), (5, 3)),
    ("...ij,...jk->...ik", (7, 1, 2, 3), (4, 3, 5)),
    ("i...,i->...", (3, 2, 5), (3,)),
    ("...,...", (2, 3), (3,)),
    ("ij,->ij", (2, 3), ()),
    ("ij,jk,kl->il", (2, 3), (3, 5), (5, 7)),
    ("bi,bj,bk->ijk", (6, 2), (6, 3), (6, 5)),
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("ii->i", (3, 3)),
    (" a b , b -> a ", (2, 0), (0,)),
    ("bqhd,bkhd->bhqk", (2, 9, 4, 8), (2, 11, 4, 8)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].replace(" ", ""))
def test_equals_numpy(case: tuple[Any, ...]) -> None:
    subscripts, *shapes = case
    operands = [small(*shape) for shape in shapes]
    assert_equal(tw.einsum(subscripts, *operands), np.einsum(subscripts, *operands))


def test_integers_and_views() -> None:
    a, b = small(9, 8, 5, dtype=np.int32), small(7, 5, 9, dtype=np.int32)
    x, y = tw.asarray(a)[::2, ::-1], tw.asarray(b)[:, :, :5]
    got = tw.einsum("aib,kba->ik", x, y)
    assert got.dtype is tw.int32
    assert_equal(got, np.einsum("aib,kba->ik", a[::2, ::-1], b[:, :, :5]))


def test_attention_scores_are_one_product(webgpu: str) -> None:
    q, k = tw.asarray(small(2, 24, 4, 8)), tw.asarray(small(2, 20, 4, 8))
    with record_kernels() as records:
        got = tw.realize(tw.einsum("bqhd,bkhd->bhqk", q, k) * 0.5)
    assert [record.kind for record in records] == ["pairs"]
    assert_equal(got, np.einsum("bqhd,bkhd->bhqk", q.numpy(), k.numpy()) * 0.5)


@pytest.mark.parametrize(
    ("axes", "shape_a", "shape_b"),
    [
        (([1, 3], [2, 0]), (4, 3, 5, 6), (6, 7, 3)),
        (([0, 2], [1, 0]), (3, 20, 5, 18), (5, 3, 40)),
        (([2, 1], [0, 2]), (30, 8, 9), (9, 31, 8)),
        (2, (3, 5, 7), (5, 7, 4)),
        (0, (3, 5), (2,)),
    ],
)
def test_tensordot_over_groups_of_axes(axes: Any, shape_a: Any, shape_b: Any) -> None:
    a, b = small(*shape_a), small(*shape_b)
    assert_equal(tw.tensordot(a, b, axes=axes), np.tensordot(a, b, axes))


def test_tensordot_of_permuted_operands_needs_no_copy(webgpu: str) -> None:
    a, b = tw.asarray(small(20, 3, 5)), tw.asarray(small(5, 30, 3))
    with record_kernels() as records:
        tw.realize(tw.tensordot(a, b, axes=([1, 2], [2, 0])))
    assert [record.kind for record in records] == ["matmul"]


@pytest.mark.parametrize(
    ("subscripts", "shapes", "words"),
    [
        ("ij,jk->ik", [(2, 3), (4, 5)], "'j'.*lengths 3 and 4"),
        ("ij,jk->ik", [(2, 3)], "names 2 operands, 1 are given"),
        ("ijk->i", [(2, 3)], "names 3 axes.*remove letters"),
        ("i->i", [(2, 3)], "write '...' for the others"),
        ("ij->ik", [(2, 3)], "'k' in the result"),
        ("ij->ii", [(2, 3)], "given twice"),
        ("i1->i", [(2, 3)], "'1' in"),
        ("...i->i", [(2, 3)], "not in the result"),
        ("...,...->...", [(2,), (3,)], "'...'.*lengths 2 and 3"),
    ],
)
def test_wrong_subscripts_raise_with_the_reason(
    subscripts: str, shapes: list[tuple[int, ...]], words: str
) -> None:
    with pytest.raises(ShapeError, match=words):
        tw.einsum(subscripts, *(small(*shape) for shape in shapes))


def test_other_mistakes() -> None:
    with pytest.raises(ShapeError, match="subscripts first"):
        tw.einsum([1, 2], "ij")  # type: ignore[arg-type]  # the mistake under test
