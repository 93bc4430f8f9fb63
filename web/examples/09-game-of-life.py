"""Game of Life

Eight shifted copies of the board are the neighbours; two comparisons are the rules.

Predict: a glider is five cells. Where is it after four generations?
"""

import tensorweb as tw

SIZE = 64

# A glider gun, written as text: O is a living cell.
GUN = """
........................O...........
......................O.O...........
............OO......OO............OO
...........O...O....OO............OO
OO........O.....O...OO..............
OO........O...O.OO....O.O...........
..........O.....O.......O...........
...........O...O....................
............OO......................
"""

rows = [[int(mark == "O") for mark in line] for line in GUN.split()]
gun = tw.asarray(rows, dtype=tw.int32)
height, width = gun.shape
board = gun.pad([(6, SIZE - 6 - height), (4, SIZE - 4 - width)])

SHIFTS = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]


def step(board):
    """Return the next generation; the edges of the board are joined."""
    neighbours = sum(tw.roll(board, shift, axis=(0, 1)) for shift in SHIFTS)
    born = neighbours == 3
    stays = (board == 1) & (neighbours == 2)
    return tw.astype(born | stays, tw.int32)


history = [board]
for _ in range(90):
    board = step(board)
    history.append(board)

population = [tw.sum(board).item() for board in history[::10]]
print("living cells, every tenth generation:", population)

# Every fourth generation in one tensor: move the slider of axis 0 to let time pass.
generations = tw.stack(history[::4])
tw.show(generations)
