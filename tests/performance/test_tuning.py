"""Tiles by class of adapter, and by measurement: chosen, kept, read back, forgotten."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pretend_driver import PretendDriver
from tolerances import REDUCE

import tensorweb as tw
from tensorweb import devices, evaluate
from tensorweb.backends.webgpu import (
    ADAPTERS,
    WebGpuBackend,
    class_of,
    kept_tiles,
    key_of,
)
from tensorweb.codegen.product.tiles import PRODUCT_TILES, choose_tile
from tensorweb.codegen.program import Target
from tensorweb.drivers import native_adapters
from tensorweb.performance import tuning
from tensorweb.performance.warming import given
from tensorweb.waits import Steps


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[PretendDriver]:
    """A GPU that is not there, the default device meanwhile."""
    driver = PretendDriver()
    monkeypatch.setitem(devices._backends, "webgpu", WebGpuBackend(driver))
    with devices.device("webgpu"):
        yield driver


@pytest.fixture
def faster(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Measurements that are pretended: these tiles win, and how often was measured."""
    winners: dict[str, str] = {}

    def seconds(left: tw.Tensor, right: tw.Tensor) -> Steps[float]:
        backend = devices.backend("webgpu")
        assert isinstance(backend, WebGpuBackend)
        yield from evaluate.read_steps([left.node])
        return (
            1.0 if backend.tuned.items() <= winners.items() and backend.tuned else 2.0
        )

    monkeypatch.setattr(tuning, "_seconds", seconds)
    monkeypatch.setattr(tuning, "WARMING_SECONDS", 0.0)
    return winners


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("nvidia", "hopper", ""), "nvidia, data centre"),
        (("NVIDIA", "", "NVIDIA H200"), "nvidia, data centre"),
        (("nvidia", "", "NVIDIA: 580.159.04"), "nvidia, unknown"),
        (("nvidia", "ampere", ""), "nvidia"),
        (("nvidia", "lovelace", "NVIDIA GeForce RTX 4090"), "nvidia"),
        (("amd", "rdna-3", "AMD Radeon RX 7900"), "amd, discrete"),
        (("amd", "rdna-2", ""), "amd, integrated"),
        (("intel", "gen-12lp", ""), "intel, integrated"),
        (("intel", "xe-2hpg", ""), "intel, discrete"),
        (("apple", "metal-3", ""), "apple"),
        (("apple", "", "Apple M2 Max"), "apple, large"),
        (("qualcomm", "adreno-7xx", ""), "mobile"),
        (("", "", ""), "unnamed"),
    ],
)
def test_adapters_have_a_class(names: tuple[str, str, str], expected: str) -> None:
    keys = ("vendor", "architecture", "description")
    assert class_of(dict(zip(keys, names, strict=True))).name == expected


def test_software_adapters_are_recognised_by_their_driver() -> None:
    assert class_of({"vendor": "nvidia"}, is_software=True).name == "software"


def test_fewer_cores_take_larger_tiles() -> None:
    sizes = (1, 1024, 1024, 1024)
    areas = []
    for row in sorted({row.cores for row in ADAPTERS}):
        tile = choose_tile(*sizes, Target(workgroup_bytes=32768, cores=row)).tile
        areas.append(tile.rows * tile.columns)
    assert areas[0] == max(areas) > areas[-1] == min(areas)


def test_measured_tile_goes_before_the_table() -> None:
    sizes = (1, 1024, 1024, 1024)
    plain = choose_tile(*sizes, Target()).tile.name
    assert plain != "narrow"
    tuned = Target(tuned=(("vectors 2^20", "narrow"),))
    assert choose_tile(*sizes, tuned).tile.name == "narrow"
    assert choose_tile(1, 4096, 4096, 4096, tuned) == choose_tile(1, 4096, 4096, 4096)


def test_measured_tile_must_fit_the_problem() -> None:
    tuned = Target(tuned=(("vectors 2^20", "large"),))
    assert choose_tile(1, 16, 1 << 16, 64, tuned).tile.name != "large"


def test_winners_are_used_and_saved(
    driver: PretendDriver, faster: dict[str, str]
) -> None:
    faster["vectors 2^20"] = "narrow"
    assert tw.tune() == {"vectors 2^20": "narrow"}
    a = given(1024, 1024)
    assert "tile narrow of 64 x 32 x 32" in tw.explain(a @ a).text
    assert json.loads(driver.texts[key_of(driver)]) == {"vectors 2^20": "narrow"}
    assert WebGpuBackend(driver).tuned == {"vectors 2^20": "narrow"}


def test_tuning_forgets_cached_plans(
    driver: PretendDriver, faster: dict[str, str]
) -> None:
    a = given(1024, 1024)
    before = tw.explain(a @ a).text
    faster["vectors 2^20"] = "narrow"
    tw.tune()
    assert tw.explain(a @ a).text != before
    tw.tune(forget=True)
    assert tw.explain(a @ a).text == before
    assert driver.texts == {}


def test_awaiting_twin_chooses_the_same(
    driver: PretendDriver, faster: dict[str, str]
) -> None:
    faster["vectors 2^22"] = "square"
    assert asyncio.run(tw.tune_async()) == {"vectors 2^22": "square"}


def test_table_stays_when_nothing_is_faster(
    driver: PretendDriver, faster: dict[str, str]
) -> None:
    assert tw.tune() == {}
    assert driver.texts == {}


