"""Shapes that networks' functions take: broadcast, without a batch, empty."""

from __future__ import annotations

import pytest

import tensorweb as tw
from tensorweb.errors import DataError, ShapeError


def test_cosines_of_operands_that_broadcast_along_the_axis(device: str) -> None:
    row, column = tw.asarray([[3.0, 4.0]]), tw.asarray([[1.0], [1.0]])
    found = tw.nn.cosine_similarity(row, column, axis=0)
    assert found.tolist() == pytest.approx([1, 1])
    found = tw.nn.cosine_similarity(row, column, axis=1)
    assert found.tolist() == pytest.approx([7 / 50**0.5] * 2)


def test_variances_are_one_for_each_row(device: str) -> None:
    x, y = tw.ones((2, 2)), tw.zeros((2, 2))
    rows = tw.nn.gaussian_nll(x, y, tw.asarray([1.0, 4.0]), reduction="none")
    again = tw.nn.gaussian_nll(x, y, tw.asarray([[1.0], [4.0]]), reduction="none")
    assert rows.tolist() == again.tolist()
    assert rows[:, 0].tolist() == pytest.approx([0.5, 0.5 * (1.3862944 + 0.25)])
    with pytest.raises(ShapeError, match=r"var has shape \(3,\).*one variance a row"):
        tw.nn.gaussian_nll(x, y, tw.ones(3))


def test_divergence_of_numbers(device: str) -> None:
    found = tw.nn.kl_div(tw.asarray(0.5), tw.asarray(1.0), "batchmean")
    assert found.item() == pytest.approx(-0.5)


def test_differences_of_no_order_are_the_values(device: str) -> None:
    assert tw.diff(tw.asarray([1, 2]), n=0, prepend=3).tolist() == [1, 2]


def test_softmax_of_nothing_is_nothing(device: str) -> None:
    for function in (tw.nn.softmax, tw.nn.log_softmax, tw.nn.softmin):
        assert function(tw.zeros((2, 0))).shape == (2, 0)


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (tw.nn.InstanceNorm1d(3, affine=True), (3, 5)),
        (tw.nn.InstanceNorm2d(3), (3, 5, 2)),
    ],
)
def test_one_example_needs_no_batch(
    layer: tw.nn.Module, shape: tuple[int, ...], device: str
) -> None:
    layer = layer.to(device)
    x = tw.arange(float(tw.ones(shape).size)).reshape(shape) ** 2
    assert layer(x).tolist() == layer(x[None])[0].tolist()
    assert layer(x).shape == shape


def test_norms_without_a_shift(device: str) -> None:
    for layer in (
        tw.nn.BatchNorm1d(2, bias=False),
        tw.nn.GroupNorm(1, 2, bias=False),
        tw.nn.InstanceNorm1d(2, affine=True, bias=False),
    ):
        assert [name for name, _ in layer.named_parameters()] == ["weight"]


def test_functions_of_norms_are_the_layers(device: str) -> None:
    x = tw.arange(24.0).reshape(4, 2, 3) ** 2
    layer = tw.nn.BatchNorm1d(2)
    mean, variance = tw.zeros(2), tw.ones(2)
    found = tw.nn.batch_norm(x, mean, variance, tw.ones(2), tw.zeros(2), training=True)
    assert found.reshape(-1).tolist() == pytest.approx(
        layer(x, train=True).reshape(-1).tolist(), rel=1e-6
    )
    assert layer.running_mean is not None
    assert layer.running_var is not None
    assert mean.tolist() == pytest.approx(layer.running_mean.tolist())
    assert variance.tolist() == pytest.approx(layer.running_var.tolist())
    again = tw.nn.batch_norm(x, mean, variance)
    assert again.reshape(-1).tolist() == pytest.approx(
        layer(x).reshape(-1).tolist(), rel=1e-6
    )
    instance = tw.nn.instance_norm(x)
    assert instance.tolist() == tw.nn.InstanceNorm1d(2)(x).tolist()


def test_norms_refuse_shapes_that_make_nan() -> None:
    for make in (tw.nn.BatchNorm2d, tw.nn.InstanceNorm1d):
        for eps in (0.0, -1.0):
            with pytest.raises(DataError, match=r"eps is .*give a positive number"):
                make(3, eps=eps)
    with pytest.raises(DataError, match="there are no running statistics"):
        tw.nn.batch_norm(tw.ones((2, 2)), None, None)
    with pytest.raises(DataError, match="ignore_index is 1, and the labels are shares"):
        tw.nn.cross_entropy(tw.ones((2, 3)), tw.ones((2, 3)) / 3, ignore_index=1)


@pytest.mark.parametrize("options", [{}, {"stride": 2, "padding": 1, "groups": 2}])
def test_transposed_convolutions_are_the_layers(
    options: dict[str, int], device: str
) -> None:
    layer = tw.nn.ConvTranspose2d(4, 6, 3, **options)
    x = tw.arange(64.0).reshape(1, 4, 4, 4) / 64
    found = tw.nn.conv_transpose2d(x, layer.weight, layer.bias, **options)
    assert found.tolist() == layer(x).tolist()
    line = tw.nn.ConvTranspose1d(4, 6, 3, **options)
    found = tw.nn.conv_transpose1d(x[0], line.weight, line.bias, **options)
    assert found.tolist() == line(x[0]).tolist()


def test_bilinear_and_channels_dropped_are_the_layers(device: str) -> None:
    layer = tw.nn.Bilinear(3, 4, 2)
    a, b = tw.ones((5, 3)), tw.arange(20.0).reshape(5, 4)
    assert tw.nn.bilinear(a, b, layer.weight, layer.bias).tolist() == (
        layer(a, b).tolist()
    )
    key, x = tw.random.key(3), tw.ones((4, 5, 6))
    assert (
        tw.nn.dropout1d(x, key=key).tolist() == tw.nn.Dropout1d()(x, key=key).tolist()
    )
    dropped = tw.nn.dropout2d(x, key=key)  # one example of four channels
    assert {len(set(each)) for each in dropped.reshape(4, -1).tolist()} == {1}


def test_means_by_a_divisor(device: str) -> None:
    x = tw.ones((1, 1, 4, 4))
    layer = tw.nn.AvgPool2d(2, divisor_override=2)
    assert layer(x).tolist() == tw.nn.avg_pool2d(x, 2, divisor_override=2).tolist()
    assert layer(x)[0, 0, 0, 0].item() == 2
