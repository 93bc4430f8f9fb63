"""What the panels Why?, Film and Model show of a run, for a report without Python."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import tensorweb as tw
from tensorweb.display.cells import Pooling

from . import inside_records, pictures, policy, records, tensors
from .inside import Inside
from .numbers import Reader

NOT_FINITE = re.compile("nan|inf")

Cell = tuple[int, tuple[int, ...]]
"""The id of a tensor, and an index."""

Film = tuple[int, str, Sequence[tuple[int, tw.Tensor]]]
"""The index of a line's result, its name, and its values by step."""


def first_cells(entries: Sequence[tensors.Entry], ids: Iterable[int]) -> Iterator[Cell]:
    """Yield the cells of small tensors, and the first cell of larger ones."""
    for number in ids:
        x = entries[number].tensor
        is_small = x.size <= policy.MOST_EXPLAINED_CELLS
        lengths = x.shape if is_small else [min(n, 1) for n in x.shape]
        yield from ((number, index) for index in product(*map(range, lengths)))


class InsideRecording:
    """Responses of one run, within `policy.MOST_RECORDED_BYTES` for each panel."""

    def __init__(
        self, inside: Inside, entries: Sequence[tensors.Entry], reader: Reader
    ) -> None:
        """Begin without responses; `entries` are the tensors with ids."""
        self.responses: list[dict[str, Any]] = []
        self._inside = inside
        self._entries = entries
        self._reader = reader
        self._bytes_left = 0
        self._drawn: set[tuple[int, tuple[int, ...]]] = set()

    async def record(
        self,
        names: Mapping[str, object],
        films: Iterable[Film],
        cells: Iterable[Cell],
    ) -> None:
        """Record the networks in `names`, the films, and why cells have their values.

        The cells that an explanation reads are explained after the given ones.
        """
        self._bytes_left = policy.MOST_RECORDED_BYTES
        await self._record_modules(names)
        self._bytes_left = policy.MOST_RECORDED_BYTES
        await self._record_causes(cells)
        self._bytes_left = policy.MOST_RECORDED_BYTES
        for film in films:
            await self._record_film(*film)

    async def _record_modules(self, names: Mapping[str, object]) -> None:
        found = await self._inside.modules(names, self._reader)
        if found:
            self._add("modules", {}, found)
        for module in found:
            output = [] if module["output"] is None else [module["output"]]
            for tensor in (*output, *module["tensors"]):
                await self._draw(tensor)

    async def _record_film(
        self, result: int, name: str, steps: Sequence[tuple[int, tw.Tensor]]
    ) -> None:
        if self._bytes_left <= 0:
            return
        every = -(-len(steps) // policy.MOST_RECORDED_STEPS)
        # The last one belongs to them.
        film = await self._inside.film(steps[::-1][::every][::-1], name, self._reader)
        self._add("film", {"result": result}, film)
        if film["histogram"] is not None:
            await self._draw(film["histogram"])
        for step in reversed(film["steps"]):
            await self._draw(step["tensor"])

    async def _record_causes(self, cells: Iterable[Cell]) -> None:
        waiting, known = deque(cells), set[Cell]()
        while waiting and self._bytes_left > 0:
            number, index = cell = waiting.popleft()
            if cell in known or len(known) == policy.MOST_EXPLAINED:
                continue
            known.add(cell)
            x = self._tensor(number)
            for is_search in (False, True):
                why = await self._inside.why(
                    self._entries, x, index, is_search=is_search
                )
                details = {"tensor": number, "index": [*index], "search": is_search}
                self._add("why", details, why)
                for source in why["sources"]:
                    waiting += await self._draw_source(source)
                if not NOT_FINITE.search(why["value"]):
                    break

    async def _draw_source(self, source: inside_records.WhySource) -> list[Cell]:
        """Record the picture of what was read with its mask, and return the cells."""
        tensor = source["tensor"]
        cells = [(tensor["id"], tuple(one["index"])) for one in source["cells"]]
        first = cells[0][1] if cells else (0,) * len(tensor["shape"])
        await self._draw(tensor, first)
        mask: records.TensorRecord = {**tensor, "id": source["mask"]}
        await self._draw(mask, first, "extreme")
        return cells

    def _tensor(self, number: int) -> tw.Tensor:
        if number >= policy.FIRST_VALUE_ID:
            return self._inside.tensor(number)
        return self._entries[number].tensor

    async def _draw(
        self,
        tensor: records.TensorRecord,
        first: tuple[int, ...] | None = None,
        how: Pooling = "mean",
    ) -> None:
        """Record the picture that `lit-picture.ts` asks for."""
        number, rank = tensor["id"], len(tensor["shape"])
        first = first or (0,) * rank
        key = number, first[:-2]
        if self._bytes_left <= 0 or tensor["size"] < 2 or rank == 0:
            return
        if key in self._drawn:
            return
        self._drawn.add(key)
        rows, columns = (rank - 2 if rank > 1 else None), rank - 1
        x = self._tensor(number)
        picture = await pictures.heatmap(
            x, rows, columns, first, how, "small", self._reader, None
        )
        self._add("heatmap", {"tensor": number, "indices": [*first]}, picture)

    def _add(self, name: str, details: object, response: Any) -> None:
        found = response_of(name, details, response)
        self._bytes_left -= len(str(found))
        self.responses.append(found)


def response_of(name: str, details: object, response: Any) -> dict[str, Any]:
    """Return a response to a request as a report has it, bytes in base64."""
    values = response.get("values") if isinstance(response, dict) else None
    if isinstance(values, bytes):
        response |= {"values": b64encode(values).decode()}
    return {"name": name, "details": details, "response": response}
