"""The derivative table, second page: the rest of the operations, in the same form.

Special functions, activations, losses, convolution and pooling, order statistics, cumulative sums,
linear algebra, and the many ways to move and pick elements.  The first page (derivatives.py) explains the form; long
forward code is in kernels.py, and rules that take more than a line are the functions at the end.
"""

# mypy: disable-error-code="has-type"
# (rules name operations that stand further down)

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import dtypes, gathering, kernels, layout, special_functions, windows
from minigrad.derivatives import (
    abs,
    constant,
    cos,
    exp,
    expand,
    kept,
    log,
    mean_dims,
    pick,
    put,
    rsqrt,
    sigmoid,
    sign,
    sin,
    slice_,
    sum_all,
    sum_dims,
    swap,
    tanh,
    tied,
    where,
    zeros,
)
from minigrad.kernels import floating, multiplied, rounded_once
from minigrad.layout import count
from minigrad.operations import operation
from minigrad.sums import total
from minigrad.tape import TABLE
from minigrad.tensor import Tensor

Shape = tuple[int, ...]

smaller_share, inside, below, above = map(
    constant, (kernels.smaller_share, kernels.inside, kernels.is_below, kernels.is_above)
)
isnan, finite, clear_of = map(constant, (np.isnan, np.isfinite, kernels.clear_of))
floored, truncated = (
    constant(lambda x, y, mode=mode: kernels.divide_rounded(x.astype(y.dtype), y, mode)) for mode in ("floor", "trunc")
)


# -------------------------------------------------------------------------------- arithmetic

scale = operation("Mul", lambda x, factor: x * factor, lambda g, factor: scale(g, factor))
addcmul = operation(
    "Addcmul",
    lambda x, y, z, value: x + value * y * z,
    lambda g: g,
    lambda g, z, value: g * value * z,
    lambda g, y, value: g * value * y,
)
addcdiv = operation(
    "Addcdiv",
    lambda x, y, z, value: x + value * kernels.true_divide(y, z),
    lambda g, z: g,  # PyTorch keeps in any case what two rules name
    lambda g, z, value: g * value / z,
    lambda g, y, z, value: -g * value * (y / z) / z,
)
lerp = operation("LerpBackward0", kernels.lerp, lambda g, weight: g * (1 - weight), lambda g, weight: g * weight)
lerp_tensor = operation(
    "LerpBackward1", kernels.lerp, lambda g, z: g * (1 - z), lambda g, z: g * z, lambda g, x, y, z: g * (y - x)
)
fmod = operation("FmodBackward0", kernels.fmod, lambda g: g, None)
fmod_tensor = operation("FmodBackward1", kernels.fmod, lambda g: g, lambda g, x, y: flat(-g * truncated(x, y), y))
remainder = operation("RemainderBackward0", kernels.remainder, lambda g: g, None)
remainder_tensor = operation(
    "RemainderBackward1", kernels.remainder, lambda g: g, lambda g, x, y: flat(-g * floored(x, y), y)
)
div_rounded = operation("DivBackward2", kernels.divide_rounded, lambda g, y: zeros(g), lambda g, x, y: zeros(g))
addmm = operation(
    "Addmm",
    lambda x, y, z, beta, alpha: kernels.weighted_sum(x, beta, y @ z, alpha),
    lambda g, beta: g * beta,
    lambda g, z, alpha: kernels.weighted(g @ z.mT, alpha),
    lambda g, y, alpha: kernels.weighted(y.mT @ g, alpha),
)

# -------------------------------------------------------------------------------- elementwise

