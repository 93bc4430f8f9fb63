"""What notebooks show of a tensor: facts, a picture, text, and never an error."""

from __future__ import annotations

import html
import math
import re
import time
from html.parser import HTMLParser
from typing import Any

import pytest
from checks import counted
from pictures import Picture, decoded

import tensorweb as tw
from tensorweb import devices
from tensorweb.display.cells import NOTEBOOK
from tensorweb.display.summary import DIVERGING, NAN_COLOUR, NAN_INK, SEQUENTIAL
from tensorweb.errors import BlockingError
from tensorweb.waits import Steps

PLAIN, HTML, PNG = "text/plain", "text/html", "image/png"

NAN, INF = math.nan, math.inf


def picture_of(x: tw.Tensor) -> Picture:
    return decoded(x._repr_mimebundle_()[PNG])


def facts_of(x: tw.Tensor) -> str:
    found = re.search(r"<div><div>(.*?)</div>", x._repr_mimebundle_()[HTML])
    assert found is not None
    return html.unescape(found[1])


def test_bundle_has_facts_picture_and_text(device: str) -> None:
    x = tw.reshape(tw.arange(6, dtype=tw.float32), (2, 3))
    bundle = x._repr_mimebundle_()
    # Some pages take the first type that they know.
    assert list(bundle) == [HTML, PNG, PLAIN]
    assert bundle[PLAIN] == repr(x)
    assert html.escape(repr(x)) in bundle[HTML]
    assert bundle[PNG] in bundle[HTML]
    assert facts_of(x) == f"float32 (2, 3) on {device} · 0 … 5 · mean 2.5"


