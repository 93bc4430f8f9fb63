"""Kernel puzzles

Eight kernels with wrong beginnings: write what each invocation on the GPU does.

Predict: workgroups of 4 invocations compute 6 numbers. How many invocations run?
"""

import tensorweb as tw

# Each text is the body of a kernel that fills the array `out` from the arrays `x` and
# `y`. An invocation knows its index in the grid, `global_id`, and in its workgroup,
# `local_index`. Replace one text after another, and run.

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
}


def attempt(name, text, shapes, reference, more):
    """Return whether a text computes what its reference does; print what differs."""
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
    try:
        kernel.check(*[each.astype(tw.float32) for each in values])
    except (tw.KernelError, tw.ShaderError) as error:
        print(f"not yet: {error}\n")
        return False
    print(f"{name}: solved\n")
    return True


if tw.default_device() == "cpu":
    print("These puzzles run on a GPU. Open them in a browser with WebGPU:")
    print("Chrome, Edge, Safari 26 or later, Firefox on Windows and macOS.")
else:
    solved = [attempt(name, *puzzle) for name, puzzle in PUZZLES.items()]
    print(f"{sum(solved)} of {len(PUZZLES)} are solved")