exp2 = operation("Exp2", floating(np.exp2), lambda g, out: g * out * math.log(2))
expm1 = operation("Expm1", kernels.expm1, lambda g, out: g * (out + 1))
log2 = operation("Log2", floating(np.log2), lambda g, x: g / (x * math.log(2)))
log10 = operation("Log10", kernels.log10, lambda g, x: g / (x * math.log(10)))
asin = operation("Asin", floating(np.arcsin), lambda g, x: g * rsqrt(1 - x * x))
acos = operation("Acos", floating(np.arccos), lambda g, x: -g * rsqrt(1 - x * x))
atan = operation("Atan", floating(np.arctan), lambda g, x: g / (x * x + 1))
sinh = operation("Sinh", floating(np.sinh), lambda g, x: g * cosh(x))
cosh = operation("Cosh", floating(np.cosh), lambda g, x: g * sinh(x))
asinh = operation("Asinh", floating(np.arcsinh), lambda g, x: g * rsqrt(x * x + 1))
acosh = operation("Acosh", floating(np.arccosh), lambda g, x: g * rsqrt(x * x - 1))
atanh = operation("Atanh", floating(np.arctanh), lambda g, x: g / (1 - x * x))
sinc = operation("Sinc", floating(rounded_once(np.sinc)), lambda g, x: without(g * sinc_slope(x), x == 0))
floor = operation("Floor", kernels.unless_whole(np.floor), lambda g: zeros(g))
ceil = operation("Ceil", kernels.unless_whole(np.ceil), lambda g: zeros(g))
trunc = operation("Trunc", kernels.unless_whole(np.trunc), lambda g: zeros(g))
round = operation("Round", kernels.round_half_even, lambda g: zeros(g))
frac = operation("Frac", kernels.only_floats("frac_cpu")(lambda x: x - np.trunc(x)), lambda g: g)
erf = operation("Erf", floating(special_functions.erf), lambda g, x: g * (2 / math.sqrt(math.pi)) * exp(-x * x))
logit = operation(
    "Logit", kernels.logit, lambda g, x, eps: where(g / (x * (1 - x)), 0.0 if eps else math.nan, clear_of(x, eps))
)
nan_to_num = operation("NanToNum", kernels.nan_to_num, lambda g, x: g * finite(x))
clamp = operation("ClampBackward1", kernels.clamp, lambda g, x, low, high: where(g, 0.0, inside(x, low, high)))
clamp_tensor = operation(
    "ClampBackward0",
    kernels.clamp,
    lambda g, x, y, z: where(g, 0.0, inside(x, y, z)),
    lambda g, x, y, z: where(g, 0.0, below(x, y, z)),
    lambda g, x, y, z: where(g, 0.0, above(x, y, z)),
)
minimum = operation(
    "Minimum",
    np.minimum,
    lambda g, x, y: without(g * smaller_share(x, y), x > y),
    lambda g, x, y: without(g * smaller_share(y, x), y > x),
)
fmax = operation(
    "Fmax",
    np.fmax,
    lambda g, x, y: where(g, 0.0, (x >= y) | isnan(y)),
    lambda g, x, y: where(0.0, g, (x >= y) | isnan(y)),
)
fmin = operation(
    "Fmin",
    np.fmin,
    lambda g, x, y: where(g, 0.0, (x <= y) | isnan(y)),
    lambda g, x, y: where(0.0, g, (x <= y) | isnan(y)),
)
masked_fill = operation(
    "MaskedFill",
    lambda x, y, mask: np.asarray(np.where(mask, y, x), order="C"),
    lambda g, mask: where(0.0, g, mask),
    lambda g, mask: where(g, 0.0, mask),
)
atan2 = operation(
    "Atan2",
    floating(np.arctan2),
    lambda g, x, y: g * y * without(1 / (x * x + y * y), (x == 0) & (y == 0)),
    lambda g, x, y: -g * x * without(1 / (x * x + y * y), (x == 0) & (y == 0)),
)
hypot = operation("Hypot", kernels.hypot, lambda g, x, out: g * (x / out), lambda g, y, out: g * (y / out))
logaddexp = operation(
    "Logaddexp", kernels.logaddexp, lambda g, x, y: g / (1 + exp(y - x)), lambda g, x, y: g / (1 + exp(x - y))
)
logaddexp2 = operation(
    "Logaddexp2", np.logaddexp2, lambda g, x, y: g / (1 + exp2(y - x)), lambda g, x, y: g / (1 + exp2(x - y))
)
copysign = operation(
    "Copysign",
    floating(np.copysign),
    lambda g, x, out: g * without(out / x, x == 0),
    lambda g, out: zeros(g),
)
xlogy = operation(
    "Xlogy",
    floating(kernels.xlogy),
    lambda g, x, y: without(xlogy(g, y), (x == 0) & (y <= 0)),
    lambda g, x, y: g * x / y,
)

# -------------------------------------------------------------------------------- activations

