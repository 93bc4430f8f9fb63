"""A GPT that writes: letter after letter, in one rhyme's words

A small transformer reads The House That Jack Built (1755) and learns to go on with it.

Predict: 27 letters, equal chances: what loss does the untrained model begin with?

Then look: Model; Film; Timeline
"""

import math
from time import perf_counter

import tensorweb as tw
from tensorweb import nn

with open("rhyme.txt") as file:
    text = file.read()

LETTERS = sorted(set(text))
LONG, WIDTH, HEADS = 32, 32, 4  # letters it sees, numbers per letter, heads per block
rng = tw.random.Generator(9)
tokens = tw.asarray([LETTERS.index(letter) for letter in text])


class Block(nn.Module):
    """Letters look at earlier letters; then each thinks about what it has seen."""

    def __init__(self):
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.ask = nn.Linear(WIDTH, 3 * WIDTH, rng=rng)
        self.answer = nn.Linear(WIDTH, WIDTH, rng=rng)
        self.widen = nn.Linear(WIDTH, 4 * WIDTH, rng=rng)
        self.narrow = nn.Linear(4 * WIDTH, WIDTH, rng=rng)

    def forward(self, x):
        batch, long, _ = x.shape
        parts = self.ask(self.norm1(x)).reshape(batch, long, 3, HEADS, WIDTH // HEADS)
        q, k, v = parts.permute_dims((2, 0, 3, 1, 4))
        seen = nn.attention(q, k, v, causal=True).permute_dims((0, 2, 1, 3))
        x = x + self.answer(seen.reshape(batch, long, WIDTH))
        return x + self.narrow(nn.gelu(self.widen(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self):
        self.letters = nn.Embedding(len(LETTERS), WIDTH, rng=rng)
        self.positions = nn.Embedding(LONG, WIDTH, rng=rng)
        self.blocks = [Block(), Block()]
        self.norm = nn.LayerNorm(WIDTH)
        self.last = nn.Linear(WIDTH, len(LETTERS), rng=rng)

    def forward(self, ids):
        x = 0.3 * (self.letters(ids) + self.positions.weight)
        for block in self.blocks:
            x = block(x)
        return self.last(self.norm(x))


opt = tw.optim.AdamW(lr=tw.optim.warmup_cosine(0.015, 10, 100))


@tw.jit
def step(model, state, ids):
    def loss(model):
        guesses = model(ids[:, :-1]).reshape(-1, len(LETTERS))
        return nn.cross_entropy(guesses, ids[:, 1:].reshape(-1))

    value, slope = tw.value_and_grad(loss)(model)
    model, state = opt.update(model, slope, state)
    return model, state, value


@tw.jit
def next_letter(model, ids, key):
    """Return the window moved by one letter, which is drawn from the chances."""
    drawn = tw.random.categorical(key, 1.5 * model(ids)[:, -1])
    return tw.concat([ids[:, 1:], drawn.reshape(1, 1)], axis=1)


def write(model, count):
    """Return what the model writes after an empty line."""
    ids, written = tokens[:LONG].reshape(1, LONG), []
    for key in tw.random.split(tw.random.key(1), count):
        ids = next_letter(model, ids, key)
        written.append(ids[0, -1])
    return "".join(LETTERS[i] for i in tw.stack(written).tolist())


model, losses, steps = GPT(), [], 100
state = opt.init(model)
began = perf_counter()
for number in range(1, steps + 1):
    start = rng.randint((8, 1), 0, len(text) - LONG)
    model, state, value = step(model, state, tokens[start + tw.arange(LONG + 1)])
    losses.append(value)
    if number % 50 == 0:
        tw.plot(tw.stack(losses), title="Loss by step, in nats")
        print(f"--- after {number} steps\n{write(model, 40)}")
speed = 8 * LONG * steps / (perf_counter() - began)
first, last = losses[0].item(), tw.stack(losses[-10:]).mean().item()
print(f"--- {speed:,.0f} letters a second, including the ones that it writes")
print(
    f"from {first:.2f} nats (equal chances: {math.log(len(LETTERS)):.2f}) to {last:.2f}"
)
print("below 1.9 nats:", last < 1.9)
# "Model", offered below the output, shows its layers as a tree with what each returned
# last, "Film" the loss step by step, "Timeline" where the time of the training went.
