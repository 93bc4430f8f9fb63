"""vjp rule of the Fourier transform: the transform with the conjugate roots."""

from __future__ import annotations

from tensorweb.graph.attributes import Transform
from tensorweb.graph.node import Node, attributes_of
from tensorweb.nodes.fourier.pairs import part
from tensorweb.ops.structure import FOURIER
from tensorweb.transforms.rules.rule import Cotangents, Rule, Step


def of_fourier(step: Step, cotangent: Node) -> Cotangents:
    """X = F · x; for both parts as real numbers, dx = F̄ · g, as F is symmetric."""
    axis, sign = attributes_of(step.node, Transform)
    roots = step.inputs[2:]
    last = len(cotangent.shape) - 1
    parts = part(cotangent, last, 0), part(cotangent, last, 1)
    how, dtype = Transform(axis, -sign), cotangent.dtype
    inputs = (*parts, *roots)
    back = Node(FOURIER, inputs, how, cotangent.shape, dtype, cotangent.device)
    return [part(back, last, 0), part(back, last, 1), *(None for _ in roots)]


RULES: dict[str, Rule] = {"fourier": of_fourier}
