"""What a program prints reaches the page in few pieces, however it prints."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from tensorweb.playground.streams import Output


def test_fast_changes_of_stream_are_few_notes() -> None:
    notes: list[Mapping[str, object]] = []
    output = Output(lambda kind, fields: notes.append(fields))
    for number in range(9000):
        output.write(f"{number}\n", "stdout")
        output.write(f"{number}\n", "stderr")
    output.flush()
    everything = "".join(str(fields["text"]) for fields in notes)
    assert everything.startswith("0\n0\n1\n1\n")
    assert everything.count("\n") == 18_000
    assert len(notes) < 6000


def test_slow_changes_of_stream_keep_their_stream() -> None:
    notes: list[Mapping[str, object]] = []
    output = Output(lambda kind, fields: notes.append(fields))
    for number in range(3):
        output.write(f"{number}\n", "stdout")
        output.write(f"{number}\n", "stderr")
    streams = [fields["stream"] for fields in notes]
    assert streams == ["stdout", "stderr"] * 3


def test_what_was_printed_fast_is_sent_while_the_program_waits() -> None:
    notes: list[Mapping[str, object]] = []
    output = Output(lambda kind, fields: notes.append(fields))

    async def program() -> None:
        for number in range(300):
            output.write(f"{number}\n", "stdout")
        while not notes or "299" not in str(notes[-1]["text"]):
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(program(), 60))
