"""Running statistics of instance normalisation, as PyTorch keeps them."""

from __future__ import annotations

import pytest

import tensorweb as tw
from tensorweb.errors import DataError, ShapeError, TraceError

X = [[[1.0, 3.0], [2.0, 6.0]], [[5.0, 7.0], [0.0, 0.0]]]
# Means of the examples are (2, 4) and (6, 0), their sample variances (2, 8) and (2, 0).
# So the statistics of a batch are means (4, 2) and variances (2, 4).


def test_a_training_call_takes_in_the_mean_of_the_examples(device: str) -> None:
    layer = tw.nn.InstanceNorm1d(2, track_running_stats=True, device=device)
    plain = tw.nn.InstanceNorm1d(2, device=device)
    x = tw.asarray(X, device=device)
    names = ["running_mean", "running_var", "num_batches_tracked"]
    assert list(layer.state_dict()) == names
    assert list(plain.state_dict()) == []
    assert layer(x, train=True).tolist() == plain(x).tolist()
    assert layer.running_mean is not None
    assert layer.running_mean.tolist() == pytest.approx([0.4, 0.2])
    assert layer.running_var is not None
    assert layer.running_var.tolist() == pytest.approx([1.1, 1.3])
    layer(x, train=True)
    assert layer.running_mean.tolist() == pytest.approx([0.76, 0.38])
    assert layer.running_var.tolist() == pytest.approx([1.19, 1.57])
    # PyTorch has this buffer and leaves it at 0.
    assert layer.num_batches_tracked is not None
    assert layer.num_batches_tracked.item() == 0


def test_other_calls_normalise_by_them(device: str) -> None:
    layer = tw.nn.InstanceNorm1d(
        2, eps=1e-12, affine=True, track_running_stats=True, device=device
    )
    layer.load_state_dict(
        {
            "weight": tw.asarray([1.0, 2.0]),
            "bias": tw.asarray([0.0, 1.0]),
            "running_mean": tw.asarray([1.0, 2.0]),
            "running_var": tw.asarray([4.0, 16.0]),
            "num_batches_tracked": tw.asarray(0),
        }
    )
    layer.eval()
    x = tw.asarray(X, device=device)
    expected = [[[0.0, 1.0], [1.0, 3.0]], [[2.0, 3.0], [0.0, 0.0]]]
    assert layer(x).tolist() == expected
    assert layer(x[0]).tolist() == expected[0]
    gradient = tw.grad(lambda x: layer(x).sum())(x)
    assert gradient.tolist() == [[[0.5, 0.5], [0.5, 0.5]]] * 2


def test_the_function_writes_and_reads_them(device: str) -> None:
    x = tw.asarray(X, device=device)
    mean, variance = tw.zeros(2, device=device), tw.ones(2, device=device)
    found = tw.nn.instance_norm(x, mean, variance, momentum=0.5)
    assert found.tolist() == tw.nn.instance_norm(x).tolist()
    assert (mean.tolist(), variance.tolist()) == ([2.0, 1.0], [1.5, 2.5])
    found = tw.nn.instance_norm(
        x,
        tw.asarray([1.0, 2.0], device=device),
        tw.asarray([4.0, 16.0], device=device),
        use_input_stats=False,
        eps=1e-12,
    )
    assert found[0].tolist() == [[0.0, 1.0], [0.0, 1.0]]
    gradient = tw.grad(lambda x: tw.nn.instance_norm(x, mean, variance)[0, 0, 0] * 1.0)(
        x
    )
    plain = tw.grad(lambda x: tw.nn.instance_norm(x)[0, 0, 0] * 1.0)(x)
    assert gradient.tolist() == plain.tolist()


def test_inputs_without_statistics_are_refused(device: str) -> None:
    layer = tw.nn.InstanceNorm2d(2, track_running_stats=True, device=device)
    one = tw.ones((3, 2, 1, 1), device=device)
    with pytest.raises(ShapeError, match="one number a channel"):
        layer(one, train=True)
    with pytest.raises(ShapeError, match="one number a channel"):
        tw.nn.instance_norm(one, tw.zeros(2, device=device))
    with pytest.raises(DataError, match="no running statistics"):
        tw.nn.instance_norm(one, use_input_stats=False)
    with pytest.raises(TraceError, match="inside of vmap"):
        tw.vmap(lambda x: layer(x, train=True))(tw.ones((2, 3, 2, 2, 2), device=device))
