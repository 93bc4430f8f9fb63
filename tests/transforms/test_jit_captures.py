"""What a recorded function reads from outside follows every change of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any
from weakref import ref

import pytest

import tensorweb as tw
from tensorweb.errors import TraceError
from tensorweb.tensor import Tensor
from tensorweb.tensor.operators import rehouse

Way = tuple[Callable[[], Any], Callable[[Any], None]]
"""How a function reads a value, and how another one is put there."""

OUTSIDE: Any = None


@dataclass
class Settings:
    """A dataclass that holds a value."""

    value: Any


class Plain:
    """An object of this module, not registered, with a value of its class too."""

    shared: Any = None

    def __init__(self, value: Any) -> None:
        self.value = value

    def read(self) -> Any:
        return self.value

    @staticmethod
    def outside() -> Any:
        return OUTSIDE


class Net(tw.nn.Module):
    """A module that holds a value."""

    def __init__(self, value: Any) -> None:
        self.value = value


def closure(value: Any) -> Way:
    def put(other: Any) -> None:
        nonlocal value
        value = other

    return lambda: value, put


def _put_outside(other: Any) -> None:
    global OUTSIDE
    OUTSIDE = other


def global_name(value: Any) -> Way:
    _put_outside(value)
    return lambda: OUTSIDE, _put_outside


def global_of_a_method(value: Any) -> Way:
    _put_outside(value)
    return Plain(0).outside, _put_outside


def global_inside(value: Any) -> Way:
    _put_outside(value)
    return lambda: next(OUTSIDE for _ in range(1)), _put_outside


def attribute(holder: Any) -> Way:
    return lambda: holder.value, partial(setattr, holder, "value")


def class_attribute(value: Any) -> Way:
    Plain.shared = value
    return lambda: Plain.shared, partial(setattr, Plain, "shared")


def element(value: Any) -> Way:
    holder = [[value]]
    return lambda: holder[0][0], lambda other: holder[0].__setitem__(0, other)


def entry(value: Any) -> Way:
    holder = {"a": (1, {"b": value})}
    inside: Any = holder["a"][1]
    return lambda: holder["a"][1]["b"], partial(inside.__setitem__, "b")


def inner_function(value: Any) -> Way:
    get, put = closure(value)
    return partial(lambda read: read(), lambda: get()), put


def jitted_function(value: Any) -> Way:
    get, put = closure(value)
    return tw.jit(lambda: get()), put


WAYS: dict[str, Callable[[Any], Way]] = {
    "closure": closure,
    "global": global_name,
    "global of a method": global_of_a_method,
    "global in a generator": global_inside,
    "dataclass": lambda value: attribute(Settings(value)),
    "object": lambda value: attribute(Plain(value)),
    "namespace": lambda value: attribute(SimpleNamespace(value=value)),
    "module": lambda value: attribute(Net(value)),
    "method": lambda value: (
        (holder := Plain(value)).read,
        partial(setattr, holder, "value"),
    ),
    "class": class_attribute,
    "list": element,
    "dict": entry,
    "inner function": inner_function,
    "jitted function": jitted_function,
}


def _view(device: str) -> Tensor:
    return tw.reshape(tw.asarray([[9.0, 2.0], [9.0, 3.0]], device=device)[:, 1], (2,))


VALUES: dict[str, Callable[[str], Any]] = {
    "data": lambda device: tw.asarray([2.0, 3.0], device=device),
    "lazy": lambda device: tw.asarray([1.0, 2.0], device=device) + 1,
    "computed": lambda device: tw.realize(tw.asarray([1.0, 2.0], device=device) + 1),
    "view": _view,
    "integers": lambda device: tw.asarray([2, 3], device=device),
    "constant": lambda device: tw.full(2, 3.0, device=device),
    "complex": lambda device: tw.asarray([2.0 + 1j, 3.0], device=device),
    "numbers": lambda device: [2.0, 3.0],
}
"""What is captured, of shape (2,)."""


def _set(value: Any) -> None:
    value[:] = [5, 7] if isinstance(value, list) else 5


def _set_one(value: Any) -> None:
    value[0] = 7


def _add(value: Any) -> None:
    if isinstance(value, list):
        value.append(value.pop() + 1)
    else:
        value += value


CHANGES: dict[str, Callable[[Any], None]] = {
    "x[:] =": _set,
    "x[0] =": _set_one,
    "x +=": _add,
}

USES: dict[str, Callable[[Tensor, Any], Tensor]] = {
    "all": lambda x, value: x + tw.asarray(value, device=x.device),
    "one": lambda x, value: x + value[0],
    "a part": lambda x, value: x[:1] * tw.asarray(value[:1], device=x.device),
    "read": lambda x, value: x + complex(value[0]).real,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_captured_value_that_changes_is_recorded_anew(webgpu: str, way: str) -> None:
    x = tw.asarray([1.0, 10.0], device=webgpu)
    first = [*WAYS].index(way)
    for index, held in enumerate(VALUES):
        # Each two of a way, a value and a use meet.
        use = [*USES][(first + index) % len(USES)]
        get, put = WAYS[way](VALUES[held](webgpu))

        def plain(x: Tensor, get: Any = get, use: str = use) -> Tensor:
            return USES[use](x, get())

        run = tw.jit(plain)
        for change in (None, *CHANGES, "another", None):
            if change == "another":
                put(VALUES["data"](webgpu))
            elif change is not None:
                CHANGES[change](get())
            about = f"{held}, {use}, {change}"
            assert run(x).tolist() == plain(x).tolist(), about
            count = run.recordings
            assert run(x).tolist() == plain(x).tolist(), about
            assert run.recordings == count, f"{about}: recorded though nothing changed"


@pytest.mark.parametrize("way", WAYS)
def test_captured_numbers_follow(webgpu: str, way: str) -> None:
    x = tw.ones(2, device=webgpu)
    get, put = WAYS[way](2.0)
    run = tw.jit(lambda x: x * get())
    for value in (2.0, 3, -0.0, 0.0, True):
        put(value)
        assert str(run(x).tolist()) == str((x * value).tolist())
    count = run.recordings
    put(float("1.5"))
    run(x)
    put(float("1.5"))
    run(x)
    assert run.recordings == count + 1


@pytest.mark.parametrize("other", ["view", "row", "owner"])
@pytest.mark.parametrize("change", ["in the function", "outside"])
def test_views_of_updated_tensors_follow(webgpu: str, other: str, change: str) -> None:
    """Whichever of a family is in `updates`, the others see what becomes of it."""

    def results(jit: Callable[..., Any]) -> list[Any]:
        whole = tw.asarray([[1.0, 2.0], [3.0, 4.0]], device=webgpu)
        row = whole[1]
        view = row[::-1]
        named = {"view": view, "row": row, "owner": whole}

        def step(x: Tensor) -> list[Tensor]:
            before = [x * view, x + row, x - whole]
            if change == "in the function":
                named[other][:] = named[other] * 2
            return [*before, x * view, x + row, x - whole]

        run = jit(step, named[other])
        found = []
        for _ in range(3):
            found += [each.tolist() for each in run(tw.ones(2, device=webgpu))]
            if change == "outside":
                whole += 1
            found += [whole.tolist(), row.tolist(), view.tolist()]
        return found

    expected = results(lambda step, _: step)
    assert results(lambda step, updated: tw.jit(step, updates=updated)) == expected


@pytest.mark.parametrize("other", ["itself", "view", "row", "owner", "copy"])
def test_arguments_that_are_captured_as_well(webgpu: str, other: str) -> None:
    """A write into an argument is seen under every other name of it."""

    def results(jit: Callable[..., Any]) -> list[Any]:
        whole = tw.asarray([[1.0, 2.0], [3.0, 4.0]], device=webgpu)
        row = whole[1]
        named = {"view": row[::-1], "itself": row, "owner": whole, "row": whole[1]}
        read = named.get(other, row.copy())

        def step(x: Tensor) -> Tensor:
            x *= 2
            return x + read

        run = jit(step)
        found = []
        for x in (tw.ones(2, device=webgpu), row, row, tw.ones(2, device=webgpu)):
            found += [run(x).tolist(), whole.tolist(), row.tolist()]
        return found

    assert results(tw.jit) == results(lambda step: step)


def test_parameters_follow_an_optimiser_outside(webgpu: str) -> None:
    net = tw.nn.Linear(2, 1, device=webgpu)
    opt = tw.optim.SGD(net.parameters(), lr=0.1)
    x = tw.ones((1, 2), device=webgpu)

    @tw.jit
    def predict(x: Tensor) -> Tensor:
        with tw.no_grad():
            found: Tensor = net(x)
            return found

    for _ in range(3):
        net(x).sum().backward()
        opt.step()
        opt.zero_grad()
        assert predict(x).tolist() == net(x).tolist()
    net.load_state_dict({"weight": tw.ones((1, 2)), "bias": tw.zeros(1)})
    assert predict(x).tolist() == [[2.0]]
    net.weight = tw.zeros((1, 2), device=webgpu)
    assert predict(x).tolist() == [[0.0]]


@pytest.mark.parametrize("use", USES)
def test_tensors_that_no_name_leads_to_follow(webgpu: str, use: str) -> None:
    value = tw.asarray([1.0, 2.0], device=webgpu)
    hidden = ref(value)
    x = tw.ones(2, device=webgpu)
    run = tw.jit(lambda x: USES[use](x, hidden()))
    for change in CHANGES.values():
        change(value)
        assert run(x).tolist() == USES[use](x, value).tolist()


def test_tensors_that_an_optimiser_moved_follow(webgpu: str) -> None:
    w, v = tw.ones(2, device=webgpu), tw.ones(2, device=webgpu)
    hidden = ref(w)
    run = tw.jit(lambda x: x * hidden())
    x = tw.ones(2, device=webgpu)
    run(x)
    before = w.node
    rehouse(w, tw.realize(w + v - v).node)
    assert w.node is not before
    assert run(x).tolist() == [1.0, 1.0]
    w += 1
    assert run(x).tolist() == [2.0, 2.0]


def test_captured_keys_follow_and_generators_are_refused(webgpu: str) -> None:
    key = tw.random.key(0, device=webgpu)
    generator = tw.random.Generator(0, device=webgpu)
    draw = tw.jit(lambda x: x + tw.random.uniform(key, (2,)))
    x = tw.zeros(2, device=webgpu)
    assert draw(x).tolist() == draw(x).tolist()
    first = draw(x).tolist()
    key = tw.random.split(key)[0]
    assert draw(x).tolist() == tw.random.uniform(key, (2,)).tolist() != first
    with pytest.raises(TraceError, match="Generator that is not its argument"):
        tw.jit(lambda x: x + generator.normal((2,)))(x)


def test_counters_of_the_function_do_not_retrace_it(webgpu: str) -> None:
    runs: list[int] = []

    @tw.jit
    def double(x: Tensor) -> Tensor:
        runs.append(len(runs))
        return x * 2

    for _ in range(3):
        double(tw.ones(2, device=webgpu))
    assert runs == [0]


def test_a_name_of_an_attribute_is_no_global(webgpu: str) -> None:
    x = tw.ones(2, device=webgpu)
    get = SimpleNamespace(OUTSIDE=2)
    run = tw.jit(lambda x: x * get.OUTSIDE)
    for step in range(3):
        _put_outside(step)
        assert run(x).tolist() == [2.0, 2.0]
    assert run.recordings == 1


def test_attributes_that_no_code_names_may_change(webgpu: str) -> None:
    class Trainer:
        def __init__(self) -> None:
            self.model, self.steps, self.rate = tw.nn.Identity(), 0, 2.0

        def by_text(self, name: str) -> Any:
            return getattr(self, name)

    x = tw.ones(2, device=webgpu)
    trainer = Trainer()
    named = tw.jit(lambda x: trainer.model(x) * trainer.rate)
    by_text = tw.jit(lambda x: x * trainer.by_text("ra" + "te"))
    for _ in range(3):
        trainer.steps += 1
        named(x)
    assert named.recordings == 1
    for rate in (2.0, 3.0):
        trainer.rate = rate
        assert named(x).tolist() == by_text(x).tolist() == [rate, rate]
