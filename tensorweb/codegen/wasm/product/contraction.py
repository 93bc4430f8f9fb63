"""Programs of matrix products: operands are packed, then units compute blocks.

                 unit_columns
                 ┌─┬─┬─┬─┐         A unit computes a block of results. For each part
     depth parts │▒│ │ │ │         of the depth, and of it for each panel of columns,
                 ├─┼─┼─┼─┤         all its rows are multiplied: the panel stays in
                 └─┴─┴─┴─┘         the smallest cache, the rows in the next one.
┌─────┬─────┐    ┌───────┐         Sums are kept in the result between parts. If
│▒▒▒▒▒│     │    │ block │ rows    its elements are not the sums' or rows end inside
└─────┴─────┘    └───────┘         a vector, they are kept in a scratch storage.
"""

from __future__ import annotations

from tensorweb.codegen.program import OUTPUT, Program, scratch
from tensorweb.codegen.wasm.elements import (
    KINDS,
    ROUNDED,
    SUMS,
    convert,
    is_vectorizable,
    itemsize,
    load,
    load_lane,
    load_neighbours,
    store,
    store_neighbours,
    within,
)
from tensorweb.codegen.wasm.evaluator import WHOLE, Evaluator
from tensorweb.codegen.wasm.frame import Frame
from tensorweb.codegen.wasm.loops import (
    Mover,
    Pointer,
    Strided,
    along,
    counted,
    segments,
    units,
    while_below,
)
from tensorweb.codegen.wasm.module import Function, divided, smaller
from tensorweb.codegen.wasm.policy import WasmTarget
from tensorweb.codegen.wasm.product.packing import (
    BatchedLaunch,
    IndexCounter,
    MatrixRange,
    Packing,
    goes_across,
    packing,
)
from tensorweb.codegen.wasm.product.panel import panel
from tensorweb.codegen.wasm.product.sizes import (
    Operand,
    OperandAddress,
    Sizes,
    layout_of,
)
from tensorweb.codegen.wasm.translation import LANES, VALUE
from tensorweb.schedule.kernel import Kernel


def is_bare(kernel: Kernel) -> bool:
    """Whether the kernel has no epilogue."""
    finish = kernel.expression("finish")
    return finish.steps[finish.result].kind == "core"


