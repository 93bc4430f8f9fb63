"""Command tapes with holes, which are filled again for every flush."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tensorweb.backends.pipelines import Pipelines
from tensorweb.codegen.expression import number_bits, number_words
from tensorweb.codegen.program import Launch
from tensorweb.drivers.protocol import CLEAR, DISPATCH, PARAMETER_WORDS
from tensorweb.dtypes import BY_NAME
from tensorweb.graph.node import Node, number_of_constant

Holes = list[tuple[int, int]]
"""Words of a tape, and the slot of the storage whose buffer belongs there."""


@dataclass(frozen=True, slots=True)
class Command:
    """One dispatch, or the clearing of a scratch storage when `launch` is None.

    Attributes:
        index: index of its kernel in the plan.
        formula: what its kernel computes, `""` where that is long.
    """

    launch: Launch | None
    references: tuple[int, ...]
    scalars: tuple[int, ...] = ()
    words: str = ""
    nbytes: int = 0
    index: int = 0
    formula: str = ""


@dataclass(slots=True)
class Tape:
    """A tape with holes.

    Attributes:
        words: the tape; its holes contain values of the last flush.
        floats: the same memory as float32.
        buffer_holes: (word of the tape, reference of a storage of the plan).
        float_holes: (word, index of a constant node) of float32 constants.
        scalar_holes: (word, index of a constant node, dtype name) of others.
        wide_holes: like `scalar_holes`, of 64-bit constants, which take two words.
    """

    words: array[int]
    floats: memoryview[float]
    buffer_holes: list[tuple[int, int]]
    float_holes: list[tuple[int, int]]
    scalar_holes: list[tuple[int, int, str]]
    wide_holes: list[tuple[int, int, str]]


def make_tape(commands: Sequence[Command], pipelines: Pipelines) -> Tape:
    """Return the tape of some commands: parameter block first, then the commands."""
    parameters: list[int] = []
    stream: list[int] = []
    buffer_holes: list[tuple[int, int]] = []
    float_holes: list[tuple[int, int]] = []
    scalar_holes: list[tuple[int, int, str]] = []
    wide_holes: list[tuple[int, int, str]] = []
    for command in commands:
        if command.launch is None:
            buffer_holes.append((len(stream) + 1, command.references[0]))
            stream += [CLEAR, 0, 0, command.nbytes]
            continue
        launch = command.launch
        offset = len(parameters)
        for word in launch.words:
            if not isinstance(word, int):
                slot, dtype = word
                word, number = 1 + len(parameters), command.scalars[slot]
                if dtype == "float32":
                    float_holes.append((word, number))
                elif BY_NAME[dtype].bits == 64:
                    wide_holes.append((word, number, dtype))
                else:
                    scalar_holes.append((word, number, dtype))
                word = 0
            parameters.append(word)
        parameters += [0] * (offset + PARAMETER_WORDS - len(parameters))
        stream += [
            DISPATCH,
            pipelines.handle(launch, command.words),
            *launch.grid,
            0 if launch.is_in_order else 1,
            offset * 4,
            len(launch.storages),
        ]
        for reference in command.references:
            buffer_holes.append((len(stream), reference))
            stream.append(0)
    start = 1 + len(parameters)
    words = array("i", [len(parameters), *parameters, *stream])
    return Tape(
        words,
        memoryview(words).cast("B").cast("f"),
        [(start + at, reference) for at, reference in buffer_holes],
        float_holes,
        scalar_holes,
        wide_holes,
    )


def filled(
    tape: Tape,
    holes: Holes,
    handles: Sequence[int] | Mapping[int, int],
    nodes: Sequence[Node],
) -> array[int]:
    """Return the words of a tape, its holes filled with handles and constants.

    They are overwritten by the next call; a float32 beyond its range becomes infinite.
    """
    words, floats = tape.words, tape.floats
    for at, slot in holes:
        words[at] = handles[slot]
    for at, number in tape.float_holes:
        floats[at] = number_of_constant(nodes[number])
    for at, number, dtype in tape.scalar_holes:
        words[at] = number_bits(number_of_constant(nodes[number]), dtype)
    for at, number, dtype in tape.wide_holes:
        value = number_of_constant(nodes[number])
        words[at], words[at + 1] = number_words(value, dtype)
    return words
