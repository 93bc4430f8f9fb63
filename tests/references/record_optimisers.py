"""Print what PyTorch's optimisers do in 50 steps, which `optimisers.json` keeps.

No test runs it, and PyTorch is needed for nothing else. In an environment that has it:

    python tests/references/record_optimisers.py > tests/references/optimisers.json
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

CASES: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "maximize": True}),
    ("SGD", {"lr": 0.1, "weight_decay": 0.05}),
    ("SGD", {"lr": 0.05, "momentum": 0.9}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.3}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    (
        "SGD",
        {"lr": 0.05, "momentum": 0.8, "nesterov": True, "weight_decay": 0.01},
    ),
    ("Adam", {"lr": 0.03}),
    ("Adam", {"lr": 0.03, "betas": [0.8, 0.9]}),
    ("Adam", {"lr": 0.03, "eps": 0.01}),
    ("Adam", {"lr": 0.03, "weight_decay": 0.05}),
    ("Adam", {"lr": 0.1, "amsgrad": True}),
    ("Adam", {"lr": 0.01, "maximize": True, "weight_decay": 0.01, "amsgrad": True}),
    ("AdamW", {"lr": 0.03}),
    ("AdamW", {"lr": 0.03, "weight_decay": 0.2, "betas": [0.7, 0.95]}),
    ("AdamW", {"lr": 0.03, "amsgrad": True, "eps": 1e-4, "weight_decay": 0.0}),
    ("RMSprop", {"lr": 0.02}),
    ("RMSprop", {"lr": 0.02, "alpha": 0.8, "eps": 1e-3}),
    ("RMSprop", {"lr": 0.01, "momentum": 0.9}),
    ("RMSprop", {"lr": 0.02, "centered": True}),
    ("RMSprop", {"lr": 0.01, "centered": True, "momentum": 0.5, "weight_decay": 0.1}),
    ("Adagrad", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.05, "weight_decay": 0.02}),
    ("Adagrad", {"lr": 0.1, "initial_accumulator_value": 0.3, "eps": 1e-3}),
    ("NAdam", {"lr": 0.03}),
    (
        "NAdam",
        {"betas": [0.8, 0.9], "eps": 1e-3, "weight_decay": 0.1, "momentum_decay": 0.1},
    ),
    (
        "NAdam",
        {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    ),
    ("RAdam", {"lr": 0.03}),
    ("RAdam", {"betas": [0.7, 0.95], "eps": 1e-3, "weight_decay": 0.1}),
    (
        "RAdam",
        {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    ),
    ("Adamax", {"lr": 0.03}),
    ("Adamax", {"betas": [0.8, 0.9], "eps": 0.01, "weight_decay": 0.1}),
    ("Adamax", {"lr": 0.01, "maximize": True}),
    ("Adadelta", {}),
    ("Adadelta", {"lr": 0.5, "rho": 0.7, "eps": 1e-3, "weight_decay": 0.1}),
    ("Adadelta", {"maximize": True}),
    ("Adafactor", {}),
    (
        "Adafactor",
        {"lr": 0.3, "beta2_decay": -0.5, "eps": [0.01, 0.5], "weight_decay": 0.1},
    ),
    ("Adafactor", {"lr": 0.01, "d": 2.0, "maximize": True}),
    ("Muon", {"lr": 0.01}),
    (
        "Muon",
        {"momentum": 0.8, "nesterov": False, "adjust_lr_fn": "match_rms_adamw"},
    ),
    (
        "Muon",
        {
            "lr": 0.01,
            "weight_decay": 0.3,
            "ns_coefficients": [2.0, -1.5, 0.5],
            "eps": 0.5,
            "ns_steps": 3,
            "adjust_lr_fn": "spectral_unclamped",
        },
    ),
]

MINIMISED: list[dict[str, Any]] = [
    {"max_iter": 4},
    {"lr": 0.5, "max_iter": 6, "history_size": 2},
    {"line_search_fn": "strong_wolfe", "max_iter": 3},
    {"line_search_fn": "strong_wolfe", "lr": 40.0, "max_iter": 5, "max_eval": 9},
    {"line_search_fn": "strong_wolfe", "lr": 0.001, "max_iter": 4},
    {"maximize": True, "lr": 0.1, "max_iter": 3, "line_search_fn": "strong_wolfe"},
]
"""Options of LBFGS, which takes three steps."""

SCHEDULERS: list[tuple[str, dict[str, Any]]] = [
    ("StepLR", {"step_size": 7}),
    ("MultiStepLR", {"milestones": [3, 20, 21], "gamma": 0.5}),
    ("ExponentialLR", {"gamma": 0.9}),
    ("LinearLR", {"start_factor": 0.25, "total_iters": 13}),
    ("CosineAnnealingLR", {"T_max": 17, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 5}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 3, "eta_min": 0.01}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 41}),
    ("OneCycleLR", {"max_lr": 0.5, "epochs": 5, "steps_per_epoch": 9}),
    (
        "OneCycleLR",
        {
            "max_lr": 0.5,
            "total_steps": 41,
            "anneal_strategy": "linear",
            "three_phase": True,
            "div_factor": 10.0,
        },
    ),
    ("ConstantLR", {"factor": 0.25, "total_iters": 7}),
    ("PolynomialLR", {"total_iters": 30, "power": 1.5}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 7}),
    (
        "CyclicLR",
        {
            "base_lr": 0.01,
            "max_lr": 0.1,
            "step_size_up": 5,
            "step_size_down": 3,
            "mode": "triangular2",
        },
    ),
    (
        "CyclicLR",
        {
            "base_lr": 0.01,
            "max_lr": 0.1,
            "step_size_up": 5,
            "mode": "exp_range",
            "gamma": 0.97,
            "cycle_momentum": False,
        },
    ),
    ("ReduceLROnPlateau", {"patience": 2, "factor": 0.5}),
    ("ReduceLROnPlateau", {"mode": "max", "patience": 1, "cooldown": 3}),
    (
        "ReduceLROnPlateau",
        {"threshold": 0.2, "threshold_mode": "abs", "patience": 0, "min_lr": 0.01},
    ),
]
"""Schedulers of 40 steps; a plateau gets the numbers of `METRICS`."""

COMBINED: dict[str, tuple[list[tuple[str, dict[str, Any]]], list[int] | None]] = {
    "chained": (
        [
            ("LinearLR", {"start_factor": 0.25, "total_iters": 13}),
            ("ExponentialLR", {"gamma": 0.9}),
            ("MultiStepLR", {"milestones": [5, 20], "gamma": 0.5}),
        ],
        None,
    ),
    "chained cosine": (
        [
            ("CosineAnnealingLR", {"T_max": 60, "eta_min": 0.01}),
            ("ConstantLR", {"factor": 0.5, "total_iters": 9}),
            ("PolynomialLR", {"total_iters": 50}),
        ],
        None,
    ),
    "sequential": (
        [
            ("LinearLR", {"start_factor": 0.1, "total_iters": 5}),
            ("CosineAnnealingLR", {"T_max": 20}),
            ("ExponentialLR", {"gamma": 0.8}),
        ],
        [5, 25],
    ),
    "sequential restarts": (
        [
            ("ConstantLR", {"factor": 0.1, "total_iters": 8}),
            ("CosineAnnealingWarmRestarts", {"T_0": 4, "T_mult": 2}),
        ],
        [8],
    ),
}
"""Several schedulers of 40 steps: at once, or one after another at the milestones."""

METRICS = [1.0 + (n * 7 % 5) / (1 + n // 9) for n in range(40)]

START: dict[str, Any] = {
    "w": [[0.3, -0.2], [0.5, 0.1], [-0.4, 0.25]],
    "b": [0.05, -0.1],
    "scale": 1.2,
}
X = [[0.2, -1.0, 0.5], [1.5, 0.3, -0.7], [-0.6, 0.8, 0.1], [0.9, -0.4, 1.1]]
Y = [[0.4, -0.3], [0.8, 0.6], [-0.9, 0.2], [0.1, -0.7]]
STEPS = 50
SHOWN = (1, 2, 10, 50)


def loss_of(torch: Any, tree: dict[str, Any]) -> Any:
    """Return a mean square that all three parameters change."""
    x = torch.tensor(X, dtype=torch.float64)
    y = torch.tensor(Y, dtype=torch.float64)
    found = torch.tanh(x @ tree["w"] + tree["b"]) * tree["scale"]
    return ((found - y) ** 2).mean()


def trained(
    torch: Any,
    kind: str,
    options: dict[str, Any],
    *,
    schedule: Any = None,
    clip: float | None = None,
    left_out: int = 0,
) -> dict[str, Any]:
    """Return the parameters after some of the steps, in float64."""
    tree = {
        name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
        for name, value in START.items()
    }
    if kind == "Muon":
        # It moves matrices only, and iterates in the precision of the parameter here.
        torch.Tensor.bfloat16 = torch.Tensor.clone
        tree = {"w": tree["w"]} | {name: tree[name].detach() for name in ("b", "scale")}
    else:
        options = {"foreach": False, **options}
    trained = [leaf for leaf in tree.values() if leaf.requires_grad]
    optimiser = getattr(torch.optim, kind)(trained, **options)
    scheduler = schedule(optimiser) if schedule else None
    shown: dict[str, Any] = {}
    for step in range(1, STEPS + 1):
        optimiser.zero_grad()
        loss_of(torch, tree).backward()
        if left_out and step % left_out == 0:
            tree["b"].grad = None
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(list(tree.values()), clip)
        optimiser.step()
        if scheduler:
            scheduler.step()
        if step in SHOWN:
            shown[str(step)] = {
                name: torch.round(value.detach(), decimals=13).tolist()
                for name, value in tree.items()
                if value.requires_grad
            }
    return shown


def minimised(torch: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters and the loss before each of three steps of LBFGS."""
    tree = {
        name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
        for name, value in START.items()
    }
    optimiser = torch.optim.LBFGS(tree.values(), **options)

    def closure() -> Any:
        optimiser.zero_grad()
        loss = loss_of(torch, tree)
        loss.backward()
        return loss

    losses, after = [], {}
    for step in range(1, 4):
        losses.append(optimiser.step(closure).item())
        after[str(step)] = {name: x.detach().tolist() for name, x in tree.items()}
    return {"options": options, "losses": losses, "after": after}