class Epilogue:
    """Emits the code that reads a block's sums and stores results."""

    def __init__(
        self,
        frame: Frame,
        kernel: Kernel,
        sizes: Sizes,
        dtype: str,
        is_transposed: bool,
    ) -> None:
        """Prepare.

        Args:
            frame: frame of the launch.
            kernel: whose expression `finish` is computed.
            sizes: of the product.
            dtype: of the sums.
            is_transposed: whether adjacent elements of a result's column are adjacent
                among the sums.
        """
        self.frame = frame
        self.f = frame.f
        self.kernel = kernel
        self.size = sizes.numbers.size
        self.dtype = dtype
        self.is_transposed = is_transposed
        lengths = sizes.rows, sizes.columns
        self.rows, self.columns = lengths[::-1] if is_transposed else lengths
        finish = kernel.expression("finish")
        axes = finish.groups[0]
        self.is_even = not axes or axes[-1] % self.columns == 0
        is_wide = self.size > 4 or self.columns < LANES
        fits = is_vectorizable(finish) and self.is_even and not is_wide
        self.lanes = LANES if fits else 1
        kind = "v128" if fits else VALUE.get(KINDS[dtype], KINDS[dtype])
        self.core = self.f.local(kind)
        self.evaluator = Evaluator(frame, finish, self.lanes, {WHOLE: self.core})

    def write(
        self,
        batch: int | None,
        rows: tuple[int, int],
        columns: tuple[int, int],
        sums: int,
        row_bytes: int,
    ) -> None:
        """Emit the loops over the rows and columns of a block of results.

        Args:
            batch: local of the index of the matrix, None if there is only one.
            rows: locals of the first row and the end.
            columns: locals of the first column and the end.
            sums: local of the address of the first sum; it moves.
            row_bytes: local of the distance of two rows of sums.
        """
        f, frame = self.f, self.frame
        size = itemsize(self.kernel.dtype)
        base = frame.storage(OUTPUT, "w")
        first, core, out = (f.local("i32") for _ in range(3))
        number = f.constant("i32", self.size)
        down, self.across = (
            (number, row_bytes) if self.is_transposed else (row_bytes, number)
        )
        with counted(f, *rows) as row:
            if batch is None:
                f.get(row)
            else:
                f.get(batch)
                f.emit(frame.number(self.rows), "i32.mul", row, "i32.add")
            f.tee(first, frame.number(self.columns), "i32.mul", columns[0], "i32.add")
            f.set(out, ("i32", size), "i32.mul", base, "i32.add")
            f.set(core, sums)
            self._row(first, columns, core, out)
            f.set(sums, sums, down, "i32.add")

    def _row(self, first: int, columns: tuple[int, int], core: int, out: int) -> None:
        """Emit the loop along the columns of a row."""
        f, evaluator = self.f, self.evaluator
        pointers: list[Mover] = [
            Strided(f, core, self.across),
            Pointer(f, out, itemsize(self.kernel.dtype)),
        ]
        if not self.is_even:
            last = f.local("i32")
            f.set(last, first, columns[1], "i32.add", columns[0], "i32.sub")
            with segments(self.frame, [evaluator], first, last):
                self._element(core, out)
                for pointer in pointers:
                    pointer.move(1)
            return
        evaluator.locate([evaluator.split(0, first)])
        index = f.local("i32")
        f.set(index, columns[0])
        with along(f, index, columns[1], self.lanes, [evaluator, *pointers]):
            self._element(core, out)

    def _element(self, core: int, out: int) -> None:
        """Emit the computation and the store of the elements at the addresses."""
        f, values = self.f, self.evaluator.values
        if self.lanes > 1 and self.is_transposed:
            self._load_apart(core)
        else:
            f.get(core)
            (load_neighbours if self.lanes > 1 else load)(values, self.dtype)
        if self.kernel.core_dtype in ROUNDED:
            convert(values, ROUNDED[self.kernel.core_dtype], "f32")
        else:
            within(values, self.kernel.core_dtype)
        f.set(self.core)
        f.get(out)
        self.evaluator.value()
        (store_neighbours if self.lanes > 1 else store)(values, self.kernel.dtype)

    def _load_apart(self, core: int) -> None:
        """Emit the loads of four sums that lie a row apart."""
        f = self.f
        for lane in range(LANES):
            f.get(core)
            for _ in range(lane):
                f.emit(self.across, "i32.add")
            if lane:
                f.get(self.core)
                load_lane(self.evaluator.values, self.dtype, lane)
            else:
                f.memory("v128.load32_zero")
            f.set(self.core)
        f.get(self.core)


def packs_own_columns(right: Operand, sizes: Sizes) -> bool:
    """Whether no other unit reads the same columns of a right operand."""
    is_own = bool(right.matrix) or sizes.batch == 1
    has_all_rows = sizes.unit_rows >= sizes.rows
    is_packed = right.is_packed and sizes.depth > 0
    return is_packed and is_own and has_all_rows and not goes_across(right)


