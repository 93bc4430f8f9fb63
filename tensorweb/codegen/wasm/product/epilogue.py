"""What follows the sums of a product, for a block of them: the expression `finish`."""

from __future__ import annotations

from tensorweb.codegen.program import OUTPUT
from tensorweb.codegen.wasm.elements import (
    KINDS,
    convert,
    itemsize,
    load,
    load_lane,
    load_neighbours,
    store,
    store_neighbours,
    within,
)
from tensorweb.codegen.wasm.expressions import is_vectorizable
from tensorweb.codegen.wasm.frame import Frame
from tensorweb.codegen.wasm.loops import (
    Mover,
    Pointer,
    Strided,
    along,
    counted,
    segments,
)
from tensorweb.codegen.wasm.product.sizes import Sizes
from tensorweb.codegen.wasm.reader import WHOLE, Reader
from tensorweb.codegen.wasm.terms import LANES, VALUE
from tensorweb.schedule.kernel import Kernel


def is_bare(kernel: Kernel) -> bool:
    """Whether nothing follows the sums."""
    finish = kernel.expression("finish")
    return finish.steps[finish.result].kind == "core"


class Epilogue:
    """Writes what reads a block's sums and stores results."""

    def __init__(
        self,
        frame: Frame,
        kernel: Kernel,
        sizes: Sizes,
        dtype: str,
        is_turned: bool,
    ) -> None:
        """Prepare.

        Args:
            frame: of the launch.
            kernel: whose expression `finish` is computed.
            sizes: of the product.
            dtype: of the sums.
            is_turned: whether neighbours along a column of the result are neighbours
                among the sums.
        """
        self.frame = frame
        self.f = frame.f
        self.kernel = kernel
        self.size = sizes.numbers.size
        self.dtype = dtype
        self.is_turned = is_turned
        lengths = sizes.rows, sizes.columns
        self.rows, self.columns = lengths[::-1] if is_turned else lengths
        finish = kernel.expression("finish")
        axes = finish.groups[0]
        self.is_even = not axes or axes[-1] % self.columns == 0
        is_wide = self.size > 4 or self.columns < LANES
        fits = is_vectorizable(finish) and self.is_even and not is_wide
        self.lanes = LANES if fits else 1
        kind = "v128" if fits else VALUE.get(KINDS[dtype], KINDS[dtype])
        self.core = self.f.local(kind)
        self.reader = Reader(frame, finish, self.lanes, {WHOLE: self.core})

    def write(
        self,
        batch: int | None,
        rows: tuple[int, int],
        columns: tuple[int, int],
        sums: int,
        row_bytes: int,
    ) -> None:
        """Write the loops over the rows and columns of a block of results.

        Args:
            batch: the local with the number of the matrix, None if there is but one.
            rows: locals with the first row and the end.
            columns: locals with the first column and the end.
            sums: the local with the address of the first sum; it moves.
            row_bytes: the local with the distance of two rows of sums.
        """
        f, frame = self.f, self.frame
        size = itemsize(self.kernel.dtype)
        base = frame.storage(OUTPUT, "w")
        first, core, out = (f.local("i32") for _ in range(3))
        number = f.constant("i32", self.size)
        down, self.across = (
            (number, row_bytes) if self.is_turned else (row_bytes, number)
        )
        with counted(f, *rows) as row:
            if batch is None:
                f.get(row)
            else:
                f.get(batch)
                f.get(frame.number(self.rows))
                f.op("i32.mul")
                f.get(row)
                f.op("i32.add")
            f.get(frame.number(self.columns))
            f.op("i32.mul")
            f.get(columns[0])
            f.op("i32.add")
            f.tee(first)
            f.const("i32", size)
            f.op("i32.mul")
            f.get(base)
            f.op("i32.add")
            f.set(out)
            f.get(sums)
            f.set(core)
            self._row(first, columns, core, out)
            f.get(sums)
            f.get(down)
            f.op("i32.add")
            f.set(sums)

    def _row(self, first: int, columns: tuple[int, int], core: int, out: int) -> None:
        """Write the loop along the columns of a row."""
        f, reader = self.f, self.reader
        pointers: list[Mover] = [
            Strided(f, core, self.across),
            Pointer(f, out, itemsize(self.kernel.dtype)),
        ]
        if not self.is_even:
            last = f.local("i32")
            f.get(first)
            f.get(columns[1])
            f.op("i32.add")
            f.get(columns[0])
            f.op("i32.sub")
            f.set(last)
            with segments(self.frame, [reader], first, last):
                self._element(core, out)
                for pointer in pointers:
                    pointer.move(1)
            return
        reader.locate([reader.split(0, first)])
        place = f.local("i32")
        f.get(columns[0])
        f.set(place)
        with along(f, place, columns[1], self.lanes, [reader, *pointers]):
            self._element(core, out)

    def _element(self, core: int, out: int) -> None:
        """Write what computes and stores the elements at the addresses."""
        f, values = self.f, self.reader.values
        if self.lanes > 1 and self.is_turned:
            self._load_apart(core)
        else:
            f.get(core)
            (load_neighbours if self.lanes > 1 else load)(values, self.dtype)
        if self.kernel.core_dtype == "float16":
            convert(values, "rounded_to_half_f32({0})", "f32")
        else:
            within(values, self.kernel.core_dtype)
        f.set(self.core)
        f.get(out)
        self.reader.value()
        (store_neighbours if self.lanes > 1 else store)(values, self.kernel.dtype)

    def _load_apart(self, core: int) -> None:
        """Write the loads of four sums that lie a row apart."""
        f = self.f
        for lane in range(LANES):
            f.get(core)
            for _ in range(lane):
                f.get(self.across)
                f.op("i32.add")
            if lane:
                f.get(self.core)
                load_lane(self.reader.values, self.dtype, lane)
            else:
                f.memory("v128.load32_zero")
            f.set(self.core)
        f.get(self.core)
