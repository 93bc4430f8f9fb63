"""The table of steps that graphs are made of, a text for each.

In a text `xp` is tensorweb in the program, and NumPy for the expected result. Names in
braces are operands, which `OPERANDS` chooses, or parameters, which `PARAMETERS` draws.
Elementwise operations come from the op table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fuzz import reductions as rules
from fuzz.ball import (
    Array,
    Ball,
    as_dtype,
    certain,
    chosen,
    exact,
    mapped,
    number,
    rounded,
)
from fuzz.functions import float_dtype, map_ball, promoted
from fuzz.operands import OPERANDS, PARAMETERS, Values, behind
from fuzz.program import Drawing, Unfit
from tensorweb.ops import OPS
from tests.oracles import TAKES

Compute = Callable[..., Any]
Rule = Callable[[Compute, list[Ball], Values], "Ball | Sequence[Ball]"]

NAME = re.compile(r"\{([a-z]\w*)\}")
CALLED = re.compile(r"(?:xp|\})\.(\w+)\(")


# What NumPy lacks, for the texts.


def windows(x: Array, size: Any, axis: Any, step: int = 1, dilation: int = 1) -> Any:
    """Return windows along axes as new last axes, as `tw.sliding_windows`."""
    axes = (axis,) if isinstance(axis, int) else axis
    reach = [(size - 1) * dilation + 1 for size in np.broadcast_to(size, len(axes))]
    wide = np.lib.stride_tricks.sliding_window_view(x, reach, axes)
    every = [slice(None)] * x.ndim
    for each in axes:
        every[each] = slice(None, None, step)
    return wide[(*every, *(slice(None, None, dilation),) * len(axes))]


def convolve(
    x: Array, w: Array, stride: int, padding: int, dilation: int, groups: int
) -> Array:
    """Return the convolution of images (n, c, h, w)."""
    padded = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    parts = windows(padded, w.shape[2:], (-2, -1), stride, dilation)
    pairs = zip(np.split(parts, groups, 1), np.split(w, groups, 0), strict=True)
    return np.concatenate(
        [np.einsum("nchwij,ocij->nohw", a, b) for a, b in pairs], axis=1
    )


def einsum(formula: str, a: Array, b: Array) -> Any:
    """Return NumPy's result, axes that one operand has alone summed beforehand.

    Where there are infinities or empty axes that is something else.
    """
    if formula == "ij,jk->":
        return np.einsum("j,j->", a.sum(axis=0), b.sum(axis=1))
    return np.einsum(formula, a, b)


def tensordot(a: Array, b: Array, axes: tuple[list[int], list[int]]) -> Any:
    """Return the product over axes of `a` and the first of `b`.

    BLAS, which `np.tensordot` calls, skips zeros: to it 0 times infinity is 0.
    """
    letters = "abcdefgh"[: a.ndim]
    others = "".join(letters[axis] for axis in axes[0]) + "z"
    rest = "".join(letter for letter in letters if letter not in others)
    return np.einsum(f"{letters},{others}->{rest}z", a, b)


def put(x: Array, key: Any, values: Any) -> Array:
    """Return a copy of which a part is replaced."""
    made = x.copy()
    made[key] = values
    return made


UFUNCS: dict[str, Any] = {"add": np.add, "min": np.minimum, "max": np.maximum}


def accumulate(how: str, x: Array, key: Any, values: Any) -> Array:
    """Return a copy into which values are combined, one after the other."""
    made = x.copy()
    # NumPy 2.4 adds broadcast values to a 1-D array in part only.
    UFUNCS[how].at(made, key, np.broadcast_to(values, x[key].shape).copy())
    return made


NAMES: Values = {
    **{"xp": np, "np": np, "windows": windows, "convolve": convolve},
    **{"einsum": einsum, "tensordot": tensordot, "put": put},
    **{"accumulate": accumulate, "behind": behind},
}

# Rules: the results' balls.


def moves(compute: Compute, balls: list[Ball], p: Values) -> Ball | list[Ball]:
    """Elements are moved; numbers that are written are exact."""
    dtype = promoted(*balls)
    balls = [as_dtype(ball, dtype) for ball in balls]
    centres = compute(*(ball.centre for ball in balls))
    radii = compute(*(ball.radius for ball in balls), whole=0)
    signs = all(ball.has_signs for ball in balls)
    if isinstance(centres, (tuple, list)):
        pairs = zip(centres, radii, strict=True)
        return [Ball(np.asarray(c), np.asarray(r), dtype, signs) for c, r in pairs]
    return Ball(np.asarray(centres), np.asarray(radii), dtype, signs)


def reads(compute: Compute, balls: list[Ball], p: Values) -> Ball:
    """Elements are read or written at exact indices or masks, the second operand."""
    x, at, *values = balls
    if not at.is_exact:
        raise Unfit
    # In order of memory, in which NumPy writes values whose indices are equal.
    where = at.centre if at.dtype == "bool" else at.centre.astype(np.int64, order="C")
    values = [as_dtype(ball, x.dtype) for ball in values]

    def given(x: Array, *values: Array, **named: Any) -> Any:
        return compute(x, where, *values, **named)

    made = moves(given, [x, *values], p)
    assert isinstance(made, Ball)
    return made


def certainly(compute: Compute, balls: list[Ball], p: Values) -> list[Ball]:
    """Results are certain, those of exact operands alone; indices are int32."""
    if not all(ball.is_exact for ball in balls):
        raise Unfit
    computed = compute(*(ball.centre for ball in balls))
    made = []
    for each in computed if isinstance(computed, tuple) else (computed,):
        values = each.astype(np.int32) if each.dtype == np.int64 else each
        name = values.dtype.name if values.dtype.kind != "f" else balls[0].dtype
        made.append(Ball(values, np.zeros(values.shape), name))
    return made


def maps(name: str, order: str, compute: Compute, balls: list[Ball], p: Values) -> Ball:
    """Apply an entry of the op table; `order` has the operands, `n` is the number."""
    if "n" in order:
        n = p["n"] if "n" in p else p["power"]
        dtype = balls[0].dtype
        scalar = number(n, dtype if isinstance(n, int) else float_dtype(dtype))
        balls = [scalar if each == "n" else balls[0] for each in order]
    return map_ball(name, *balls)


def means(compute: Compute, balls: list[Ball], p: Values) -> Ball:
    """Divide sums, which `compute` returns, by the count of their terms."""
    ball = as_dtype(balls[0], float_dtype(balls[0].dtype))
    counts = compute(np.ones(ball.shape))
    if balls[0].dtype == "bool" or np.any(counts == 0):
        raise Unfit
    return rules.mean(ball, compute, counts)


def products(compute: Compute, balls: list[Ball], p: Values) -> Ball:
    """Multiply along axes, of few elements."""
    if max(balls[0].shape, default=1) > 200 or balls[0].centre.size > 1000:
        raise Unfit
    return rules.multiplied(balls[0], compute)


def accumulates(compute: Compute, balls: list[Ball], p: Values) -> Ball:
    """Combine the last operand into the first at keys or exact indices."""
    x, *at, values = balls
    if not all(ball.is_exact for ball in at):
        raise Unfit
    where = [ball.centre for ball in at]

    def write(target: Array, given: Array, how: str) -> Any:
        return compute(target, *where, given, how=how)

    return rules.accumulated(x, as_dtype(values, x.dtype), write, p["how"])


def contracts(compute: Compute, balls: list[Ball], p: Values) -> Ball:
    """Sum products of two operands of one dtype."""
    return rules.contracted(balls[0], balls[1], compute, balls[0].dtype)


def segments(compute: Compute, balls: list[Ball], p: Values) -> Ball:
    """Combine the rows of each group."""
    x, at = balls
    info: Any = np.iinfo(x.dtype if not x.is_float else "int32")
    low, high = (-np.inf, np.inf) if x.is_float else (info.min, info.max)
    start = {"sum": 0, "max": low, "min": high}[p["reduce"]]
    empty = np.full((p["count"], *x.shape[1:]), start, x.centre.dtype)
    base = Ball(empty, np.zeros(empty.shape), x.dtype)

    def write(target: Array, given: Array, how: str) -> Any:
        return accumulate(how, target, at.centre, given)

    return rules.accumulated(base, x, write, p["reduce"].replace("sum", "add"))


def sums(name: str, compute: Compute, balls: list[Ball], p: Values) -> Ball:
    """Sum along axes, or at every prefix of one."""
    return rules.summed(balls[0], compute, name)


def outer(compute: Compute, balls: list[Ball], p: Values) -> Ball:
    """Multiply every pair."""
    a, b = balls
    return map_ball("multiply", Ball(a.centre[:, None], a.radius[:, None], a.dtype), b)


def selects(compute: Compute, balls: list[Ball], p: Values) -> Ball:
    """Choose by a condition."""
    dtype = promoted(*balls[1:])
    return chosen(balls[0], *(as_dtype(ball, dtype) for ball in balls[1:]))


def differences(compute: Compute, balls: list[Ball], p: Values) -> Ball:
    """Subtract neighbours: the radii of both add up."""
    ball, axis = balls[0], p["axis"]
    signs = np.ones(ball.shape)
    every = [slice(None)] * signs.ndim
    every[axis] = slice(0, None, 2)
    signs[tuple(every)] = -1
    with np.errstate(all="ignore"):
        radius = np.abs(compute(ball.radius * signs))
    return rounded(compute(ball.centre), radius, ball.dtype, 0.5)


def clips(compute: Compute, balls: list[Ball], p: Values) -> Ball:
    """Limit values to an interval of small integers."""
    dtype = balls[0].dtype
    is_float = balls[0].is_float
    return (
        mapped(compute, balls, dtype, 0) if is_float else certain(compute, balls, dtype)
    )


def creates(compute: Compute, balls: list[Ball], p: Values) -> Ball | list[Ball]:
    """Make a tensor from numbers alone, in its own dtype or float32."""
    made = compute()
    if isinstance(made, (tuple, list)):
        return [exact(each) for each in made]
    return exact(made)


def evenly_spaced(compute: Compute, balls: list[Ball], p: Values) -> Ball:
    """Make float32 numbers that are rounded once."""
    centre = compute()
    return rounded(centre, np.full(centre.shape, 1e-14), "float32", 0.5)


def casts(compute: Compute, balls: list[Ball], p: Values) -> Ball:
    """Convert to a dtype."""
    if balls[0].is_float and p["dtype"] in ("int64", "uint64"):
        raise Unfit
    return as_dtype(balls[0], p["dtype"])


def alike(compute: Compute, balls: list[Ball], p: Values) -> Ball:
    """Make zeros or ones of a tensor's shape and dtype."""
    made = compute(balls[0].centre)
    return Ball(made, np.zeros(made.shape), balls[0].dtype, True)


