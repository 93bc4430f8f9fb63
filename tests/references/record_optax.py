"""Print what Optax's optimisers and schedules do, which `optax.json` keeps.

No test runs it. In an environment that has Optax and JAX:

    python tests/references/record_optax.py > tests/references/optax.json
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

START = {"w": [[0.3, -0.2], [0.5, 0.1], [-0.4, 0.25]], "b": [0.05, -0.1]}

OPTIMISERS: dict[str, str] = {
    "sgd": "optax.sgd(0.1)",
    "momentum": "optax.sgd(0.1, momentum=0.9, nesterov=True)",
    "adam": "optax.adam(0.03, b1=0.8)",
    "adamw": "optax.adamw(0.03, weight_decay=0.1, mask={'w': True, 'b': False})",
    "rmsprop": "optax.rmsprop(0.02, momentum=0.5)",
    "rms": "optax.rmsprop(0.02, eps=1e-3, eps_in_sqrt=False, initial_scale=0.5)",
    "adagrad": "optax.adagrad(0.1)",
    "lion": "optax.lion(0.01)",
    "lamb": "optax.lamb(0.02, weight_decay=0.1)",
    "chain": "optax.chain(optax.clip_by_global_norm(0.3), optax.clip(0.2), "
    "optax.add_decayed_weights(0.1), optax.scale_by_adam(), "
    "optax.scale_by_schedule(optax.linear_schedule(1.0, 0.1, 15)), optax.scale(-0.1))",
    "several": "optax.MultiSteps(optax.adam(0.1), every_k_schedule=3)",
    "injected": "optax.inject_hyperparams(optax.adamw)(weight_decay=0.1, "
    "learning_rate=optax.linear_schedule(0.1, 0.01, 15))",
    "injected_norm": "optax.chain(optax.inject_hyperparams(optax.clip_by_global_norm)"
    "(0.3), optax.inject_hyperparams(optax.sgd)(0.1, momentum=0.9))",
    "masked": "optax.chain(optax.masked(optax.clip(0.01), {'w': False, 'b': True}), "
    "optax.sgd(optax.cosine_decay_schedule(0.5, 25, 0.1)))",
    "labels": "optax.multi_transform({'fast': optax.adam(0.1), "
    "'slow': optax.set_to_zero()}, {'w': 'slow', 'b': 'fast'})",
}

SCHEDULES: dict[str, str] = {
    "warmup": "optax.warmup_cosine_decay_schedule(0.1, 1.0, 5, 25, 0.2)",
    "exponential": "optax.exponential_decay(1.0, 4, 0.5, 3, end_value=0.1)",
    "stairs": "optax.exponential_decay(1.0, 4, 0.5, staircase=True)",
    "pieces": "optax.piecewise_constant_schedule(1.0, {3: 0.5, 10: 0.1})",
    "joined": "optax.join_schedules([optax.linear_schedule(0.0, 1.0, 5, 1), "
    "optax.cosine_decay_schedule(1.0, 10), optax.constant_schedule(0.25)], [6, 14])",
}

LOGITS = [[0.5, -1.5, 2.0], [100.0, -100.0, 0.0]]
GIVEN = {
    "logits": LOGITS,
    "shares": [[0.2, 0.3, 0.5], [0.0, 0.9, 0.1]],
    "columns": [list(column) for column in zip(*LOGITS, strict=True)],
    "zeros": [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]],
}

LOSSES: dict[str, str] = {
    "shares": "optax.softmax_cross_entropy(logits, shares)",
    "columns": "optax.softmax_cross_entropy(columns, shares.T, axis=0)",
    "classes": "optax.softmax_cross_entropy_with_integer_labels(logits, classes)",
    "classes of columns": "optax.softmax_cross_entropy_with_integer_labels("
    "columns, classes, axis=0)",
    "sigmoid": "optax.sigmoid_binary_cross_entropy(logits, shares)",
    "squares": "optax.squared_error(logits, shares)",
    "halves": "optax.l2_loss(logits)",
    "huber": "optax.huber_loss(logits, shares, delta=0.75)",
    "smooth": "optax.smooth_labels(shares, 0.1)",
    "angles": "optax.losses.cosine_similarity(logits, shares)",
    "angle with zeros": "optax.cosine_similarity(logits, zeros, epsilon=1e-3)",
}


def main() -> None:
    """Print one line of JSON."""
    jax, optax = import_module("jax"), import_module("optax")
    jax.config.update("jax_enable_x64", True)

    def loss(params: Any) -> Any:
        found = jax.numpy.tanh(params["w"] @ params["b"] * 3 + 1)
        return (found**2).sum() + (params["w"] ** 4).sum()

    after: dict[str, Any] = {}
    for name, text in OPTIMISERS.items():
        opt = eval(text, {"optax": optax})
        params = {key: jax.numpy.asarray(value) for key, value in START.items()}
        state = opt.init(params)
        for _ in range(20):
            updates, state = opt.update(jax.grad(loss)(params), state, params)
            params = optax.apply_updates(params, updates)
        after[name] = {key: value.tolist() for key, value in params.items()}
    rates = {
        name: [float(eval(text, {"optax": optax})(n)) for n in range(30)]
        for name, text in SCHEDULES.items()
    }
    arrays = {key: jax.numpy.asarray(value) for key, value in GIVEN.items()}
    named = {"optax": optax, "classes": jax.numpy.asarray([2, 0]), **arrays}
    losses: dict[str, Any] = {}
    for name, text in LOSSES.items():
        gradient = jax.grad(
            lambda logits, text=text: eval(
                text, {**named, "logits": logits, "columns": logits.T}
            ).sum()
        )(arrays["logits"])
        losses[name] = [eval(text, named).tolist(), gradient.tolist()]
    recorded = {
        "version": optax.__version__,
        "start": START,
        "optimisers": OPTIMISERS,
        "after": after,
        "schedules": SCHEDULES,
        "rates": rates,
        "given": GIVEN,
        "losses": LOSSES,
        "values": losses,
    }
    print(json.dumps(recorded, separators=(",", ":")))


if __name__ == "__main__":
    main()