softplus = operation(
    "Softplus",
    kernels.softplus,
    lambda g, x, beta, threshold: where(
        g, g * odds(exp(where(0.0, x * beta, x * beta > threshold))), x * beta > threshold
    ),
)
logsigmoid = operation("LogSigmoid", kernels.logsigmoid, lambda g, x: g * logsigmoid_slope(x))
silu = operation("Silu", kernels.silu, lambda g, x: g * silu_slope(x, sigmoid(x)))
mish = operation("Mish", kernels.mish, lambda g, x: g * mish_slope(x, tanh(softplus(x, 1.0, 20.0))))
gelu = operation("Gelu", kernels.gelu, lambda g, x, approximate: g * gelu_slope(x, approximate))
elu = operation(
    "Elu",
    kernels.elu,
    lambda g, x, alpha, gain, inner: where(g * (inner * alpha * gain) * exp(where(x * inner, 0.0, x < 0)), g * gain, x <= 0),
)
celu = operation("Celu", kernels.celu, lambda g, x, alpha: where(g * exp(x / alpha), g, x < 0))
flat = operation("ThresholdBackward", lambda x, y: x, lambda g: g, lambda g, y: zeros(y))  # x, whose slope in y is 0 here
leaky_relu = operation("LeakyRelu", kernels.leaky_relu, lambda g, x, slope: flat(where(g, g * slope, x > 0), x))
prelu = operation(
    "PreluKernel",
    lambda x, y: np.where(x > 0, x, x * y),
    lambda g, x, y: flat(where(g, g * y, x > 0), x),
    lambda g, x, y: where(0.0, g * x, x > 0),
)
hardtanh = operation(
    "Hardtanh",
    lambda x, low, high: dtypes.cast(kernels.clamp(x, low, high), dtypes.of(x.dtype)),
    lambda g, x, low, high: flat(without(g, (x <= low) | (x >= high)), x),
)
hardsigmoid = operation("Hardsigmoid", kernels.hardsigmoid, lambda g, x: flat(where(g / 6, 0.0, (x > -3) & (x < 3)), x))
hardswish = operation(
    "Hardswish",
    kernels.hardswish,
    lambda g, x: without(where(g * (x / 3 + 0.5), g, x < 3), x <= -3),
)
hardshrink = operation("Hardshrink", kernels.hardshrink, lambda g, x, lambd: flat(without(g, inside(x, -lambd, lambd)), x))
softshrink = operation("Softshrink", kernels.softshrink, lambda g, x, lambd: flat(without(g, inside(x, -lambd, lambd)), x))
threshold = operation(
    "Threshold",
    lambda x, bound, value: np.where(x <= bound, dtypes.cast(value, dtypes.of(x.dtype)), x),
    lambda g, x, bound: flat(where(0.0, g, x <= bound), x),
)

# -------------------------------------------------------------------------------- losses

# g is the gradient of the whole loss; `per` shares it out to the elements when the loss is their mean.

mse_loss = operation(
    "MseLoss",
    lambda x, y, reduction: kernels.reduced(np.square(x - y), reduction),
    lambda g, x, y, reduction: per(g * 2, x, y, reduction) * (x - y),
    lambda g, x, y, reduction: per(g * 2, x, y, reduction) * (y - x),
)
smooth_l1_loss = operation(
    "SmoothL1Loss",
    lambda x, y, reduction, beta: kernels.reduced(kernels.smooth_l1(x, y, beta), reduction),
    lambda g, x, y, reduction, beta: per(g, x, y, reduction) * clamp((x - y) / beta, -1, 1),
    lambda g, x, y, reduction, beta: per(g, x, y, reduction) * clamp((y - x) / beta, -1, 1),
)
huber_loss = operation(
    "HuberLoss",
    lambda x, y, reduction, delta: kernels.reduced(kernels.huber(x, y, delta), reduction),
    lambda g, x, y, reduction, delta: per(g, x, y, reduction) * clamp(x - y, -delta, delta),
    lambda g, x, y, reduction, delta: per(g, x, y, reduction) * clamp(y - x, -delta, delta),
)
bce_loss = operation(
    "BinaryCrossEntropy",
    lambda x, y, z, reduction: kernels.reduced(kernels.bce(x, y, z), reduction),
    lambda g, x, y, z, reduction: per(g, x, y, reduction) * weigh((x - y) / clamp((1 - x) * x, 1e-12, None), z),
    lambda g, x, y, z, reduction: per(g, x, y, reduction) * weigh(log_ratio(x), z),
    None,
)
bce_with_logits_loss = operation(
    "BinaryCrossEntropyWithLogits",
    lambda x, y, z, u, reduction: kernels.reduced(kernels.bce_with_logits(x, y, z, u), reduction),
    lambda g, x, y, z, u, reduction: per(g, x, y, reduction) * weigh(logits_slope(x, y, u), z),
    lambda g, x, y, z, u, reduction: per(g, x, y, reduction) * weigh(target_slope(x, u), z),
    None,
    None,
)

# -------------------------------------------------------------------------------- convolution and pooling

# Convolution is linear in the input and in the weight: three functions, each the derivative of the others.  PyTorch has one
# rule for all their inputs, and so keeps both whichever is asked for.  Of what is pooled it keeps all, too.

