"""Bigrams: normalise over the right axis

Count letter pairs in names, make counts into probabilities, and meet a silent mistake.

Predict: each row of a table of chances must sum to 1. Over which axis do you divide?
"""

import random
from itertools import pairwise

import tensorweb as tw

TEXT = """
emma olivia ava isabella sophia mia charlotte amelia harper evelyn abigail emily ella
elizabeth camila luna sofia avery mila aria scarlett penelope layla chloe victoria
madison eleanor grace nora riley zoey hannah hazel lily ellie violet lillian zoe
stella aurora natalie emilia everly leah aubrey willow addison lucy audrey bella noah
liam mason jacob william ethan james alexander michael benjamin elijah daniel aiden
logan matthew lucas jackson david oliver jayden joseph gabriel samuel carter anthony
john dylan
"""
NAMES = TEXT.split()

LETTERS = ".abcdefghijklmnopqrstuvwxyz"  # a point begins and ends a name
index = {letter: number for number, letter in enumerate(LETTERS)}

# Row: a letter. Column: the letter that follows it.
table = [[0] * 27 for _ in LETTERS]
for name in NAMES:
    word = "." + name + "."
    for first, second in pairwise(word):
        table[index[first]][index[second]] += 1
counts = tw.asarray(table, dtype=tw.float32)

# Add a little to every count, so that no pair is impossible, and make rows sum to one.
# keepdims keeps the shape (27, 1), which broadcasts along each row: right.
smooth = counts + 0.1
probabilities = smooth / tw.sum(smooth, axis=1, keepdims=True)

# Without keepdims the sums have shape (27,), which counts as (1, 27): every column is
# divided by another row's sum. It runs, it looks alike, and it is wrong.
wrong = smooth / tw.sum(smooth, axis=1)

print("rows of probabilities sum to", tw.sum(probabilities, axis=1)[:3].tolist())
print("rows of the wrong table to  ", tw.sum(wrong, axis=1)[:3].tolist())

# Sample new names from the table.
random.seed(7)
rows = probabilities.tolist()
for _ in range(6):
    letter, name = 0, ""
    while len(name) < 12:
        letter = random.choices(range(27), weights=rows[letter])[0]
        if letter == 0:
            break
        name += LETTERS[letter]
    print(name)

# How well does the table explain the names? The mean of the negative logarithm.
total = tw.sum(counts)
loss = -tw.sum(counts * tw.log(probabilities)) / total
print(f"loss {loss.item():.3f}; equal chances would give 3.296")
tw.show(counts)
probabilities
