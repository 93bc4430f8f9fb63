"""Complex tensors in the page: pictures and statistics of sizes, texts of numbers."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from io import BytesIO

import numpy as np

import tensorweb as tw
from tensorweb.display.summary import summary_of
from tensorweb.playground import pictures, tensors
from tensorweb.playground.numbers import BlockingReader

READER = BlockingReader()


def test_sizes_are_drawn_and_numbers_written(device: str) -> None:
    x = tw.asarray([[3 + 4j, -1.5], [0.1j, complex("nan")]])
    plane = (0, 1, [0, 0])

    async def look() -> None:
        drawn = await pictures.heatmap(x, *plane, "mean", "full", READER)
        assert drawn["encoding"] == "float32"
        values = drawn["values"]
        assert isinstance(values, bytes)
        sizes = np.frombuffer(values, np.float32)
        np.testing.assert_allclose(sizes, [5, 1.5, 0.1, np.nan], 1e-6)
        texts = (await pictures.cells(x, *plane, 0, 0, 2, 2, READER))["texts"]
        assert texts == [["3+4j", "-1.5+0j"], ["0+0.1j", "nan+0j"]]
        assert (await pictures.find(x, "min", READER))["index"] == [1, 0]
        assert (await pictures.find(x, "nan", READER))["index"] == [1, 1]
        (found,) = await tensors.statistics_of([x], READER)
        assert (found.get("max"), found.get("nan")) == (5.0, 1)
        less = pictures.difference(x, x * 2)
        count, largest, index = await pictures.measure(x, x * 2, less, READER)
        assert (count, largest, index) == (3, 5.0, [0, 0])
        entries = tensors.collect({"x": x}, [])
        (print_of,) = await tensors.fingerprints(entries, READER)
        assert (print_of["dtype"], print_of["numbers"][1]) == ("complex64", 5.0)
        file = b64decode((await pictures.npy(x, 0, READER))["data"])
        np.testing.assert_array_equal(np.load(BytesIO(file)), x.numpy())

    asyncio.run(look())
    summary = summary_of(x.node)
    assert summary is not None
    assert "abs(x)" in summary.facts
    assert "drawn is abs(x)" in summary.notes
