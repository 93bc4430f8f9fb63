"""The networks of `bench train`, their training in tensorweb, and GPT-2's forward pass.

Each library has its own `Functions`. The numbers come from a counter
(`workloads.Input`), the same in Python and JavaScript. Runs in Pyodide and natively.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from math import pi, prod, sqrt
from time import perf_counter
from typing import Any, NamedTuple

from bench.workloads import INT, Input, Shape

CLASSES = 10
LETTERS = 65
WIDTH = 128
HEADS = 4
RATE = 1e-3

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Size:
    """How large a network is.

    Attributes:
        batch: images or texts of a batch.
        layers, heads, width: of a transformer.
        length, letters: of its texts, and distinct letters.
    """

    batch: int
    layers: int = 1
    length: int = 1
    heads: int = HEADS
    width: int = WIDTH
    letters: int = LETTERS

    @property
    def tokens(self) -> int:
        """Images or tokens of a batch."""
        return self.batch * self.length


SIZES = {
    "train_mlp": (Size(128), Size(8)),
    "train_cnn": (Size(128), Size(4)),
    "train_gpt": (Size(32, 4, 64), Size(2, 1, 16)),
}
"""Of each network that is trained: as it is measured, and for a software GPU."""

FORWARD = {
    "gpt2_forward": (Size(8, 12, 1024, 12, 768, 50257), Size(2, 2, 16, 2, 32)),
    "gpt2_short": (Size(1, 12, 64, 12, 768, 50257), Size(1, 2, 8, 2, 32)),
}
"""GPT-2 (124 million parameters) with random weights: full and tiny."""

PARTS: dict[str, Callable[[int], Shape]] = {
    "scale1": lambda w: (w,),
    "shift1": lambda w: (w,),
    "qkv": lambda w: (w, 3 * w),
    "qkv_b": lambda w: (3 * w,),
    "out": lambda w: (w, w),
    "out_b": lambda w: (w,),
    "scale2": lambda w: (w,),
    "shift2": lambda w: (w,),
    "up": lambda w: (w, 4 * w),
    "up_b": lambda w: (4 * w,),
    "down": lambda w: (4 * w, w),
    "down_b": lambda w: (w,),
}
"""Parameters of a transformer's layer, by width; their names end in its index."""


def transformer(size: Size) -> dict[str, Shape]:
    """Return the shapes of a transformer's parameters by name."""
    width = size.width
    by_name: dict[str, Shape] = {
        "letters": (size.letters, width),
        "positions": (size.length, width),
        "head": (width, size.letters),
        "scale": (width,),
        "shift": (width,),
    }
    for index in range(size.layers):
        by_name |= {f"{name}_{index}": of(width) for name, of in PARTS.items()}
    return by_name


SHAPES: dict[str, dict[str, Shape]] = {
    "train_mlp": {
        "w1": (784, WIDTH),
        "b1": (WIDTH,),
        "w2": (WIDTH, CLASSES),
        "b2": (CLASSES,),
    },
    "train_cnn": {
        "c1": (16, 1, 3, 3),
        "d1": (16, 1, 1),
        "c2": (32, 16, 3, 3),
        "d2": (32, 1, 1),
        "w": (32 * 49, CLASSES),
        "b": (CLASSES,),
    },
}


def inputs(network: str, size: Size) -> list[Input]:
    """Return inputs, labels and parameters, with seeds in this order."""
    shapes = SHAPES.get(network) or transformer(size)
    if network == "train_gpt":
        text, count = (size.batch, size.length), size.tokens
        entries = [
            Input(text, 0, 0, LETTERS, INT, name="x"),
            Input((count,), 0, 0, LETTERS, INT, name="y"),
        ]
    else:
        image = (784,) if network == "train_mlp" else (1, 28, 28)
        entries = [
            Input((size.batch, *image), 0, -1, 1, name="x"),
            Input((size.batch,), 0, 0, CLASSES, INT, name="y"),
        ]
    entries += [_start(name, shape) for name, shape in shapes.items()]
    return [replace(each, seed=seed) for seed, each in enumerate(entries, 1)]


def _start(name: str, shape: Shape) -> Input:
    """Return a parameter's start: uniform in ±1 / sqrt(inputs), or a constant."""
    if name in ("letters", "positions"):
        limit = 0.1
    elif len(shape) == 4:
        limit = 1 / sqrt(prod(shape[1:]))
    elif len(shape) == 2:
        limit = 1 / sqrt(shape[0])
    else:
        constant = float(name.startswith("scale"))
        return Input(shape, 0, constant, constant, name=name)
    return Input(shape, 0, -limit, limit, name=name)


