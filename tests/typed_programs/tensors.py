"""Tensors, their methods and the functions of `tw`."""

from typing import assert_type

import tensorweb as tw

x = tw.zeros((3, 4))
assert_type(x, tw.Tensor)
assert_type(tw.pi, float)
assert_type((x + 1).sum(axis=0), tw.Tensor)
assert_type(1 - x, tw.Tensor)
assert_type(x == 1, tw.Tensor)
assert_type(x @ x.T, tw.Tensor)
assert_type(-x[0, 1:], tw.Tensor)
assert_type(x.shape, tuple[int, ...])
assert_type(x.dtype, tw.DType)
assert_type(x.at[0].set(3.0), tw.Tensor)
assert_type(tw.where(x > 0, x, 0), tw.Tensor)
assert_type(tw.top_k(x, 2).values, tw.Tensor)
assert_type(x.max(axis=1), tw.Tensor)
assert_type(x.max(dim=1).indices, tw.Tensor)
assert_type(tw.min(x, 1, keepdim=True)[0], tw.Tensor)
assert_type(tw.sort(x), tw.Tensor)
assert_type(x.sort(dim=0)[1], tw.Tensor)
assert_type(tw.nonzero(x), tuple[tw.Tensor, ...])
assert_type(tw.realize(x), tw.Tensor)
assert_type(tw.random.normal(tw.random.key(0), (2, 3)), tw.Tensor)
assert_type(tw.linalg.svd(x).S, tw.Tensor)
assert_type(x.cumsum(axis=1).cumprod(), tw.Tensor)
assert_type(x.argpartition(1), tw.Tensor)
assert_type(x.sum(dim=0, keepdim=True), tw.Tensor)
assert_type(tw.mean(x, dim=(0, 1)) + x.std(dim=1, correction=1), tw.Tensor)
assert_type(tw.argmax(x, dim=-1, keepdim=True), tw.Tensor)
assert_type(x.searchsorted(x), tw.Tensor)
assert_type(x.trace() + x.ptp() + x.diagonal().sum(), tw.Tensor)
assert_type(x.tobytes(), bytes)
assert_type(x.itemsize, int)
assert_type(x.base, tw.Tensor | None)
assert_type(x.flags.c_contiguous, bool)
assert_type(x.flat[0], tw.Tensor)
x.flat = 3
x.flat[1] = 4
x.fill(1)
x.put([0], 1)
x += 1
assert_type(x, tw.Tensor)

tw.zeroes(3)  # wrong
x.sum(dim="rows")  # wrong
tw.max(x, dimension=1)  # wrong
x.summ()  # wrong
x.sum(axes=0)  # wrong
x.sum(axis="0")  # wrong
tw.zeros("3")  # wrong
length: int = x.sum()  # wrong
x.fill()  # wrong
