"""Your own kernel

Write what each invocation on the GPU does: one number, a sum in shared memory, a cell.

Predict: 64 invocations share an array of 64 numbers. How many steps do their sums take?
"""

import tensorweb as tw

HAS_GPU = tw.default_device() != "cpu"
if not HAS_GPU:
    print("No GPU runs WGSL here, so the references below compute instead: the same")
    print(
        "numbers. A browser with WebGPU runs the kernels; see the tab Kernels then.\n"
    )

# 1. One invocation for each number. The text is the body of the kernel's main function;
# inputs and outputs are arrays in it, and inputs that are plain numbers are values.
saxpy = tw.kernel(
    """
    let i = global_id.x;
    if (i < out_size) {  // invocations come in groups of 256: some are beyond the end
      out[i] = a * x[i] + y[i];
    }
    """,
    inputs={"a": tw.float32, "x": tw.float32, "y": tw.float32},
    outputs={"out": tw.float32},
    name="saxpy",
    vjp=lambda inputs, result, g: ((g * inputs[1]).sum(), g * inputs[0], g),
    reference=lambda a, x, y: a * x + y,
    fallback=True,
)
x = tw.linspace(0.0, 1.0, 1000)
print("saxpy:", saxpy(3.0, x, x[::-1])[-1].item())
print("its gradient by a:", tw.grad(lambda a: saxpy(a, x, x).sum())(3.0).item())

# 2. The invocations of a workgroup share memory: half of them add, then a quarter, …
sums = tw.kernel(
    """
    parts[local_index] = 0.0;
    if (global_id.x < x_size) {
      parts[local_index] = x[global_id.x];
    }
    for (var width = 32u; width > 0u; width /= 2u) {
      workgroupBarrier();  // all have written; try it without
      if (local_index < width) {
        parts[local_index] += parts[local_index + width];
      }
    }
    if (local_index == 0u) {
      total[workgroup_id.x] = parts[0];
    }
    """,
    header="var<workgroup> parts: array<f32, 64>;",
    inputs={"x": tw.float32},
    outputs={"total": tw.float32},
    shape=lambda x: -(-x[0] // 64),
    grid=lambda x: x,
    workgroup_size=64,
    name="sums of 64",
    reference=lambda x: tw.pad(x, [(0, -x.size % 64)]).reshape(-1, 64).sum(axis=1),
    fallback=True,
)
numbers = tw.arange(4096.0)
print("4096 numbers, 64 sums, 1 sum:", sums(sums(numbers)).item(), "=", 4096 * 4095 / 2)

# 3. Game of Life: a grid of two axes, and a function in the header.
AROUND = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]


def life_of_tensors(old):
    """Return the next generation by shifted copies of the board."""
    around = sum(tw.roll(old, shift, axis=(0, 1)) for shift in AROUND)
    return ((around == 3) | ((around == 2) & (old == 1))).astype(tw.int32)


life = tw.kernel(
    """
    let row = i32(global_id.y);
    let column = i32(global_id.x);
    if (column >= width || row >= height) {
      return;
    }
    var around = -cell(row, column);
    for (var down = -1; down <= 1; down++) {
      for (var right = -1; right <= 1; right++) {
        around += cell(row + down, column + right);
      }
    }
    let lives = around == 3 || (around == 2 && cell(row, column) == 1);
    next[row * width + column] = i32(lives);
    """,
    header="""
    const height = i32(old_shape[0]);
    const width = i32(old_shape[1]);

    fn cell(row: i32, column: i32) -> i32 {  // the edges of the board are joined
      return old[(row + height) % height * width + (column + width) % width];
    }
    """,
    inputs={"old": tw.int32},
    outputs={"next": tw.int32},
    grid=lambda old: old[::-1],
    workgroup_size=(8, 8),
    name="life",
    reference=life_of_tensors,
    fallback=True,
)
board = tw.astype(tw.random.uniform(tw.random.key(5), (96, 96)) < 0.3, tw.int32)
if HAS_GPU:
    life.check(board)  # raises where a cell differs from the reference
history = [board]
for _ in range(60):
    board = life(board)
    history.append(board)
print("living cells:", [int(tw.sum(each)) for each in history[::10]])
tw.show(tw.stack(history), name="generations")  # move the slider of axis 0
