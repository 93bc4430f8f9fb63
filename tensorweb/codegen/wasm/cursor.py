"""Track an index of an expression's index space and advance it along the last axis.

A cursor has the address of each load and the value of each index ramp in locals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tensorweb.codegen.wasm.elements import itemsize, needed_steps
from tensorweb.codegen.wasm.frame import Frame
from tensorweb.codegen.wasm.module import divided
from tensorweb.schedule.kernel import Expression


class Cursor:
    """Emits code that tracks the current index of one expression.

    Attributes:
        frame: frame of the launch.
        expression: the expression that is computed.
        needed: indices of the steps that the result depends on, in order.
        positions: local of the value of each index ramp, by access.
        pointers: local of the address of each load, by slot and access.
    """

    def __init__(
        self,
        frame: Frame,
        expression: Expression,
        storages: Mapping[int, int] | None = None,
    ) -> None:
        """Prepare; `locate` sets the first index.

        Args:
            frame: frame of the launch; receives its parameters.
            expression: the expression that is computed.
            storages: locals of input addresses that replace the kernel's own.
        """
        self.frame = frame
        self.expression = expression
        self._storages = dict(storages or {})
        self._sizes: dict[tuple[int, int], int] = {}
        self._strides: dict[tuple[int, int, int], int] = {}
        self._offsets: dict[int, int] = {}
        self._byte_strides: dict[tuple[int, int, int, int], int] = {}
        self.needed = needed_steps(expression)
        steps = expression.steps
        self.positions = {
            steps[n].access: frame.f.local("i32")
            for n in self.needed
            if steps[n].kind == "ramp"
        }
        loads = [steps[n] for n in self.needed if steps[n].kind == "load"]
        self._itemsizes = {(s.slot, s.access): itemsize(s.dtype) for s in loads}
        self.pointers = {key: frame.f.local("i32") for key in self._itemsizes}

    def last_stride(self, access: int) -> int:
        """Return the stride of an access along the last axis, in elements."""
        strides = self.expression.accesses[access].strides
        return strides[-1][-1] if strides and strides[-1] else 0

    def size(self, group: int, axis: int) -> int:
        """Return the local of the length of an axis."""
        key = (group, axis)
        if key not in self._sizes:
            length = self.expression.groups[group][axis]
            self._sizes[key] = self.frame.number(length)
        return self._sizes[key]

    def split(self, group: int, index: int, axes: int | None = None) -> list[int]:
        """Emit the division of an index into coordinates of a group's first axes.

        Args:
            group: index of the group.
            index: local of the row-major index.
            axes: number of axes, all by default.
        """
        f = self.frame.f
        count = len(self.expression.groups[group]) if axes is None else axes
        parts: list[int] = []
        rest = index
        for axis in range(count - 1, 0, -1):
            coordinate, above = f.local("i32"), f.local("i32")
            length = self.size(group, axis)
            divided(f, rest, length, above, coordinate)
            parts.append(coordinate)
            rest = above
        if count:
            parts.append(rest)
        return parts[::-1]

    def locate(self, coordinates: Sequence[Sequence[int | None]]) -> None:
        """Emit a move to an index.

        Args:
            coordinates: a local for each axis of each group; None for a 0.
        """
        f = self.frame.f
        accesses = {access for _, access in self.pointers} | set(self.positions)
        offsets = {}
        for access in sorted(accesses):
            position = self.positions.get(access)
            offsets[access] = f.local("i32") if position is None else position
            self._address(access, coordinates)
            f.set(offsets[access])
        for (slot, access), pointer in self.pointers.items():
            f.emit(self.base(slot), offsets[access])
            self.in_bytes(self._itemsizes[slot, access])
            f.set(pointer, "i32.add")
        for access, offset in offsets.items():
            if access not in self.positions:
                f.free(offset)

    def base(self, slot: int) -> int:
        """Return the local of the address of an input."""
        replacement = self._storages.get(slot)
        return self.frame.storage(slot) if replacement is None else replacement

    def in_bytes(self, size: int) -> None:
        """Emit the conversion of a count of elements on the stack to bytes."""
        if size > 1:
            self.frame.f.emit(("i32", size.bit_length() - 1), "i32.shl")

    def _address(
        self, number: int, coordinates: Sequence[Sequence[int | None]]
    ) -> None:
        """Push the offset of the element that an access reads, in elements."""
        f = self.frame.f
        access = self.expression.accesses[number]
        is_first = True
        if access.offset:
            if number not in self._offsets:
                self._offsets[number] = self.frame.number(access.offset)
            f.get(self._offsets[number])
            is_first = False
        for group, strides in enumerate(access.strides):
            for axis, stride in enumerate(strides):
                coordinate = coordinates[group][axis]
                if not stride or coordinate is None:
                    continue
                f.get(coordinate)
                if stride != 1:
                    f.emit(self._stride(number, group, axis), "i32.mul")
                if not is_first:
                    f.op("i32.add")
                is_first = False
        if is_first:
            f.const("i32", 0)

    def _stride(self, number: int, group: int, axis: int) -> int:
        key = (number, group, axis)
        if key not in self._strides:
            stride = self.expression.accesses[number].strides[group][axis]
            self._strides[key] = self.frame.number(stride)
        return self._strides[key]

    def _last_axis(self, access: int) -> tuple[int, int]:
        """Return the group and the axis along which `move` advances."""
        strides = self.expression.accesses[access].strides
        return len(strides) - 1, len(strides[-1]) - 1

    def moving_stride(self, access: int) -> int:
        """Return the local of the stride along the last axis, in elements."""
        return self._stride(access, *self._last_axis(access))

    def byte_stride(self, access: int, size: int) -> int:
        """Return the local of the stride along the last axis, in bytes."""
        return self._bytes_along(access, size, *self._last_axis(access))

    def _bytes_along(self, access: int, size: int, group: int, axis: int) -> int:
        key = (access, size, group, axis)
        if key not in self._byte_strides:
            stride = self._stride(access, group, axis)
            local = self._byte_strides[key] = self.frame.f.own_local("i32")
            with self.frame.at_head() as f:
                f.get(stride)
                self.in_bytes(size)
                f.set(local)
        return self._byte_strides[key]

    def move(self, count: int | None, by: int = 0) -> None:
        """Emit a move along the last axis.

        Args:
            count: number of elements; None if it is the value of `by`.
            by: local of the number of elements.
        """
        for local, access, size in self._moving_locals():
            self._move(local, access, size, count, by)

    def _moving_locals(self) -> Iterator[tuple[int, int, int]]:
        """Yield each local that moves, its access and its unit in bytes."""
        for access, position in self.positions.items():
            yield position, access, 1
        for key, pointer in self.pointers.items():
            yield pointer, key[1], self._itemsizes[key]

    def _move(
        self, local: int, access: int, size: int, count: int | None, by: int
    ) -> None:
        f = self.frame.f
        stride = self.last_stride(access)
        if not stride:
            return
        f.get(local)
        if stride == 1:
            if count is not None:
                f.const("i32", count * size)
            else:
                f.get(by)
                self.in_bytes(size)
        else:
            f.get(self.byte_stride(access, size))
            if count is None:
                f.emit(by, "i32.mul")
            elif count > 1:
                f.emit(("i32", count.bit_length() - 1), "i32.shl")
        f.set(local, "i32.add")

    def shift(self, group: int, axis: int) -> None:
        """Emit a move to the next index along any axis."""
        f = self.frame.f
        accesses = self.expression.accesses
        for local, access, size in self._moving_locals():
            strides = accesses[access].strides[group]
            if not strides or not strides[axis]:
                continue
            f.get(local)
            if strides[axis] == 1:
                f.const("i32", size)
            else:
                f.get(self._bytes_along(access, size, group, axis))
            f.set(local, "i32.add")

    def saved(self) -> list[tuple[int, int]]:
        """Emit a copy of the current index; returns the argument of `restore`."""
        f = self.frame.f
        copies = []
        for local, _, _ in self._moving_locals():
            copy = f.local("i32")
            f.set(copy, local)
            copies.append((local, copy))
        return copies

    def restore(self, saved: Sequence[tuple[int, int]]) -> None:
        """Emit a move back to a saved index."""
        f = self.frame.f
        for local, copy in saved:
            f.set(local, copy)
