"""Whether arrays have elements of each other, so that one sees writes into another."""

from __future__ import annotations

from tensorweb.tensor import Tensor
from tensorweb.tensor.views import elements_of, extent_of, top_of

__all__ = [
    "may_share_memory",
    "shares_memory",
]


def may_share_memory(a: object, b: object, /, max_work: int | None = 0) -> bool:
    """Return whether the ranges that two arrays' elements lie in overlap.

    With a `max_work` other than 0 it is exact, as `shares_memory` is.

    >>> x = np.zeros(6)
    >>> np.may_share_memory(x[::2], x[1::2]), np.may_share_memory(x, x + 0)
    (True, False)
    """
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return False
    if top_of(a) is not top_of(b) or not (a.size and b.size):
        return False
    (first, last), (low, high) = extent_of(a), extent_of(b)
    if first > high or low > last:
        return False
    if max_work == 0 or a is b:
        return True
    mine, others = (Tensor(elements_of(x)).reshape(-1).tolist() for x in (a, b))
    return not set(mine).isdisjoint(others)


def shares_memory(a: object, b: object, /, max_work: int | None = None) -> bool:
    """Return whether two arrays have an element in common, which a write changes.

    It is exact unless `max_work` is 0, which compares ranges only.

    >>> x = np.zeros(6)
    >>> np.shares_memory(x[::2], x[1::2]), np.shares_memory(x[::2], x[::3])
    (False, True)
    """
    return may_share_memory(a, b, max_work=max_work)
