"""What computed nodes were made of is known while a history is open, no longer."""

from __future__ import annotations

import gc
import weakref

import tensorweb as tw
from tensorweb.evaluate import DEEPEST
from tensorweb.graph.autograd import inputs_of, recording_history
from tensorweb.graph.node import Node


def way_back(node: Node) -> int:
    """Return how many nodes lie behind a value along its first inputs."""
    count = 0
    while inputs_of(node):
        node = inputs_of(node)[0]
        count += 1
    return count


def test_a_computed_node_keeps_its_inputs_while_a_history_is_open(device: str) -> None:
    x = tw.ones(3)
    with recording_history():
        y = tw.exp(x)
        inputs = y.node.inputs
        assert y.tolist() == tw.exp(tw.ones(3)).tolist()
        assert y.node.inputs == ()
        assert inputs_of(y.node) == inputs
    assert inputs_of(y.node) == ()


def test_reading_on_the_way_and_depth_cut_nothing(device: str) -> None:
    with recording_history():
        x = tw.realize(tw.ones(3) + tw.arange(3))
        start = x
        for step in range(2 * DEEPEST):
            x = x * 1.5 if step % 2 else x.reshape(-1)
            if step % 50 == 0:
                assert x.shape == (3,)
                repr(x)
        assert way_back(x.node) >= way_back(start.node) + DEEPEST
    assert way_back(x.node) <= DEEPEST + 8


def test_views_of_views_keep_their_way_while_a_history_is_open(device: str) -> None:
    with recording_history():
        x = tw.realize(tw.ones((2, 3)) + 1)
        before = way_back(x.node)
        for _ in range(40):
            x = x.T
        assert way_back(x.node) == before + 40


def test_a_history_keeps_no_value_alive(device: str) -> None:
    with recording_history():
        x = tw.realize(tw.ones(3) + tw.arange(3))
        y = tw.realize(x * 2)
        node = weakref.ref(y.node)
        del y
        gc.collect()
        assert node() is None
        assert inputs_of(x.node) != ()


def test_a_history_inside_another_ends_with_that(device: str) -> None:
    with recording_history():
        x = tw.ones(3) + tw.arange(3)
        with recording_history():
            tw.realize(x)
        assert inputs_of(x.node) != ()
    assert inputs_of(x.node) == ()


def test_without_a_history_nothing_is_retained(device: str) -> None:
    x = tw.realize(tw.ones(3) + tw.arange(3))
    with recording_history():
        assert inputs_of(x.node) == ()