def pack_own_columns(
    packing: Packing, batch: int | None, first: int, last: int
) -> None:
    """Emit the packing of the columns in a range.

    Args:
        packing: of the right operand, into the launch of the product.
        batch: local of the index of the matrix, None if there is only one.
        first: local of the first column.
        last: local of the end.
    """
    frame, f, evaluator = packing.frame, packing.f, packing.evaluator
    run, depth = frame.number(packing.run), frame.number(packing.lengths[0])
    packing.across = IndexCounter(evaluator, 1, depth)
    axes = max(len(evaluator.expression.groups[2]) - 1, 0)
    runs = packing.runs_before = IndexCounter(evaluator, 2, None, axes)
    packing.matrices = IndexCounter(evaluator, 0, None)
    begin, start, end = (f.local("i32") for _ in range(3))
    if batch is not None:
        f.set(packing.matrices.index, batch)
        packing.matrices.begin()
    f.tee(runs.index, first, run, "i32.div_u")
    f.set(begin, run, "i32.mul")
    with while_below(f, begin, last):
        _part_of_run(packing, (begin, run), (first, last), (start, end))
        runs.begin()
        f.set(packing.across.index, ("i32", 0))
        packing.across.begin()
        with counted(f, f.constant("i32", 0), depth):
            packing.line(start, end)
            packing.across.step()
        runs.step()
        f.set(begin, begin, run, "i32.add")


def _part_of_run(
    packing: Packing,
    run: tuple[int, int],
    columns: tuple[int, int],
    to: tuple[int, int],
) -> None:
    """Emit the range of a run that is among some columns, at least a full vector.

    Where these are fewer, others are computed a second time.

    Args:
        packing: packing of the right operand, which determines the length of a vector.
        run: locals of its first column and its length.
        columns: locals of the first one and of the end.
        to: locals for the first index of the range and for its end.
    """
    f = packing.f
    (begin, length), (first, last), (start, end) = run, columns, to
    f.set(end, last, begin, "i32.sub")
    _larger(f, end, f.constant("i32", packing.lanes))
    smaller(f, end, length)
    f.set(end)
    f.set(start, first, begin, "i32.sub")
    _larger(f, start, f.constant("i32", 0))
    latest = f.local("i32")
    f.set(latest, end, ("i32", packing.lanes), "i32.sub")
    smaller(f, start, latest)
    f.set(start)
    f.free(latest)


def _larger(f: Function, value: int, least: int) -> None:
    """Emit `value = max(value, least)` of two signed locals."""
    f.set(value, value, least, value, least, "i32.gt_s", "select")


