"""Where the time of a run went: its flushes and reads, and the costliest fault."""

from __future__ import annotations

from tensorweb import frames
from tensorweb.devices import open_device_async, opened
from tensorweb.events import Read
from tensorweb.inspection import costs
from tensorweb.performance import rates as device_rates
from tensorweb.waits import run_async, run_blocking

from . import device_records, policy, records, sources
from .kernels import Tally, key_of
from .streams import clip_line


def record(
    tally: Tally, started: float, seconds: float, is_recorded: bool
) -> device_records.TimelineRecord:
    """Return the record of a run that began at `started`, by `time.perf_counter`.

    `is_recorded` is as in `costs.Run`.
    """
    numbers = tally.numbers()
    plans: list[device_records.TimelinePlan] = []
    known: dict[int, int] = {}
    flushes: list[device_records.TimelineFlush] = []
    # Of a part that ran again, not of what ran before it.
    own = [flush for flush in tally.flushes if flush.begun >= started]
    reads = [read for read in tally.reads if read.begun >= started]
    for flush in own:
        if not flush.launches:
            continue
        plan = known.setdefault(id(flush.launches), len(plans))
        if plan == len(plans):
            kernels = [numbers.get(key_of(each)) for each in flush.launches]
            plans.append(
                {
                    "device": flush.launches[0].device,
                    "kernels": kernels,
                    "results": [
                        max(each.outputs, default=0) for each in flush.launches
                    ],
                }
            )
        flushes.append(
            {
                "plan": plan,
                "begin": flush.begun - started,
                "planned": flush.planned - started,
                "encoded": flush.encoded - started,
                "end": flush.submitted - started,
                "seconds": list(flush.seconds or ()),
            }
        )
    backend = opened(plans[-1]["device"]) if plans else None
    return {
        "seconds": seconds,
        "plans": plans,
        "flushes": flushes,
        "reads": [_read(each, started) for each in reads],
        "unlisted": tally.unlisted,
        "adapter": backend.description if backend else "",
        "finding": _finding(costs.Run(own, reads, seconds, is_recorded)),
    }


def _read(read: Read, started: float) -> device_records.TimelineRead:
    line = frames.line_of((read.code, read.instruction, 0))
    is_own = line is not None and sources.is_program(line.file)
    return {
        "begin": read.begun - started,
        "end": read.done - started,
        "bytes": read.nbytes,
        "file": sources.name_of(line.file) if line and is_own else "",
        "line": line.number if line and is_own else None,
    }


def _finding(run: costs.Run) -> device_records.TimelineFinding | None:
    found = costs.ranked(run)
    if not found:
        return None
    first = found[0]
    is_own = first.line is not None and sources.is_program(first.line.file)
    return {
        "text": clip_line(first.text, policy.LONGEST_PROBLEM),
        "file": sources.name_of(first.line.file) if first.line and is_own else "",
        "line": first.line.number if first.line and is_own else None,
    }


async def rates(
    device: records.DeviceName, blocking: bool
) -> device_records.DeviceRates:
    """Measure what a device does in a second."""
    if not blocking:
        await open_device_async(device)
    steps = device_rates.measured(device)
    found = run_blocking(steps) if blocking else await run_async(steps)
    return {
        "adapter": found.adapter,
        "bandwidth": found.bandwidth,
        "flops": found.flops,
    }