def test_stop_leaves_things_as_they_were(
    driver: PretendDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = devices.backend("webgpu")
    assert isinstance(backend, WebGpuBackend)
    backend.use_tiles({"vectors 2^18": "small"})

    def seconds(left: tw.Tensor, right: tw.Tensor) -> Steps[float]:
        yield from evaluate.read_steps([left.node])
        raise KeyboardInterrupt

    monkeypatch.setattr(tuning, "_seconds", seconds)
    with pytest.raises(KeyboardInterrupt):
        tw.tune()
    assert backend.tuned == {"vectors 2^18": "small"}
    assert driver.texts == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "Expecting"),
        ("", "Expecting"),
        ("\0\ufffd\x1b", "Expecting"),
        ("[1]", "no table"),
        ("3", "no table"),
        ("[" * 200_000, "no table"),
        ('{"x":' * 200_000, "no table"),
        (" " * 70_000 + "{}", "no table"),
        ('{"x": "huge"}', "unknown tile 'huge'"),
        ('{"x": [1]}', "no table"),
        ('{"x": {"y": 1}}', "no table"),
        ('{"x": 1}', "unknown tile 1"),
        ('{"x": null}', "unknown tile None"),
        ('{"x": ' + "9" * 5000 + "}", "digits"),
        ('{"' + "x" * 9000 + '": NaN}', "unknown tile nan"),
    ],
)
def test_damaged_text_is_ignored_and_removed(
    driver: PretendDriver, text: str, why: str
) -> None:
    driver.texts[key_of(driver)] = text
    with pytest.warns(UserWarning, match=f"are damaged .*{why}.*were removed.*tune"):
        assert kept_tiles(driver) == ()
    assert driver.texts == {}


def test_software_adapters_choose_nothing(driver: PretendDriver) -> None:
    driver.is_software = True
    devices._backends["webgpu"] = WebGpuBackend(driver)
    assert tw.tune() == {}


def test_measuring_runs_on_the_device(
    webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = devices.backend(webgpu)
    assert isinstance(backend, WebGpuBackend)
    monkeypatch.setattr(tuning, "PRODUCTS", ((64, True),))
    monkeypatch.setattr(tuning, "WARMING_SECONDS", 0.0)
    monkeypatch.setattr(tuning, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(tuning, "RECORDED_OPERATIONS", 0.0)
    monkeypatch.setattr(
        backend, "tiles_for", lambda size, _: ("vectors 2^12", ["small", "narrow"])
    )
    monkeypatch.setattr(backend, "keep_tiles", lambda: True)
    try:
        assert set(tw.tune()) <= {"vectors 2^12"}
    finally:
        backend.use_tiles({})


@pytest.mark.parametrize("tile", PRODUCT_TILES, ids=lambda tile: tile.name)
def test_every_tile_stays_within_the_stated_bound(
    tile: object, webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = devices.backend(webgpu)
    assert isinstance(backend, WebGpuBackend)
    problem = "vectors 2^14"
    name = tile.name  # type: ignore[attr-defined]  # a row of the table
    gpu = Target(tuned=((problem, name),), workgroup_bytes=32768, cores=1)
    monkeypatch.setattr(backend._pipelines, "target", gpu)
    monkeypatch.setattr(backend, "_plans", type(backend._plans)())
    generator = np.random.default_rng(5)
    m, k, n = 128, 1024, 128
    a, b = (generator.uniform(-1, 1, s).astype(np.float32) for s in ((m, k), (k, n)))
    product = tw.asarray(a) @ tw.asarray(b)
    assert f"tile {name} of" in tw.explain(product).text
    exact = a.astype(np.float64) @ b.astype(np.float64)
    terms = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
    error = np.abs(product.numpy() - exact)
    assert (error <= k * 2.0**-24 * terms).all()
    assert (error <= REDUCE["matmul"] * 2.0**-23 * terms).all()


def test_cache_folder_follows_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(native_adapters.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert native_adapters.folder() == tmp_path / "tensorweb"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setattr("sys.platform", "linux")
    assert native_adapters.folder() == Path.home() / ".cache" / "tensorweb"
    monkeypatch.setenv(native_adapters.VARIABLE, str(tmp_path / "mine"))
    assert native_adapters.folder() == tmp_path / "mine"
    for nothing in ("", "off", "OFF"):
        monkeypatch.setenv(native_adapters.VARIABLE, nothing)
        assert native_adapters.folder() is None
        assert not native_adapters.keep("key", "text")
        assert native_adapters.kept("key") is None


def test_texts_are_saved_in_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(native_adapters.VARIABLE, str(tmp_path / "cache"))
    key = "tiles 0.1.0 NVIDIA / hopper / H200"
    assert native_adapters.kept(key) is None
    assert native_adapters.keep(key, "one")
    assert native_adapters.keep(key, "two")
    assert native_adapters.kept(key) == "two"
    assert native_adapters.kept(key.lower()) is None
    (path,) = (tmp_path / "cache").iterdir()
    assert path.name.startswith("tiles-0-1-0-nvidia-hopper-h200-")
    assert native_adapters.keep(key, None)
    assert native_adapters.kept(key) is None


def test_folder_that_cannot_be_written_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("here")
    monkeypatch.setenv(native_adapters.VARIABLE, str(file))
    assert not native_adapters.keep("key", "text")
    assert native_adapters.kept("key") is None