def extremes(compute: Compute, balls: list[Ball], p: Values) -> Ball:
    """Select the largest or smallest along axes."""
    return rules.extreme(balls[0], compute)


RULES: dict[str, Rule] = {
    **{"moves": moves, "reads": reads, "certain": certainly, "means": means},
    **{"products": products, "contracts": contracts, "segments": segments},
    **{"accumulates": accumulates, "differs": differences, "selects": selects},
    **{"casts": casts, "clips": clips, "outer": outer, "creates": creates},
    **{"alike": alike, "spaced": evenly_spaced, "extremes": extremes},
    **{"sums": partial(sums, "sum"), "runs": partial(sums, "cumulative_sum")},
    **{"argmax": partial(rules.position, True)},
    **{"argmin": partial(rules.position, False)},
    **{"var": partial(rules.spread_out, False), "std": partial(rules.spread_out, True)},
    **{"counts": rules.tested_or_counted, "sorts": rules.sorted_along},
    **{"argsorts": rules.ordered, "top": rules.top},
    "root": lambda compute, balls, p: map_ball("sqrt", balls[0]),
    **{
        name: partial(maps, name, "0") for name in ("negative", "abs", "bitwise_invert")
    },
}


# The table.


@dataclass(frozen=True, slots=True)
class Entry:
    """A kind of step.

    Attributes:
        weight: how often it is drawn, within its family.
        rule: from what computes the expression with NumPy, the operands' balls and the
            parameters to the results' balls.
        text: an expression, or statements that assign `{out}`.
        numpy: the expression where NumPy's differs; `{0}` is the first operand there,
            and parameters are variables.
    """

    weight: float
    rule: Rule
    text: str
    numpy: str = ""


