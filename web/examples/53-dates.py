"""From "3 mar 1999" to "1999-03-03": a transformer translates dates

An encoder reads the letters, a decoder writes one after another and looks back at them.

Predict: where does it look when it writes the month?
"""

import tensorweb as tw
from tensorweb import nn

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
LETTERS = "_.,0123456789-" + "".join(sorted(set(MONTHS)))  # _ fills up
READ, WRITTEN, WIDTH, STEPS = 12, 10, 32, 300
rng = tw.random.Generator(7)


def spelled(day, month, year):
    """Return a date as people write it, in one of four ways."""
    name = MONTHS.split()[month - 1]
    ways = f"{day} {name} {year}", f"{name} {day}, {year}", f"{day}.{month}.{year}"
    return (*ways, f"{day:02} {name} {year}")[(day + month + year) % 4]


def numbers(text, length):
    return [LETTERS.index(letter) for letter in text.ljust(length, "_")]


days, months = (
    rng.randint((1000,), 1, 29).tolist(),
    rng.randint((1000,), 1, 13).tolist(),
)
years = rng.randint((1000,), 1950, 2050).tolist()
dates = list(zip(days, months, years, strict=True))
given = [spelled(*date) for date in dates]
wished = [f"{y}-{m:02}-{d:02}" for d, m, y in dates]
source = tw.asarray([numbers(text, READ) for text in given])
target = tw.asarray([numbers("_" + text, WRITTEN + 1) for text in wished])


class Translator(nn.Module):
    def __init__(self):
        self.letters = nn.Embedding(len(LETTERS), WIDTH, rng=rng)
        self.read = nn.Embedding(READ, WIDTH, rng=rng)
        self.write = nn.Embedding(WRITTEN, WIDTH, rng=rng)
        self.body = nn.Transformer(
            WIDTH, 4, 1, 1, 64, 0.0, batch_first=True, norm_first=True, rng=rng
        )
        self.last = nn.Linear(WIDTH, len(LETTERS), rng=rng)

    def forward(self, source, begun):
        x = self.letters(source) + self.read.weight
        y = self.letters(begun) + self.write.weight
        return self.last(self.body(x, y, tgt_is_causal=True))

    def looks(self, source, begun):
        """Return how much each letter that is written depends on each that is read."""
        layer = self.body.decoder.layers[0]
        read = self.body.encoder(self.letters(source) + self.read.weight)
        y = self.letters(begun) + self.write.weight
        own = layer.norm1(y)
        y = y + layer.self_attn(own, own, own, is_causal=True)[0]
        return layer.multihead_attn(layer.norm2(y), read, read)[1]


opt = tw.optim.Adam(lr=tw.optim.warmup_cosine(0.01, 20, STEPS))


@tw.jit
def step(model, state, chosen):
    x, y = source[chosen], target[chosen]

    def loss(model):
        guesses = model(x, y[:, :-1]).reshape(-1, len(LETTERS))
        return nn.cross_entropy(guesses, y[:, 1:].reshape(-1))

    value, slope = tw.value_and_grad(loss)(model)
    model, state = opt.update(model, slope, state)
    return model, state, value


model = Translator()
state, looks = opt.init(model), tw.jit(Translator.looks)
for number in range(1, STEPS + 1):
    model, state, value = step(model, state, rng.randint((32,), 0, 900))
    if number % 20 == 0:
        tw.show(looks(model, source[901:902], target[901:902, :-1])[0], "it looks at")
    if number % 60 == 0:
        print(f"step {number}: loss {value.item():.3f}")

# A hundred dates it never saw, written letter by letter.
begun = tw.zeros((100, WRITTEN + 1), dtype=tw.int32)
for at in range(WRITTEN):
    begun[:, at + 1] = model(source[900:], begun[:, :-1])[:, at].argmax(axis=1)
answers = ["".join(LETTERS[i] for i in row[1:]) for row in begun.tolist()]
for text, answer in list(zip(given[900:], answers, strict=True))[:5]:
    print(f"{text:12} {answer}")
right = sum(a == b for a, b in zip(answers, wished[900:], strict=True))
print(f"{right} of 100 rightly; at least 90: {right >= 90}")
