"""`bench torch`: the workloads and training steps in PyTorch on CUDA, for reference.

Runs where PyTorch and its GPU are; needs nothing else but NumPy. float32 without TF32.
`eager` is the composition that the workload's definition gives, another word the
function that PyTorch has ready, `compiled` the composition by `torch.compile`.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from bench import results, training
from bench.cases import WARMING_MS, Timer
from bench.programs import common, error_of, operand, operands, samples
from bench.results import BenchError, Row
from bench.training import FORWARD, LETTERS, PARTS, RATE, SIZES, Size
from bench.workloads import MANDELBROT_STEPS, Workload, chosen

WARMING_SIDE = 4096
TIMED_OPERATIONS = 20  # of a batch by CUDA's events, or as many as take TIMED_MS
TIMED_MS = 500
COMPARED_STEP = 20

Torch = Any
"""The module `torch`; it is not installed where this project is checked."""

Program = Callable[..., Any]
Ways = dict[str, dict[str, Program]]

COMPOSED = ("elem", "pairwise", "gray_scott")
SHARED = ("matmul_nt", "matmul_tn", "increment", "svd", "eigh")
"""Programs that PyTorch writes as NumPy does: compositions, and single functions."""

INDEXED = ("gather", "scatter_add")
"""Programs whose integers are indices."""


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
    timer = Timer(options.ms / 1e3, torch.cuda.synchronize, _warmer(torch))
    rows: list[Row] = []
    end = perf_counter() + options.seconds
    if options.command == "train":
        rows += train(torch, timer, options.w or "", tiny=options.tiny)
    else:
        for workload in chosen(options.table, options.w, tiny=options.tiny):
            if perf_counter() > end:
                print(f"stopped after {options.seconds:.0f} s at {workload.name}")
                break
            rows += _measure(torch, workload, timer)
    versions = {**results.versions(), "PyTorch": torch.__version__}
    about = {"adapter": name, "driver": name, "versions": versions}
    results.save(options, "pytorch", about, rows)


def programs(torch: Torch) -> Ways:
    """Return the ways to write each program, by name; a way's name may be empty.

    Programs get the operands, indices as int64.
    """
    functional = torch.nn.functional

    def deterministic(x: Any, i: Any, values: Any) -> Any:
        torch.use_deterministic_algorithms(True)
        try:
            return x.index_add(0, i, values)
        finally:
            torch.use_deterministic_algorithms(False)

    def softmax(x: Any) -> Any:
        e = torch.exp(x - x.max(1, keepdim=True).values)
        return e / e.sum(1, keepdim=True)

    def layernorm(x: Any) -> Any:
        centred = x - x.mean(1, keepdim=True)
        variance = (centred * centred).mean(1, keepdim=True)
        return centred / torch.sqrt(variance + 1e-5)

    shared = common(torch)
    return {
        **{name: {"eager": shared[name]} for name in COMPOSED},
        **{name: {"": shared[name]} for name in SHARED},
        "matmul": {"": torch.matmul},
        "matvec": {"": torch.mv},
        "sum": {"": torch.sum},
        "rowsum": {"": lambda x: torch.sum(x, 1)},
        "colsum": {"": lambda x: torch.sum(x, 0)},
        "softmax": {"softmax": lambda x: torch.softmax(x, 1), "eager": softmax},
        "layernorm": {
            "layer_norm": lambda x: functional.layer_norm(x, x.shape[1:]),
            "eager": layernorm,
        },
        "cumsum": {"": lambda x: torch.cumsum(x, 0)},
        "gather": {
            "index_select": lambda table, indices: table.index_select(0, indices),
            "indexing": lambda table, indices: table[indices],
        },
        "scatter_add": {
            "index_add": lambda x, i, values: x.index_add(0, i, values),
            "deterministic": deterministic,
        },
        "transpose_copy": {"": lambda x: x.T.contiguous()},
        "sort": {"": lambda x: torch.sort(x).values},
        "argsort": {"": partial(torch.argsort, stable=True)},
        "argmax": {"": partial(torch.argmax, dim=1)},
        "conv2d": {"": partial(functional.conv2d, padding=1)},
        "conv2d_7x7s2": {"": partial(functional.conv2d, stride=2, padding=3)},
        "matmul_complex": {"": torch.matmul},
        "sort_rows": {"": lambda x: torch.sort(x, 1).values},
        "fft": {"": torch.fft.fft},
        "fft2": {"": torch.fft.fft2},
        **_reductions(torch),
        **_grids(torch),
        **_networks(torch),
        **_factorizations(torch),
    }


def _reductions(torch: Torch) -> Ways:
    def logsumexp(x: Any) -> Any:
        top = x.max(1, keepdim=True).values
        return torch.log(torch.exp(x - top).sum(1)) + top[:, 0]

    def var(x: Any) -> Any:
        centred = x - x.mean(1, keepdim=True)
        return (centred * centred).mean(1)

    norm = partial(torch.linalg.vector_norm, dim=1)
    return {
        "argmax_rows": {"": partial(torch.argmax, dim=1)},
        "var_rows": {"var": partial(torch.var, dim=1, correction=0), "eager": var},
        "logsumexp_rows": {
            "logsumexp": partial(torch.logsumexp, dim=1),
            "eager": logsumexp,
        },
        "norm_rows": {
            "vector_norm": norm,
            "eager": lambda x: torch.sqrt((x * x).sum(1)),
        },
        "sum_strided": {"eager": lambda x: x[:, ::2].sum(1)},
        "gelu": {"eager": torch.nn.functional.gelu},
    }


def _grids(torch: Torch) -> Ways:
    def life(x: Any) -> Any:
        shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
        count = sum(torch.roll(x, shift, (0, 1)) for shift in shifts)
        return ((count == 3) | ((x == 1) & (count == 2))).to(torch.int32)

    def heat(x: Any) -> Any:
        total = torch.roll(x, 1, 0) + torch.roll(x, -1, 0)
        total = total + torch.roll(x, 1, 1) + torch.roll(x, -1, 1)
        return x + 0.1 * (total - 4 * x)

    def mandelbrot(x: Any, y: Any) -> Any:
        real, imaginary = torch.zeros_like(x), torch.zeros_like(y)
        count = torch.zeros((y.shape[0], x.shape[0]), device=x.device)
        for _ in range(MANDELBROT_STEPS):
            real, imaginary = (
                real * real - imaginary * imaginary + x,
                2 * real * imaginary + y,
            )
            size = real * real + imaginary * imaginary
            count = count + (size < 4).to(torch.float32)
        return count

    return {
        "life": {"eager": life},
        "heat": {"eager": heat},
        "mandelbrot": {"eager": mandelbrot},
    }


def _networks(torch: Torch) -> Ways:
    functional = torch.nn.functional

    def grouped(images: Any, weights: Any) -> Any:
        groups = images.shape[1] // weights.shape[1]
        return functional.conv2d(images, weights, padding=1, groups=groups)

    def composed(q: Any, k: Any, v: Any, *, is_causal: bool = False) -> Any:
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if is_causal:
            visible = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device)
            scores = scores.masked_fill(~visible.tril(), float("-inf"))
        return torch.softmax(scores, -1) @ v

    def fused(q: Any, k: Any, v: Any, *, is_causal: bool = False) -> Any:
        """Call with four axes, which the fused kernels require."""
        function = functional.scaled_dot_product_attention
        return function(q[None], k[None], v[None], is_causal=is_causal)[0]

    return {
        "conv2d_grouped": {"": grouped},
        "conv2d_depthwise": {"": grouped},
        "conv2d_1x1": {"": functional.conv2d},
        "attention": {"sdpa": fused, "eager": composed},
        "attention_causal": {
            "sdpa": partial(fused, is_causal=True),
            "eager": partial(composed, is_causal=True),
        },
    }


def _factorizations(torch: Torch) -> Ways:
    """Functions that end in `_ex` do not wait for the check of singular matrices."""
    linalg = torch.linalg

    return {
        "cholesky": {
            "": linalg.cholesky,
            "cholesky_ex": lambda a: linalg.cholesky_ex(a).L,
        },
        "solve": {
            "": linalg.solve,
            "solve_ex": lambda a, b: linalg.solve_ex(a, b).result,
        },
    }


def _measure(torch: Torch, workload: Workload, timer: Timer) -> list[Row]:
    """Return the rows of one workload; a way that fails becomes a line of the log."""
    ways = programs(torch)[workload.program]
    if "eager" in ways:
        ways = {**ways, "compiled": torch.compile(ways["eager"])}
    given = [torch.from_numpy(values).to("cuda") for values in operands(workload)]
    if workload.program in INDEXED:
        given = [x.long() if x.dtype == torch.int32 else x for x in given]
    expected = samples(workload)
    rows = []
    for way, program in ways.items():
        impl = " ".join(filter(None, ("PyTorch", way)))
        try:
            times = _times(torch, program, given, timer)
            result = _flat(program(*given))
        except Exception as error:  # torch.compile has many ways to fail
            print(f"{workload.name}: {impl} failed: {str(error)[:300]}")
            continue
        error_size = error_of(expected, result)
        row = results.row(workload.name, impl, times, workload.work, workload.unit)
        row |= {"err": error_size, "ok": error_size <= workload.tolerance}
        row["gpu_rate"] = workload.work / times["gpu_ms"] / 1e6
        rows.append(row)
        results.show(row)
    torch.cuda.empty_cache()
    return rows


def _flat(value: Any) -> Any:
    """Return the numbers of a result, or of several one after the other."""
    parts = value if isinstance(value, tuple) else (value,)
    return np.concatenate([x.cpu().numpy().reshape(-1) for x in parts])


def _times(
    torch: Torch, program: Program, given: list[Any], timer: Timer
) -> dict[str, float]:
    """Return times by the wall, and by CUDA's events around a batch."""

    def enqueue(count: int) -> None:
        for _ in range(count):
            program(*given)

    by_wall = timer.measure(enqueue)
    count = max(1, min(TIMED_OPERATIONS, int(TIMED_MS / by_wall["ms"])))
    totals = []
    for _ in range(3):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        enqueue(count)
        end.record()
        torch.cuda.synchronize()
        totals.append(begin.elapsed_time(end) / count)
    return {**by_wall, "gpu_ms": min(totals)}


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


