"""The same training steps and GPT-2's forward pass in PyTorch on CUDA, for reference.

Eager, compiled, and recorded as a CUDA graph; float32 without TF32.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from time import perf_counter
from typing import Any

from bench.results import Row
from bench.train import gpt2
from bench.train.models import HEADS, LETTERS, PARTS, SIZES, Size, data
from bench.train.values import values_of

RATE = 1e-3
COMPARED = 20
WARM = 10
SECONDS = 0.25

Step = Callable[[], Any]


def norm(torch: Any, x: Any, scale: Any, shift: Any) -> Any:
    """Return PyTorch's own normalised rows."""
    return torch.nn.functional.layer_norm(x, x.shape[-1:], scale, shift, 1e-5)


def layer(torch: Any, h: Any, p: Any, number: int, heads: int) -> Any:
    """Return texts behind one more layer, with PyTorch's own causal attention."""
    f = torch.nn.functional
    of = {part: p[f"{part}_{number}"] for part in PARTS}
    a = norm(torch, h, of["scale1"], of["shift1"]) @ of["qkv"] + of["qkv_b"]
    batch, length, wide = a.shape
    parts = a.view(batch, length, 3, heads, wide // 3 // heads)
    q, k, v = (parts[:, :, part].transpose(1, 2) for part in range(3))
    a = f.scaled_dot_product_attention(q, k, v, is_causal=True)
    h = h + a.transpose(1, 2).reshape(h.shape) @ of["out"] + of["out_b"]
    b = norm(torch, h, of["scale2"], of["shift2"]) @ of["up"] + of["up_b"]
    return h + f.gelu(b, approximate="tanh") @ of["down"] + of["down_b"]


def loss_of(torch: Any, network: str, size: Size, p: Any, x: Any, y: Any) -> Any:
    """Return the loss of a network."""
    f = torch.nn.functional
    if network == "train_mlp":
        hidden = f.relu(x @ p["w1"] + p["b1"])
        return f.cross_entropy(hidden @ p["w2"] + p["b2"], y)
    if network == "train_cnn":
        for filters, bias in (("c1", "d1"), ("c2", "d2")):
            x = f.conv2d(x, p[filters], p[bias].view(-1), padding=1)
            x = f.max_pool2d(f.relu(x), 2)
        return f.cross_entropy(x.reshape(size.batch, -1) @ p["w"] + p["b"], y)
    h = p["letters"][x] + p["places"]
    for number in range(size.layers):
        h = layer(torch, h, p, number, HEADS)
    logits = norm(torch, h, p["scale"], p["shift"]) @ p["head"]
    return f.cross_entropy(logits.reshape(-1, LETTERS), y)


def ways(torch: Any, network: str, size: Size) -> Iterator[tuple[str, Step]]:
    """Yield each way to train, with a function: a step that returns the loss."""
    values, given, labels = values_of(network, size)
    x = torch.tensor(given, device="cuda")
    y = torch.tensor(labels, device="cuda").long()
    loss = partial(loss_of, torch, network, size)
    for way in ("eager", "compiled", "graph", "compiled graph"):
        p = {
            name: torch.tensor(value, device="cuda").requires_grad_()
            for name, value in values.items()
        }
        is_graph, is_compiled = "graph" in way, "compiled" in way
        options = {"fused": True, "capturable": True} if is_graph else {"fused": True}
        adam = torch.optim.Adam(p.values(), RATE, **options)
        function = torch.compile(loss) if is_compiled else loss

        def step(p: Any = p, adam: Any = adam, function: Any = function) -> Any:
            adam.zero_grad(set_to_none=True)
            found = function(p, x, y)
            found.backward()
            adam.step()
            return found.detach()

        yield way, (recorded(torch, step) if is_graph else step)


def recorded(torch: Any, step: Step) -> Step:
    """Return a step that replays a CUDA graph; steps before it are taken, too."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = step()

    def replay() -> Any:
        graph.replay()
        return found

    return replay


def timed(torch: Any, step: Step) -> float:
    """Return milliseconds a step, streamed; the best of four batches."""
    for _ in range(WARM):
        step()
    torch.cuda.synchronize()
    count, best = 4, float("inf")
    for _ in range(5):
        begin = perf_counter()
        for _ in range(count):
            step()
        torch.cuda.synchronize()
        spent = perf_counter() - begin
        best = min(best, spent / count)
        count = max(4, int(SECONDS / best))
    return best * 1e3


def measure(part: str, tiny: bool) -> tuple[dict[str, Any], list[Row]]:
    """Return what measures, and a row for every network and way with `part`."""
    torch: Any = import_module("torch")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    rows = []
    for network, sizes in SIZES.items():
        if part not in network:
            continue
        size = sizes[tiny]
        _, letters, _, _ = data(network, size)
        unit = "tokens/s" if letters else "images/s"
        for way, step in ways(torch, network, size):
            first = float(step())
            for _ in range(COMPARED - 1):
                last = step()
            # A graph has taken steps before the first that is seen here.
            losses = None if "graph" in way else [first, float(last)]
            ms = timed(torch, step)
            tokens = size.batch * size.length
            rows.append(_row(network, way, ms, tokens / ms * 1e3, unit, losses))
    for workload, (full, small) in gpt2.SHAPES.items():
        if part in workload:
            rows += _forward(torch, workload, small if tiny else full)
    versions = {"Python": platform.python_version(), "PyTorch": torch.__version__}
    adapter = torch.cuda.get_device_name()
    return {"adapter": adapter, "driver": "", "versions": versions}, rows


def _forward(torch: Any, workload: str, size: gpt2.Text) -> list[Row]:
    """Return the rows of GPT-2's forward pass."""
    shapes = gpt2.weights(_Empty(torch), size)
    p = {
        name: torch.randn(shape, device="cuda") * gpt2.SPREAD
        for name, shape in shapes.items()
    }
    text = torch.randint(size.letters, (size.batch, size.length), device="cuda")

    def forward(p: Any, text: Any) -> Any:
        h = p["letters"][text] + p["places"]
        for number in range(size.layers):
            h = layer(torch, h, p, number, size.heads)
        return norm(torch, h, p["scale"], p["shift"]) @ p["letters"].T

    rows = []
    with torch.no_grad():
        for way, function in (("eager", forward), ("compiled", torch.compile(forward))):
            ms = timed(torch, partial(function, p, text))
            rate = size.tokens / ms * 1e3
            rows.append(_row(workload, way, ms, rate, "tokens/s", None))
    return rows


class _Empty:
    """Stands in for tensorweb where only the shapes of weights are wanted."""

    def __init__(self, torch: Any) -> None:
        self.torch, self.random = torch, self

    def key(self, seed: int) -> int:
        return seed

    def split(self, key: int, count: int) -> range:
        return range(count)

    def normal(self, key: int, shape: tuple[int, ...]) -> _Shape:
        return _Shape(shape)

    def ones(self, length: int) -> _Shape:
        return _Shape((length,))

    zeros = ones

    def realize(self, *given: object) -> None:
        """Do nothing: nothing is computed."""


class _Shape(tuple[int, ...]):
    """A shape that stays itself when it is scaled."""

    __slots__ = ()

    def __mul__(self, factor: Any) -> _Shape:
        return self


def _row(
    workload: str, way: str, ms: float, rate: float, unit: str, losses: Any
) -> Row:
    row: Row = {"workload": workload, "impl": f"PyTorch {way}", "ms": ms}
    row |= {"rate": rate, "unit": unit, "err": None}
    if losses:
        row["losses"] = losses
    print(row, flush=True)
    return row
