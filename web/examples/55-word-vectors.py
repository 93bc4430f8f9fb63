"""Vectors of words: king - man + woman

Each word is a point; words with the same neighbours in sentences come to lie together.

Predict: which word is nearest to king - man + woman?
"""

import tensorweb as tw
from tensorweb import nn

# A small language: who, and words that are said of them.
WHO = {
    "man": "he works", "woman": "she works", "king": "he rules", "queen": "she rules",
    "boy": "he plays", "girl": "she plays",
    "prince": "he waits", "princess": "she waits"
}  # fmt: skip
WHERE = {"works": "town", "plays": "yard", "rules": "palace", "waits": "castle"}
rng = tw.random.Generator(1)
WIDTH, STEPS, WRONG = 8, 300, 4

sentences = []
for who, said in WHO.items():
    pronoun, verb = said.split()
    sentences.append(f"{who} {verb} {WHERE[verb]} {pronoun}".split())
words = sorted({word for sentence in sentences for word in sentence})
pairs = tw.asarray(
    [
        (words.index(a), words.index(b))
        for sentence in sentences
        for a in sentence
        for b in sentence
        if a != b
    ]
)
print(len(words), "words,", len(pairs), "pairs such as", *sentences[4][:2])


def loss(vectors, true, wrong):
    """Return how badly true pairs are known from pairs with a word drawn at random."""
    word, other = vectors
    here = word[true[:, 0]]
    near = (here * other[true[:, 1]]).sum(axis=1)
    far = (tw.expand_dims(here, 1) * other[wrong]).sum(axis=2)
    return -(nn.logsigmoid(near) + nn.logsigmoid(-far).sum(axis=1)).mean()


opt = tw.optim.Adam(lr=tw.optim.linear(0.1, 0.01, STEPS))


@tw.jit
def step(vectors, state, key):
    keys = tw.random.split(key)
    wrong = tw.random.randint(keys[0], (len(pairs), WRONG), 0, len(words))
    value, slope = tw.value_and_grad(loss)(vectors, pairs, wrong)
    vectors, state = opt.update(vectors, slope, state)
    return vectors, state, value


def nearest(vectors, word, *others):
    """Return the word with the smallest angle to a vector, but for some."""
    alike = nn.cosine_similarity(vectors[0], word, axis=1).tolist()
    return max((a, w) for a, w in zip(alike, words, strict=True) if w not in others)[1]


def draw(vectors):
    """Plot a line from him to her, in the plane in which all differ most."""
    people = vectors[0][tw.asarray([words.index(who) for who in WHO])]
    people = people - people.mean(axis=0)
    plane = people @ tw.linalg.svd(people).Vh[:2].T
    x, y = plane.reshape(4, 2, 2).permute_dims((2, 0, 1))  # two are a couple
    names = [" - ".join(list(WHO)[i : i + 2]) for i in range(0, 8, 2)]
    couples = [dict(zip(names, tw.unstack(each), strict=True)) for each in (y, x)]
    tw.plot(*couples, title="From him to her")


vectors = [0.3 * rng.normal((len(words), WIDTH)) for _ in range(2)]
state = opt.init(vectors)
for number, key in enumerate(tw.random.split(tw.random.key(1), STEPS)):
    vectors, state, value = step(vectors, state, key)
    if number % 30 == 29:
        draw(vectors)

right = 0
for a, b, c, d in (
    ("king", "man", "woman", "queen"), ("boy", "man", "woman", "girl"),
    ("prince", "boy", "girl", "princess"), ("queen", "princess", "prince", "king"),
):  # fmt: skip
    of = {word: vectors[0][words.index(word)] for word in (a, b, c)}
    found = nearest(vectors, of[a] - of[b] + of[c], a, b, c)
    right += found == d
    print(f"{a} - {b} + {c} is nearest to {found}")
print("four of four:", right == 4)