def schedules(torch: Any) -> dict[str, Any]:
    """Return functions that attach a schedule to an optimiser, by our names."""
    every = torch.optim.lr_scheduler

    def warmup_cosine(optimiser: Any) -> Any:
        parts = [
            every.LinearLR(optimiser, 1e-8, 1.0, 10),
            every.CosineAnnealingLR(optimiser, 30),
        ]
        return every.SequentialLR(optimiser, parts, milestones=[10])

    return {
        "linear": lambda optimiser: every.LinearLR(optimiser, 1.0, 0.25, 40),
        "cosine": lambda optimiser: every.CosineAnnealingLR(optimiser, 50, 0.001),
        "warmup_cosine": warmup_cosine,
        "exponential": lambda optimiser: every.ExponentialLR(optimiser, 0.95),
        "step_decay": lambda optimiser: every.StepLR(optimiser, 7, 0.5),
        "multistep": lambda optimiser: every.MultiStepLR(optimiser, [3, 20], 0.3),
        "one_cycle": lambda optimiser: every.OneCycleLR(
            optimiser, 0.2, 51, cycle_momentum=False
        ),
        "warm_restarts": lambda optimiser: every.CosineAnnealingWarmRestarts(
            optimiser, 5, 2, 0.01
        ),
    }


def rates(torch: Any, kind: str, options: dict[str, Any]) -> dict[str, list[float]]:
    """Return the rate and the first beta before each of 40 steps."""
    parameter = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([parameter], lr=0.2)
    scheduler = getattr(torch.optim.lr_scheduler, kind)(optimiser, **options)
    group = optimiser.param_groups[0]
    found: dict[str, list[float]] = {"rates": [], "betas": []}
    for metric in METRICS:
        found["rates"].append(group["lr"])
        found["betas"].append(group["betas"][0])
        optimiser.step()
        scheduler.step(*([metric] if kind == "ReduceLROnPlateau" else []))
    return found


