"""The same code for two libraries: what is compared with PyTorch, as recorded data and live.

Each case is a function of a torch-like namespace `t` and float64 inputs; `run` gives its result and the gradients of
a fixed random projection of the result with respect to the inputs and to all parameters of the module it built.
Input kinds: a tuple is a shape of normal numbers; ("p", shape) probabilities, ("i", n, shape) integers below n,
("s", shape) signs, ("+", shape) positive numbers.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {}


def case(name: str, function: Any, *inputs: Any) -> None:
    assert name not in CASES
    CASES[name] = function, inputs


X, IMG, SEQ = (3, 4), (2, 4, 6, 5), (2, 4, 7)

# ------------------------------------------------------------------------------------------------ activations

for name in (
    "relu",
    "relu6",
    "leaky_relu",
    "elu",
    "selu",
    "celu",
    "gelu",
    "silu",
    "mish",
    "hardswish",
    "hardsigmoid",
    "hardtanh",
    "softplus",
    "softsign",
    "softshrink",
    "hardshrink",
    "tanhshrink",
    "logsigmoid",
    "sigmoid",
    "tanh",
):
    case(f"F.{name}", lambda t, x, n=name: getattr(t.nn.functional, n)(x * 3), (5, 7))
for name in ("softmax", "log_softmax", "softmin"):
    case(f"F.{name}", lambda t, x, n=name: getattr(t.nn.functional, n)(x, 1), X)
    case(f"F.{name} dim -2", lambda t, x, n=name: getattr(t.nn.functional, n)(x, dim=-2), SEQ)
case("F.gelu tanh", lambda t, x: t.nn.functional.gelu(x, approximate="tanh"), X)
case("F.glu", lambda t, x: t.nn.functional.glu(x), X)
case("F.glu dim", lambda t, x: t.nn.functional.glu(x, 1), SEQ)
case("F.threshold", lambda t, x: t.nn.functional.threshold(x, 0.1, 2.0), X)
case("F.prelu", lambda t, x, w: t.nn.functional.prelu(x, w), X, (1,))
case("F.prelu channels", lambda t, x, w: t.nn.functional.prelu(x, w), IMG, (4,))
case("F.elu alpha", lambda t, x: t.nn.functional.elu(x, alpha=0.7), X)
case("F.celu alpha", lambda t, x: t.nn.functional.celu(x, alpha=0.7), X)
case("F.softplus beta", lambda t, x: t.nn.functional.softplus(x * 10, beta=2, threshold=5), X)
case("F.leaky_relu slope", lambda t, x: t.nn.functional.leaky_relu(x, 0.3), X)
case("F.hardtanh bounds", lambda t, x: t.nn.functional.hardtanh(x, -0.5, 0.7), X)
case("F.relu inplace", lambda t, x: t.nn.functional.relu(x * 2, inplace=True), X)
case("F.rrelu eval", lambda t, x: t.nn.functional.rrelu(x), X)

# ----------------------------------------------------------------------------------------------------- losses

for reduction in ("mean", "sum", "none"):
    for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
        case(
            f"F.{name} {reduction}",
            lambda t, x, y, n=name, r=reduction: getattr(t.nn.functional, n)(x, y, reduction=r),
            X,
            X,
        )
    case(
        f"F.smooth_l1_loss beta {reduction}",
        lambda t, x, y, r=reduction: t.nn.functional.smooth_l1_loss(x, y, reduction=r, beta=0.3),
        X,
        X,
    )
    case(
        f"F.huber_loss delta {reduction}",
        lambda t, x, y, r=reduction: t.nn.functional.huber_loss(x, y, reduction=r, delta=0.3),
        X,
        X,
    )
    case(
        f"F.binary_cross_entropy {reduction}",
        lambda t, x, y, w, r=reduction: t.nn.functional.binary_cross_entropy(x, y, w.detach(), reduction=r),
        ("p", X),
        ("p", X),
        ("+", X),
    )
    case(
        f"F.binary_cross_entropy_with_logits {reduction}",
        lambda t, x, y, r=reduction: t.nn.functional.binary_cross_entropy_with_logits(x, y, reduction=r),
        X,
        ("p", X),
    )
    case(
        f"F.binary_cross_entropy_with_logits weights {reduction}",
        lambda t, x, y, w, p, r=reduction: t.nn.functional.binary_cross_entropy_with_logits(
            x, y, w.detach(), reduction=r, pos_weight=p.detach()
        ),
        X,
        ("p", X),
        ("+", X),
        ("+", (4,)),
    )
    case(
        f"F.nll_loss {reduction}",
        lambda t, x, y, r=reduction: t.nn.functional.nll_loss(x, y, reduction=r),
        X,
        ("i", 4, (3,)),
    )
    case(
        f"F.cross_entropy {reduction}",
        lambda t, x, y, r=reduction: t.nn.functional.cross_entropy(x, y, reduction=r),
        X,
        ("i", 4, (3,)),
    )
    case(
        f"F.cross_entropy weight ignore {reduction}",
        lambda t, x, y, w, r=reduction: t.nn.functional.cross_entropy(x, y, w.detach(), ignore_index=1, reduction=r),
        (6, 4),
        ("i", 4, (6,)),
        ("+", (4,)),
    )
    case(
        f"F.cross_entropy smoothing {reduction}",
        lambda t, x, y, r=reduction: t.nn.functional.cross_entropy(x, y, reduction=r, label_smoothing=0.2),
        X,
        ("i", 4, (3,)),
    )
    case(
        f"F.cross_entropy smoothing weight ignore {reduction}",
        lambda t, x, y, w, r=reduction: t.nn.functional.cross_entropy(
            x, y, w.detach(), ignore_index=1, reduction=r, label_smoothing=0.2
        ),
        (6, 4),
        ("i", 4, (6,)),
        ("+", (4,)),
    )
    case(
        f"F.cross_entropy images {reduction}",
        lambda t, x, y, r=reduction: t.nn.functional.cross_entropy(x, y, reduction=r),
        IMG,
        ("i", 4, (2, 6, 5)),
    )
    case(
        f"F.cross_entropy soft {reduction}",
        lambda t, x, y, r=reduction: t.nn.functional.cross_entropy(
            x, t.softmax(y, 1), reduction=r, label_smoothing=0.1
        ),
        X,
        X,
    )
    case(
        f"F.kl_div {reduction}",
        lambda t, x, y, r=reduction: t.nn.functional.kl_div(
            t.log_softmax(x, 1), t.softmax(y, 1).detach(), reduction="batchmean" if r == "mean" else r
        ),
        X,
        X,
    )
    for name in ("soft_margin_loss", "hinge_embedding_loss"):
        case(
            f"F.{name} {reduction}",
            lambda t, x, y, n=name, r=reduction: getattr(t.nn.functional, n)(x, y.detach(), reduction=r),
            X,
            ("s", X),
        )
    case(
        f"F.margin_ranking_loss {reduction}",
        lambda t, x, y, s, r=reduction: t.nn.functional.margin_ranking_loss(x, y, s.detach(), margin=0.2, reduction=r),
        (5,),
        (5,),
        ("s", (5,)),
    )
    case(
        f"F.cosine_embedding_loss {reduction}",
        lambda t, x, y, s, r=reduction: t.nn.functional.cosine_embedding_loss(
            x, y, s.detach(), margin=0.1, reduction=r
        ),
        X,
        X,
        ("s", (3,)),
    )
    case(
        f"F.triplet_margin_loss {reduction}",
        lambda t, x, y, z, r=reduction: t.nn.functional.triplet_margin_loss(x, y, z, swap=True, reduction=r),
        X,
        X,
        X,
    )
    case(
        f"F.multi_margin_loss {reduction}",
        lambda t, x, y, r=reduction: t.nn.functional.multi_margin_loss(x, y, p=2, margin=0.8, reduction=r),
        X,
        ("i", 4, (3,)),
    )
    case(
        f"F.multilabel_soft_margin_loss {reduction}",
        lambda t, x, y, r=reduction: t.nn.functional.multilabel_soft_margin_loss(x, y.detach(), reduction=r),
        X,
        ("p", X),
    )
    case(
        f"F.poisson_nll_loss {reduction}",
        lambda t, x, y, r=reduction: t.nn.functional.poisson_nll_loss(x, y.detach() * 3, full=True, reduction=r),
        X,
        ("+", X),
    )
    case(
        f"F.gaussian_nll_loss {reduction}",
        lambda t, x, y, v, r=reduction: t.nn.functional.gaussian_nll_loss(x, y, v, full=True, reduction=r),
        X,
        X,
        ("+", X),
    )
case("F.cross_entropy unbatched", lambda t, x, y: t.nn.functional.cross_entropy(x, y), (4,), ("i", 4, ()))
case("F.kl_div log target", lambda t, x, y: t.nn.functional.kl_div(x, y, reduction="sum", log_target=True), X, X)
case("F.mse_loss broadcast", lambda t, x, y: t.nn.functional.mse_loss(x, y), (3,), (3, 1))

# ------------------------------------------------------------------------------------- linear, norms, distances

case("F.linear", lambda t, x, w, b: t.nn.functional.linear(x, w, b), X, (5, 4), (5,))
case("F.linear no bias", lambda t, x, w: t.nn.functional.linear(x, w), X, (5, 4))
case("F.linear 1d", lambda t, x, w, b: t.nn.functional.linear(x, w, b), (4,), (5, 4), (5,))
case("F.linear 1d no bias", lambda t, x, w: t.nn.functional.linear(x, w), (4,), (5, 4))
case("F.linear 3d", lambda t, x, w, b: t.nn.functional.linear(x, w, b), (2, 3, 4), (5, 4), (5,))
case("F.linear 4d no bias", lambda t, x, w: t.nn.functional.linear(x, w), (2, 3, 2, 4), (5, 4))
case("F.bilinear", lambda t, x, y, w, b: t.nn.functional.bilinear(x, y, w, b), X, (3, 2), (5, 4, 2), (5,))
case("F.embedding", lambda t, i, w: t.nn.functional.embedding(i, w, padding_idx=1), ("i", 5, (3, 2)), (5, 4))
case("F.layer_norm", lambda t, x, w, b: t.nn.functional.layer_norm(x, (4,), w, b), X, (4,), (4,))
case("F.layer_norm plain 2d", lambda t, x: t.nn.functional.layer_norm(x, (6, 5), eps=0.1), IMG)
case("F.rms_norm", lambda t, x, w: t.nn.functional.rms_norm(x, (4,), w, eps=1e-3), X, (4,))
for shape in (X, SEQ, IMG):
    case(
        f"F.batch_norm train {len(shape)}d",
        lambda t, x, w, b: t.nn.functional.batch_norm(
            x, t.zeros(4, dtype=t.float64), t.ones(4, dtype=t.float64), w, b, training=True
        ),
        shape,
        (4,),
        (4,),
    )
    case(
        f"F.batch_norm eval {len(shape)}d",
        lambda t, x, w, b: t.nn.functional.batch_norm(
            x, t.full((4,), 0.3, dtype=t.float64), t.full((4,), 2.0, dtype=t.float64), w, b
        ),
        shape,
        (4,),
        (4,),
    )
case("F.batch_norm plain", lambda t, x: t.nn.functional.batch_norm(x, None, None, training=True), IMG)
case("F.group_norm", lambda t, x, w, b: t.nn.functional.group_norm(x, 2, w, b), IMG, (4,), (4,))
case("F.group_norm plain", lambda t, x: t.nn.functional.group_norm(x, 4), SEQ)
case("F.instance_norm", lambda t, x, w, b: t.nn.functional.instance_norm(x, weight=w, bias=b), IMG, (4,), (4,))
case("F.local_response_norm", lambda t, x: t.nn.functional.local_response_norm(x, 3), IMG)
case("F.normalize", lambda t, x: t.nn.functional.normalize(x, dim=1), X)
case("F.normalize p1", lambda t, x: t.nn.functional.normalize(x, p=1, dim=0), X)
case("F.cosine_similarity", lambda t, x, y: t.nn.functional.cosine_similarity(x, y, dim=0), X, X)
case("F.pairwise_distance", lambda t, x, y: t.nn.functional.pairwise_distance(x, y), X, X)
case("F.pairwise_distance p1", lambda t, x, y: t.nn.functional.pairwise_distance(x, y, p=1.0, keepdim=True), X, X)
case(
    "F.scaled_dot_product_attention",
    lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v),
    (2, 3, 4),
    (2, 5, 4),
    (2, 5, 6),
)
case(
    "F.scaled_dot_product_attention causal",
    lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True),
    (2, 2, 5, 4),
    (2, 2, 5, 4),
    (2, 2, 5, 6),
)
case(
    "F.scaled_dot_product_attention mask",
    lambda t, q, k, v, m: t.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=m.detach() > -0.5),
    (2, 3, 4),
    (2, 5, 4),
    (2, 5, 6),
    (3, 5),
)

# -------------------------------------------------------------------------------- convolution, pooling, images

case("F.conv1d", lambda t, x, w, b: t.nn.functional.conv1d(x, w, b, stride=2, padding=1), SEQ, (3, 4, 3), (3,))
case("F.conv2d", lambda t, x, w, b: t.nn.functional.conv2d(x, w, b), IMG, (3, 4, 3, 2), (3,))
case(
    "F.conv2d settings",
    lambda t, x, w: t.nn.functional.conv2d(x, w, None, (2, 1), (1, 2), (1, 2), 2),
    IMG,
    (6, 2, 3, 2),
)
case("F.conv2d same", lambda t, x, w: t.nn.functional.conv2d(x, w, padding="same"), IMG, (3, 4, 3, 2))
case("F.conv2d unbatched", lambda t, x, w: t.nn.functional.conv2d(x, w), (4, 6, 5), (3, 4, 3, 2))
case("F.max_pool1d", lambda t, x: t.nn.functional.max_pool1d(x, 3, 2, 1), SEQ)
case("F.max_pool2d", lambda t, x: t.nn.functional.max_pool2d(x, 2), IMG)
case("F.max_pool2d settings", lambda t, x: t.nn.functional.max_pool2d(x, 3, (1, 2), 1, ceil_mode=True), IMG)
case("F.avg_pool1d", lambda t, x: t.nn.functional.avg_pool1d(x, 3, 2, 1), SEQ)
case("F.avg_pool2d", lambda t, x: t.nn.functional.avg_pool2d(x, 2), IMG)
case(
    "F.avg_pool2d settings",
    lambda t, x: t.nn.functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
    IMG,
)
case("F.avg_pool2d divisor", lambda t, x: t.nn.functional.avg_pool2d(x, 3, divisor_override=2), IMG)
case("F.adaptive_avg_pool1d", lambda t, x: t.nn.functional.adaptive_avg_pool1d(x, 3), SEQ)
case("F.adaptive_avg_pool2d", lambda t, x: t.nn.functional.adaptive_avg_pool2d(x, (3, None)), IMG)
case("F.adaptive_avg_pool2d one", lambda t, x: t.nn.functional.adaptive_avg_pool2d(x, 1), IMG)
case("F.adaptive_max_pool2d", lambda t, x: t.nn.functional.adaptive_max_pool2d(x, (4, 2)), IMG)
case("F.lp_pool2d", lambda t, x: t.nn.functional.lp_pool2d(x, 2.0, 2), ("+", IMG))
case("F.unfold", lambda t, x: t.nn.functional.unfold(x, (2, 3), padding=1, stride=2), IMG)
case(
    "F.fold",
    lambda t, x: t.nn.functional.fold(x, (4, 5), (2, 2), padding=1, stride=1),
    (2, 12, 30),
)
case("F.pad", lambda t, x: t.nn.functional.pad(x, (1, 2, -1, 1), value=0.5), IMG)
for mode in ("reflect", "replicate", "circular"):
    case(f"F.pad {mode}", lambda t, x, m=mode: t.nn.functional.pad(x, (2, 1, 1, 3), mode=m), IMG)
    case(f"F.pad {mode} 1d", lambda t, x, m=mode: t.nn.functional.pad(x, (2, 1), mode=m), SEQ)
case("F.interpolate nearest", lambda t, x: t.nn.functional.interpolate(x, scale_factor=2), IMG)
case("F.interpolate nearest size", lambda t, x: t.nn.functional.interpolate(x, size=(4, 9)), IMG)
case("F.interpolate bilinear", lambda t, x: t.nn.functional.interpolate(x, scale_factor=1.5, mode="bilinear"), IMG)
case(
    "F.interpolate aligned",
    lambda t, x: t.nn.functional.interpolate(x, size=(9, 4), mode="bilinear", align_corners=True),
    IMG,
)
case("F.interpolate linear", lambda t, x: t.nn.functional.interpolate(x, size=11, mode="linear"), SEQ)
case("F.pixel_shuffle", lambda t, x: t.nn.functional.pixel_shuffle(x, 2), IMG)
case("F.pixel_unshuffle", lambda t, x: t.nn.functional.pixel_unshuffle(x, 2), (1, 2, 4, 6))

# ---------------------------------------------------------------------------------------------------- modules


def module(name: str, make: Any, *inputs: Any, call: Any = None) -> None:
    """A module made after manual_seed(7), in float64: its output and all its gradients."""

    def function(t: Any, *given: Any) -> Any:
        t.manual_seed(7)
        made = make(t.nn).double()
        return (call or (lambda m, *xs: m(*xs)))(made, *given), made

    case(name, function, *inputs)


module("Linear", lambda nn: nn.Linear(4, 5), X)
module("Linear no bias", lambda nn: nn.Linear(4, 5, bias=False), (2, 3, 4))
module("Bilinear", lambda nn: nn.Bilinear(4, 2, 5), X, (3, 2))
module("Embedding", lambda nn: nn.Embedding(5, 3, padding_idx=0), ("i", 5, (2, 6)))
module("Embedding max_norm", lambda nn: nn.Embedding(5, 3, max_norm=1.0), ("i", 5, (2, 6)))
module("Conv1d", lambda nn: nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2), SEQ)
module("Conv2d", lambda nn: nn.Conv2d(4, 3, 3, padding=1), IMG)
module("Conv2d same dilated", lambda nn: nn.Conv2d(4, 3, (3, 2), padding="same", dilation=2), IMG)
module("Conv2d reflect", lambda nn: nn.Conv2d(4, 3, 3, padding=1, padding_mode="reflect"), IMG)
module("Conv2d circular", lambda nn: nn.Conv2d(4, 3, 3, padding=(1, 2), padding_mode="circular"), IMG)
module("ConvTranspose1d", lambda nn: nn.ConvTranspose1d(4, 3, 3, stride=2), SEQ)
module("ConvTranspose2d", lambda nn: nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, groups=2), IMG)
module("LayerNorm", lambda nn: nn.LayerNorm([6, 5]), IMG)
module("RMSNorm", lambda nn: nn.RMSNorm(4), X)
module("GroupNorm", lambda nn: nn.GroupNorm(2, 4), IMG)
module("BatchNorm1d", lambda nn: nn.BatchNorm1d(4), SEQ)
module("BatchNorm2d", lambda nn: nn.BatchNorm2d(4, momentum=0.3), IMG)
module("BatchNorm2d eval", lambda nn: nn.BatchNorm2d(4).eval(), IMG)
module("BatchNorm1d cumulative", lambda nn: nn.BatchNorm1d(4, momentum=None), X, X, call=lambda m, x, y: m(x) + m(y))
module("InstanceNorm2d", lambda nn: nn.InstanceNorm2d(4, affine=True, track_running_stats=True), IMG)
module("InstanceNorm1d unbatched", lambda nn: nn.InstanceNorm1d(4), (4, 7))
module("PReLU", lambda nn: nn.PReLU(4), IMG)
module("Dropout", lambda nn: nn.Dropout(0.3), (6, 7))
module("Dropout2d", lambda nn: nn.Dropout2d(0.4), IMG)
module("AlphaDropout", lambda nn: nn.AlphaDropout(0.3), (6, 7))
module("Flatten", lambda nn: nn.Flatten(), IMG)
module("Unflatten", lambda nn: nn.Unflatten(1, (2, 2)), IMG)
module("ZeroPad2d", lambda nn: nn.ZeroPad2d((1, 0, 2, 1)), IMG)
module("ReflectionPad2d", lambda nn: nn.ReflectionPad2d(2), IMG)
module("Upsample", lambda nn: nn.Upsample(scale_factor=2, mode="bilinear"), IMG)
module("MaxPool2d", lambda nn: nn.MaxPool2d(3, 2, 1), IMG)
module("AvgPool2d", lambda nn: nn.AvgPool2d(2, 1), IMG)
module("AdaptiveAvgPool2d", lambda nn: nn.AdaptiveAvgPool2d(2), IMG)
module("Softmax2d", lambda nn: nn.Softmax2d(), IMG)
module(
    "Sequential",
    lambda nn: nn.Sequential(
        nn.Linear(4, 8), nn.ReLU(inplace=True), nn.LayerNorm(8), nn.Dropout(0.2), nn.Linear(8, 2), nn.Tanh()
    ),
    X,
)
module(
    "small convnet",
    lambda nn: nn.Sequential(
        nn.Conv2d(4, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(48, 3)
    ),
    IMG,
)
for name in ("RNN", "LSTM", "GRU"):
    module(name, lambda nn, n=name: getattr(nn, n)(4, 3), (5, 2, 4))
    module(
        f"{name} deep",
        lambda nn, n=name: getattr(nn, n)(4, 3, num_layers=2, bidirectional=True, batch_first=True),
        (2, 5, 4),
    )
    module(f"{name}Cell", lambda nn, n=name: getattr(nn, f"{n}Cell")(4, 3), X)
module("RNN relu", lambda nn: nn.RNN(4, 3, nonlinearity="relu", bias=False), (5, 4))
module("LSTM state", lambda nn: nn.LSTM(4, 3), (5, 2, 4), (1, 2, 3), (1, 2, 3), call=lambda m, x, h, c: m(x, (h, c)))
module("MultiheadAttention", lambda nn: nn.MultiheadAttention(4, 2), (5, 3, 4), call=lambda m, x: m(x, x, x))
module(
    "MultiheadAttention cross",
    lambda nn: nn.MultiheadAttention(4, 2, batch_first=True),
    (3, 5, 4),
    (3, 6, 4),
    (3, 6, 4),
    call=lambda m, q, k, v: m(q, k, v, average_attn_weights=False),
)
module("TransformerEncoderLayer", lambda nn: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), (5, 3, 4))
module(
    "TransformerEncoder",
    lambda nn: nn.TransformerEncoder(
        nn.TransformerEncoderLayer(4, 2, 8, 0.0, "gelu", batch_first=True, norm_first=True), 2, nn.LayerNorm(4)
    ),
    (3, 5, 4),
)
module(
    "TransformerDecoderLayer",
    lambda nn: nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0),
    (5, 3, 4),
    (6, 3, 4),
)
for batch_first in (True, False):
    module(
        f"Transformer {batch_first}",
        lambda nn, b=batch_first: nn.Transformer(4, 2, 1, 2, 8, 0.0, batch_first=b),
        (3, 3, 4),
        (3, 3, 4),
        call=lambda m, s, t: m(s, t, tgt_mask=m.generate_square_subsequent_mask(3, dtype=s.dtype)),
    )
module(
    "lazy convnet",
    lambda nn: nn.Sequential(nn.LazyConv2d(3, 3), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2)),
    IMG,
)
module(
    "lazy transposed",
    lambda nn: nn.Sequential(nn.LazyConvTranspose1d(3, 2, bias=False), nn.LazyInstanceNorm1d(affine=True)),
    SEQ,
)
for mode in ("sum", "mean", "max"):
    module(f"EmbeddingBag {mode}", lambda nn, m=mode: nn.EmbeddingBag(5, 3, mode=m), ("i", 5, (2, 6)))
    module(
        f"EmbeddingBag {mode} padded",
        lambda nn, m=mode: nn.EmbeddingBag(5, 3, mode=m, padding_idx=1),
        ("i", 5, (7,)),
        ("i", 1, (1,)),
    )


def packed(m: Any, x: Any) -> Any:
    """A recurrent layer on three sequences of different lengths."""
    rnn = __import__(type(x).__module__.partition(".")[0]).nn.utils.rnn
    out, state = m(rnn.pack_padded_sequence(x, [2, 5, 3], batch_first=True, enforce_sorted=False))
    return rnn.pad_packed_sequence(out, batch_first=True, padding_value=0.5, total_length=6), state


for name in ("RNN", "LSTM", "GRU"):
    module(
        f"{name} packed",
        lambda nn, n=name: getattr(nn, n)(4, 3, num_layers=2, bidirectional=True, batch_first=True),
        (3, 5, 4),
        call=packed,
    )
module("LPPool1d", lambda nn: nn.LPPool1d(2, 3), ("+", SEQ))
module("AvgPool3d", lambda nn: nn.AvgPool3d(2), (2, 3, 4, 4, 2))
module("ConvTranspose3d", lambda nn: nn.ConvTranspose3d(3, 2, 2, stride=2), (1, 3, 2, 3, 2))
module("ReplicationPad3d", lambda nn: nn.ReplicationPad3d(1), (1, 2, 2, 3, 2))
module("AdaptiveMaxPool3d", lambda nn: nn.AdaptiveMaxPool3d((2, 1, 2)), (2, 3, 4, 4, 2))
module("UpsamplingBilinear2d", lambda nn: nn.UpsamplingBilinear2d(scale_factor=2), IMG)
module("ChannelShuffle", lambda nn: nn.ChannelShuffle(2), IMG)
module("FeatureAlphaDropout", lambda nn: nn.FeatureAlphaDropout(0.4), IMG)
case(
    "F.max_unpool2d",
    lambda t, x: t.nn.MaxUnpool2d(2)(*t.nn.functional.max_pool2d(x, 2, return_indices=True), output_size=(6, 5)),
    IMG,
)
case("F.multilabel_margin_loss", lambda t, x: t.nn.MultiLabelMarginLoss()(x, t.tensor([[3, 0, -1, 1]] * 3)), X)
for reduction in ("mean", "sum", "none"):
    case(
        f"F.ctc_loss {reduction}",
        lambda t, x, r=reduction: t.nn.functional.ctc_loss(
            x.log_softmax(-1), t.tensor([[1, 2, 0], [3, 3, 1]]), (6, 5), (2, 3), reduction=r
        ),
        (6, 2, 4),
    )
case(
    "F.ctc_loss impossible",
    lambda t, x: t.nn.CTCLoss(3, zero_infinity=True)(
        x.log_softmax(-1), t.tensor([1, 2, 0, 1, 1]), t.tensor([3, 2]), t.tensor([3, 2])
    ),
    (3, 2, 4),
)
case(
    "F.scaled_dot_product_attention grouped",
    lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True),
    (2, 4, 3, 5),
    (2, 2, 6, 5),
    (2, 2, 6, 5),
)
case("F.relu_", lambda t, x: t.nn.functional.relu_(x * 1), X)
for name, make, inputs in (
    ("CrossEntropyLoss", lambda nn: nn.CrossEntropyLoss(label_smoothing=0.1), (X, ("i", 4, (3,)))),
    ("NLLLoss", lambda nn: nn.NLLLoss(ignore_index=2, reduction="sum"), (X, ("i", 4, (3,)))),
    ("BCELoss", lambda nn: nn.BCELoss(), (("p", X), ("p", X))),
    ("BCEWithLogitsLoss", lambda nn: nn.BCEWithLogitsLoss(), (X, ("p", X))),
    ("HuberLoss", lambda nn: nn.HuberLoss(delta=0.5), (X, X)),
    ("SmoothL1Loss", lambda nn: nn.SmoothL1Loss(beta=2.0), (X, X)),
    ("MSELoss", lambda nn: nn.MSELoss(reduction="sum"), (X, X)),
    ("L1Loss", lambda nn: nn.L1Loss(), (X, X)),
    ("KLDivLoss", lambda nn: nn.KLDivLoss(reduction="batchmean"), (X, ("p", X))),
    ("TripletMarginLoss", lambda nn: nn.TripletMarginLoss(), (X, X, X)),
    ("CosineSimilarity", lambda nn: nn.CosineSimilarity(), (X, X)),
    ("PairwiseDistance", lambda nn: nn.PairwiseDistance(), (X, X)),
):
    module(name, make, *inputs)


# --------------------------------------------------------------------------------------------------- running


def inputs_of(name: str, seed: int = 0) -> list[np.ndarray[Any, Any]]:
    """The inputs of a case as arrays, the same for the same name and seed."""
    random = np.random.RandomState(zlib.crc32(f"{name} {seed}".encode()))
    arrays = []
    for kind in CASES[name][1]:
        if kind and isinstance(kind[0], str):
            letter, shape = kind[0], kind[-1]
        else:
            letter, shape = "n", kind
        if letter == "n":
            array = random.standard_normal(shape)
        elif letter == "p":
            array = random.uniform(0.05, 0.95, shape)
        elif letter == "+":
            array = random.uniform(0.5, 1.5, shape)
        elif letter == "s":
            array = random.choice([-1.0, 1.0], shape)
        else:
            array = random.randint(0, kind[1], shape)
        arrays.append(np.asarray(array))
    return arrays


def run(t: Any, name: str, seed: int = 0) -> dict[str, Any]:
    """Arrays: out0, out1, ..., then the gradient of each floating-point input and parameter, and the buffers."""
    function = CASES[name][0]
    given = [t.tensor(array) for array in inputs_of(name, seed)]
    for x in given:
        if x.is_floating_point():
            x.requires_grad_()
    result = function(t, *given)
    made = None
    if isinstance(result, tuple) and isinstance(result[-1], t.nn.Module):
        result, made = result
    flat: list[Any] = []

    def flatten(value: Any) -> None:
        if isinstance(value, tuple):
            for part in value:
                flatten(part)
        elif value is not None:
            flat.append(value)

    flatten(result)
    random = np.random.RandomState(1)
    total = 0
    for out in flat:
        if out.requires_grad:
            total = total + (out * t.tensor(random.standard_normal(tuple(out.shape)))).sum()
    answer = {f"out{i}": out.detach().numpy() for i, out in enumerate(flat)}
    answer["grad_fn"] = "" if flat[0].grad_fn is None else flat[0].grad_fn.name()
    if not isinstance(total, int):
        total.backward()
    for i, x in enumerate(given):
        if x.grad is not None:
            answer[f"grad{i}"] = x.grad.numpy()
    if made is not None:
        for key, p in made.named_parameters():
            answer[key] = p.detach().numpy()
            if p.grad is not None:
                answer["grad " + key] = p.grad.numpy()
        for key, b in made.named_buffers():
            answer["buffer " + key] = b.numpy()
    return answer