def _warmer(torch: Torch) -> Callable[[], None]:
    x = torch.ones((WARMING_SIDE, WARMING_SIDE), device="cuda")

    def warm() -> None:
        end = perf_counter() + WARMING_MS / 1e3
        while perf_counter() < end:
            torch.mm(x, x)
            torch.cuda.synchronize()

    return warm


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


def _repeat(step: Callable[[], Any], count: int) -> None:
    for _ in range(count):
        step()


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
        loss = partial(_loss, torch, network, size)
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


def _norm(torch: Torch, x: Any, scale: Any, shift: Any) -> Any:
    return torch.nn.functional.layer_norm(x, x.shape[-1:], scale, shift, 1e-5)


def _layer(torch: Torch, h: Any, p: Any, index: int, heads: int) -> Any:
    """Apply one layer of a transformer with PyTorch's causal attention."""
    f = torch.nn.functional
    of = {part: p[f"{part}_{index}"] for part in PARTS}
    a = _norm(torch, h, of["scale1"], of["shift1"]) @ of["qkv"] + of["qkv_b"]
    batch, length, wide = a.shape
    parts = a.view(batch, length, 3, heads, wide // 3 // heads)
    q, k, v = (parts[:, :, part].transpose(1, 2) for part in range(3))
    a = f.scaled_dot_product_attention(q, k, v, is_causal=True)
    h = h + a.transpose(1, 2).reshape(h.shape) @ of["out"] + of["out_b"]
    b = _norm(torch, h, of["scale2"], of["shift2"]) @ of["up"] + of["up_b"]
    return h + f.gelu(b, approximate="tanh") @ of["down"] + of["down_b"]


def _logits(torch: Torch, size: Size, p: Any, text: Any, head: Any) -> Any:
    h = p["letters"][text] + p["positions"]
    for index in range(size.layers):
        h = _layer(torch, h, p, index, size.heads)
    return _norm(torch, h, p["scale"], p["shift"]) @ head


def _loss(torch: Torch, network: str, size: Size, p: Any, x: Any, y: Any) -> Any:
    f = torch.nn.functional
    if network == "train_mlp":
        hidden = f.relu(x @ p["w1"] + p["b1"])
        return f.cross_entropy(hidden @ p["w2"] + p["b2"], y)
    if network == "train_cnn":
        for filters, bias in (("c1", "d1"), ("c2", "d2")):
            x = f.conv2d(x, p[filters], p[bias].view(-1), padding=1)
            x = f.max_pool2d(f.relu(x), 2)
        return f.cross_entropy(x.reshape(size.batch, -1) @ p["w"] + p["b"], y)
    logits = _logits(torch, size, p, x, p["head"])
    return f.cross_entropy(logits.reshape(-1, LETTERS), y)


def _forward(torch: Torch, network: str, size: Size) -> Steps:
    """Yield GPT-2's forward pass with random weights, eager and compiled."""
    shapes = training.transformer(size)
    p = {name: torch.randn(of, device="cuda") * 0.02 for name, of in shapes.items()}
    text = torch.randint(size.letters, (size.batch, size.length), device="cuda")

    def forward(p: Any, text: Any) -> Any:
        with torch.no_grad():
            return _logits(torch, size, p, text, p["letters"].T)

    yield "eager", partial(forward, p, text), None
    yield "compiled", partial(torch.compile(forward), p, text), None
