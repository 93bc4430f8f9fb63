"""Layers of networks that PyTorch has computed as well, and all cases together."""

from __future__ import annotations

from nn_function_cases import FUNCTION_CASES, HIDDEN, MASK, Case, function, layer

CAUSAL = [[False, True, True], [False, False, True], [False] * 3]
PADDED = [[False, False, True], [False, False, False]]

CASES: dict[str, Case] = {
    **FUNCTION_CASES,
    "Linear": layer(lambda nn: nn.Linear(3, 4), (2, 3)),
    "Linear without bias": layer(lambda nn: nn.Linear(3, 4, bias=False), (2, 2, 3)),
    "Linear of one": layer(lambda nn: nn.Linear(3, 4), (3,)),
    "Bilinear": Case(
        lambda nn, layer, x, y: layer(x, y),
        {"x": (2, 3), "y": (2, 4)},
        lambda nn: nn.Bilinear(3, 4, 2),
    ),
    "PReLU": layer(lambda nn: nn.PReLU(3), (2, 3, 2)),
    "Sequential": layer(
        lambda nn: nn.Sequential(
            nn.Linear(3, 4), nn.GELU(), nn.Linear(4, 2), nn.LogSoftmax(dim=1)
        ),
        (5, 3),
    ),
    "Embedding": Case(
        lambda nn, layer, i: layer(i),
        {"i": [[1, 4, 1], [0, 3, 2]]},
        lambda nn: nn.Embedding(5, 3),
        constants=("i",),
    ),
    "Embedding padding_idx": Case(
        lambda nn, layer, i: layer(i),
        {"i": [[1, 4, 1], [0, 3, 2]]},
        lambda nn: nn.Embedding(5, 3, padding_idx=1),
        constants=("i",),
    ),
    "LayerNorm": layer(lambda nn: nn.LayerNorm(4), (2, 3, 4)),
    "LayerNorm of two axes": layer(lambda nn: nn.LayerNorm((3, 4)), (2, 3, 4)),
    "LayerNorm eps": layer(lambda nn: nn.LayerNorm([4], eps=0.1), (3, 4)),
    "LayerNorm bare": layer(
        lambda nn: nn.LayerNorm(4, elementwise_affine=False), (3, 4)
    ),
    "LayerNorm without bias": layer(lambda nn: nn.LayerNorm(4, bias=False), (3, 4)),
    "RMSNorm": layer(lambda nn: nn.RMSNorm(4), (2, 3, 4)),
    "RMSNorm eps": layer(lambda nn: nn.RMSNorm((3, 4), eps=0.1), (2, 3, 4)),
    "RMSNorm bare": layer(lambda nn: nn.RMSNorm(4, elementwise_affine=False), (3, 4)),
    "GroupNorm": layer(lambda nn: nn.GroupNorm(2, 4), (2, 4, 3)),
    "GroupNorm of images": layer(lambda nn: nn.GroupNorm(3, 3), (2, 3, 2, 2)),
    "GroupNorm bare": layer(lambda nn: nn.GroupNorm(1, 4, affine=False), (3, 4)),
    "InstanceNorm2d": layer(lambda nn: nn.InstanceNorm2d(3, affine=True), (2, 3, 2, 3)),
    "BatchNorm1d": layer(lambda nn: nn.BatchNorm1d(3), (4, 3)),
    "BatchNorm1d, train": layer(lambda nn: nn.BatchNorm1d(3), (4, 3), train=True),
    "BatchNorm1d of rows, train": layer(
        lambda nn: nn.BatchNorm1d(3, momentum=0.3), (4, 3, 2), train=True
    ),
    "BatchNorm2d": layer(lambda nn: nn.BatchNorm2d(3, eps=0.01), (2, 3, 2, 2)),
    "BatchNorm2d, train": layer(
        lambda nn: nn.BatchNorm2d(3, eps=0.01), (2, 3, 2, 2), train=True
    ),
    "BatchNorm2d bare, train": layer(
        lambda nn: nn.BatchNorm2d(3, affine=False), (2, 3, 2, 2), train=True
    ),
    "BatchNorm2d cumulative, train": layer(
        lambda nn: nn.BatchNorm2d(3, momentum=None), (2, 3, 2, 2), train=True
    ),
    "BatchNorm2d untracked": layer(
        lambda nn: nn.BatchNorm2d(3, track_running_stats=False), (2, 3, 2, 2)
    ),
    "Conv1d": layer(lambda nn: nn.Conv1d(2, 3, 3), (2, 2, 6)),
    "Conv1d, options": layer(
        lambda nn: nn.Conv1d(4, 6, 2, stride=2, padding=1, dilation=2, groups=2),
        (2, 4, 7),
    ),
    "Conv1d same": layer(
        lambda nn: nn.Conv1d(2, 3, 4, padding="same", dilation=2), (1, 2, 7)
    ),
    "Conv1d of one": layer(lambda nn: nn.Conv1d(2, 3, 3, bias=False), (2, 6)),
    "Conv2d": layer(lambda nn: nn.Conv2d(2, 3, 3), (2, 2, 5, 4)),
    "Conv2d stride, padding": layer(
        lambda nn: nn.Conv2d(2, 3, (3, 2), stride=(2, 1), padding=(1, 2)), (1, 2, 6, 4)
    ),
    "Conv2d dilation": layer(lambda nn: nn.Conv2d(1, 2, 2, dilation=2), (1, 1, 5, 4)),
    "Conv2d groups": layer(
        lambda nn: nn.Conv2d(4, 6, 3, padding=1, groups=2), (1, 4, 4, 3)
    ),
    "Conv2d by channel": layer(
        lambda nn: nn.Conv2d(3, 3, 3, padding=1, groups=3, bias=False), (2, 3, 4, 4)
    ),
    "Conv2d same": layer(
        lambda nn: nn.Conv2d(2, 2, (2, 3), padding="same"), (1, 2, 4, 4)
    ),
    "Conv2d valid": layer(lambda nn: nn.Conv2d(2, 2, 2, padding="valid"), (1, 2, 3, 4)),
    "Conv2d of one": layer(lambda nn: nn.Conv2d(2, 3, 2), (2, 3, 4)),
    "Conv2d reflect": layer(
        lambda nn: nn.Conv2d(1, 2, 3, padding=1, padding_mode="reflect"), (1, 1, 4, 4)
    ),
    "Conv2d replicate": layer(
        lambda nn: nn.Conv2d(1, 2, 3, padding=1, padding_mode="replicate"), (1, 1, 4, 4)
    ),
    "Conv2d circular": layer(
        lambda nn: nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular"), (1, 1, 4, 4)
    ),
    "ConvTranspose1d": layer(
        lambda nn: nn.ConvTranspose1d(2, 3, 3, stride=2, padding=1), (2, 2, 4)
    ),
    "ConvTranspose2d": layer(lambda nn: nn.ConvTranspose2d(2, 3, 3), (2, 2, 3, 4)),
    "ConvTranspose2d, options": layer(
        lambda nn: nn.ConvTranspose2d(
            4, 6, 3, stride=2, padding=1, output_padding=1, groups=2, dilation=(1, 2)
        ),
        (1, 4, 3, 3),
    ),
    "MaxPool2d": layer(lambda nn: nn.MaxPool2d(2), (2, 2, 4, 5)),
    "MaxPool2d, options": layer(
        lambda nn: nn.MaxPool2d(3, stride=2, padding=1), (1, 2, 5, 6)
    ),
    "MaxPool2d dilation": layer(
        lambda nn: nn.MaxPool2d(2, stride=1, dilation=2), (1, 1, 5, 5)
    ),
    "MaxPool2d ceil": layer(
        lambda nn: nn.MaxPool2d(2, stride=2, ceil_mode=True), (1, 1, 5, 4)
    ),
    "MaxPool1d": layer(lambda nn: nn.MaxPool1d(2), (2, 2, 6)),
    "AvgPool2d": layer(lambda nn: nn.AvgPool2d(2), (2, 2, 4, 5)),
    "AvgPool2d, options": layer(
        lambda nn: nn.AvgPool2d(3, stride=2, padding=1), (1, 2, 5, 6)
    ),
    "AvgPool2d not counting": layer(
        lambda nn: nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=False),
        (1, 1, 5, 5),
    ),
    "AvgPool2d ceil": layer(
        lambda nn: nn.AvgPool2d(2, stride=2, ceil_mode=True), (1, 1, 5, 4)
    ),
    "AvgPool1d": layer(lambda nn: nn.AvgPool1d(3, stride=2, padding=1), (2, 2, 6)),
    "AdaptiveAvgPool2d": layer(lambda nn: nn.AdaptiveAvgPool2d(1), (2, 3, 4, 4)),
    "AdaptiveAvgPool2d uneven": layer(
        lambda nn: nn.AdaptiveAvgPool2d((2, 3)), (1, 2, 5, 7)
    ),
    "AdaptiveMaxPool2d": layer(lambda nn: nn.AdaptiveMaxPool2d((2, 2)), (1, 2, 5, 4)),
    "Flatten": layer(lambda nn: nn.Flatten(), (2, 3, 4)),
    "Flatten, axes": layer(lambda nn: nn.Flatten(0, 1), (2, 3, 4)),
    "Unflatten": layer(lambda nn: nn.Unflatten(1, (2, 3)), (2, 6)),
    "attention": function(
        lambda nn, q, k, v: nn.attention(q, k, v), q=(2, 3, 4), k=(2, 5, 4), v=(2, 5, 3)
    ),
    "attention causal": function(
        lambda nn, q, k, v: nn.attention(q, k, v, causal=True),
        q=(2, 2, 4, 3),
        k=(2, 2, 4, 3),
        v=(2, 2, 4, 3),
    ),
    "attention causal, uneven": function(
        lambda nn, q, k, v: nn.attention(q, k, v, causal=True),
        q=(1, 3, 4),
        k=(1, 5, 4),
        v=(1, 5, 2),
    ),
    "attention scale": function(
        lambda nn, q, k, v: nn.attention(q, k, v, scale=0.7),
        q=(1, 3, 4),
        k=(1, 3, 4),
        v=(1, 3, 4),
    ),
    "attention mask": Case(
        lambda nn, layer, q, k, v, m: nn.attention(q, k, v, mask=m),
        {"q": (2, 3, 4), "k": (2, 4, 4), "v": (2, 4, 4), "m": MASK},
        constants=("m",),
    ),
    "attention mask, hidden rows": Case(
        lambda nn, layer, q, k, v, m: nn.attention(q, k, v, mask=m),
        {"q": (2, 3, 4), "k": (2, 4, 4), "v": (2, 4, 4), "m": HIDDEN},
        constants=("m",),
    ),
    "attention bias": function(
        lambda nn, q, k, v, m: nn.attention(q, k, v, mask=m),
        q=(2, 3, 4),
        k=(2, 4, 4),
        v=(2, 4, 4),
        m=(3, 4),
    ),
    "MultiheadAttention": Case(
        lambda nn, layer, x: layer(x, x, x),
        {"x": (3, 2, 4)},
        lambda nn: nn.MultiheadAttention(4, 2),
    ),
    "MultiheadAttention, batch first": Case(
        lambda nn, layer, q, k, v: layer(q, k, v, average_attn_weights=False),
        {"q": (2, 3, 4), "k": (2, 5, 4), "v": (2, 5, 4)},
        lambda nn: nn.MultiheadAttention(4, 2, batch_first=True, bias=False),
    ),
    "MultiheadAttention, other lengths": Case(
        lambda nn, layer, q, k, v: layer(q, k, v, need_weights=False)[0],
        {"q": (2, 3, 4), "k": (2, 5, 3), "v": (2, 5, 2)},
        lambda nn: nn.MultiheadAttention(4, 2, kdim=3, vdim=2, batch_first=True),
    ),
    "MultiheadAttention, masks": Case(
        lambda nn, layer, x, m, p: layer(x, x, x, attn_mask=m, key_padding_mask=p),
        {
            "x": (2, 3, 4),
            "m": [[False, True, True], [False, False, True], [False] * 3],
            "p": [[False, False, True], [False, False, False]],
        },
        lambda nn: nn.MultiheadAttention(4, 2, batch_first=True),
        constants=("m", "p"),
    ),
    **{
        f"{kind}{name}": Case(
            lambda nn, layer, x: layer(x),
            {"x": shape},
            lambda nn, kind=kind, options=options: getattr(nn, kind)(3, 2, **options),
        )
        for kind in ("RNN", "GRU", "LSTM")
        for name, shape, options in (
            ("", (4, 2, 3), {}),
            (", batch first", (2, 4, 3), {"batch_first": True}),
            (", layers", (4, 2, 3), {"num_layers": 2}),
            (", both ways", (3, 2, 3), {"num_layers": 2, "bidirectional": True}),
            (" without bias", (4, 3), {"bias": False}),
        )
    },
    "RNN relu": layer(lambda nn: nn.RNN(3, 2, nonlinearity="relu"), (4, 2, 3)),
    "GRU from a state": Case(
        lambda nn, layer, x, h: layer(x, h),
        {"x": (4, 2, 3), "h": (1, 2, 2)},
        lambda nn: nn.GRU(3, 2),
    ),
    "LSTM from a state": Case(
        lambda nn, layer, x, h, c: layer(x, (h, c)),
        {"x": (2, 4, 3), "h": (2, 2, 2), "c": (2, 2, 2)},
        lambda nn: nn.LSTM(3, 2, num_layers=2, batch_first=True),
    ),
    "LSTM projected": layer(lambda nn: nn.LSTM(3, 4, proj_size=2), (3, 2, 3)),
    "GRUCell": Case(
        lambda nn, layer, x, h: layer(x, h),
        {"x": (2, 3), "h": (2, 4)},
        lambda nn: nn.GRUCell(3, 4),
    ),
    "LSTMCell": Case(
        lambda nn, layer, x, h, c: layer(x, (h, c)),
        {"x": (2, 3), "h": (2, 4), "c": (2, 4)},
        lambda nn: nn.LSTMCell(3, 4),
    ),
    "RNNCell": Case(
        lambda nn, layer, x, h: layer(x, h),
        {"x": (2, 3), "h": (2, 4)},
        lambda nn: nn.RNNCell(3, 4),
    ),
    "Upsample": layer(
        lambda nn: nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True),
        (1, 2, 3, 4),
    ),
    **{
        f"{kind}{rank}d": layer(
            lambda nn, kind=kind, rank=rank, width=width: getattr(nn, f"{kind}{rank}d")(
                width, *(() if kind != "ConstantPad" else (0.7,))
            ),
            (1, 2, 3, 4, 3)[: rank + 2],
        )
        for kind in (
            *("CircularPad", "ConstantPad", "ReflectionPad", "ReplicationPad"),
            "ZeroPad",
        )
        for rank, width in ((1, (1, 2)), (2, (2, 1, 0, 2)), (3, 1))
    },
    "scaled_dot_product_attention": function(
        lambda nn, q, k, v: nn.scaled_dot_product_attention(
            q, k, v, is_causal=True, enable_gqa=True
        ),
        q=(1, 4, 3, 2),
        k=(1, 2, 3, 2),
        v=(1, 2, 3, 2),
    ),
    **{
        f"TransformerEncoderLayer{name}": Case(
            lambda nn, layer, x, p: layer(x, src_key_padding_mask=p),
            {"x": shape, "p": PADDED},
            lambda nn, options=options: nn.TransformerEncoderLayer(4, 2, 3, **options),
            constants=("p",),
        )
        for name, shape, options in (
            ("", (3, 2, 4), {}),
            (", batch first", (2, 3, 4), {"batch_first": True, "bias": False}),
            (
                ", normed first",
                (3, 2, 4),
                {"norm_first": True, "activation": "gelu", "layer_norm_eps": 0.1},
            ),
        )
    },
    "TransformerDecoderLayer": Case(
        lambda nn, layer, x, y, m, p: layer(
            x, y, tgt_mask=m, memory_key_padding_mask=p
        ),
        {"x": (3, 2, 4), "y": (3, 2, 4), "m": CAUSAL, "p": PADDED},
        lambda nn: nn.TransformerDecoderLayer(4, 2, 3),
        constants=("m", "p"),
    ),
    "TransformerDecoderLayer, normed first": Case(
        lambda nn, layer, x, y, m: layer(x, y, memory_mask=m),
        {"x": (2, 3, 4), "y": (2, 3, 4), "m": CAUSAL},
        lambda nn: nn.TransformerDecoderLayer(
            4, 2, 3, norm_first=True, batch_first=True
        ),
        constants=("m",),
    ),
    "TransformerEncoder": Case(
        lambda nn, layer, x, m: layer(x, mask=m),
        {"x": (3, 2, 4), "m": CAUSAL},
        lambda nn: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(4, 2, 3), 2, nn.LayerNorm(4)
        ),
        constants=("m",),
    ),
    "Transformer": Case(
        lambda nn, layer, x, y, p: layer(
            x,
            y,
            tgt_mask=nn.Transformer.generate_square_subsequent_mask(3),
            src_key_padding_mask=p,
        ),
        {"x": (2, 3, 4), "y": (2, 3, 4), "p": PADDED},
        lambda nn: nn.Transformer(4, 2, 1, 2, 3, batch_first=True),
        constants=("p",),
    ),
    "TripletMarginLoss": Case(
        lambda nn, layer, x, y, z: layer(x, y, z),
        {"x": (3, 4), "y": (3, 4), "z": (3, 4)},
        lambda nn: nn.TripletMarginLoss(margin=0.5, reduction="sum"),
    ),
    "Conv3d": layer(
        lambda nn: nn.Conv3d(2, 4, (1, 2, 3), stride=(1, 2, 1), padding=1, groups=2),
        (1, 2, 3, 4, 4),
    ),
    "ConvTranspose3d": layer(
        lambda nn: nn.ConvTranspose3d(2, 3, 2, stride=2, padding=1), (1, 2, 2, 3, 2)
    ),
    "MaxPool3d": layer(lambda nn: nn.MaxPool3d(2, stride=1), (1, 2, 2, 3, 4)),
    "AvgPool3d": layer(
        lambda nn: nn.AvgPool3d(2, padding=1, count_include_pad=False), (1, 2, 3, 4, 2)
    ),
    "AdaptiveAvgPool3d": layer(
        lambda nn: nn.AdaptiveAvgPool3d((1, 2, None)), (1, 2, 3, 4, 2)
    ),
    "AdaptiveMaxPool3d": layer(lambda nn: nn.AdaptiveMaxPool3d(2), (1, 2, 3, 4, 2)),
    **{
        f"EmbeddingBag {mode}": Case(
            lambda nn, layer, i: layer(i),
            {"i": [[1, 4, 1], [0, 3, 2]]},
            lambda nn, mode=mode: nn.EmbeddingBag(5, 3, mode=mode, padding_idx=3),
            constants=("i",),
        )
        for mode in ("sum", "mean", "max")
    },
    **{
        f"EmbeddingBag {mode}, offsets": Case(
            lambda nn, layer, i, o: layer(i, o),
            {"i": [1, 4, 0, 2, 3], "o": [0, 3, 3, 5]},
            lambda nn, mode=mode: nn.EmbeddingBag(
                5, 3, mode=mode, include_last_offset=True
            ),
            constants=("i", "o"),
        )
        for mode in ("sum", "mean", "max")
    },
    "embedding_bag, weights": Case(
        lambda nn, layer, i, w, p: nn.embedding_bag(
            i, w, mode="sum", per_sample_weights=p
        ),
        {"i": [[1, 4, 1], [0, 3, 2]], "w": (5, 3), "p": (2, 3)},
        constants=("i",),
    ),
    "affine_grid": function(lambda nn, x: nn.affine_grid(x, (2, 1, 3, 2)), x=(2, 2, 3)),
    "affine_grid, corners": function(
        lambda nn, x: nn.affine_grid(x, (2, 1, 3, 2), align_corners=True), x=(2, 2, 3)
    ),
    **{
        f"grid_sample {mode}, {padding}, {corners}": function(
            lambda nn, x, g, options=(mode, padding, corners): nn.grid_sample(
                x, g, *options
            ),
            x=(2, 2, 3, 4),
            g=(2, 3, 2, 2),
        )
        for mode in ("bilinear", "nearest")
        for padding in ("zeros", "border", "reflection")
        for corners in (False, True)
    },
}
