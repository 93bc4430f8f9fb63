"""Cells that grow a picture, and heal it

Each cell sees its neighbours only. They learn one rule: how a seed becomes a heart.

Predict: if a hole is cut into the heart, will the cells fill it again?
"""

import tensorweb as tw
from tensorweb import nn

rng = tw.random.Generator(12)
SIZE, STATES, STEPS = 16, 12, 10  # a cell has twelve numbers; the first is its ink

# The left half of the heart, row by row; the right one is its mirror image.
HALF = """
........ ........ ..####.. .######. .####### .####### .####### .#######
..###### ...##### ....#### .....### ......## .......# ........ ........
"""
ink = [[float(mark == "#") for mark in row + row[::-1]] for row in HALF.split()]
heart = tw.asarray(ink)
seed = tw.zeros((1, STATES, SIZE, SIZE))
seed[:, :, SIZE // 2, SIZE // 2] = 1.0


class Rule(nn.Module):
    """What a cell becomes, given its own numbers and those of its eight neighbours."""

    def __init__(self):
        self.look = nn.Conv2d(STATES, 48, 3, padding=1, rng=rng)
        self.act = nn.Conv2d(48, STATES, 1, rng=rng)
        # At first nothing happens: cells learn to act, not to hold still.
        self.act.weight = tw.zeros_like(self.act.weight)
        self.act.bias = tw.zeros_like(self.act.bias)

    def forward(self, cells):
        return tw.tanh(cells + self.act(nn.relu(self.look(cells))))


opt = tw.optim.Adam(lr=tw.optim.linear(0.01, 0.001, 320))


@tw.jit
def learn(rule, state, cells):
    """Let cells live for ten steps, compare their ink, and change the rule."""

    def loss(rule):
        later = cells
        for _ in range(STEPS):
            later = rule(later)
        return ((later[:, 0] - heart) ** 2).mean(), later

    (value, later), slope = tw.value_and_grad(loss, has_aux=True)(rule)
    slope = tw.optim.clip_by_global_norm(slope, 1.0)
    rule, state = opt.update(rule, slope, state)
    return rule, state, value, later


def damaged(cells, row, column):
    """Return the cells after a square of them has died."""
    index = tw.arange(SIZE)
    across = (index >= column) & (index < column + 4)
    down = tw.expand_dims((index >= row) & (index < row + 4), 1)
    return tw.where(across & down, 0.0, cells)


rule = Rule()
state = opt.init(rule)
pool = tw.concat([seed, seed, seed])
for number in range(1, 321):
    rule, state, value, later = learn(rule, state, pool)
    if number > 50:
        # Some go on living, so that the heart learns to stay; some are hurt, to heal.
        row, column = rng.randint((2, 1), 0, SIZE - 4)
        pool = tw.concat([seed, later[:1], damaged(later[1:2], row, column)])
    if number % 10 == 0:
        tw.show(later[0, 0], "the heart")
    if number % 80 == 0:
        print(f"lesson {number}: mean square {value.item():.4f}")

live = tw.jit(lambda rule, cells: rule(cells))
for name, cells in ("grows", seed), ("heals", damaged(later[:1], 5, 5)):
    for _ in range(STEPS):
        tw.show(cells[0, 0], f"it {name}")
        cells = live(rule, cells)
    wrong = ((cells[0, 0] - heart) ** 2).mean().item()
    print(f"mean square {wrong:.4f}; below 0.02 when it {name}: {wrong < 0.02}")