SYMBOLS = {
    **{"add": "+", "subtract": "-", "multiply": "*", "divide": "/"},
    **{"floor_divide": "//", "remainder": "%", "pow": "**"},
    **{"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<="},
    **{"greater": ">", "greater_equal": ">="},
    **{"bitwise_left_shift": "<<", "bitwise_right_shift": ">>"},
}
LIKELY = ("add", "subtract", "multiply", "divide")
INTERNAL = ("where", "cast", "threefry", "threefry_first")
KINDS = {
    **{("bool", "int", "uint"): "bits", ("int", "uint"): "integer"},
    **{("float",): "float", ("int", "uint", "float"): "numeric"},
}
"""Operands of operations that do not take all dtypes."""


def elementwise() -> Iterator[Entry]:
    """Yield the entries of the op table, as functions, symbols and with numbers."""
    for op in OPS.values():
        if op.kind != "map" or op.name in INTERNAL:
            continue
        name, weight = op.name, 1.6 if op.name in LIKELY else 0.4
        first = f"{{{KINDS.get(TAKES.get(name, ()), 'any')}}}"
        if op.arity == 1:
            yield Entry(weight, partial(maps, name, "0"), f"xp.{name}({first})")
            continue
        yield Entry(weight, partial(maps, name, "01"), f"xp.{name}({first}, {{other}})")
        if symbol := SYMBOLS.get(name):
            n = "{power}" if name == "pow" else "{n}"
            yield Entry(
                weight, partial(maps, name, "01"), f"{first} {symbol} {{other}}"
            )
            yield Entry(weight, partial(maps, name, "0n"), f"{first} {symbol} {n}")
        if name in LIKELY:
            yield Entry(weight, partial(maps, name, "n0"), f"{{n}} {symbol} {first}")


