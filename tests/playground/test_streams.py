"""What a program prints reaches the page in few pieces, however it prints."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from tensorweb.playground import policy
from tensorweb.playground.streams import LineMeter, Output, Stream, settled


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


def test_fast_output_is_sent_while_the_program_waits() -> None:
    notes: list[Mapping[str, object]] = []
    output = Output(lambda kind, fields: notes.append(fields))

    async def program() -> None:
        for number in range(300):
            output.write(f"{number}\n", "stdout")
        while not notes or "299" not in str(notes[-1]["text"]):
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(program(), 60))


def test_a_line_that_is_written_over_counts_once() -> None:
    meter = LineMeter()
    assert meter.take("ab\ncd") == 5
    assert meter.take("\rwxyz\rab") == 2
    assert meter.take("cdef") == 2
    assert meter.take("\n\r\rq\n") == 3


def test_a_progress_bar_is_never_too_long_and_sent_as_it_moves() -> None:
    notes: list[tuple[str, Mapping[str, object]]] = []
    output = Output(lambda *note: notes.append(note))
    output.write("\r  0 %", "stderr")
    assert notes[-1][1]["text"] == "\r  0 %"
    for number in range(policy.OUTPUT_HEAD):
        output.write(f"\r{number:3} steps of a long bar", "stderr")
    output.write("\ndone\n", "stderr")
    output.flush()
    assert {kind for kind, _ in notes} == {"output"}
    assert "".join(str(each["text"]) for _, each in notes).endswith("bar\ndone\n")


def test_flush_sends_a_line_that_has_not_ended() -> None:
    notes: list[Mapping[str, object]] = []
    stream = Stream(Output(lambda kind, fields: notes.append(fields)), "stdout")
    print("…", end="", flush=True, file=stream)
    assert [fields["text"] for fields in notes] == ["…"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\nb", "a\nb"),
        ("a\rb", "a\rb"),
        ("a\rlong\rc", "a\rcong"),
        ("\rlong\rc\r\nnext\r\r", "\rcong\r\nnext\r\r"),
        ("\r\x1b[1mlong\x1b[0m\rc", "\rc"),
    ],
)
def test_overwritten_lines_are_not_sent(text: str, kept: str) -> None:
    assert settled(text) == kept