conv = operation(
    "Convolution",
    windows.conv_bias,
    lambda g, x, y, x_shape, stride, padding, dilation, groups: conv_input(
        g, y, x_shape[2:], stride, padding, dilation, groups
    ),
    lambda g, x, y, y_shape, stride, padding, dilation, groups: conv_weight(
        g, x, y_shape[2:], stride, padding, dilation, groups
    ),
    lambda g, x, y: sum_dims(g, all_but(g, 1), False),
)
conv_input = operation(
    "Convolution",
    windows.conv_input,
    lambda g, x, y, x_shape, stride, padding, dilation, groups: cropped(
        conv(g, y, None, stride, padding, dilation, groups), x_shape
    ),
    lambda g, x, y, y_shape, stride, padding, dilation, groups: conv_weight(
        x, g, y_shape[2:], stride, padding, dilation, groups
    ),
)
conv_weight = operation(
    "ConvolutionBackward",
    windows.conv_weight,
    lambda g, y, x_shape, stride, padding, dilation, groups: cropped(
        conv(y, g, None, stride, padding, dilation, groups), x_shape
    ),
    lambda g, x, y_shape, stride, padding, dilation, groups: conv_input(
        x, g, y_shape[2:], stride, padding, dilation, groups
    ),
)
max_pool1d, max_pool2d, max_pool3d, adaptive_max_pool2d = (
    operation(
        f"{name}",
        lambda x, index, n: windows.take_places(x, index, n),
        lambda g, x, x_shape, index, n: put_places(g, index, x_shape[len(x_shape) - n :]),
    )
    for name in ("SqueezeBackward1", "MaxPool2DWithIndices", "MaxPool3DWithIndices", "AdaptiveMaxPool2D")
)
put_places = operation("MaxUnpool2D", windows.put_places, lambda g, index, sizes: max_pool2d(g, index, len(sizes)))
avg_pool = operation(
    "AvgPool2D",
    windows.avg_pool,
    lambda g, x, x_shape, kernel, stride, padding, ceil_mode, include_pad, divisor: avg_pool_input(
        g, x_shape[len(x_shape) - len(kernel) :], kernel, stride, padding, ceil_mode, include_pad, divisor
    ),
)
avg_pool_input = operation(
    "AvgPool2DBackward",
    lambda x, sizes, kernel, stride, padding, ceil_mode, include_pad, divisor: windows.avg_pool_input(
        x, sizes, kernel, stride, padding, include_pad, divisor
    ),
    lambda g, kernel, stride, padding, ceil_mode, include_pad, divisor: avg_pool(
        g, kernel, stride, padding, ceil_mode, include_pad, divisor
    ),
)
adaptive_avg_pool = operation(  # `averages` holds one matrix per spatial dimension
    "AdaptiveAvgPool2D",
    windows.along_dims,
    lambda g, x, averages: resample(g, tuple(a.T for a in averages)),
)
resample = operation(
    "UpsampleBilinear2D", windows.along_dims, lambda g, averages: resample(g, tuple(a.T for a in averages))
)
enlarge = operation("UpsampleNearest2D", lambda x, places: x[places], lambda g, x_shape, places: put(g, x_shape, places))
im2col = operation(
    "Im2Col",
    windows.unfold,
    lambda g, x_shape, kernel, dilation, padding, stride: col2im(g, x_shape[2:], kernel, dilation, padding, stride),
)
col2im = operation(
    "Col2Im",
    windows.fold,
    lambda g, kernel, dilation, padding, stride: im2col(g, kernel, dilation, padding, stride),
)

# -------------------------------------------------------------------------------- reductions

nansum = operation(
    "Nansum",
    lambda x, dims, keepdim: total(np.where(np.isnan(x), x.dtype.type(0), x), dims, keepdim),
    lambda g, x, dims, keepdim: kept(g, x.shape, dims, keepdim) * ~isnan(x),
)
prod_all = operation("ProdBackward0", lambda x: multiplied(x, None), lambda g, x, out: g * others(x, out) if x.ndim else g)
prod_dim = operation(
    "ProdBackward1",
    lambda x, dim, keepdim: multiplied(x, dim, None, None, keepdim) if x.ndim else x[()],
    lambda g, x, out, dim, keepdim: (
        kept(g, x.shape, (dim,), keepdim) * others_along(x, kept(out, x.shape, (dim,), keepdim), dim)
    ),
)
logsumexp = operation(
    "Logsumexp",
    kernels.logsumexp,
    lambda g, x, out, dims, keepdim: kept(g, x.shape, dims, keepdim) * exp(x - kept(out, x.shape, dims, keepdim)),
)
var = operation(
    "Var",
    kernels.var,
    lambda g, x, dims, correction, keepdim: var_gradient(kept(g, x.shape, dims, keepdim), x, dims, correction),
)
std = operation(
    "Std",
    kernels.std,
    lambda g, x, out, dims, correction, keepdim: (
        var_gradient(kept(without(g / (out * 2), out == 0), x.shape, dims, keepdim), x, dims, correction)
    ),
)
vector_norm = operation(
    "LinalgVectorNorm",
    kernels.vector_norm,
    lambda g, x, out, order, dims, keepdim: norm_gradient(
        kept(g, x.shape, dims, keepdim), x, kept(out, x.shape, dims, keepdim), order, dims
    ),
)