def matmul(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program of a batched matrix product."""
    return _Product(kernel, target).program()


class _Product:
    """Emits the launches of one product."""

    def __init__(self, kernel: Kernel, target: WasmTarget) -> None:
        self.kernel = kernel
        self.target = target
        self.dtype = SUMS.get(kernel.core_dtype, kernel.core_dtype)
        layout = layout_of(kernel, self.dtype, target.relaxed)
        self.sizes = layout.sizes
        self.left, self.right = layout.left, layout.right
        self.is_transposed = layout.is_transposed
        self.together = layout.together
        self.scratch = layout.scratch_bytes
        self.packs_inside = packs_own_columns(self.right, self.sizes)
        self.is_staged = (
            itemsize(kernel.dtype) != self.sizes.numbers.size
            or not self.sizes.is_whole
            or self.is_transposed
        )
        self.result = scratch(len(self.scratch)) if self.is_staged else OUTPUT

    def program(self) -> Program:
        """Return the launches: packing, then the product."""
        packings = {
            is_left: packing(
                self.kernel, self.target, each, self.sizes, self.dtype, is_left
            )
            for each, is_left in ((self.left, True), (self.right, False))
            if each.is_packed and self.sizes.depth
            if is_left or not self.packs_inside
        }
        launches = []
        if True in packings:
            launches.append(packings[True].launch)
        parts = [packings[False]] if False in packings else []
        parts.append(self._launch())
        batch, together = self.sizes.batch, self.together
        for first in range(0, batch, together):
            last = min(first + together, batch)
            launches += [part.of(first, last) for part in parts]
        number = len(self.scratch)
        has_rest = self.right.is_packed and not self.sizes.is_whole
        cleared = frozenset((number - 1,) if has_rest else ())
        staged = (self._staged_bytes(),) if self.is_staged else ()
        return Program(tuple(launches), (*self.scratch, *staged), cleared)

    @property
    def staged_row(self) -> int:
        """Numbers from row to row of a block of sums in the scratch storage."""
        together = self.sizes.numbers.together
        return -(-self.sizes.unit_columns // together) * together

    def _staged_bytes(self) -> int:
        sizes = self.sizes
        block = sizes.unit_rows * self.staged_row
        return sizes.units(self.together) * block * sizes.numbers.size

    def _launch(self) -> BatchedLaunch:
        """Return the launch that multiplies and applies the epilogue."""
        sizes = self.sizes
        frame = Frame(self.kernel, self.target)
        written = _Units(self, frame)
        written.write()
        tile = f"tile of {sizes.tile[0]} x {sizes.width}"
        block = f"units of {sizes.unit_rows} x {sizes.unit_columns}"
        note = f"{tile}, {block}{', transposed' if self.is_transposed else ''}"
        units = sizes.units(sizes.batch)
        launch = frame.launch("product", units, sizes.per_slice, note)
        matrix = self.right.matrix * sizes.numbers.size
        return BatchedLaunch(launch, written.range, matrix, sizes.units)


class _Units:
    """Emits the loops of a product over units, matrices, parts and panels."""

    def __init__(self, product: _Product, frame: Frame) -> None:
        self.product = product
        self.sizes = sizes = product.sizes
        self.frame = frame
        self.f = frame.f
        self.left = OperandAddress(frame, product.left, sizes, True)
        self.right = OperandAddress(frame, product.right, sizes, False)
        self.range = MatrixRange(frame, sizes.batch) if sizes.batch > 1 else None
        self.base = frame.storage(product.result, "w")
        size = sizes.numbers.size
        row = product.staged_row if product.is_staged else sizes.columns
        self.rows = frame.number(sizes.rows)
        self.columns = frame.number(sizes.columns)
        self.depth = frame.number(sizes.depth)
        self.result_row = frame.number(row * size)
        self.is_bare = is_bare(product.kernel) and not product.is_staged
        self.packing: Packing | None = None
        if product.packs_inside:
            self.packing = Packing(
                frame, product.right, sizes, product.dtype, False, self.range
            )

    def write(self) -> None:
        """Write all loops."""
        frame, f, sizes = self.frame, self.f, self.sizes
        across, down = frame.number(sizes.column_blocks), frame.number(sizes.row_blocks)
        unit_rows = frame.number(sizes.unit_rows)
        unit_columns = frame.number(sizes.unit_columns)
        rest, block = f.local("i32"), f.local("i32")
        self.row, self.row_end = f.local("i32"), f.local("i32")
        self.column, self.column_end = f.local("i32"), f.local("i32")
        with units(frame) as unit:
            self.unit = unit
            divided(f, unit, across, rest, self.column)
            divided(f, rest, down, block, self.row)
            for start, end, by, most in (
                (self.row, self.row_end, unit_rows, self.rows),
                (self.column, self.column_end, unit_columns, self.columns),
            ):
                f.tee(start, start, by, "i32.mul")
                f.set(end, by, "i32.add")
                smaller(f, end, most)
                f.set(end)
            if self.range is None:
                self._matrix(None)
            else:
                self._matrices(block, self.range)

    def _matrices(self, block: int, all_: MatrixRange) -> None:
        """Emit the loop over the matrices of a unit."""
        f = self.f
        together = self.frame.number(self.sizes.unit_batch)
        last = f.local("i32")
        f.tee(block, block, together, "i32.mul", all_.first, "i32.add")
        f.set(last, together, "i32.add")
        smaller(f, last, all_.last)
        f.set(last)
        with counted(f, block, last) as batch:
            self._matrix(batch)

    def _matrix(self, batch: int | None) -> None:
        """Emit a block of a matrix, and its epilogue."""
        f, frame, product = self.f, self.frame, self.product
        left, right, result = (f.local("i32") for _ in range(3))
        if self.packing is not None:
            pack_own_columns(self.packing, batch, self.column, self.column_end)
        self.left.begin(batch, self.row, left)
        shift = self.range.shift if self.range else None
        self.right.begin(batch, self.column, right, shift)
        f.get(self.base)
        if product.is_staged:
            f.get(self.unit)
            f.emit(
                frame.number(self.sizes.unit_rows),
                self.result_row,
                "i32.mul",
                "i32.mul",
                "i32.add",
            )
        else:
            if batch is not None:
                f.emit(batch, self.rows, "i32.mul", self.row, "i32.add")
            else:
                f.get(self.row)
            f.emit(self.result_row, "i32.mul", "i32.add")
            self._add_numbers(self.column)
        f.set(result)
        self._parts(left, right, result)
        if not self.is_bare:
            across, down = (self.column, self.column_end), (self.row, self.row_end)
            block = (across, down) if product.is_transposed else (down, across)
            epilogue = Epilogue(
                frame, product.kernel, self.sizes, product.dtype, product.is_transposed
            )
            epilogue.write(batch, *block, result, self.result_row)

    def _add_numbers(self, count: int) -> None:
        """Emit the addition of a number of numbers to an address."""
        f = self.f
        f.emit(count, ("i32", self.sizes.numbers.size), "i32.mul", "i32.add")

    def _parts(self, left: int, right: int, result: int) -> None:
        """Emit the loop over the parts of the depth, and inside that over panels."""
        f, frame, sizes = self.f, self.frame, self.sizes
        longest = frame.number(sizes.depth_part)
        done, count = f.local("i32"), f.local("i32")
        f.set(done, ("i32", 0))
        with f.block("loop"):
            f.set(count, self.depth, done, "i32.sub")
            smaller(f, count, longest)
            f.set(count)
            self._panels(left, right, result, done, count)
            f.set(left, left, count, self.left.step, "i32.mul", "i32.add")
            f.set(right, right, count, self.right.row, "i32.mul", "i32.add")
            f.tee(done, done, count, "i32.add")
            f.br_if(0, self.depth, "i32.lt_u")

    def _panels(
        self, left: int, right: int, result: int, done: int, count: int
    ) -> None:
        """Emit the loop over the panels of a unit's columns."""
        f, sizes = self.f, self.sizes
        right_panel, address, column = (f.local("i32") for _ in range(3))
        for source, local in (
            (right, right_panel),
            (result, address),
            (self.column, column),
        ):
            f.set(local, source)

        def multiplied(vectors: int) -> None:
            f.emit(
                left,
                right_panel,
                address,
                self.row_end,
                self.row,
                "i32.sub",
                count,
                self.left.row,
                self.left.step,
                self.right.row,
                self.result_row,
                done,
                "i32.eqz",
            )
            f.call(self._panel(vectors))

        tile, numbers = sizes.tile, sizes.numbers
        if sizes.panels:
            limit = self._before_narrow() if sizes.narrow else self.column_end
            with while_below(f, column, limit):
                multiplied(tile[1])
                for local, step in (
                    (column, sizes.width),
                    (address, tile[1] * numbers.bytes),
                ):
                    f.set(local, local, ("i32", step), "i32.add")
                f.set(right_panel, right_panel, self.right.step, "i32.add")
        if sizes.narrow:
            with f.block("if", column, self.column_end, "i32.lt_u"):
                multiplied(sizes.narrow)

    def _before_narrow(self) -> int:
        """Return a local of the column where panels of full width end."""
        f = self.f
        limit, ends = (
            f.local("i32"),
            self.frame.number(self.sizes.panels * self.sizes.width),
        )
        smaller(f, self.column_end, ends)
        f.set(limit)
        return limit

    def _panel(self, vectors: int) -> str:
        """Return the name of the function that multiplies a panel."""
        sizes, product = self.sizes, self.product
        return self.frame.writer.defined(
            f"panel{vectors}",
            panel(
                sizes.kind,
                sizes.tile[0],
                vectors,
                product.target.relaxed,
                self.left.is_strided,
            ),
        )
