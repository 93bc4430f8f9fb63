"""Layouts and cached bind groups of one device of wgpu-py.

Called by `tensorweb.drivers.native`.
"""

from __future__ import annotations

from collections.abc import Mapping

from tensorweb.drivers.native_adapter import Wgpu
from tensorweb.drivers.protocol import PARAMETER_WORDS

GroupKey = tuple[str, tuple[int, ...]]
"""A bind group's key: the layout's access string and the buffers."""

PARAMETER_BYTES = PARAMETER_WORDS * 4
GROUPS_KEPT = 4096
"""Bind groups in the cache; one more empties it."""

KINDS = {"r": "read-only-storage", "w": "storage"}


class BindGroups:
    """The bind groups of some buffers.

    Attributes:
        made: how many were created.
    """

    def __init__(
        self, wgpu: Wgpu, device: Wgpu, buffers: Mapping[int, Wgpu], parameters: Wgpu
    ) -> None:
        """Begin without any; `parameters` is the uniform buffer of every launch."""
        self._visibility = wgpu.ShaderStage.COMPUTE
        self._device = device
        self._buffers = buffers
        self._parameters = parameters
        self._layouts: dict[str, tuple[Wgpu, Wgpu]] = {}
        self._groups: dict[GroupKey, Wgpu] = {}
        self._groups_of: dict[int, set[GroupKey]] = {}
        self.made = 0

    def __len__(self) -> int:
        """Return how many bind groups are cached."""
        return len(self._groups)

    def layout(self, access: str) -> tuple[Wgpu, Wgpu]:
        """Return the bind group layout and the pipeline layout for an access string."""
        known = self._layouts.get(access)
        if known is not None:
            return known
        entries = [
            {
                "binding": index,
                "visibility": self._visibility,
                "buffer": {"type": KINDS[letter]},
            }
            for index, letter in enumerate(access)
        ]
        uniform = {
            "type": "uniform",
            "has_dynamic_offset": True,
            "min_binding_size": PARAMETER_BYTES,
        }
        entries.append(
            {"binding": len(access), "visibility": self._visibility, "buffer": uniform}
        )
        group = self._device.create_bind_group_layout(entries=entries)
        layout = self._device.create_pipeline_layout(bind_group_layouts=[group])
        self._layouts[access] = (group, layout)
        return group, layout

    def group(self, access: str, buffers: list[int]) -> Wgpu:
        """Return the cached bind group of these buffers under this layout."""
        key = (access, tuple(buffers))
        group = self._groups.get(key)
        if group is not None:
            return group
        if len(self._groups) >= GROUPS_KEPT:
            self.clear()
        resources = [self._buffers[buffer] for buffer in buffers]
        entries = [
            {
                "binding": index,
                "resource": {"buffer": resource, "offset": 0, "size": resource.size},
            }
            for index, resource in enumerate(resources)
        ]
        parameters = {"buffer": self._parameters, "offset": 0, "size": PARAMETER_BYTES}
        entries.append({"binding": len(buffers), "resource": parameters})
        group = self._device.create_bind_group(
            layout=self.layout(access)[0], entries=entries
        )
        self._groups[key] = group
        for buffer in set(buffers):
            self._groups_of.setdefault(buffer, set()).add(key)
        self.made += 1
        return group

    def forget(self, buffer: int) -> None:
        """Drop the bind groups that name a buffer."""
        for key in self._groups_of.pop(buffer, ()):
            self._groups.pop(key, None)
            for other in set(key[1]):
                if other in self._groups_of:
                    self._groups_of[other].discard(key)

    def clear(self) -> None:
        """Drop all bind groups."""
        self._groups.clear()
        self._groups_of.clear()