# One element is picked in each row: the rule puts the gradient back where the element came from.
max_dim, min_dim, median_dim, kthvalue, mode, sort, topk = (
    operation(
        name,
        gathering.picked,
        lambda g, x_shape, dim, index, keepdim: spread(g, x_shape, dim, index, keepdim),
    )
    for name in ("MaxBackward0", "MinBackward0", "MedianBackward1", "Kthvalue", "Mode", "Sort", "Topk")
)
cummax, cummin, gather = (
    operation(
        name, gathering.picked, lambda g, x, dim, index, keepdim: spread(g, x.shape, dim, index, keepdim)
    )  # PyTorch keeps all of x here
    for name in ("Cummax", "Cummin", "Gather")
)
spread = operation(
    "ValueSelectingReductionBackward",
    gathering.spread,
    lambda g, dim, index, keepdim: gather(g, dim, index, keepdim),
)
cumsum = operation("Cumsum", gathering.cumsum, lambda g, dim: cumsum_reversed(g, dim))
cumsum_reversed = operation("Flip", gathering.cumulative_sum_reversed, lambda g, dim: cumsum(g, dim))
cumprod = operation("Cumprod", gathering.cumprod, lambda g, x, out, dim: cumprod_gradient(g, x, out, dim))
logcumsumexp = operation(
    "Logcumsumexp", gathering.logcumsumexp, lambda g, x, out, dim: logcumsumexp_gradient(g, x, out, dim)
)

# -------------------------------------------------------------------------------- linear algebra

det = operation(
    "LinalgDet", kernels.det, lambda g, x, out: solve(x.mT, scale(kernels.column(g * out), np.eye(x.shape[-1])))
)
inv = operation("LinalgInvEx", kernels.inverse, lambda g, out: -(out.mT @ g @ out.mT))
solve = operation(
    "LinalgSolveEx", kernels.solve, lambda g, x, out: -(solve(x.mT, g) @ out.mT), lambda g, x, out: solve(x.mT, g)
)
cholesky = operation("LinalgCholeskyEx", kernels.cholesky, lambda g, out: cholesky_slope(g, out))

strided = operation(
    "AsStrided",
    layout.strided,
    lambda g, x_shape, size, stride, offset: add_strided(g, x_shape, size, stride, offset),
    view=True,
)
add_strided = operation(
    "AsStridedBackward", layout.add_strided, lambda g, size, stride, offset: strided(g, size, stride, offset)
)
trace = operation(
    "Trace",
    kernels.trace,
    lambda g, x_shape: put_diagonal(expand(g, (min(x_shape),)), x_shape, 0, 0, 1),
)

# -------------------------------------------------------------------------------- moving elements

fill = operation("FillBackward2", lambda x, value: np.full_like(x, value), lambda g: zeros(g))
fill_tensor = operation("FillBackward3", layout.copied, lambda g: zeros(g), lambda g: g)
zero = operation("Zero", np.zeros_like, lambda g: zeros(g))
copied = operation("CopyBackwards", layout.copied, lambda g: zeros(g), lambda g: g)
diagonal = operation(
    "Diagonal",
    layout.diagonal,
    lambda g, x_shape, offset, i, j: put_diagonal(g, x_shape, offset, i, j),
    view=True,
)
diagonal_copy = operation(
    "DiagonalBackward0_copy", layout.diagonal_copy, lambda g, x_shape, offset: put_diagonal(g, x_shape, offset, 0, 1)
)
diag_embed = operation(
    "DiagEmbed",
    lambda x, shape, offset, i, j: layout.put_diagonal(x, shape, offset, i, j),
    lambda g, offset, i, j: diagonal(g, offset, i, j),
)
put_diagonal = operation("DiagonalBackward", layout.put_diagonal, lambda g, offset, i, j: diagonal(g, offset, i, j))
slide = operation(
    "Unfold", windows.slide, lambda g, x_shape, dim, size, step: add_slide(g, x_shape, dim, size, step), view=True
)
add_slide = operation("UnfoldBackward", windows.add_slide, lambda g, dim, size, step: slide(g, dim, size, step))
flip = operation("Flip", lambda x, dims: layout.duplicate(np.flip(x, dims)), lambda g, dims: flip(g, dims))
roll = operation(
    "Roll",
    lambda x, shifts, dims: np.asarray(np.roll(x, shifts, dims), order="C"),
    lambda g, shifts, dims: roll(g, layout.negated(shifts), dims),
)
repeat = operation(
    "Repeat", lambda x, repeats: np.tile(x, repeats), lambda g, x_shape, repeats: unrepeat(g, x_shape, repeats)
)
tril = operation("Tril", lambda x, offset: np.tril(x, offset), lambda g, offset: tril(g, offset))
triu = operation("Triu", lambda x, offset: np.triu(x, offset), lambda g, offset: triu(g, offset))
pad = operation("ConstantPadNd", windows.pad_constant, lambda g, widths: pad(g, layout.negated_pairs(widths), 0.0))

