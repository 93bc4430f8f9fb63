"""`bench torch`: the workloads and training steps in PyTorch on CUDA, for reference.

Runs where PyTorch and its GPU are; needs nothing else but NumPy. float32 without TF32.
`eager` is the composition that the workload's definition gives, another word the
function that PyTorch has ready, `compiled` the composition by `torch.compile`.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from bench import results, training
from bench.cases import Timer
from bench.native import Way, measured
from bench.programs import common, operand, operands
from bench.results import BenchError, Row
from bench.training import FORWARD, RATE, SIZES, Functions, Size
from bench.workloads import Workload, chosen

WARMING_SIDE = 4096
TIMED_OPERATIONS = 20  # of a batch by CUDA's events, or as many as take TIMED_MS
TIMED_MS = 500
COMPARED_STEP = 20

Torch = Any
"""The module `torch`; it is not installed where this project is checked."""

Program = Callable[..., Any]

COMPOSED = frozenset(
    (
        *("elem", "pairwise", "gray_scott", "softmax", "layernorm", "var_rows", "gelu"),
        *("logsumexp_rows", "norm_rows", "sum_strided", "life", "heat", "mandelbrot"),
        *("attention", "attention_causal"),
    )
)
"""Programs of several operations, which `torch.compile` may fuse."""

INDEXED = ("gather", "scatter_add")
"""Programs whose integers are indices."""


@dataclass
class CudaTimer(Timer):
    """A timer that also asks CUDA's events for the GPU's time."""

    torch: Torch = None

    def measure(
        self,
        run: Callable[[int], None],
        group: int = 1,
        regroup: Callable[[int], None] | None = None,
    ) -> dict[str, float]:
        """Return times by the wall, and by CUDA's events around a batch."""
        by_wall = super().measure(run, group, regroup)
        count = max(1, min(TIMED_OPERATIONS, int(TIMED_MS / by_wall["ms"])))
        totals = []
        for _ in range(3):
            begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            run(count)
            end.record()
            self.torch.cuda.synchronize()
            totals.append(begin.elapsed_time(end) / count)
        return {**by_wall, "gpu_ms": min(totals)}


def run(options: argparse.Namespace) -> None:
    """Measure a table, or training steps, and save.

    Raises:
        BenchError: PyTorch is not installed or has no GPU.
    """
    torch = _torch()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True  # it may choose convolutions by measuring
    name = torch.cuda.get_device_name()
    print(f"PyTorch {torch.__version__} on {name}", flush=True)
    x = torch.ones((WARMING_SIDE, WARMING_SIDE), device="cuda")
    timer = CudaTimer(
        *(options.ms / 1e3, torch.cuda.synchronize, lambda: torch.mm(x, x)), torch=torch
    )
    rows: list[Row] = []
    end = perf_counter() + options.seconds
    if options.command == "train":
        rows += train(torch, timer, options.w or "", tiny=options.tiny)
    else:
        for workload in chosen(options.table, options.w, tiny=options.tiny):
            if perf_counter() > end:
                print(f"stopped after {options.seconds:.0f} s at {workload.name}")
                break
            rows += measured(workload, _ways(torch, workload), timer)
            torch.cuda.empty_cache()
    for row in rows:
        row["gpu_rate"] = row["rate"] * row["ms"] / row["gpu_ms"]
    versions = {**results.versions(), "PyTorch": torch.__version__}
    about = {"adapter": name, "driver": name, "versions": versions}
    results.save(options, "pytorch", about, rows)


class ArrayApi:
    """PyTorch under the names of the Array API, for the programs of all libraries."""

    def __init__(self, torch: Torch) -> None:
        """Keep the module; what is not here is called alike there."""
        self.torch = torch

    def __getattr__(self, name: str) -> Any:
        return getattr(self.torch, name)

    def astype(self, x: Any, dtype: Any) -> Any:
        return x.to(dtype)

    def max(self, x: Any, axis: int, keepdims: bool = False) -> Any:
        return self.torch.amax(x, axis, keepdims)

    def var(self, x: Any, axis: int) -> Any:
        centred = x - x.mean(axis, keepdim=True)
        return (centred * centred).mean(axis)

    def roll(self, x: Any, shift: Any, axis: Any) -> Any:
        return self.torch.roll(x, shift, axis)

    def sort(self, x: Any, axis: int = -1) -> Any:
        return self.torch.sort(x, axis).values

    def take(self, x: Any, indices: Any, axis: int) -> Any:
        return x.index_select(axis, indices)

    def cumulative_sum(self, x: Any) -> Any:
        return self.torch.cumsum(x, 0)