STEPS = """
elementwise 34
    1 root {float} ** 0.5
    1 negative -{numeric}
    1 abs abs({numeric})
    1 bitwise_invert ~{bits}
    3 selects xp.where({bool}, {other}, {other})
    3 casts xp.astype({any}, '{dtype}')
    2 clips xp.clip({numeric}, {low}, {high})
movement 22
    4 moves xp.permute_dims({any}, {order})
    1 moves {matrix}.mT
    1 moves xp.moveaxis({ranked}, {axis}, {to})
    4 moves {any}.reshape({lengths})
    1 moves xp.ravel({any})
    6 moves {any}[{slices}]
    2 moves xp.broadcast_to({any}, {wide})
    1 moves xp.expand_dims({any}, axis={new})
    4 moves xp.squeeze({ranked}, axis={axis})
    2 moves xp.flip({any}, axis={axes})
    1 moves xp.roll({any}, {shift}, axis={along})
    1 moves xp.roll({matrix}, {shifts}, axis={pair})
    2 moves xp.pad({target}, {widths}, {whole})
      ~ np.pad({0}, widths, constant_values=whole)
    1 moves xp.concat([{ranked}, {joined}], axis={axis})
    1 moves xp.concat([{ranked}, {joined}, {joined}], axis={axis})
    1 moves xp.concat([{ranked}, {joined}, {joined}, {joined}, {joined}], axis={axis})
    1 moves xp.stack([{any}], axis={new})
    1 moves xp.stack([{any}, {same}, {same}], axis={new})
    0.5 moves xp.stack([{any}, SIXTEEN], axis={new})
    1 moves [{out}] = xp.unstack({ranked}, axis={axis})
    1 moves xp.repeat({any}, {count})
    1 moves xp.repeat({ranked}, {repeats}, axis={axis})
    1 moves xp.tile({any}, {tiles})
    1 moves xp.tril({matrix}, k={offset})
    1 moves xp.triu({matrix}, k={offset})
    1 moves xp.sliding_windows({ranked}, {size}, axis={axis}, step={step},
      dilation={dilation}) ~ windows({0}, size, axis, step, dilation)
reductions 12
    2 sums xp.sum({any}, axis={axes}, keepdims={keepdims})
    1 sums {any}.sum(axis={axes}, keepdims={keepdims})
    2 means xp.mean({numeric}, axis={axes}, keepdims={keepdims})
      ~ np.sum({0}, axis=axes, keepdims=keepdims)
    1 products xp.prod({any}, axis={axes}, keepdims={keepdims})
    1 extremes xp.max({any}, axis={axes}, keepdims={keepdims})
    1 extremes xp.min({any}, axis={axes}, keepdims={keepdims})
    1 argmax xp.argmax({any}, axis={along}, keepdims={keepdims})
    1 argmin xp.argmin({any}, axis={along}, keepdims={keepdims})
    0.7 counts xp.any({any}, axis={axes}, keepdims={keepdims})
    0.7 counts xp.all({any}, axis={axes}, keepdims={keepdims})
    0.7 counts xp.count_nonzero({any}, axis={axes}, keepdims={keepdims})
    0.5 var xp.var({float}, axis={axes}, correction={correction}, keepdims={keepdims})
    0.5 std xp.std({float}, axis={axes}, correction={correction}, keepdims={keepdims})
    1 runs xp.cumulative_sum({ranked}, axis={axis}, include_initial={flag})
    1 products xp.cumulative_prod({ranked}, axis={axis}, include_initial={flag})
    1 differs xp.diff({line}, axis={axis})
sorting 5
    2 sorts xp.sort({sortable}, axis={axis}, descending={flag})
    2 argsorts xp.argsort({sortable}, axis={axis}, descending={flag})
    1 top [{out}] = xp.top_k({sortable}, {some}, axis={axis}, largest={flag})
    1 certain xp.searchsorted(xp.sort({known_line}), {exact}, side='{side}')
    1 certain [{out}] = xp.unique_all({distinct})
    1 certain xp.isin({distinct}, {few})
reading 8
    2 moves {filled}[{key}]
    3 reads {filled}[{front}{indices}] ~ {0}[behind(front, {1})]
    2 reads xp.take({filled}, {indices}, axis={axis})
    1 reads xp.take_along_axis({filled}, {aligned}, axis={axis})
    2 reads {filled}[{mask}]
    1 certain [{out}] = xp.nonzero({known})
writing 9
    2 moves COPY[{slices}] = {part} ~ put({0}, slices, {1})
    1 moves COPY[{slices}] = {whole} ~ put({0}, slices, whole)
    1 moves COPY[{key}] = {part} ~ put({0}, key, {1})
    1 moves COPY[{key}] = {whole} ~ put({0}, key, whole)
    1 reads COPY[{mask}] = {part} ~ put({0}, {1}, {2})
    1 reads COPY[{mask}] = {whole} ~ put({0}, {1}, whole)
    2 reads COPY[{front}{indices}] = {part} ~ put({0}, behind(front, {1}), {2})
    1 accumulates {target}.at[{key}].{how}({part}) ~ accumulate(how, {0}, key, {1})
    2 accumulates {target}.at[{front}{indices}].{how}({part})
      ~ accumulate(how, {0}, behind(front, {1}), {2})
    1 segments xp.segment_{reduce}({terms}, {group}, {count})
algebra 6
    3 contracts {factor} @ {columns}
    1 contracts {factor} @ {rows}.mT
    4 contracts xp.einsum('{formula}', {factor}, {second}) ~ einsum(formula, {0}, {1})
    1 contracts xp.tensordot({factors}, {reduced}, axes={contracted})
      ~ tensordot({0}, {1}, contracted)
    1 contracts xp.vecdot({factor}, {dot})
      ~ np.sum({0} * {1}, axis=-1, dtype={0}.dtype)
    1 outer xp.outer({vector}, {vectors})
    4 contracts xp.conv2d({images}, {weights}, stride={stride}, padding={padding},
      dilation={dilation}, groups={groups})
      ~ convolve({0}, {1}, stride, padding, dilation, groups)
    0.5 extremes xp.max_pool2d({image}, {count}, stride={stride})
      ~ windows({0}, (count, count), (-2, -1), stride).max((-2, -1))
    0.5 means xp.avg_pool2d({image}, {count}, stride={stride})
      ~ windows({0}, (count, count), (-2, -1), stride).sum((-2, -1))
creation 4
    1 creates xp.eye({length}, {width}, k={offset}, dtype='{common}')
      ~ np.eye(length, width, min(max(offset, -999), 999), common)
    1 creates xp.arange({start}, {end}, {step}, dtype='{common}')
    1 creates xp.full({shape}, {value}, dtype='{dtype}')
    1 creates [{out}] = xp.meshgrid(xp.arange({length}, dtype='int32'),
      xp.arange({width}, dtype='float32'), indexing='ij')
    1 spaced xp.linspace({start}, {end}, {length}, endpoint={flag})
    0.5 alike xp.zeros_like({any})
    0.5 alike xp.ones_like({any})
"""
"""Families and how often each is drawn; below, weight, rule and text of each entry, and
behind `~` NumPy's. A line without a number continues the one before."""