class Tags(HTMLParser):
    """Notes the tags and what they say."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.images: list[dict[str, str | None]] = []

    def handle_starttag(
        self, tag: str, attributes: list[tuple[str, str | None]]
    ) -> None:
        if tag == "img":
            self.images.append(dict(attributes))
        elif tag != "source":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_well_formed_and_its_picture_has_a_text(device: str) -> None:
    tags = Tags()
    tags.feed((counted(2, 3, 4) - 5)._repr_mimebundle_()[HTML])
    tags.close()
    (image,) = tags.images
    assert tags.open == []
    assert image["alt"] == (
        "Picture: 3 by 4 cells · of [0, :, :] · each one element · "
        "red is negative, blue positive."
    )
    assert (image["width"], image["height"]) == ("80", "60")


def test_include_and_exclude_choose_types(device: str) -> None:
    x = counted(2, 3)
    assert list(x._repr_mimebundle_(include=[PLAIN])) == [PLAIN]
    assert list(x._repr_mimebundle_(include={PNG, PLAIN}, exclude={PLAIN})) == [PNG]
    assert list(x._repr_mimebundle_(exclude=(HTML,))) == [PNG, PLAIN]
    assert x._repr_mimebundle_(include=["application/json"]) == {}


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "int32", "uint16"])
def test_numbers_of_all_dtypes_have_the_same_picture(cpu: str, dtype: str) -> None:
    expected = picture_of(counted(2, 3))
    assert picture_of(counted(2, 3).astype(dtype)) == expected


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint64", "uint8"])
def test_numbers_beyond_the_range_of_gpus(cpu: str, dtype: str) -> None:
    x = tw.asarray([0, 1, 200], dtype=dtype)
    picture = picture_of(x)
    assert picture.cell(0, 0, 1, 3) == {SEQUENTIAL[0]}
    assert picture.cell(0, 2, 1, 3) == {SEQUENTIAL[-1]}


def test_values_beyond_float32_are_finite_in_float64(cpu: str) -> None:
    x = tw.asarray([1e300, -1e300, 0.0], dtype=tw.float64)
    assert facts_of(x) == "float64 (3,) on cpu · -1e300 … 1e300 · mean 0"
    picture = picture_of(x)
    assert picture.cell(0, 1, 1, 3) == {DIVERGING["light"][0]}
    pooled = tw.broadcast_to(tw.full((200, 1), 1e300, dtype=tw.float64), (200, 200))
    assert "Inf" not in facts_of(pooled)
    assert picture_of(pooled * tw.ones((200, 200))).cell(0, 0, 1, 1) != {NAN_INK}


def test_largest_floats_have_a_scale(cpu: str) -> None:
    largest = float(tw.finfo(tw.float64).max)
    picture = picture_of(tw.asarray([-largest, largest], dtype=tw.float64))
    assert picture.cell(0, 1, 1, 2) == {DIVERGING["light"][-1]}


def test_bool_is_drawn_and_counted(device: str) -> None:
    x = counted(2, 5) > 6
    assert facts_of(x) == f"bool (2, 5) on {device} · 0 … 1 · mean 0.3"
    picture = picture_of(x)
    assert picture.cell(0, 0, 2, 5) == {SEQUENTIAL[0]}
    assert picture.cell(1, 4, 2, 5) == {SEQUENTIAL[-1]}


def test_nan_and_infinities_are_counted_and_marked(device: str) -> None:
    x = tw.asarray([[1.0, NAN, 4.0], [INF, -INF, 1.0]])
    bundle = x._repr_mimebundle_()
    assert facts_of(x) == f"float32 (2, 3) on {device} · 1 … 4 · mean 2 · 1 NaN · 2 Inf"
    assert "NaN in 1 cell · I infinity in 2 cells" in bundle[HTML]
    picture = decoded(bundle[PNG])
    assert picture.cell(0, 1, 2, 3) == {NAN_COLOUR, NAN_INK}
    assert picture.cell(1, 0, 2, 3) == {SEQUENTIAL[-1], (0, 0, 0)}
    assert picture.cell(1, 1, 2, 3) == {SEQUENTIAL[0], (255, 255, 255)}


@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_no_finite_value_at_all(device: str, value: float) -> None:
    name = "Inf" if math.isinf(value) else "NaN"
    for x in (tw.full((3, 5), value), tw.asarray([value] * 15)):
        assert facts_of(x).endswith(f" on {device} · 15 {name}")
    assert picture_of(x).width > 0


def test_nan_in_cells_too_small_for_a_mark(device: str) -> None:
    x = tw.where(counted(80, 90) == 0, NAN, 1.0)
    picture = picture_of(x)
    assert picture.cell(0, 0, 80, 90) == {NAN_INK}
    assert picture.cell(0, 1, 80, 90) != {NAN_INK}


def test_values_that_change_sign_have_colours_for_light_and_dark(device: str) -> None:
    x = tw.asarray([-2.0, 0.0, 1.0, 2.0])
    bundle = x._repr_mimebundle_()
    light = decoded(bundle[PNG])
    source = re.search(r'dark\)" srcset="data:image/png;base64,(.*?)"', bundle[HTML])
    assert source is not None
    dark = decoded(source[1])
    for picture, stops in ((light, DIVERGING["light"]), (dark, DIVERGING["dark"])):
        assert picture.cell(0, 0, 1, 4) == {stops[0]}
        assert picture.cell(0, 1, 1, 4) == {stops[5]}
        assert picture.cell(0, 3, 1, 4) == {stops[-1]}
    assert "<source" not in (x + 2)._repr_mimebundle_()[HTML]


@pytest.mark.parametrize(
    "x",
    [
        tw.asarray(7),
        tw.ones((0,)),
        tw.ones((3, 0, 2)),
        tw.ones((1, 1)),
        tw.asarray([2]),
    ],
    ids=str,
)
def test_numbers_and_nothing_are_text_only(x: tw.Tensor) -> None:
    x = x.to_device("cpu")
    assert x._repr_mimebundle_() == {PLAIN: repr(x)}
    assert x._repr_mimebundle_(include=[PNG]) == {}


def test_views_are_drawn_as_they_look(device: str) -> None:
    x = counted(3, 4)
    plain = tw.asarray(x.T[::-1, ::2].tolist())
    view = x.T[::-1, ::2]
    assert picture_of(view) == picture_of(plain)
    assert facts_of(view) == facts_of(plain)
    assert picture_of(tw.expand_dims(x, axis=0)) == picture_of(x)


def test_stretched_tensors_count_each_repetition(device: str) -> None:
    x = tw.broadcast_to(tw.asarray([1.0, NAN, 3.0]), (100_000, 3))
    assert facts_of(x).endswith(" · 1 … 3 · mean 2 · 100,000 NaN")
    picture = picture_of(x)
    assert picture.cell(0, 0, 511, 3) == {SEQUENTIAL[0]}
    assert NAN_INK in picture.cell(300, 1, 511, 3)


def test_huge_constants_take_no_storage(device: str) -> None:
    x = tw.full((100_000, 100_000), 2.5)
    assert facts_of(x).endswith(" · 2.5 … 2.5 · mean 2.5")
    assert len({p for row in picture_of(x).pixels for p in row}) == 1


def test_of_a_large_tensor_few_elements_are_read(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = counted(600, 700).realize()
    backend = devices.backend(device)
    sizes = []
    read = type(backend).read_steps

    def counting(self: Any, nodes: Any) -> Steps[list[bytes]]:
        found = yield from read(self, nodes)
        sizes.append(sum(map(len, found)))
        return found

    monkeypatch.setattr(type(backend), "read_steps", counting)
    notes = x._repr_mimebundle_()[HTML]
    assert "86 by 100 cells · each the mean of 7 by 7 elements" in notes
    assert len(sizes) == 2
    assert sum(sizes) <= 4 * (NOTEBOOK.cells + 36 + 5)


def test_twenty_million_elements_are_quick(cpu: str) -> None:
    x = tw.linspace(-1.0, 3.0, 20_000_000).reshape((4000, 5000)).realize()
    begin = time.process_time()
    facts = facts_of(x)
    assert time.process_time() - begin < 10
    assert facts == "float32 (4000, 5000) on cpu · -1 … 3 · mean 1"


def test_sums_of_float16_do_not_overflow(cpu: str) -> None:
    x = tw.full((300, 400), 3.0, dtype=tw.float16) + tw.zeros((300, 400), tw.float16)
    assert facts_of(x).endswith(" · 3 … 3 · mean 3")


@pytest.mark.parametrize("shape", [(4,), ()])
def test_where_python_cannot_wait_the_text_says_how(
    device: str, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...]
) -> None:
    def refuse(*arguments: object) -> object:
        raise BlockingError("read: await the twin: `await x.numpy_async()`")

    x = counted(*shape) + 1
    monkeypatch.setattr(type(devices.backend(device)), "read_steps", refuse)
    for include in (None, [PLAIN]):
        assert x._repr_mimebundle_(include) == {
            PLAIN: f"tensor(..., shape={shape}, dtype=float32)\n"
            "BlockingError: read: await the twin: `await x.numpy_async()`"
        }
    assert x._repr_mimebundle_([HTML]) == {}


def test_failed_computations_show_the_reason(cpu: str) -> None:
    side = 1 << 22
    huge = tw.arange(side)[:, None] * tw.arange(side)
    bundle = huge._repr_mimebundle_()
    assert list(bundle) == [PLAIN]
    assert f"shape=({side}, {side})" in bundle[PLAIN]
    assert "DeviceMemoryError: " in bundle[PLAIN]