def compositions(torch: Torch) -> dict[str, Program]:
    """Return every program as its definition says; indices are int64."""
    functional = torch.nn.functional

    def logsumexp(x: Any) -> Any:
        top = x.max(1, keepdim=True).values
        return torch.log(torch.exp(x - top).sum(1)) + top[:, 0]

    def grouped(images: Any, weights: Any) -> Any:
        groups = images.shape[1] // weights.shape[1]
        return functional.conv2d(images, weights, padding=1, groups=groups)

    def attention(q: Any, k: Any, v: Any, *, is_causal: bool = False) -> Any:
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if is_causal:
            visible = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device)
            scores = scores.masked_fill(~visible.tril(), float("-inf"))
        return torch.softmax(scores, -1) @ v

    return {
        **common(ArrayApi(torch)),
        "argsort": partial(torch.argsort, stable=True),
        "scatter_add": lambda x, i, values: x.index_add(0, i, values),
        "transpose_copy": lambda x: x.T.contiguous(),
        "conv2d": partial(functional.conv2d, padding=1),
        "conv2d_7x7s2": partial(functional.conv2d, stride=2, padding=3),
        "conv2d_grouped": grouped,
        "conv2d_depthwise": grouped,
        "conv2d_1x1": functional.conv2d,
        "logsumexp_rows": logsumexp,
        "norm_rows": lambda x: torch.sqrt((x * x).sum(1)),
        "gelu": functional.gelu,
        "attention": attention,
        "attention_causal": partial(attention, is_causal=True),
    }


def ready(torch: Torch) -> dict[str, dict[str, Program]]:
    """Return PyTorch's functions for programs of several operations, and variants.

    Functions that end in `_ex` do not wait for the check of singular matrices.
    """
    functional, linalg = torch.nn.functional, torch.linalg

    def deterministic(x: Any, i: Any, values: Any) -> Any:
        torch.use_deterministic_algorithms(True)
        try:
            return x.index_add(0, i, values)
        finally:
            torch.use_deterministic_algorithms(False)

    def sdpa(q: Any, k: Any, v: Any, *, is_causal: bool = False) -> Any:
        """Call with four axes, which the fused kernels require."""
        function = functional.scaled_dot_product_attention
        return function(q[None], k[None], v[None], is_causal=is_causal)[0]

    return {
        "softmax": {"softmax": partial(torch.softmax, dim=1)},
        "layernorm": {"layer_norm": lambda x: functional.layer_norm(x, x.shape[1:])},
        "var_rows": {"var": partial(torch.var, dim=1, correction=0)},
        "logsumexp_rows": {"logsumexp": partial(torch.logsumexp, dim=1)},
        "norm_rows": {"vector_norm": partial(linalg.vector_norm, dim=1)},
        "gather": {"indexing": lambda table, indices: table[indices]},
        "scatter_add": {"deterministic": deterministic},
        "attention": {"sdpa": sdpa},
        "attention_causal": {"sdpa": partial(sdpa, is_causal=True)},
        "cholesky": {"cholesky_ex": lambda a: linalg.cholesky_ex(a).L},
        "solve": {"solve_ex": lambda a, b: linalg.solve_ex(a, b).result},
    }


def programs(torch: Torch) -> dict[str, dict[str, Program]]:
    """Return the ways to write each program, by name; a way's name may be empty."""
    others = ready(torch)
    return {
        name: {"eager" if name in COMPOSED else "": program, **others.get(name, {})}
        for name, program in compositions(torch).items()
    }


def _ways(torch: Torch, workload: Workload) -> Iterator[Way]:
    """Yield the ways to compute a workload on the GPU."""
    ways = programs(torch)[workload.program]
    if "eager" in ways:
        ways = {**ways, "compiled": torch.compile(ways["eager"])}
    given = [torch.from_numpy(values).to("cuda") for values in operands(workload)]
    if workload.program in INDEXED:
        given = [x.long() if x.dtype == torch.int32 else x for x in given]
    for way, program in ways.items():
        step = partial(program, *given)

        def read(step: Program = step) -> Any:
            """Return the numbers of a result, or of several one after the other."""
            value = step()
            parts = value if isinstance(value, tuple) else (value,)
            return np.concatenate([x.cpu().numpy().reshape(-1) for x in parts])

        impl = " ".join(filter(None, ("PyTorch", way)))
        yield Way(impl, partial(_repeat, step), read)