WORDS = {
    "SIXTEEN": ", ".join(["{same}"] * 16),
    "COPY[": "{out} = {target}.copy()\n{out}[",
}


def parsed() -> dict[str, tuple[int, list[Entry]]]:
    """Return weight and entries of each family."""
    families: dict[str, tuple[int, list[Entry]]] = {}
    for line in re.sub(r"\n\s+(?=[^\d\s])", " ", STEPS.strip()).split("\n"):
        weight, _, rest = line.strip().partition(" ")
        if not line.startswith(" "):
            made: list[Entry] = list(elementwise()) if weight == "elementwise" else []
            families[weight] = (int(rest), made)
            continue
        rule, _, both = rest.partition(" ")
        text, _, numpy = both.partition(" ~ ")
        for word, meaning in WORDS.items():
            text = text.replace(word, meaning)
        made.append(Entry(float(weight), RULES[rule], text, numpy))
    return families


FAMILIES = parsed()

READERS = re.compile(r"key|indices|aligned|group\}|mask|unique_all|nonzero")
"""What asks for values while the graph is built."""


def add_step(draw: Drawing) -> None:
    """Add one step of a random family.

    Raises:
        Unfit: no operands suit it.
    """
    families = list(FAMILIES.values())
    [(_, entries)] = draw.rng.choices(families, [weight for weight, _ in families])
    [entry] = draw.rng.choices(entries, [each.weight for each in entries])
    names = NAME.findall(entry.text)
    choosers = [OPERANDS[name] for name in names if name in OPERANDS]
    p: Values = {}
    operands = [choosers[0](draw, [], p)] if choosers else []
    shape = draw.shape(operands[0]) if operands else ()
    p["dtype of"] = draw.ball(operands[0]).dtype if operands else ""
    for name in (name for name in PARAMETERS if name in names):
        p[name] = PARAMETERS[name](draw, shape, p)
    for choose in choosers[1:]:
        operands.append(choose(draw, operands, p))
    count = iter(range(len(operands)))
    template = NAME.sub(
        lambda found: f"{{{next(count)}}}" if found[1] in OPERANDS else found[0],
        entry.text,
    )
    compute = computing(entry.numpy or template.rpartition("{out}] = ")[2], p)

    def rule(balls: list[Ball]) -> Ball | Sequence[Ball]:
        try:
            return entry.rule(compute, balls, p)
        except (ValueError, IndexError) as error:  # NumPy refuses these operands
            raise Unfit from error

    outputs = 1
    if entry.text.startswith("["):
        outputs = len(rule([draw.ball(each) for each in operands]))  # type: ignore[arg-type]  # several
        if not 0 < outputs < 6:
            raise Unfit
    called = None if "\n" in template else CALLED.search(template)
    draw.step(
        NAME.sub(lambda found: shown(found, p), template).replace("xp.", "tw."),
        operands,
        rule,
        called[1] if called else entry.text.replace("\n", "; "),
        outputs,
        is_reading=bool(READERS.search(entry.text)),
    )


def shown(found: re.Match[str], p: Values) -> str:
    """Return a parameter as the program's text has it."""
    if found[1] == "out":
        return found[0]
    value = p[found[1]]
    if isinstance(value, float):
        return repr(value).replace("inf", "np.inf").replace("nan", "np.nan")
    return str(value)


def computing(text: str, p: Values) -> Compute:
    """Return the function of arrays that NumPy's expression is."""
    plain = re.sub(r"'?\{([a-z]\w*)\}'?", r"\1", re.sub(r"\{(\d+)\}", r"a[\1]", text))
    code = compile(plain, "<step>", "eval")

    def compute(*arrays: Any, **changed: Any) -> Any:
        return eval(code, {**NAMES, **p, **changed, "a": arrays})

    return compute