def combined(
    torch: Any, parts: list[tuple[str, dict[str, Any]]], milestones: list[int] | None
) -> list[list[float]]:
    """Return the rates of two groups before each of 40 steps; one is set by hand."""
    every = torch.optim.lr_scheduler
    first, second = (torch.zeros(1, requires_grad=True) for _ in range(2))
    groups = [{"params": [first]}, {"params": [second], "lr": 0.03}]
    optimiser = torch.optim.SGD(groups, lr=0.2)
    made = [getattr(every, kind)(optimiser, **options) for kind, options in parts]
    if milestones is None:
        scheduler = every.ChainedScheduler(made)
    else:
        scheduler = every.SequentialLR(optimiser, made, milestones)
    found = []
    for step in range(40):
        found.append(scheduler.get_last_lr())
        optimiser.step()
        if step == 30:
            optimiser.param_groups[0]["lr"] *= 3
        scheduler.step()
    return found


def main() -> None:
    """Print one line of JSON."""
    torch = import_module("torch")
    # NAdam multiplies its momenta in the default dtype.
    torch.set_default_dtype(torch.float64)
    cases = [
        {"optimiser": kind, "options": options, "after": trained(torch, kind, options)}
        for kind, options in CASES
    ]
    by_schedule = {
        name: trained(torch, "SGD", {"lr": 0.2}, schedule=schedule)
        for name, schedule in schedules(torch).items()
    }
    momentum = {"lr": 0.1, "momentum": 0.9}
    recorded = {
        "version": torch.__version__.partition("+")[0],
        "start": START,
        "x": X,
        "y": Y,
        "cases": cases,
        "schedules": by_schedule,
        "minimised": [minimised(torch, options) for options in MINIMISED],
        "metrics": METRICS,
        "schedulers": [
            {"scheduler": kind, "options": options, **rates(torch, kind, options)}
            for kind, options in SCHEDULERS
        ],
        "combined": {
            name: {
                "parts": parts,
                "milestones": milestones,
                "rates": combined(torch, parts, milestones),
            }
            for name, (parts, milestones) in COMBINED.items()
        },
        "clipped": trained(torch, "SGD", momentum, clip=0.05),
        "every third gradient of b left out": {
            kind: trained(torch, kind, options, left_out=3)
            for kind, options in (("Adam", {"lr": 0.03}), ("SGD", momentum))
        },
    }
    print(json.dumps(recorded, separators=(",", ":")))


if __name__ == "__main__":
    main()