def _repeat(step: Callable[[], Any], count: int) -> None:
    for _ in range(count):
        step()


def _torch() -> Torch:
    """Return the module.

    Raises:
        BenchError: it is not installed or has no CUDA device.
    """
    try:
        torch: Torch = importlib.import_module("torch")
    except ImportError:
        raise BenchError("PyTorch is not installed for this Python") from None
    if not torch.cuda.is_available():
        raise BenchError("PyTorch has no CUDA device")
    return torch


def train(torch: Torch, timer: Timer, part: str, *, tiny: bool) -> list[Row]:
    """Return a row for each network with `part` in its name and each way to run it."""
    rows = []
    for network, sizes in {**SIZES, **FORWARD}.items():
        if part not in network:
            continue
        size = sizes[tiny]
        unit = "images/s" if size.length == 1 else "tokens/s"
        steps = (_forward if network in FORWARD else _steps)(torch, network, size)
        for way, step, losses in steps:
            times = timer.measure(partial(_repeat, step))
            row = results.row(network, f"PyTorch {way}", times, size.tokens / 1e3, unit)
            row["rate"] = size.tokens / times["ms"] * 1e3
            rows.append({**row, "err": None, **({"losses": losses} if losses else {})})
            results.show(rows[-1])
    return rows


Steps = Iterator[tuple[str, Callable[[], Any], list[float] | None]]


def _steps(torch: Torch, network: str, size: Size) -> Steps:
    """Yield each way to train, its step, and the losses that are compared."""
    entries = training.inputs(network, size)
    x, y, *values = (torch.tensor(operand(each), device="cuda") for each in entries)
    y = y.long()
    names = [each.name for each in entries[2:]]
    for way in ("eager", "compiled", "graph", "compiled graph"):
        p = {
            name: value.clone().requires_grad_()
            for name, value in zip(names, values, strict=True)
        }
        is_graph = "graph" in way
        options = {"fused": True, "capturable": True} if is_graph else {"fused": True}
        adam = torch.optim.Adam(p.values(), RATE, **options)
        loss = partial(training.LOSSES[network], functions(torch), size)
        function = torch.compile(loss) if "compiled" in way else loss

        def step(p: Any = p, adam: Any = adam, function: Any = function) -> Any:
            adam.zero_grad(set_to_none=True)
            loss_value = function(p, x, y)
            loss_value.backward()
            adam.step()
            return loss_value.detach()

        if is_graph:  # it takes steps before the first that could be compared
            yield way, _recorded(torch, step), None
        else:
            losses = [float(step()) for _ in range(COMPARED_STEP)]
            yield way, step, [losses[0], losses[-1]]


def _recorded(torch: Torch, step: Callable[[], Any]) -> Callable[[], Any]:
    """Return the replay of a step as a CUDA graph."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return lambda: graph.replay()


def functions(torch: Torch) -> Functions:
    """Return the functions that PyTorch has ready for networks."""
    f = torch.nn.functional

    def attention(qkv: Any, heads: int) -> Any:
        batch, length, wide = qkv.shape
        parts = qkv.view(batch, length, 3, heads, wide // 3 // heads)
        q, k, v = (parts[:, :, part].transpose(1, 2) for part in range(3))
        gathered = f.scaled_dot_product_attention(q, k, v, is_causal=True)
        return gathered.transpose(1, 2).reshape(batch, length, wide // 3)

    return Functions(
        *(f.relu, f.cross_entropy),
        lambda x, scale, shift: f.layer_norm(x, x.shape[-1:], scale, shift, 1e-5),
        partial(f.gelu, approximate="tanh"),
        attention,
        lambda x, filters, bias: f.conv2d(x, filters, bias.view(-1), padding=1),
        lambda x: f.max_pool2d(x, 2),
    )


def _forward(torch: Torch, network: str, size: Size) -> Steps:
    """Yield GPT-2's forward pass with random weights, eager and compiled."""
    shapes = training.transformer(size)
    p = {name: torch.randn(of, device="cuda") * 0.02 for name, of in shapes.items()}
    text = torch.randint(size.letters, (size.batch, size.length), device="cuda")

    def forward(p: Any, text: Any) -> Any:
        with torch.no_grad():
            return training.logits(functions(torch), size, p, text, p["letters"].T)

    yield "eager", partial(forward, p, text), None
    yield "compiled", partial(torch.compile(forward), p, text), None