# -------------------------------------------------------------------------------- picking elements

index_put = operation(
    "IndexPut",
    gathering.index_put,
    lambda g, index, accumulate: g if accumulate else erase(g, index),
    lambda g, index: pick(g, index),
)
erase = operation("IndexPut", lambda x, index: gathering.erase(x, index), lambda g, index: erase(g, index))
index_select, embedding = (
    operation(name, lambda x, index: x[index], lambda g, x_shape, index: put(g, x_shape, index))
    for name in ("IndexSelect", "Embedding")
)
take, masked_select = (
    operation(name, lambda x, index: x[index], lambda g, x, index: put(g, x.shape, index))  # PyTorch keeps all of x
    for name in ("Take", "MaskedSelect")
)
index_fill, masked_scatter = (
    operation(
        name,
        gathering.index_put,
        lambda g, index, accumulate: g if accumulate else erase(g, index),
        lambda g, index: pick(g, index),
    )
    for name in ("IndexFill", "MaskedScatter")
)
index_add = operation("IndexAdd", gathering.index_put, lambda g: g, lambda g, y, index: pick(g, index))  # PyTorch keeps y
index_copy = operation(
    "IndexCopy", gathering.index_put, lambda g, index: erase(g, index), lambda g, y, index: pick(g, index)
)
select_scatter, slice_scatter = (
    operation(
        name,
        lambda x, y, key: gathering.index_put(x, y, key, False),
        lambda g, key: erase(g, key),
        lambda g, key: slice_(g, key),
    )
    for name in ("SelectScatter", "SliceScatter")
)
diagonal_scatter = operation(
    "DiagonalScatter",
    layout.replace_diagonal,
    lambda g, offset, i, j: diagonal_scatter(g, zeros(diagonal(g, offset, i, j)), offset, i, j),
    lambda g, offset, i, j: diagonal(g, offset, i, j),
)
scatter = operation(
    "ScatterBackward0",
    gathering.scatter_cut,
    lambda g, dim, index: scatter_erase(g, dim, index),
    lambda g, dim, index, y_shape: gather_cut(g, dim, index, y_shape),
)
scatter_add = operation(
    "ScatterAdd",
    gathering.scatter_add_cut,
    lambda g: g,
    lambda g, dim, index, y_shape: gather_cut(g, dim, index, y_shape),
)
scatter_prod = operation(
    "ScatterReduce",
    lambda x, y, dim, index, include_self: gathering.scatter_reduce(x, y, dim, index, "prod", include_self),
    lambda g, x, y, out, dim, index, include_self: prod_share_of_self(g, x, y, dim, index, include_self),
    lambda g, x, y, out, dim, index, include_self: prod_share_of_source(g, x, y, out, dim, index, include_self),
)
scatter_extreme = operation(
    "ScatterReduce",
    lambda x, y, dim, index, include_self, how: gathering.scatter_reduce(x, y, dim, index, how, include_self),
    lambda g, x, y, out, dim, index, include_self: g * share_of_self(x, y, out, dim, index, include_self),
    lambda g, x, y, out, dim, index, include_self: (
        gather_cut(g, dim, index, y.shape) * share_of_source(x, y, out, dim, index, include_self)
    ),
)
scatter_erase = operation(
    "ScatterBackward1",
    lambda x, dim, index: gathering.scatter(x, dim, index, 0),
    lambda g, dim, index: scatter_erase(g, dim, index),
)
gather_cut = operation(  # where the source was larger than the index, the rest of it has no influence
    "Gather",
    gathering.gather_cut,
    lambda g, x_shape, dim, index, shape: scatter_add(zeros_of(g, x_shape), g, dim, index),
)

# -------------------------------------------------------------------------------- rules that take more than a line


def prod_share_of_self(g: Any, x: Any, y: Any, dim: int, index: Any, include_self: bool) -> Any:
    """g times the product of all that was multiplied into each element of x."""
    others = scatter_prod(ones(x), y, dim, index, True)
    return g * others if include_self else scatter_erase(g * others, dim, index)


