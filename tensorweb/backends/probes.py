"""What an adapter computes wrongly: tiny kernels with known results, run once.

Compilers of GPUs have faults that no test on another adapter sees. `webgpu.py` submits
all probes as one launch when it opens a device. A probe that fails names a fault; where
it probes a function of `shaders/math/`, kernels get that function from a file of
`shaders/workarounds/` instead.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from tensorweb.codegen.template import functions_for
from tensorweb.drivers.protocol import DISPATCH, PARAMETER_WORDS, ShaderDriver
from tensorweb.waits import Steps

SAMPLES = 8
"""Threads of a probe, each with one sample; fewer samples are repeated."""

Sample = tuple[float, float, float, float]
"""Three operands and the result."""

LEAST_I32 = -(1 << 31)
INF = math.inf
NAN = math.nan


@dataclass(frozen=True, slots=True)
class Probe:
    """One term with known results.

    Attributes:
        fault: what is wrong where it fails, in words for people.
        term: of `a`, `b` and `c`, all `i32` or all `f32`, in WGSL.
        kind: `i32` or `f32`.
        samples: operands and results.
        workaround: the file of `shaders/workarounds/` that is used then; empty where
            kernels never hold such a term, or no other formula is known.
    """

    fault: str
    term: str
    kind: str
    samples: tuple[Sample, ...]
    workaround: str = ""


_EXTREMES: tuple[Sample, ...] = ((1, 2, -5, -1), (3, 3, -7, -3), (-4, 9, 1, 4))
_ABSOLUTES: tuple[Sample, ...] = ((-1, 0, 0, 1), (-3, 2, 0, 3), (5, -1, 0, 5))
_SUMS: tuple[Sample, ...] = (
    *((INF, 1, 0, INF), (INF, INF, 0, NAN), (1, NAN, 0, NAN), (2, INF, 0, NAN)),
    (3, 4, 0, 3),
)
_MINIMA: tuple[Sample, ...] = ((NAN, 1, 0, NAN), (1, NAN, 0, NAN), (2, -INF, 0, -INF))

PROBES = (
    Probe(
        "integer negations before nested maxima are lost",
        "max(max(-a, -b), c)",
        "i32",
        _EXTREMES,
    ),
    Probe(
        "absolute values before maxima are lost", "max(abs(a), b)", "i32", _ABSOLUTES
    ),
    Probe("NaN and infinities cancel in sums", "((a - b) + b)", "f32", _SUMS),
    Probe(
        "remainders of negative integers are wrong (in the text of a `tw.kernel`: "
        "write a - b * (a / b) instead of a % b)",
        "(a % b)",
        "i32",
        ((-7, 4, 0, -3), (7, -4, 0, 3), (-8, 4, 0, 0), (9, 4, 0, 1)),
    ),
    Probe(
        "written-out integer negations are lost",
        "max(max(negative_i32(a), negative_i32(b)), c)",
        "i32",
        _EXTREMES,
        "negation",
    ),
    Probe(
        "written-out absolute values are lost",
        "max(max(abs_i32(a), b), c)",
        "i32",
        _ABSOLUTES,
        "negation",
    ),
    Probe(
        "negated absolute values are lost",
        "min(min(negative_i32(abs_i32(a)), negative_i32(abs_i32(b))), c)",
        "i32",
        ((1, -2, 0, -2), (-3, 3, 5, -3), (0, 0, 7, 0)),
        "negation",
    ),
    Probe(
        "fenced sums cancel",
        "(fenced_f32(a - b) + b)",
        "f32",
        _SUMS,
        "fences",
    ),
    Probe(
        "x - x is NaN for infinity, through a fence",
        "(a - fenced_f32(a))",
        "f32",
        ((INF, 0, 0, NAN), (NAN, 0, 0, NAN), (1, 0, 0, 0)),
        "fences",
    ),
    Probe("minima lose NaN", "minimum_f32(a, b)", "f32", _MINIMA, "order"),
    Probe(
        "maxima lose NaN",
        "maximum_f32(a, b)",
        "f32",
        ((NAN, 1, 0, NAN), (1, NAN, 0, NAN), (2, INF, 0, INF)),
        "order",
    ),
    Probe(
        "comparisons with NaN are wrong",
        "select(0.0, 1.0, less_f32(a, b))",
        "f32",
        ((NAN, 1, 0, 0), (1, NAN, 0, 0), (-INF, 1, 0, 1)),
    ),
    Probe(
        "shifts are wrong",
        "(left_shift_i32(a, b) ^ right_shift_i32(a, b))",
        "i32",
        ((-1, 31, 0, 0x7FFFFFFF), (-8, 1, 0, 12), (-5, 40, 0, -1), (3, 2, 0, 12)),
    ),
    Probe(
        "quotients of integers are wrong",
        "floor_divide_i32(a, b)",
        "i32",
        ((LEAST_I32, -1, 0, LEAST_I32), (-7, 2, 0, -4), (7, 0, 0, 0), (7, -2, 0, -4)),
    ),
)
"""The first four are known faults of drivers; kernels of the library avoid them."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What an adapter computes wrongly.

    Attributes:
        faults: in words.
        workarounds: the files of `shaders/workarounds/` that are used.
    """

    faults: tuple[str, ...] = ()
    workarounds: tuple[str, ...] = ()


NOTHING = Findings()
"""Of an adapter without known faults."""


def source(probes: Sequence[Probe] = PROBES) -> str:
    """Return the WGSL of a kernel that computes all probes for all samples."""
    functions, calls = [], []
    for number, probe in enumerate(probes):
        listed = ", ".join(f"{name}: {probe.kind}" for name in "abc")
        head = f"fn probe{number}({listed}) -> {probe.kind}"
        functions.append(f"{head} {{\n  return {probe.term};\n}}\n")
        at = f"{number}u * {SAMPLES}u + lane"
        operands = ", ".join(
            f"bitcast<{probe.kind}>(data[3u * ({at}) + {operand}u])"
            for operand in range(3)
        )
        calls.append(f"  result[{at}] = bitcast<u32>(probe{number}({operands}));\n")
    text = "".join(functions)
    return (
        "struct Parameters {\n  zero: u32,\n}\n"
        "@group(0) @binding(0) var<storage, read> data: array<u32>;\n"
        "@group(0) @binding(1) var<storage, read_write> result: array<u32>;\n"
        "@group(0) @binding(2) var<uniform> parameters: Parameters;\n"
        f"{functions_for(text)}{text}"
        f"@compute @workgroup_size({SAMPLES})\n"
        "fn main(@builtin(local_invocation_index) lane: u32) {\n"
        f"{''.join(calls)}}}\n"
    )


def _samples(probe: Probe) -> list[Sample]:
    times = -(-SAMPLES // len(probe.samples))
    return list(probe.samples * times)[:SAMPLES]


def _packed(probe: Probe, numbers: Sequence[float]) -> bytes:
    if probe.kind == "f32":
        return struct.pack(f"<{len(numbers)}f", *numbers)
    return struct.pack(f"<{len(numbers)}i", *(int(number) for number in numbers))


class Probing:
    """The probes of one open device, submitted; `findings` needs their results.

    Attributes:
        buffer: holds the results.
        size: of `buffer` in bytes.
    """

    def __init__(self, driver: ShaderDriver, probes: Sequence[Probe] = PROBES) -> None:
        """Compile and submit the kernel."""
        self._probes = probes
        self._driver = driver
        rows = [(probe, sample) for probe in probes for sample in _samples(probe)]
        data = b"".join(_packed(probe, sample[:3]) for probe, sample in rows)
        self.size = 4 * len(rows)
        self._data = driver.create_buffer(len(data))
        self.buffer = driver.create_buffer(self.size)
        driver.write_buffer(self._data, 0, data)
        text = driver.shader_header + source(probes)
        pipeline = driver.create_pipeline(text, "rw", "probes of the adapter")
        parameters = [0] * PARAMETER_WORDS
        launch = [DISPATCH, pipeline, 1, 1, 1, 0, 2, self._data, self.buffer]
        driver.submit(array("i", [PARAMETER_WORDS, *parameters, *launch]))

    def findings(self, result: bytes) -> Findings:
        """Return what is wrong, given the bytes of `buffer`, and free both buffers."""
        self._driver.destroy_buffer(self._data)
        self._driver.destroy_buffer(self.buffer)
        step = 4 * SAMPLES
        wrong = [
            probe
            for number, probe in enumerate(self._probes)
            if not _is_right(probe, result[number * step : (number + 1) * step])
        ]
        workarounds = dict.fromkeys(each.workaround for each in wrong)
        return Findings(
            tuple(probe.fault for probe in wrong),
            tuple(name for name in workarounds if name),
        )


def _is_right(probe: Probe, result: bytes) -> bool:
    form = f"<{SAMPLES}{'f' if probe.kind == 'f32' else 'i'}"
    required = [sample[3] for sample in _samples(probe)]
    pairs = zip(struct.unpack(form, result), required, strict=True)
    return all(got == right or (got != got and right != right) for got, right in pairs)


def probe(driver: ShaderDriver) -> Steps[Findings]:
    """Return what the adapter of an open device computes wrongly."""
    probing = Probing(driver)
    result = yield from driver.read_steps(probing.buffer, 0, probing.size)
    return probing.findings(result)
