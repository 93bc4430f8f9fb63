"""Programs in the style of PyTorch's courses, with imports and names changed only."""

from __future__ import annotations

import copy

import tensorweb as torch
import tensorweb.nn.functional as F
from tensorweb import nn


class Residual(nn.Module):
    def __init__(self, channels: int, widens: bool = False, strides: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.LazyConv2d(channels, kernel_size=3, padding=1, stride=strides)
        self.conv2 = nn.LazyConv2d(channels, kernel_size=3, padding=1)
        self.conv3 = (
            nn.LazyConv2d(channels, kernel_size=1, stride=strides) if widens else None
        )
        self.bn1 = nn.LazyBatchNorm2d()
        self.bn2 = nn.LazyBatchNorm2d()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        if self.conv3:
            x = self.conv3(x)
        y += x
        return F.relu(y)


def test_a_residual_network_learns(cpu: str) -> None:
    rng = torch.random.Generator(0)
    net = nn.Sequential(
        Residual(3), Residual(6, True, 2), nn.Flatten(), nn.LazyLinear(3)
    )
    x, y = rng.uniform((6, 3, 4, 4)), torch.tensor([0, 1, 2, 0, 1, 2]).long()
    net(x)

    def init_weights(m: nn.Module) -> None:
        if type(m) is nn.Linear:
            nn.init.xavier_uniform_(m.weight)

    net.apply(init_weights)
    net.train()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(8):
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item() * x.size(0))
    assert losses[-1] < 0.7 * losses[0]
    assert net[0].bn1.running_mean.abs().sum().item() > 0


def test_an_average_of_weights_and_a_saliency_map(cpu: str) -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))
    model.eval()
    ema = copy.deepcopy(model)
    for p, q in zip(model.parameters(), ema.parameters(), strict=True):
        p.data.fill_(1.0)
        q.data.mul_(0.9).add_(p.data, alpha=0.1)
    kept = {}
    handle = model[0].register_forward_hook(lambda m, i, o: kept.update(hidden=o))
    x = torch.ones(1, 4).requires_grad_()
    model(x).sum().backward()
    handle.remove()
    assert kept["hidden"].size() == (1, 8)
    saliency, _ = x.grad.data.abs().max(dim=1)
    assert saliency.tolist() == [16]
    moved = (x - 0.1 * x.grad.sign()).clamp(0, 1).detach()
    assert not moved.requires_grad
    assert moved.sum().item() < x.numel()


def test_a_language_model_from_scratch(cpu: str) -> None:
    rng = torch.random.Generator(0)
    c = (rng.normal((9, 2)) * 1.0).requires_grad_()
    w = rng.normal((6, 9)).requires_grad_()
    b = torch.zeros(9, requires_grad=True)
    xs, ys = rng.randint((20, 3), 0, 9), rng.randint((20,), 0, 9)
    losses = []
    for _ in range(6):
        logits = torch.tanh(c[xs].view(-1, 6)) @ w + b
        loss = F.cross_entropy(logits, ys)
        for p in (c, w, b):
            p.grad = None
        loss.backward()
        for p in (c, w, b):
            p.data += -1.0 * p.grad
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    n = torch.zeros((9, 9), dtype=torch.int32)
    for i, j in zip(xs[:, 0].tolist(), ys.tolist(), strict=True):
        n[i, j] += 1
    probs = (n + 1).float()
    probs /= probs.sum(1, True)
    assert (probs.sum(1) - 1).abs().max().item() < 1e-6