def prod_share_of_source(g: Any, x: Any, y: Any, out: Any, dim: int, index: Any, include_self: bool) -> Any:
    """g times the product of the others: by division, but where one of the factors is 0 without that one."""
    zero = is_zero(y)
    number = zeros_met(x, y, dim, index)  # at each element of y, how many zeros of y meet in its product
    without_zeros = scatter_prod(x, where(1.0, y, zero), dim, index, include_self)
    whole = gather_cut(g * out, dim, index, y.shape) / where(1.0, y, zero)
    share = where(where(gather_cut(g * without_zeros, dim, index, y.shape), 0.0, number == 1), whole, zero)
    if isinstance(share, Tensor) and bool((number > 1).any()):  # 0 for each of them, but not so for what comes next
        return operation("Error", lambda x: x.copy(), _of_many_zeros)(share)
    return share


def _of_many_zeros(_g: Any) -> Any:
    raise RuntimeError(
        "scatter_reduce(): Double backward is unsupported for src when >1 zeros in src are scattered to the same position in "
        "self"
    )


ones, is_zero = constant(np.ones_like), constant(lambda y: y == 0)
zeros_met, share_of_self, share_of_source = map(
    constant, (gathering.zeros_met, gathering.share_of_self, gathering.share_of_source)
)


def zeros_of(g: Any, shape: Shape) -> Any:
    """Zeros of this shape and of g's type."""
    return expand(zeros(sum_all(g)), shape)


def without(x: Any, condition: Any) -> Any:
    """x, and 0 where the condition holds, also where x is not finite there."""
    return where(0.0, x, condition)


def cropped(x: Any, shape: Shape) -> Any:
    """The beginning of x: an output padding may make room for windows that the convolution did not have."""
    return x if x.shape == shape else slice_(x, tuple(map(slice, shape)))


def unrepeat(g: Any, shape: Shape, repeats: Shape) -> Any:
    """The sum over the repetitions: the transpose of `repeat`."""
    shape = (1,) * (len(repeats) - len(shape)) + tuple(shape)
    folded = g.reshape(tuple(n for pair in zip(repeats, shape) for n in pair))
    return sum_dims(folded, tuple(range(0, 2 * len(shape), 2)), False)


def all_but(x: Any, dim: int) -> tuple[int, ...]:
    """All dimensions of x but this one."""
    return tuple(i for i in range(x.ndim) if i != dim)


def per(g: Any, x: Any, y: Any, reduction: str) -> Any:
    """The gradient of each element's loss, from the gradient of their sum, of their mean, or of each."""
    if reduction != "mean":
        return g
    return g / count(x.shape if x.shape == y.shape else np.broadcast_shapes(x.shape, y.shape))


def weigh(x: Any, weight: Any) -> Any:
    """x * weight, where no weight counts as 1."""
    return x if weight is None else x * weight


def log_ratio(x: Any) -> Any:
    """log((1 - x) / x), the slope of the cross-entropy of the probability x in its target."""
    return log(1 - x) - log(x)


def logits_slope(x: Any, y: Any, positive: Any) -> Any:
    """d/dx of the cross-entropy of sigmoid(x), with the weight `positive` on the targets that are 1."""
    if positive is None:
        return sigmoid(x) - y
    gain = positive * y + 1 - y
    return gain * sigmoid(x) - positive * y


def target_slope(x: Any, positive: Any) -> Any:
    """d/dy of the cross-entropy of sigmoid(x), with the weight `positive` on the targets that are 1."""
    return -x if positive is None else logsigmoid(-x) - positive * logsigmoid(x)


def sinc_slope(x: Any) -> Any:
    """d/dx of sin(p) / p, for p = pi * x."""
    p = x * math.pi
    square = p * x
    return (p * cos(p) - sin(p)) / where(1.0, square, square == 0)  # 0 / 1 where the square of a tiny x is 0


def silu_slope(x: Any, s: Any) -> Any:
    """d/dx of x * s, for s = sigmoid(x)."""
    return s * (1 + x * (1 - s))


def mish_slope(x: Any, t: Any) -> Any:
    """d/dx of x * t, for t = tanh(softplus(x))."""
    return t + x * sigmoid(x) * (1 - t * t)


def gelu_slope(x: Any, approximate: str) -> Any:
    """cdf(x) + x * density(x), or the derivative of the formula with tanh."""
    if approximate == "none":
        density = exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
        return (erf(x * math.sqrt(0.5)) + 1) * 0.5 + x * density
    inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
    t = tanh(inner)
    return (1 + t) * 0.5 + x * (1 - t * t) * (1 + x * x * (3 * 0.044715)) * (0.5 * math.sqrt(2 / math.pi))


def odds(z: Any) -> Any:
    """The probability that these odds give; with z = e^x the sigmoid of x, which keeps its smallest numbers."""
    return z / (1 + z)


def logsigmoid_slope(x: Any) -> Any:
    """sigmoid(-x), by odds of at most 1."""
    share = odds(exp(where(-x, x, x >= 0)))
    return where(share, 1 - share, x >= 0)


