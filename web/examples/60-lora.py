"""New words for a GPT: fine-tuning with few numbers, LoRA

A GPT that knows a rhyme learns to write names; its own numbers stay as they are.

Predict: how many new numbers does that need: as many, a tenth, a twentieth?
"""

import tensorweb as tw
from tensorweb import nn

with open("rhyme.txt") as rhyme_file, open("names.txt") as names_file:
    rhyme, names = rhyme_file.read().lower(), names_file.read().lower()
LETTERS = sorted(set(rhyme + names))
LONG, WIDTH, RANK = 24, 32, 2
rng = tw.random.Generator(9)


class GPT(nn.Module):
    def __init__(self):
        self.letters = nn.Embedding(len(LETTERS), WIDTH, rng=rng)
        self.positions = nn.Embedding(LONG, WIDTH, rng=rng)
        layer = nn.TransformerEncoderLayer(
            WIDTH, 4, 4 * WIDTH, 0.0, "gelu", batch_first=True, norm_first=True, rng=rng
        )
        self.blocks = nn.TransformerEncoder(layer, 2, nn.LayerNorm(WIDTH))
        self.last = nn.Linear(WIDTH, len(LETTERS), rng=rng)

    def forward(self, ids):
        x = 0.3 * (self.letters(ids) + self.positions.weight)
        return self.last(self.blocks(x, is_causal=True))


class LoRA(nn.Module):
    """A layer as it was, and a product of two thin matrices: W x + B A x."""

    def __init__(self, layer):
        outputs, inputs = layer.weight.shape
        self.layer = layer
        self.a = rng.normal((RANK, inputs)) / inputs**0.5
        self.b = tw.zeros((outputs, RANK))  # at first nothing is different

    def forward(self, x):
        return self.layer(x) + x @ self.a.T @ self.b.T


def train(model, free, text, rate, title):
    """Train free parameters for a hundred steps; return the loss."""
    opt = tw.optim.AdamW(free, lr=tw.optim.warmup_cosine(rate, 10, 100))

    @tw.jit(updates=(model, opt))
    def step(ids):
        guesses = model(ids[:, :-1]).reshape(-1, len(LETTERS))
        value = nn.cross_entropy(guesses, ids[:, 1:].reshape(-1))
        value.backward()
        opt.step()
        opt.zero_grad()
        return value

    tokens, losses = tw.asarray([LETTERS.index(x) for x in text]), []
    for number in range(1, 101):
        start = rng.randint((8, 1), 0, len(text) - LONG)
        losses.append(step(tokens[start + tw.arange(LONG + 1)]))
        if number % 20 == 0:
            tw.plot(tw.stack(losses), title=title)
    return tw.stack(losses[-10:]).mean().item()


def write(model):
    """Return what the model writes after some names: the likeliest letters."""
    draw = tw.jit(lambda ids, key: tw.random.categorical(key, 1.5 * model(ids)[0, -1]))
    ids = tw.asarray([LETTERS.index(x) for x in names[:LONG]])
    for key in tw.random.split(tw.random.key(1), 40):
        ids = tw.concat([ids, draw(ids[-LONG:].reshape(1, LONG), key).reshape(1)])
    return " ".join("".join(LETTERS[i] for i in ids[LONG:].tolist()).split())


model = GPT()
known = list(model.parameters())
train(model, known, rhyme, 0.015, "Loss: the rhyme")
print("after the rhyme:", write(model))

before = [p.detach().copy() for p in known]
model.requires_grad_(False)  # from here on only what is new learns
layers = [LoRA(part) for b in model.blocks.layers for part in (b.linear1, b.linear2)]
for block, *pair in zip(model.blocks.layers, layers[::2], layers[1::2], strict=True):
    block.linear1, block.linear2 = pair
new = [p for layer in layers for p in (layer.a, layer.b)]
loss = train(model, new, names, 0.03, "Loss: names")
print("after the names:", write(model))

few, many = (sum(p.size for p in parts) for parts in (new, known))
print(f"{few} new numbers for {many}: {100 * few / many:.0f} %")
print(f"{loss:.2f} nats; below 2.9: {loss < 2.9}")
same = all((a == b).all() for a, b in zip(known, before, strict=True))
print("its own numbers are the same, bit by bit:", same)
last, x = layers[-1], rng.normal((5, 4 * WIDTH))
merged = x @ (last.layer.weight + last.b @ last.a).T + last.layer.bias
print("one matrix does the same:", tw.abs(merged - last(x)).max().item() < 1e-5)
