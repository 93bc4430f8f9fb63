"""The description of a program's own kernel, which is part of its node's structure."""

from __future__ import annotations

from typing import NamedTuple

from tensorweb.shapes import Shape

Extent = tuple[int, int, int]
"""A count along x, y and z."""


IDS = {
    "global_id": ("global_invocation_id", "vec3u"),
    "local_id": ("local_invocation_id", "vec3u"),
    "local_index": ("local_invocation_index", "u32"),
    "workgroup_id": ("workgroup_id", "vec3u"),
    "num_workgroups": ("num_workgroups", "vec3u"),
}
"""Ids that a text may name, each with WGSL's name of the value and its type."""


class Argument(NamedTuple):
    """An input or an output of a program's own kernel.

    Attributes:
        name: its name in the text.
        dtype: name of its dtype.
        shape: its shape. An input without axes is a value in the text, everything else
            an array.
    """

    name: str
    dtype: str
    shape: Shape


class Custom(NamedTuple):
    """What one call of `tw.kernel` computes.

    Attributes:
        name: the kernel's name for people.
        text: the body of its main function, in WGSL.
        header: WGSL functions and constants that the body uses.
        workgroup: invocations of a workgroup.
        groups: workgroups.
        inputs, outputs: its arguments, in order.
        is_cleared: whether the outputs start as zeros.
        output: index of the output that the node is.
    """

    name: str
    text: str
    header: str
    workgroup: Extent
    groups: Extent
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    is_cleared: bool = True
    output: int = 0