def var_gradient(g: Any, x: Any, dims: tuple[int, ...], correction: float) -> Any:
    """g * 2 * (x - mean) / (number - correction); of all numbers, where none is free, nan or infinite."""
    free = count(x.shape, dims) - correction
    centred = x - mean_dims(x, dims, True)
    if free <= 0 and len(dims) == len(x.shape):
        return g * (abs(centred) * math.inf)
    return g * (2 / free if free else math.inf) * centred


def norm_gradient(g: Any, x: Any, out: Any, order: float, dims: tuple[int, ...]) -> Any:
    """The gradient of the norm of this order; at 0, where there is no slope, 0.  Counting (order 0) has none at all."""
    if order == 0:
        return None
    if order == 1:
        return g * sign(x)
    if order == 2:
        return without(x / out, out == 0) * g
    if math.isinf(order):
        return g * sign(x) * tied(abs(x), out, dims)
    if order < 1:
        return g * without(sign(x) * abs(x) ** (order - 1) / out ** (order - 1), x == 0)
    if order < 2:
        return g * without(sign(x) * abs(x) ** (order - 1) / out ** (order - 1), (x == 0) | (out == 0))
    return x * abs(x) ** (order - 2) * without(g / out ** (order - 1), out == 0)


def others(x: Any, out: Any) -> Any:
    """For each element the product of all the others, also where some are 0."""
    return others_along(x.reshape((-1,)), out, 0).reshape(x.shape)


def others_along(x: Any, out: Any, dim: int) -> Any:
    """For each element the product of the others along one dimension."""
    if x.ndim == 0:
        return exp(zeros(x))
    if not kernels.has_zero(x):
        return out / x
    return swap_last(prod_dim(_replaced(swap_last(x, dim)), x.ndim, False), dim)


def _replaced(x: Any) -> Any:
    """(..., n) to (..., n, n): row i is x with element i replaced by 1."""
    n = x.shape[-1]
    return where(1.0, expand(x.reshape((*x.shape[:-1], 1, n)), (*x.shape, n)), np.eye(n, dtype=bool))


def swap_last(x: Any, dim: int) -> Any:
    return swap(x, dim, x.ndim - 1) if x.ndim > 1 else x


def cumprod_gradient(g: Any, x: Any, out: Any, dim: int) -> Any:
    """The gradient of a running product: for each element the sum of what follows of g * out / x, also where x is 0."""
    if x.ndim == 0:
        return g
    if not kernels.has_zero(x):
        return cumsum_reversed(g * out, dim) / x
    rows = triu(cumprod(_replaced(swap_last(x, dim)), x.ndim), 0)
    return swap_last(sum_dims(rows * unsqueezed(swap_last(g, dim)), (x.ndim,), False), dim)


def unsqueezed(x: Any) -> Any:
    return x.reshape((*x.shape[:-1], 1, x.shape[-1]))


def logcumsumexp_gradient(g: Any, x: Any, out: Any, dim: int) -> Any:
    """exp(x) * the sum of what follows of g * exp(-out), in logarithms: separately where g is positive and negative."""
    if x.ndim == 0:
        return g
    return log_share(g, x, out, dim) - log_share(-g, x, out, dim)


def log_share(g: Any, x: Any, out: Any, dim: int) -> Any:
    size = where(lowest(x), log(where(1.0, g, negative(g))), negative(g))
    return exp(flip(logcumsumexp(flip(size - out, (dim,)), dim), (dim,)) + x)


# What is drawn does not follow the parameters smoothly: PyTorch's derivative is 0, not missing.
drawn_bernoulli, drawn_poisson, drawn_normal_mean = (
    operation(name, lambda x, value: value, lambda g: zeros(g)) for name in ("Bernoulli", "Poisson", "NormalBackward1")
)
drawn_normal_std = operation("NormalBackward2", lambda x, value: value, lambda g: zeros(g))
drawn_normal = operation("NormalBackward3", lambda x, y, value: value, lambda g: zeros(g), lambda g: zeros(g))

negative, lowest = constant(lambda g: g <= 0), constant(lambda x: np.full_like(x, np.finfo(x.dtype).min))


def cholesky_slope(g: Any, out: Any) -> Any:
    """L^-T phi(L^T g) L^-1 made symmetric, where phi keeps the lower triangle and half of the diagonal."""
    lower = tril(out.mT @ g, 0)
    middle = lower - scale(lower, np.eye(out.shape[-1], dtype=np.float16) / 2)  # the narrowest type: none is widened
    inverse = inv(out)
    whole = inverse.mT @ middle @ inverse
    return (whole + whole.mT) * 0.5


_page = {name: f.operation for name, f in list(globals().items()) if hasattr(f, "operation") and not f.operation.name}
for _name, _operation in _page.items():
    _operation.name = _operation.function.__name__ = _name
TABLE.update(_page)
