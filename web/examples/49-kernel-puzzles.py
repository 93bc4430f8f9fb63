"""Kernel puzzles

Nine kernels with wrong beginnings: write what each invocation on the GPU does.

Predict: workgroups of 4 invocations compute 6 numbers. How many invocations run?
"""

import tensorweb as tw
from tensorweb.playground.thread_puzzles import check_threads

# Each text is the body of a kernel that fills the array `out` from the arrays `x` and
# `y`. An invocation knows its index in the grid, `global_id`, and in its workgroup,
# `local_index`. Replace one text after another, and run: each workgroup is stepped
# thread by thread, also without a GPU. Open "Threads" to see what each one does.

ADD_TEN = """
let i = global_id.x;
out[i] = x[i];  // 1. ten more than x
"""
GUARD = """
let i = global_id.x;
out[i] = x[i];  // 2. x times f32(i), but only where i is below out_size
"""
TRANSPOSE = """
let row = global_id.y;
let column = global_id.x;
if (row < out_shape[0] && column < out_shape[1]) {
  let to = row * out_shape[1] + column;
  out[to] = x[to];  // 3. x, transposed
}
"""
BROADCAST = """
let row = global_id.y;
let column = global_id.x;
if (row < out_shape[0] && column < out_shape[1]) {
  out[row * out_shape[1] + column] = x[row];  // 4. x[row] + y[column]
}
"""
WINDOW = """
let i = global_id.x;
if (i < out_size) {
  out[i] = x[i];  // 5. x[i - 2] + x[i - 1] + x[i], as far as there are any
}
"""
REVERSE = """
block[local_index] = x[global_id.x];
workgroupBarrier();
out[global_id.x] = block[local_index];  // 6. each block of 4 reversed
"""
DOT = """
block[local_index] = x[local_index] * y[local_index];
workgroupBarrier();
if (local_index == 0u) {
  out[0] = block[0];  // 7. the sum of all 8: halve the number of summands, thrice
}
"""
RUNNING = """
block[local_index] = x[local_index];
workgroupBarrier();
out[local_index] = block[local_index];  // 8. running sums: add what is 1, 2, 4 before
"""
CONVOLUTION = """
block[local_index] = x[global_id.x];  // 9a. and the 2 elements behind, or zeros
workgroupBarrier();
out[global_id.x] = block[local_index] * y[0];  // 9b. plus x[i+1] y[1] + x[i+2] y[2]
"""

ROW = {"workgroup_size": 4}
PLANE = {"workgroup_size": (4, 4), "grid": lambda out: out[::-1]}
BLOCK = {"workgroup_size": 8, "header": "var<workgroup> block: array<f32, 8>;"}
PUZZLES = {
    "add ten": (ADD_TEN, [8], lambda x: x + 10, ROW),
    "guard": (GUARD, [6], lambda x: x * tw.arange(6), ROW),
    "transpose": (TRANSPOSE, [(3, 5)], lambda x: x.T, {**PLANE, "shape": (5, 3)}),
    "broadcast": (
        BROADCAST,
        [3, 5],
        lambda x, y: x[:, None] + y,
        {**PLANE, "shape": (3, 5)},
    ),
    "window": (
        WINDOW,
        [9],
        lambda x: tw.pad(x, [(2, 0)]).sliding_windows(3).sum(axis=1),
        ROW,
    ),
    "reverse": (
        REVERSE,
        [12],
        lambda x: x.reshape(3, 4).flip(axis=1).reshape(12),
        {**BLOCK, "workgroup_size": 4},
    ),
    "dot product": (
        DOT,
        [8, 8],
        lambda x, y: (x * y).sum(keepdims=True),
        {**BLOCK, "shape": 1, "grid": 8},
    ),
    "running sums": (RUNNING, [8], lambda x: tw.cumulative_sum(x), BLOCK),
    "convolution": (
        CONVOLUTION,
        [12, 3],
        lambda x, y: (tw.pad(x, [(0, 2)]).sliding_windows(3) * y).sum(axis=1),
        {**BLOCK, "workgroup_size": 4, "shape": 12},
    ),
}


def solves(name, text, shapes, reference, more):
    """Show whether a text computes what its reference does, and what its threads do."""
    kernel = tw.kernel(
        text,
        inputs=dict.fromkeys("xy"[: len(shapes)], tw.float32),
        outputs={"out": tw.float32},
        reference=reference,
        name=name,
        **more,
    )
    key = tw.random.key(3)
    values = [tw.random.randint(key, shape, -9, 10) for shape in shapes]
    return check_threads(kernel, *[each.astype(tw.float32) for each in values])


solved = [solves(name, *puzzle) for name, puzzle in PUZZLES.items()]
print(f"{sum(solved)} of {len(PUZZLES)} are solved")