def as_json(network: str, *, tiny: bool) -> dict[str, Any]:
    """Return a network for JavaScript; one without inputs draws its own weights."""
    size = {**SIZES, **FORWARD}[network][tiny]
    given = [] if network in FORWARD else inputs(network, size)
    return {
        "name": network,
        "is_tiny": tiny,
        "layers": size.layers,
        "tokens": size.tokens,
        "unit": "images/s" if size.length == 1 else "tokens/s",
        "inputs": [asdict(each) for each in given],
    }


class Functions(NamedTuple):
    """What networks are made of, in one library.

    Attributes:
        norm: layer normalisation of the last axis, by `x, scale, shift`.
        gelu: its approximation with tanh.
        attention: causal self-attention of `qkv, heads`; qkv (batch, length, 3·width).
        convolve: 3 by 3 with padding, by `x, filters, bias`.
        pool: the maxima of blocks of 2 by 2.
    """

    relu: Function
    cross_entropy: Function
    norm: Function
    gelu: Function
    attention: Function
    convolve: Function
    pool: Function


def tensorweb_functions() -> Functions:
    """Return what a user of tensorweb writes, composed where peers compose, too."""
    import tensorweb as tw

    def norm(x: Any, scale: Any, shift: Any) -> Any:
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = (centred * centred).mean(axis=-1, keepdims=True)
        return centred * tw.rsqrt(variance + 1e-5) * scale + shift

    def gelu(x: Any) -> Any:
        return 0.5 * x * (1 + tw.tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x)))

    def attention(qkv: Any, heads: int) -> Any:
        batch, length, wide = qkv.shape
        width = wide // 3 // heads
        parts = qkv.reshape(batch, length, 3, heads, width)
        q, k, v = (parts[:, :, part].permute_dims((0, 2, 1, 3)) for part in range(3))
        scores = q @ k.permute_dims((0, 1, 3, 2)) / sqrt(width)
        positions = tw.arange(length)
        scores = tw.where(positions[:, None] >= positions, scores, -1e9)
        gathered = tw.nn.softmax(scores, axis=-1) @ v
        return gathered.permute_dims((0, 2, 1, 3)).reshape(batch, length, wide // 3)

    return Functions(
        *(tw.nn.relu, tw.nn.cross_entropy, norm, gelu, attention),
        lambda x, filters, bias: tw.conv2d(x, filters, padding=1) + bias,
        lambda x: tw.max_pool2d(x, 2),
    )


def mlp(f: Functions, size: Size, p: dict[str, Any], x: Any, y: Any) -> Any:
    """Return the loss of two linear layers."""
    hidden = f.relu(x @ p["w1"] + p["b1"])
    return f.cross_entropy(hidden @ p["w2"] + p["b2"], y)


def cnn(f: Functions, size: Size, p: dict[str, Any], x: Any, y: Any) -> Any:
    """Return the loss of two convolutions with pooling, and a linear layer."""
    for filters, bias in (("c1", "d1"), ("c2", "d2")):
        x = f.pool(f.relu(f.convolve(x, p[filters], p[bias])))
    flat = x.reshape(size.batch, 32 * 49)
    return f.cross_entropy(flat @ p["w"] + p["b"], y)


def logits(f: Functions, size: Size, p: dict[str, Any], text: Any, head: Any) -> Any:
    """Return a transformer's logits (batch, length, letters)."""
    h = p["letters"][text] + p["positions"]
    for index in range(size.layers):
        of = {part: p[f"{part}_{index}"] for part in PARTS}
        a = f.norm(h, of["scale1"], of["shift1"]) @ of["qkv"] + of["qkv_b"]
        h = h + f.attention(a, size.heads) @ of["out"] + of["out_b"]
        b = f.norm(h, of["scale2"], of["shift2"]) @ of["up"] + of["up_b"]
        h = h + f.gelu(b) @ of["down"] + of["down_b"]
    return f.norm(h, p["scale"], p["shift"]) @ head


def gpt(f: Functions, size: Size, p: dict[str, Any], x: Any, y: Any) -> Any:
    """Return the loss of a small transformer that predicts the next letter."""
    scores = logits(f, size, p, x, p["head"])
    return f.cross_entropy(scores.reshape(-1, LETTERS), y)


LOSSES: dict[str, Function] = {
    "train_mlp": mlp,
    "train_cnn": cnn,
    "train_gpt": gpt,
}


class _Stepping:
    """Something that takes steps, and the time that Python takes for them."""

    step: Callable[[], None]

    def run(self, count: int) -> None:
        """Take steps; nothing waits for them."""
        for _ in range(count):
            self.step()

    def python_ms(self, count: int) -> float:
        """Return milliseconds that a step takes Python while the GPU is idle."""
        begin = perf_counter()
        self.run(count)
        return (perf_counter() - begin) * 1e3 / count


class Trainer(_Stepping):
    """A network that learns from one batch, step after step."""

    def __init__(self, network: str, tiny: bool, given: Sequence[Any]) -> None:
        """Begin with the bytes of inputs, labels and parameters."""
        import tensorweb as tw

        size = SIZES[network][tiny]
        entries = inputs(network, size)
        tensors = [
            tensor(data, entry.shape, "i" if entry.dtype == INT else "f")
            for data, entry in zip(given, entries, strict=True)
        ]
        self.x, self.y, *values = tensors
        names = (entry.name for entry in entries[2:])
        self.model: Any = dict(zip(names, values, strict=True))
        functions = tensorweb_functions()
        adam = tw.optim.Adam(lr=RATE)
        self.state = adam.init(self.model)
        self.loss: Any = None

        def step(model: Any, state: Any, x: Any, y: Any) -> Any:
            def loss_of(model: Any) -> Any:
                return LOSSES[network](functions, size, model, x, y)

            loss, gradients = tw.value_and_grad(loss_of)(model)
            return (*adam.update(model, gradients, state), loss)

        self.update = tw.jit(step)

    def step(self) -> None:
        """Take one step by Adam."""
        updated = self.update(self.model, self.state, self.x, self.y)
        self.model, self.state, self.loss = updated

    async def loss_async(self) -> float:
        """Return the loss before the newest step."""
        assert self.loss is not None, "no step yet"
        return float(await self.loss.item_async())


class Forward(_Stepping):
    """GPT-2's forward pass with random weights."""

    def __init__(self, workload: str, tiny: bool) -> None:
        """Draw the weights on the device."""
        import tensorweb as tw

        size = FORWARD[workload][tiny]
        self.weights = weights(tw, size)
        shape = (size.batch, size.length)
        self.text = tw.random.randint(tw.random.key(1), shape, 0, size.letters)
        tw.realize(self.text)
        f = tensorweb_functions()
        self.forward = tw.jit(lambda p, text: logits(f, size, p, text, p["letters"].T))
        self.logits: Any = None

    def step(self) -> None:
        """Compute the logits once."""
        self.logits = None  # those of one pass take 1.6 GB
        self.logits = self.forward(self.weights, self.text)

    async def loss_async(self) -> float:
        """Return the first logit, to be compared between runs."""
        from tensorweb import evaluate

        assert self.logits is not None, "no pass yet"
        await evaluate.read_async([self.logits[:1, :1, :1].node])
        return float(await self.logits[0, 0, 0].item_async())


def weights(tw: Any, size: Size) -> dict[str, Any]:
    """Return normal matrices, zero biases and unit scales."""
    shapes = {name: of for name, of in transformer(size).items() if name != "head"}
    keys = iter(tw.random.split(tw.random.key(0), len(shapes)))
    tensors = {}
    for name, shape in shapes.items():
        key = next(keys)
        if len(shape) == 2:
            tensors[name] = tw.random.normal(key, shape) * 0.02
        else:
            tensors[name] = tw.ones(shape) if "scale" in name else tw.zeros(shape)
    tw.realize(*tensors.values())
    return tensors


def tensor(given: Any, shape: Shape, code: str) -> Any:
    """Return a tensor of the bytes of an array; code `f` or `i`."""
    import tensorweb as tw

    flat = memoryview(given.to_bytes() if hasattr(given, "to_bytes") else given)
    elements = flat.cast("B").cast(code)  # type: ignore[call-overload]  # f or i
    assert len(elements) == prod(shape), "the size differs from the shape's"
    return tw.asarray(elements).reshape(shape)


def open_trainer(network: str, given: Sequence[Any], tiny: bool) -> Trainer | Forward:
    """Return what trains a network, or repeats a forward pass."""
    return (
        Forward(network, tiny) if network in FORWARD else Trainer(network, tiny, given)
    )
