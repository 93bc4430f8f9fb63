"""Stand at a place of an expression's index space and move along its last axis.

Of what is loaded a cursor keeps the address, of index ramps the position itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tensorweb.codegen.wasm.elements import itemsize, needed_steps
from tensorweb.codegen.wasm.frame import Frame
from tensorweb.codegen.wasm.module import divided
from tensorweb.schedule.kernel import Expression


class Cursor:
    """The place of one expression while a kernel is written.

    Attributes:
        frame: of the launch.
        expression: whose index space it is.
        needed: the steps that the result takes, in order.
        positions: locals with the position of each access that is a value itself.
        pointers: locals with the address of what is loaded, by slot and access.
    """

    def __init__(
        self,
        frame: Frame,
        expression: Expression,
        storages: Mapping[int, int] | None = None,
    ) -> None:
        """Stand nowhere yet.

        Args:
            frame: of the launch; receives its parameters.
            expression: whose index space it is.
            storages: locals that hold addresses of inputs, where they are not the
                kernel's own.
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
        """Return the stride along which the reader moves."""
        strides = self.expression.accesses[access].strides
        return strides[-1][-1] if strides and strides[-1] else 0

    def size(self, group: int, axis: int) -> int:
        """Return a local that holds the length of an axis."""
        key = (group, axis)
        if key not in self._sizes:
            length = self.expression.groups[group][axis]
            self._sizes[key] = self.frame.number(length)
        return self._sizes[key]

    def split(self, group: int, index: int, axes: int | None = None) -> list[int]:
        """Write what splits an index into coordinates of a group's first axes.

        Args:
            group: its number.
            index: the local that holds the row-major index.
            axes: how many of its axes are counted, all without it.
        """
        f = self.frame.f
        count = len(self.expression.groups[group]) if axes is None else axes
        found: list[int] = []
        rest = index
        for axis in range(count - 1, 0, -1):
            coordinate, above = f.local("i32"), f.local("i32")
            length = self.size(group, axis)
            divided(f, rest, length, above, coordinate)
            found.append(coordinate)
            rest = above
        if count:
            found.append(rest)
        return found[::-1]

    def locate(self, coordinates: Sequence[Sequence[int | None]]) -> None:
        """Write what sends the reader to a place.

        Args:
            coordinates: a local for each axis of each group; None where it is 0.
        """
        f = self.frame.f
        accesses = {access for _, access in self.pointers} | set(self.positions)
        places = {}
        for access in sorted(accesses):
            place = self.positions.get(access)
            places[access] = f.local("i32") if place is None else place
            self._address(access, coordinates)
            f.set(places[access])
        for (slot, access), pointer in self.pointers.items():
            f.get(self.base(slot))
            f.get(places[access])
            self.in_bytes(self._itemsizes[slot, access])
            f.op("i32.add")
            f.set(pointer)
        for access, place in places.items():
            if access not in self.positions:
                f.free(place)

    def base(self, slot: int) -> int:
        """Return the local that holds the address of an input."""
        found = self._storages.get(slot)
        return self.frame.storage(slot) if found is None else found

    def in_bytes(self, size: int) -> None:
        """Write what turns a number of elements into one of bytes."""
        if size > 1:
            self.frame.f.const("i32", size.bit_length() - 1)
            self.frame.f.op("i32.shl")

    def _address(
        self, number: int, coordinates: Sequence[Sequence[int | None]]
    ) -> None:
        """Leave the element's position that an access reaches on the stack."""
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
                    f.get(self._stride(number, group, axis))
                    f.op("i32.mul")
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
        """Return the group and the axis along which the reader moves."""
        strides = self.expression.accesses[access].strides
        return len(strides) - 1, len(strides[-1]) - 1

    def moving_stride(self, access: int) -> int:
        """Return the local that holds the stride along which the reader moves."""
        return self._stride(access, *self._last_axis(access))

    def byte_stride(self, access: int, size: int) -> int:
        """Return a local that holds the same in bytes."""
        return self._bytes_along(access, size, *self._last_axis(access))

    def _bytes_along(self, access: int, size: int, group: int, axis: int) -> int:
        key = (access, size, group, axis)
        if key not in self._byte_strides:
            stride = self._stride(access, group, axis)
            found = self._byte_strides[key] = self.frame.f.own_local("i32")
            with self.frame.at_head() as f:
                f.get(stride)
                self.in_bytes(size)
                f.set(found)
        return self._byte_strides[key]

    def move(self, count: int | None, by: int = 0) -> None:
        """Write what moves the reader along the last axis.

        Args:
            count: by how many elements; None for the number that a local holds.
            by: that local.
        """
        for local, access, size in self._places():
            self._move(local, access, size, count, by)

    def _places(self) -> Iterator[tuple[int, int, int]]:
        """Yield each local that moves, its access, and the size of what it counts."""
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
                f.get(by)
                f.op("i32.mul")
            elif count > 1:
                f.const("i32", count.bit_length() - 1)
                f.op("i32.shl")
        f.op("i32.add")
        f.set(local)

    def shift(self, group: int, axis: int) -> None:
        """Write what moves the reader to the next place along any axis."""
        f = self.frame.f
        accesses = self.expression.accesses
        for local, access, size in self._places():
            strides = accesses[access].strides[group]
            if not strides or not strides[axis]:
                continue
            f.get(local)
            if strides[axis] == 1:
                f.const("i32", size)
            else:
                f.get(self._bytes_along(access, size, group, axis))
            f.op("i32.add")
            f.set(local)

    def saved(self) -> list[tuple[int, int]]:
        """Write what remembers this place; returns what `restore` takes."""
        f = self.frame.f
        found = []
        for place, _, _ in self._places():
            copy = f.local("i32")
            f.get(place)
            f.set(copy)
            found.append((place, copy))
        return found

    def restore(self, saved: Sequence[tuple[int, int]]) -> None:
        """Write what sends the reader back to a place that was remembered."""
        f = self.frame.f
        for place, copy in saved:
            f.get(copy)
            f.set(place)
