"""Training steps and forward passes in tensorweb, as somebody would write them.

Runs in Pyodide and natively, imports no NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from time import perf_counter
from typing import Any

import tensorweb as tw
from bench.train.gpt2 import SHAPES, forward, weights
from bench.train.models import LOSSES, SIZES, Shape, data, parameters
from tensorweb import Tensor, evaluate

RATE = 1e-3


def tensor(given: Any, shape: Shape, code: str) -> Tensor:
    """Return a tensor of the bytes of an array; code `f` or `i`."""
    flat = memoryview(given.to_bytes() if hasattr(given, "to_bytes") else given)
    elements = flat.cast("B").cast(code)  # type: ignore[call-overload]  # f or i
    assert len(elements) == prod(shape), "another size than the shape's"
    return tw.asarray(elements).reshape(shape)


class Trainer:
    """One network that learns from one batch, step after step."""

    def __init__(
        self, network: str, tiny: bool, given: Mapping[str, Any], x: Any, y: Any
    ) -> None:
        """Begin with the bytes of parameters, inputs and labels."""
        size = SIZES[network][tiny]
        rows = parameters(network, size)
        model = {name: tensor(given[name], rows[name].shape, "f") for name in rows}
        inputs, letters, labels, _ = data(network, size)
        self.x = tensor(x, inputs, "i" if letters else "f")
        self.y = tensor(y, labels, "i")
        adam = tw.optim.Adam(lr=RATE)
        loss_of = LOSSES[network]

        def step(model: Any, state: Any, x: Tensor, y: Tensor) -> Any:
            def loss_on(model: Any) -> Tensor:
                found: Tensor = loss_of(tw, size, model, x, y)
                return found

            loss, gradients = tw.value_and_grad(loss_on)(model)
            model, state = adam.update(model, gradients, state)
            return model, state, loss

        self.step = tw.jit(step)
        self.model, self.state = model, adam.init(model)
        self.loss: Tensor | None = None

    def run(self, count: int) -> None:
        """Take so many steps; nothing waits for them."""
        for _ in range(count):
            found = self.step(self.model, self.state, self.x, self.y)
            self.model, self.state, self.loss = found

    def python_ms(self, count: int) -> float:
        """Return milliseconds that a step takes Python, the GPU idle before."""
        begin = perf_counter()
        self.run(count)
        return (perf_counter() - begin) * 1e3 / count

    async def loss_async(self) -> float:
        """Return the loss before the newest step."""
        assert self.loss is not None, "no step yet"
        return float(await self.loss.item_async())


class Forward:
    """GPT-2's forward pass with random weights."""

    def __init__(self, workload: str, tiny: bool) -> None:
        """Draw the weights on the device."""
        size = SHAPES[workload][tiny]
        self.weights = weights(tw, size)
        shape = (size.batch, size.length)
        self.text = tw.random.randint(tw.random.key(1), shape, 0, size.letters)
        tw.realize(self.text)
        self.step = tw.jit(lambda weights, text: forward(tw, size, weights, text))
        self.logits: Tensor | None = None

    def run(self, count: int) -> None:
        """Compute the logits so many times; nothing waits for them."""
        for _ in range(count):
            self.logits = None  # of one pass they take 1.6 GB
            self.logits = self.step(self.weights, self.text)

    def python_ms(self, count: int) -> float:
        """Return milliseconds that a pass takes Python, the GPU idle before."""
        begin = perf_counter()
        self.run(count)
        return (perf_counter() - begin) * 1e3 / count

    async def loss_async(self) -> float:
        """Return the first logit, to be compared between runs."""
        assert self.logits is not None, "no pass yet"
        await evaluate.read_async([self.logits[:1, :1, :1].node])
        return float(await self.logits[0, 0, 0].item_async())
